//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"os"
	"strings"
	"testing"
)

// The simulator and the runtime in C leave the threads of the same libraries out.
func TestWorkersInC(t *testing.T) {
	source, err := os.ReadFile("toolchain/runtime/libc/threads.c")
	if err != nil {
		t.Fatal(err)
	}
	if want := `workers[] = {"` + strings.Join(workers, `", "`) + `"};`; !strings.Contains(string(source), want) {
		t.Errorf("runtime/libc/threads.c has not %s", want)
	}
}
