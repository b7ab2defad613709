package network

import (
	"testing"

	"gigarank/vtime"
)

// targetOf lays a model out for two ranks.
func targetOf(t *testing.T, m model) *Target {
	t.Helper()
	target, err := (&Machine{name: "m", perNode: 1, mapping: block{}, topology: star{}, model: m}).Target(2)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// One rank's CPU and interface, worked out by hand from LogGOPSim's rules, in ns. The
// parameters are o = 1500, g = 1000, G = 6, O = 2. mpivirt compares whole programs with
// LogGOPSim.
func TestOccupancyByHand(t *testing.T) {
	p := &LogGOPS{Latency: 2500 * ns, Overhead: 1500 * ns, Gap: 1000 * ns, GapPerByte: 6 * ns, OverheadPerByte: 2 * ns}
	target := targetOf(t, p)
	var o Occupancy
	for i, c := range []struct {
		send                     bool
		bytes                    int64
		ready, begins            vtime.Duration
		cpu, canSend, canReceive vtime.Duration
	}{
		{true, 101, 0, 0, 1700 * ns, 1700 * ns, 1700 * ns},
		{true, 1, 1700 * ns, 1700 * ns, 3200 * ns, 3200 * ns, 3200 * ns},
		{true, 1001, 3200 * ns, 3200 * ns, 6700 * ns, 10200 * ns, 6700 * ns},
		{false, 101, 5000 * ns, 6700 * ns, 8800 * ns, 10200 * ns, 8800 * ns}, // while the interface sends
		{true, 0, 6700 * ns, 10200 * ns, 11700 * ns, 11700 * ns, 11700 * ns}, // no bytes cost what one does
		{false, 0, 20000 * ns, 20000 * ns, 21500 * ns, 21500 * ns, 21500 * ns},
	} {
		ready := vtime.Time(c.ready)
		begins := o.CanReceive(ready)
		if c.send {
			begins = o.CanSend(ready)
			target.Depart(&o, c.bytes, begins)
		} else {
			target.TakeIn(&o, c.bytes, begins)
		}
		if begins != vtime.Time(c.begins) || o.CPU != vtime.Time(c.cpu) || o.CanSend(0) != vtime.Time(c.canSend) || o.CanReceive(0) != vtime.Time(c.canReceive) {
			t.Errorf("message %d begins at %v; then CPU free at %v, can send at %v, receive at %v; want %+v", i, begins, o.CPU, o.CanSend(0), o.CanReceive(0), c)
		}
	}
}

// With g = 3000 and o = 1500 the interface is what messages wait for.
func TestOccupancyWithLongGap(t *testing.T) {
	target := targetOf(t, &LogGOPS{Latency: 1, Overhead: 1500 * ns, Gap: 3000 * ns})
	var o Occupancy
	target.TakeIn(&o, 1, vtime.Time(3500*ns))
	if got := o.CanReceive(vtime.Time(4000 * ns)); got != vtime.Time(6500*ns) {
		t.Errorf("the next message is taken in at %v, want 6500 ns", got)
	}
	if got := o.CanSend(0); got != vtime.Time(5000*ns) {
		t.Errorf("the next send begins at %v, want 5000 ns", got)
	}
}
