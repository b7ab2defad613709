package mpivirt_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/sync"
	"gigarank/vtime"
)

// A split of all ranks by recursive doubling, worked out: each round costs both overheads and the way of the last message of its node.
// In the first two rounds partners are on one node of four ranks, then the interface takes the bytes of all four ranks.
func TestTimesOfSplitsAtInterfaces(t *testing.T) {
	const ranks, perNode = 64, 4
	const send, receive, within, between = 300 * vtime.Nanosecond, 200 * vtime.Nanosecond, 500 * vtime.Nanosecond, 5 * vtime.Microsecond
	tgt := target(t, `name: four
ranks_per_node: 4
node: {interfaces: 1, bandwidth: 1GB/s}
network: {model: twolevel, intra: {latency: 500ns, bandwidth: 8GB/s}, inter: {latency: 5us, bandwidth: 2GB/s}, overhead: {send: 300ns, receive: 200ns}}
`, ranks)
	want := vtime.Duration(0)
	for distance := 1; distance < ranks; distance *= 2 {
		bytes := vtime.Duration(8 * distance)
		if want += send + receive; distance < perNode {
			want += within + bytes*vtime.Nanosecond/8
		} else {
			want += between + perNode*bytes*vtime.Nanosecond
		}
	}
	for _, interpreter := range []mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message} {
		for _, engines := range []int{1, 3} {
			r, err := simulate(t, mpivirt.Config{Target: tgt, Collectives: interpreter, Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				c, err := r.World().Split(r.Rank()%perNode, -r.Rank())
				if err == nil && (c.Size() != ranks/perNode || c.Rank() != (ranks-1-r.Rank())/perNode) {
					err = fmt.Errorf("rank %d is %d of %d", r.Rank(), c.Rank(), c.Size())
				}
				if err == nil && r.Now() != vtime.Time(want) {
					err = fmt.Errorf("rank %d leaves at %v, want %v", r.Rank(), r.Now(), want)
				}
				return err
			})}}}, engines)
			if err != nil {
				t.Errorf("interpreter %v on %d engines, %v: %v", interpreter, engines, r, err)
			}
		}
	}
}

// mixes is a program whose ranks send messages to each other, meet at barriers and split WORLD, after computing at random.
func mixes(kinds []byte, bytes int, compute func(rank, time int) vtime.Duration) mpivirt.Program {
	return mpivirt.Program{Name: "mixes", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		all, vector := r.World(), make([]byte, bytes)
		for time, kind := range kinds {
			r.Compute(compute(r.Rank(), time))
			err := error(nil)
			switch next, last := (r.Rank()+time+1)%r.Size(), (r.Rank()+(time+1)*(r.Size()-1))%r.Size(); kind {
			case 'm': // is under way while others enter the next call
				q, failed := mpivirt.Isend(all, vector, next, time)
				if err = failed; err == nil {
					_, err = mpivirt.Recv(all, make([]byte, bytes), last, time)
				}
				if err == nil {
					_, err = q.Wait()
				}
			case 'b':
				err = all.Barrier()
			case 'i':
				q, failed := all.Ibarrier()
				r.Compute(compute(r.Rank(), time+7))
				if err = failed; err == nil {
					_, err = q.Wait()
				}
			case 's':
				groups := 1 + time%3
				c, failed := all.Split(r.Rank()%groups, 0)
				if err = failed; err == nil && c.Size() != (r.Size()-r.Rank()%groups+groups-1)/groups {
					err = fmt.Errorf("rank %d is among %d in call %d", r.Rank(), c.Size(), time)
				}
			}
			if err != nil {
				return err
			}
			r.Record(time, string(kind), vtime.Duration(r.Now()))
		}
		return nil
	})}}
}

