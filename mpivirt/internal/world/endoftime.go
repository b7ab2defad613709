package world

import (
	"fmt"

	"gigarank/vtime"
)

// The end of virtual time. Sums saturate at [vtime.Forever], which no clock may show:
// what would take one there ends the run. Clocks that pass through rounds over arrays
// are added to without a look, as long as a bound on all of them says that they may be;
// see [coll.Collectives].

// EndError is the error of what would end after the end of virtual time.
func EndError(format string, arguments ...any) error {
	return fmt.Errorf("%s would end after the end of virtual time, %v (106 days) from the start: "+
		"let the program compute or send less", fmt.Sprintf(format, arguments...), vtime.Duration(vtime.Forever))
}

// PastEnd notes that what a rank does in a call would end after the end of virtual time.
// The rank fails at t, the instant at which all is known that makes it so: no earlier,
// or failures before it could keep it from being found. From there on clocks show
// Forever, beyond any failure, and are not looked at again.
func (k *Partition) PastEnd(rank int, t vtime.Time, c Procedure, format string, arguments ...any) {
	if t < vtime.Forever {
		k.FailedAt(rank, t, c, EndError(format, arguments...))
	}
}
