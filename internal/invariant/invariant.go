// Package invariant reports broken invariants of the rooms.
//
// A build with the tag invariants checks the order of the event list, clocks and
// promises that never go back, whole chains in mailboxes, and sums of counts. Other
// builds check none of it, at no cost:
//
//	if invariant.Enabled {
//		l.check()
//	}
//
// A check that costs nothing calls [Broken] in every build.
package invariant

import (
	"fmt"
	"runtime/debug"
)

// Violation is the value with which [Broken] panics. It reports a bug in gigarank, not
// in the simulated program.
type Violation struct {
	Text  string
	Stack []byte // of the goroutine that found it
}

func (v *Violation) Error() string { return "invariant broken: " + v.Text }

// Broken panics with a *[Violation]. The text names the invariant that does not hold, and the place.
func Broken(format string, arguments ...any) {
	panic(&Violation{fmt.Sprintf(format, arguments...), debug.Stack()})
}