// TestMixedProgramsOnSharedInterfaces: where the ranks of a node share interfaces and memory, a program that mixes barriers and splits with messages takes
// the same times and has the same statistics in bulk and by messages, however the simulation is hosted.
func TestMixedProgramsOnSharedInterfaces(t *testing.T) {
	fewer(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 40).Draw(t, "ranks")
		most := rapid.SampledFrom([]vtime.Duration{1, vtime.Microsecond, 20 * vtime.Microsecond}).Draw(t, "most computing")
		seed, counted := rapid.Uint64().Draw(t, "seed"), rapid.Bool().Draw(t, "statistics")
		kinds := rapid.SliceOfN(rapid.SampledFrom([]byte("mbis")), 1, 6).Draw(t, "calls")
		bytes := rapid.SampledFrom([]int{0, 8, 700, 9000}).Draw(t, "bytes")
		barrier := rapid.SampledFrom([]collectives.Algorithm{collectives.NodeLeader, collectives.Dissemination, collectives.RecursiveDoubling}).
			Filter(func(a collectives.Algorithm) bool {
				return slices.Contains(collectives.Algorithms(collectives.Barrier), a)
			}).Draw(t, "barrier")
		algorithms := map[collectives.Operation]collectives.Algorithm{collectives.Barrier: barrier}
		if rapid.IntRange(0, 3).Draw(t, "given") == 0 {
			algorithms[collectives.Allgather] = rapid.SampledFrom(collectives.Algorithms(collectives.Allgather)).Draw(t, "allgather")
		}
		tgt := target(t, fmt.Sprintf(`name: test
ranks_per_node: %d
mapping: %s
node: {interfaces: %d, bandwidth: %s, message_gap: %s, rail: %s, memory: %s}
network: {model: twolevel, intra: {latency: %s, bandwidth: 6GB/s}, inter: {latency: %s, bandwidth: 2GB/s}, overhead: {send: %s, receive: 20ns}, eager_limit: %s%s}
`, rapid.SampledFrom([]int{1, 2, 3, 7, 16}).Draw(t, "ranks per node"), rapid.SampledFrom([]string{"block", "block", "block", "cyclic"}).Draw(t, "mapping"),
			rapid.IntRange(1, 3).Draw(t, "interfaces"), rapid.SampledFrom([]string{"20MB/s", "1GB/s"}).Draw(t, "bandwidth"),
			rapid.SampledFrom([]string{"0ns", "0ns", "333ns"}).Draw(t, "gap"), rapid.SampledFrom([]string{"local", "shared", "striped"}).Draw(t, "rail"),
			rapid.SampledFrom([]string{"infinite", "300MB/s"}).Draw(t, "memory"), rapid.SampledFrom([]string{"1ps", "500ns"}).Draw(t, "within"),
			rapid.SampledFrom([]string{"1us", "5us"}).Draw(t, "between"), rapid.SampledFrom([]string{"0ns", "30ns"}).Draw(t, "overhead"),
			rapid.SampledFrom([]string{"1MiB", "100", "16"}).Draw(t, "eager limit"),
			rapid.SampledFrom([]string{"", ", gap: 900ns", ", local_copy: {bandwidth: 1GB/s}", ", launch: 3us", ", progress: calls", ", progress: waits",
				", jitter: {distribution: exponential, mean: 300ns}"}).Draw(t, "work")), ranks)
		run := func(engines int, c mpivirt.Config) *mpivirt.Result {
			c.Target, c.Algorithms, c.Activities, c.Matrix = tgt, algorithms, counted, counted
			c.Program = mixes(kinds, bytes, func(rank, time int) vtime.Duration {
				return vtime.Duration(random.Mix(seed^uint64(rank*16+time)) % uint64(most))
			})
			result, err := simulate(t, c, engines)
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		told := func(r *mpivirt.Result) []string {
			if !counted {
				return nil
			}
			return append(statisticsText(r.Calls), activityLines(r), fmt.Sprint(r.Sent, r.Handed, r.Calls.Speeds))
		}
		want := run(1, mpivirt.Config{Collectives: mpivirt.Message})
		for range 3 {
			engines := rapid.IntRange(1, 5).Draw(t, "engines")
			c := mpivirt.Config{
				Collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Auto, mpivirt.Auto, mpivirt.Message}).Draw(t, "interpreter"),
				Strict:      rapid.Bool().Draw(t, "strict"), Protocol: rapid.SampledFrom([]sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null}).Draw(t, "protocol"),
				Window: rapid.SampledFrom([]int64{0, 1, 1000}).Draw(t, "window"),
			}
			got := run(engines, c)
			if diff := cmp.Diff(told(want), told(got)); got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages || diff != "" {
				t.Fatalf("%d engines, %+v: %v and %d messages, by messages on one engine %v and %d\n%s", engines, c, got.VirtualTime, got.Statistics.Messages, want.VirtualTime, want.Statistics.Messages, diff)
			}
		}
	})
}

// TestEventsOfMixedProgramsAtInterfaces: the events of a rank for a barrier and a split do not grow with the ranks where nodes have interfaces, beside
// messages as without, on one engine and on two.
func TestEventsOfMixedProgramsAtInterfaces(t *testing.T) {
	for _, kinds := range []string{"b", "s", "mbsm"} {
		for _, engines := range []int{1, 2} {
			events := func(ranks int) float64 {
				tgt := target(t, `name: test
ranks_per_node: 12
node: {interfaces: 1, bandwidth: 2GB/s}
network: {model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: 5us, bandwidth: 2GB/s}, overhead: {send: 300ns, receive: 300ns}, gap: 300ns, eager_limit: 125KiB}
`, ranks)
				r, err := simulate(t, mpivirt.Config{
					Target: tgt, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.Dissemination},
					Program: mixes([]byte(kinds), 100, func(rank, time int) vtime.Duration { return vtime.Duration(rank % 5) }),
				}, engines)
				if err != nil {
					t.Fatal(err)
				}
				return float64(r.Statistics.Events) / float64(ranks)
			}
			if few, many := events(96), events(1536); many > few+1 {
				t.Errorf("calls %s on %d engines: %.1f events a rank among 96, %.1f among 1,536", kinds, engines, few, many)
			}
		}
	}
}
