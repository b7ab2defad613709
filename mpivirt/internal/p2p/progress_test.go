package p2p

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A rank that computes in thousands of phases answers handshakes as one with a few: phases that no handshake can reach any more are forgotten,
// and where too many are kept, timed events answer. All variants give the same, and a rendezvous takes what the rule of progress says: with
// progress in calls the data leave at the first call from the arrival of ACK on.
func TestManyPhases(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		phases := rapid.SampledFrom([]int{50, 50, 50, 50, 1100, 2300}).Draw(r, "phases")
		machine := "network: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 100B, progress: " + rapid.SampledFrom([]string{"calls", "waits"}).Draw(r, "progress") + "}\n"
		long := func(name string) string { // phases of 10 ns, with a call between some of them
			calls := slices.Repeat([]string{"compute 10ns"}, phases)
			for i := range calls {
				if i%7 == 3 {
					calls[i] += "; " + rapid.SampledFrom([]string{"iprobe * 9", "test " + name, "compute 1ns"}).Draw(r, "between")
				}
			}
			return strings.Join(calls, "; ")
		}
		programs := []string{
			"a=isend 1 1 2000; " + long("a") + "; wait a; b=irecv 1 2; compute 1us; wait b",
			"b=isend 0 2 3000; compute 3us; recv 0 1; " + long("b") + "; wait b",
			"",
		}
		if rapid.Bool().Draw(r, "others") { // whose messages have another rank wait
			programs[2] = fmt.Sprintf("compute %dus; c=isend 0 3 500; compute 9us; wait c", rapid.IntRange(0, 30).Draw(r, "late"))
			programs[0] += "; recv 2 3"
		}
		target := drawnTarget(r, machine, len(programs))
		want, first := "", variant{}
		for i := range 3 {
			v := drawVariant(r, len(programs))
			switch got := (options{}).text(playScript(r, v, options{}, target, programs)); {
			case i == 0:
				want, first = got, v
			case got != want || r.Failed():
				r.Fatalf("%s%s\nwith %+v:\n%s\nelse, with %+v:\n%s", machine, strings.Join(programs, "\n"), v, got, first, want)
			}
		}
	})
}
