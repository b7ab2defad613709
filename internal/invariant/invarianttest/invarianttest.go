// Package invarianttest finds broken invariants in the tests of all rooms. It imports
// testing, so no code but tests imports it.
package invarianttest

import (
	"testing"

	"gigarank/internal/invariant"
)

// Violation runs f, which must break an invariant, and returns the text of the violation.
func Violation(t testing.TB, f func()) (text string) {
	t.Helper()
	defer func() {
		t.Helper()
		v, ok := recover().(*invariant.Violation)
		if !ok {
			t.Fatal("no broken invariant is found")
		}
		text = v.Text
	}()
	f()
	return ""
}
