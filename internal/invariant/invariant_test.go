package invariant_test

import (
	"strings"
	"testing"

	"gigarank/internal/invariant"
)

// A broken invariant ends in a panic that says what does not hold, and where it was
// found.
func TestBroken(t *testing.T) {
	defer func() {
		v, ok := recover().(*invariant.Violation)
		if !ok || v.Error() != "invariant broken: 2 is not 3" {
			t.Errorf("the panic is %v", v)
		}
		if !strings.Contains(string(v.Stack), "TestBroken") {
			t.Errorf("the stack does not show this test:\n%s", v.Stack)
		}
	}()
	invariant.Broken("%d is not %d", 2, 3)
}
