package mpivirt

import (
	"fmt"

	"gigarank/vtime"
)

// The end of virtual time. Sums saturate at [vtime.Forever], which no clock may show:
// what would take one there ends the run. Clocks that pass through rounds over arrays
// are added to without a look, as long as a bound on all of them says that they may be;
// see [bulk].

// endError is the error of what would end after the end of virtual time.
func endError(format string, arguments ...any) error {
	return fmt.Errorf("%s would end after the end of virtual time, %v (106 days) from the start: "+
		"let the program compute or send less", fmt.Sprintf(format, arguments...), vtime.Duration(vtime.Forever))
}

// pastEnd notes that what an LP does at t, in a call, would end after the end of virtual
// time: the LP fails at t. Its clock shows Forever from there on, beyond any failure, so
// that it is not resumed; until t it may go on if the call is nonblocking.
func (k *kernel) pastEnd(lp int32, t vtime.Time, c call, format string, arguments ...any) {
	if t < vtime.Forever {
		k.failedAt(lp, t, c, endError(format, arguments...))
	}
}
