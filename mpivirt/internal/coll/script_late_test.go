package coll

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
		ranks := rapid.IntRange(2, 7).Draw(r, "ranks")
		machine := drawMachine(r, rapid.SampledFrom([]string{"flat", "twolevel", "factors", "hops", "shared node"}).Draw(r, "model"))
		machine = strings.ReplaceAll(machine, ", interruptions: {interval: 30us, duration: 4us}", "") // which come at instants of their own
		lines := drawScript(r, ranks)
		target, programs := drawnRun(r, ranks, machine, lines)
		variants := rapid.Permutation(variantsOf(min(ranks, 5), true)).Draw(r, "variants")[:3]
		want, latest := playFrom(r, variants[0], 0, target, programs)
		left := rapid.SampledFrom([]vtime.Duration{0, vtime.Duration(latest), vtime.Duration(rapid.Int64Range(0, int64(2*latest)).Draw(r, "left")), 1000 * vtime.Second}).Draw(r, "left of virtual time")
		from := (vtime.Forever - 1).Sub(vtime.Time(left))
		for _, v := range variants[1:] {
			got, _ := playFrom(r, v, from, target, programs)
			past := strings.HasPrefix(got, "fails: ") && strings.Contains(got, "after the end of virtual time")
			if !past && got != want || !past && left < vtime.Duration(latest) || past && left == 1000*vtime.Second {
				r.Fatalf("%s%s\nwith %+v, %v before the end of virtual time:\n%s\nfrom its beginning, to %v:\n%s", machine, strings.Join(lines, "\n"), v, left, got, latest, want)
			}
		}
	})
}

// playFrom makes a run whose ranks begin at an instant. It returns the outcome, and the latest instant of a rank.
func playFrom(t reporter, v variant, from vtime.Duration, target *network.Target, programs [][]string) (outcome string, latest vtime.Time) {
	late := make([][]string, len(programs))
	for rank, calls := range programs {
		late[rank] = append([]string{fmt.Sprintf("%scompute %ds", silent, from/vtime.Second), fmt.Sprintf("%scompute %dps", silent, from%vtime.Second)}, calls...)
	}
	v.from, v.latest = from, &latest
	return play(t, v, target, late), latest
}
