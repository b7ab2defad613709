package p2p

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/network"
	"gigarank/vtime"
)

// A random run that begins later gives the same, as much later. One that would pass the end of virtual time fails, and gives no instant.
func TestRunsThatBeginLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		machine := drawMachine(r, rapid.SampledFrom([]string{"flat", "twolevel", "factors", "shared node", "progress"}).Draw(r, "model"))
		machine = strings.ReplaceAll(machine, ", interruptions: {interval: 30us, duration: 4us}", "") // which come at instants of their own
		programs := drawPrograms(r, rapid.IntRange(2, 6).Draw(r, "ranks"))
		target := drawnTarget(r, machine, len(programs))
		o := options{causes: rapid.Bool().Draw(r, "causes"), polls: rapid.SampledFrom([]int32{0, 1, 2}).Draw(r, "polls")}
		want, latest := playFrom(r, 0, drawVariant(r, len(programs)), o, target, programs)
		left := rapid.SampledFrom([]vtime.Duration{0, vtime.Duration(latest), vtime.Duration(rapid.Int64Range(0, int64(2*latest)).Draw(r, "left")), 1000 * vtime.Second}).Draw(r, "left of virtual time")
		for range 2 {
			v := drawVariant(r, len(programs))
			got, _ := playFrom(r, (vtime.Forever - 1).Sub(vtime.Time(left)), v, o, target, programs)
			past := strings.HasPrefix(got, "fails: ") && strings.Contains(got, "after the end of virtual time")
			if !past && got != want || !past && left < vtime.Duration(latest) || past && left == 1000*vtime.Second {
				r.Fatalf("%s%s\nwith %+v, %v before the end of virtual time:\n%s\nfrom its beginning, to %v:\n%s", machine, strings.Join(programs, "\n"), v, left, got, latest, want)
			}
		}
	})
}

// playFrom makes a run whose ranks begin at an instant. It returns the outcome, and the latest instant of a rank.
func playFrom(t reporter, from vtime.Duration, v variant, o options, target *network.Target, programs []string) (text string, latest vtime.Time) {
	late := make([]string, len(programs))
	for rank, calls := range programs {
		late[rank] = fmt.Sprintf("compute %ds; compute %dps", from/vtime.Second, from%vtime.Second)
		if calls != "" {
			late[rank] += "; " + calls
		}
	}
	o.from = from
	x := playScript(t, v, o, target, late)
	for rank, lines := range x.ranks {
		x.ranks[rank] = lines[min(2, len(lines)):]
	}
	x.unreceived = nil // which names an instant
	return o.text(x), x.latest
}
