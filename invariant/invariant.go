// Package invariant is how the rooms check what they rely on.
//
// A build with the tag invariants looks at much that must hold: the order of the
// event list, clocks and promises that never go back, mailboxes whose chains are
// whole, counts that add up. Other builds do none of it, at no cost:
//
//	if invariant.Enabled {
//		l.check()
//	}
//
// What costs nothing to notice calls [Broken] in every build.
package invariant

import (
	"fmt"
	"runtime/debug"
)

// Violation is what [Broken] panics with. It says that something the code relies on
// does not hold: a bug in gigarank, not in the simulated program.
type Violation struct {
	Text  string
	Stack []byte // of the goroutine that found it
}

func (v *Violation) Error() string { return "invariant broken: " + v.Text }

// Broken panics with a *[Violation]. The text says what does not hold, and where.
func Broken(format string, arguments ...any) {
	panic(&Violation{fmt.Sprintf(format, arguments...), debug.Stack()})
}
