package world

import (
	"fmt"

	"gigarank/vtime"
)

// The end of virtual time. Sums saturate at [vtime.Forever]. No clock may show that instant: an
// operation that leads there ends the run. Rounds over arrays of clocks add without checking each
// clock, as long as a bound on all clocks allows it; see room coll.

// EndError returns the error of an operation that would end after the end of virtual time.
func EndError(format string, arguments ...any) error {
	return fmt.Errorf("%s would end after the end of virtual time, %v (106 days) from the start: "+
		"let the program compute or send less", fmt.Sprintf(format, arguments...), vtime.Duration(vtime.Forever))
}

// PastEnd fails a rank whose call would end after the end of virtual time. t is the instant at
// which the cause is known, no earlier: an earlier failure could hide the cause. From then on
// clocks show Forever, beyond any failure, and are not checked again.
func (p *Partition) PastEnd(rank int, t vtime.Time, c Procedure, format string, arguments ...any) {
	if t < vtime.Forever {
		p.FailedAt(rank, t, c, EndError(format, arguments...))
	}
}
