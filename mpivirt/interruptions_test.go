package mpivirt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

const interrupted = "name: i\nranks_per_node: 4\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 10us}, overhead: {send: 300ns, receive: 200ns}, " +
	"interruptions: {interval: 50us, duration: 10us}}\n"

// A rank takes a message, and goes on, when no interruption holds it up: in a ping-pong, and in a barrier by dissemination, whose rounds
// are worked out here.
func TestInterruptionsHoldUpMessages(t *testing.T) {
	for name, file := range map[string]string{"overheads": interrupted, "no overheads": strings.Replace(interrupted, "overhead: {send: 300ns, receive: 200ns}, ", "", 1)} {
		t.Run(name, func(t *testing.T) { checkInterruptedMessages(t, file) })
	}
}

func checkInterruptedMessages(t *testing.T, file string) {
	const ranks, seed = 9, 11
	machine := target(t, file, ranks).Seeded(seed)
	overhead := machine.Overhead()
	clocks, want := make([]vtime.Time, ranks), make([][]vtime.Time, ranks) // want: after each receive
	send := func(src, dst int) (arrival vtime.Time) {
		clocks[src] = machine.Free(src, clocks[src]).Add(overhead.Send)
		return clocks[src].Add(machine.Delay(src, dst, 0))
	}
	receive := func(dst int, arrival vtime.Time) {
		clocks[dst] = machine.Free(dst, max(clocks[dst], arrival).Add(overhead.Receive))
	}
	for range 20 { // between ranks 0 and 8
		receive(8, send(0, 8))
		want[8] = append(want[8], clocks[8])
		receive(0, send(8, 0))
		want[0] = append(want[0], clocks[0])
	}
	if quiet := vtime.Time(40 * (overhead.Send + overhead.Receive + 10*vtime.Microsecond)); clocks[0] <= quiet {
		t.Errorf("rank 0 has its last message at %v: no interruption holds the ping-pong up", clocks[0])
	}
	for distance := 1; distance < ranks; distance *= 2 {
		arrivals := make([]vtime.Time, ranks)
		for src := range ranks {
			arrivals[(src+distance)%ranks] = send(src, (src+distance)%ranks)
		}
		for dst, arrival := range arrivals {
			receive(dst, arrival)
		}
	}
	for rank, clock := range clocks {
		want[rank] = append(want[rank], clock)
	}
	for _, interpreter := range interpreters {
		for engines := 1; engines <= 3; engines++ {
			all := make([][]vtime.Time, ranks)
			_, err := simulate(t, mpivirt.Config{Target: target(t, file, ranks), Seed: seed, Collectives: interpreter,
				Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.Dissemination},
				Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					var err error
					for range 20 {
						switch r.Rank() {
						case 0:
							sent := r.World().SendSize(0, 8, 0)
							_, received := r.World().RecvSize(0, 8, 0)
							all[0], err = append(all[0], r.Now()), errors.Join(err, sent, received)
						case 8:
							_, received := r.World().RecvSize(0, 0, 0)
							all[8] = append(all[8], r.Now())
							err = errors.Join(err, received, r.World().SendSize(0, 0, 0))
						}
					}
					err = errors.Join(err, r.World().Barrier())
					all[r.Rank()] = append(all[r.Rank()], r.Now())
					return err
				})}}}, engines)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(all) != fmt.Sprint(want) {
				t.Errorf("%v on %d engines: ranks receive and leave at %v, want %v", interpreter, engines, all, want)
			}
		}
	}
}

// Joins begin, and releases end, when no interruption holds the member up.
func TestInterruptionsHoldUpJoins(t *testing.T) {
	const ranks, seed = 4, 5
	machine := target(t, interrupted, ranks).Seeded(seed)
	held := false
	for late := vtime.Duration(0); late < 200*vtime.Microsecond; late += 3 * vtime.Microsecond {
		latest := vtime.Time(late)
		for rank := 1; rank < ranks; rank++ {
			latest = max(latest, machine.Free(rank, vtime.Time(late)).Add(vtime.Microsecond))
		}
		want := []vtime.Time{latest}
		for rank := 1; rank < ranks; rank++ {
			want = append(want, machine.Free(rank, latest.Add(vtime.Microsecond)))
			held = held || want[rank] > vtime.Time(late+2*vtime.Microsecond)
		}
		for engines := 1; engines <= 2; engines++ {
			all := make([]vtime.Time, ranks)
			_, err := simulate(t, mpivirt.Config{Target: target(t, interrupted, ranks), Seed: seed,
				Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.NodeLeader},
				Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					r.Compute(late)
					err := r.World().Barrier()
					all[r.Rank()] = r.Now()
					return err
				})}}}, engines)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(all) != fmt.Sprint(want) {
				t.Errorf("%d engines, entry at %v: ranks leave at %v, want %v", engines, late, all, want)
			}
		}
	}
	if !held {
		t.Error("no rank is held up")
	}
}

// Interruptions are the same on any hosting, of blocking and other forms, of goroutine and event ranks.
func TestInterruptionsDependOnNoHost(t *testing.T) { checkBarriersOnAnyHost(t, interrupted) }
