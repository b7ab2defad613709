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
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

// repeats is a program of ranks that do nothing but call one collective, each time after computing at random.
func repeats(c mpivirt.Repeated, times int, compute func(rank, time int) vtime.Duration) mpivirt.Program {
	return mpivirt.Program{Name: "repeats", Repeats: &c, Forms: []mpivirt.Form{steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, time *uint8) steps.Outcome {
			if int(*time) == times {
				return r.Finish()
			}
			*time++
			r.Compute(compute(r.Rank(), int(*time)))
			if c.Operation == collectives.Barrier {
				return r.Timed(int(*time), "collective").Barrier()
			}
			return r.Timed(int(*time), "collective").CollectiveSize(c.Operation, c.Bytes, 0)
		})
	})}}
}

// TestRepeatedCollectivesOnSharedInterfaces: where the ranks of a node share interfaces and memory, a collective that is all ranks do
// takes the same times in bulk and by messages, and has the same statistics, however the simulation is hosted.
func TestRepeatedCollectivesOnSharedInterfaces(t *testing.T) {
	fewer(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]collectives.Operation{collectives.Barrier, collectives.Allreduce, collectives.Allgather, collectives.Alltoall, collectives.ReduceScatter}).Draw(t, "operation")
		a := withFanout(t, op, rapid.SampledFrom(collectives.Algorithms(op)).Draw(t, "algorithm"))
		ranks, perNode := rapid.IntRange(2, 70).Draw(t, "ranks"), rapid.SampledFrom([]int{1, 1, 2, 3, 7, 16, 30}).Draw(t, "ranks per node")
		most := rapid.SampledFrom([]vtime.Duration{1, vtime.Microsecond, 20 * vtime.Microsecond}).Draw(t, "most computing")
		seed := rapid.Uint64().Draw(t, "seed")
		c := mpivirt.Repeated{Operation: op}
		if op != collectives.Barrier {
			c.Bytes = rapid.SampledFrom([]int64{0, 8, 700, 5000}).Draw(t, "bytes")
		}
		tgt := target(t, fmt.Sprintf(`name: test
ranks_per_node: %d
node: {interfaces: %d, bandwidth: %s, message_gap: %s, rail: %s, memory: %s}
network: {model: twolevel, intra: {latency: %s, bandwidth: 6GB/s}, inter: {latency: %s, bandwidth: 2GB/s}, overhead: {send: %s, receive: 20ns}, eager_limit: %s%s}
`, perNode, rapid.IntRange(1, 4).Draw(t, "interfaces"), rapid.SampledFrom([]string{"50MB/s", "1GB/s", "9GB/s"}).Draw(t, "bandwidth"),
			rapid.SampledFrom([]string{"0ns", "1ps", "333ns", "4us"}).Draw(t, "gap"), rapid.SampledFrom([]string{"local", "shared", "striped"}).Draw(t, "rail"),
			rapid.SampledFrom([]string{"infinite", "300MB/s", "8GB/s", "50GB/s"}).Draw(t, "memory"),
			rapid.SampledFrom([]string{"1ps", "500ns"}).Draw(t, "within"), rapid.SampledFrom([]string{"1us", "5us"}).Draw(t, "between"),
			rapid.SampledFrom([]string{"0ns", "30ns", "1us"}).Draw(t, "overhead"), rapid.SampledFrom([]string{"1MiB", "1000"}).Draw(t, "eager limit"),
			rapid.SampledFrom([]string{"", ", gap: 45ns", ", gap: 900ns", ", local_copy: {bandwidth: 1GB/s}, reduce: {bandwidth: 500MB/s}", ", launch: 3us", ", fresh_memory: {above: 1KiB, bandwidth: 300MB/s}"}).Draw(t, "work")), ranks)
		counted := rapid.Bool().Draw(t, "statistics")
		told := func(r *mpivirt.Result) []string {
			if !counted {
				return nil
			}
			return append(statisticsText(r.Calls), activityLines(r), fmt.Sprint(r.Sent, r.Handed, r.Calls.Speeds))
		}
		run := func(engines int, c0 mpivirt.Config) *mpivirt.Result {
			c0.Activities, c0.Matrix = counted, counted
			c0.Target, c0.Algorithms = tgt, map[collectives.Operation]collectives.Algorithm{op: a}
			c0.Program = repeats(c, 3, func(rank, time int) vtime.Duration {
				return vtime.Duration(random.Mix(seed^uint64(rank*4+time)) % uint64(most))
			})
			result, err := simulate(t, c0, engines)
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		want := run(1, mpivirt.Config{Collectives: mpivirt.Message})
		for range 3 {
			engines, host := drawBulkHost(t)
			got := run(engines, host)
			if got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages {
				t.Fatalf("%d engines, %+v: %v and %d messages, by messages on one engine %v and %d", engines, host, got.VirtualTime, got.Statistics.Messages, want.VirtualTime, want.Statistics.Messages)
			}
			if diff := cmp.Diff(told(want), told(got)); diff != "" {
				t.Fatalf("%d engines, %+v (-by messages on one engine +there):\n%s", engines, host, diff)
			}
		}
	})
}

// TestCollectivesWithoutBytesOccupyNoInterface: at interfaces without a gap, rounds of messages without bytes take the times of a machine
// without interfaces, have its statistics, and go in bulk on one engine with statistics and without.
func TestCollectivesWithoutBytesOccupyNoInterface(t *testing.T) {
	fewer(t, 50)
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]collectives.Operation{collectives.Barrier, collectives.Allreduce}).Draw(t, "operation")
		a := rapid.SampledFrom([]collectives.Algorithm{collectives.NodeLeader, collectives.RecursiveDoubling, collectives.Dissemination}).
			Filter(func(a collectives.Algorithm) bool { return slices.Contains(collectives.Algorithms(op), a) }).Draw(t, "algorithm")
		ranks, perNode := rapid.IntRange(20, 70).Draw(t, "ranks"), rapid.SampledFrom([]int{1, 2, 7, 16}).Draw(t, "ranks per node")
		most := rapid.SampledFrom([]vtime.Duration{1, vtime.Microsecond, 20 * vtime.Microsecond}).Draw(t, "most computing")
		seed, counted := rapid.Uint64().Draw(t, "seed"), rapid.Bool().Draw(t, "statistics")
		node := fmt.Sprintf("node: {interfaces: %d, bandwidth: 50MB/s, rail: %s, memory: %s}\n", rapid.IntRange(1, 4).Draw(t, "interfaces"),
			rapid.SampledFrom([]string{"local", "shared", "striped"}).Draw(t, "rail"), rapid.SampledFrom([]string{"infinite", "300MB/s"}).Draw(t, "memory"))
		const rest = "network: {model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: 1us, bandwidth: 2GB/s}, overhead: {send: 30ns, receive: 20ns}}\n"
		run := func(node string, engines int, c mpivirt.Config) *mpivirt.Result {
			c.Target, c.Algorithms = target(t, fmt.Sprintf("name: test\nranks_per_node: %d\n%s%s", perNode, node, rest), ranks), map[collectives.Operation]collectives.Algorithm{op: a}
			c.Activities, c.Matrix = counted, counted
			c.Program = repeats(mpivirt.Repeated{Operation: op}, 3, func(rank, time int) vtime.Duration {
				return vtime.Duration(random.Mix(seed^uint64(rank*4+time)) % uint64(most))
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
		want := run("", 1, mpivirt.Config{Collectives: mpivirt.Message})
		for range 3 {
			engines := rapid.IntRange(1, 4).Draw(t, "engines")
			c := mpivirt.Config{Collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message}).Draw(t, "interpreter")}
			got := run(node, engines, c)
			if diff := cmp.Diff(told(want), told(got)); got.Fingerprint != want.Fingerprint || diff != "" {
				t.Fatalf("%d engines, interpreter %v, with interfaces %v, without %v:\n%s", engines, c.Collectives, got.VirtualTime, want.VirtualTime, diff)
			}
			if engines == 1 && c.Collectives == mpivirt.Auto && got.Statistics.Events >= want.Statistics.Events {
				t.Fatalf("%d events with interfaces, %d by messages: it was not in bulk", got.Statistics.Events, want.Statistics.Events)
			}
		}
	})
}

// TestUnevenCollectivesOnSharedInterfaces: a vector that ranks cannot cut into equal chunks, as one of fewer elements than ranks, takes the same
// times on one engine, which carries it out round by round, and by messages, on any number of engines.
func TestUnevenCollectivesOnSharedInterfaces(t *testing.T) {
	fewer(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]collectives.Operation{collectives.Allreduce, collectives.Allreduce, collectives.ReduceScatter}).Draw(t, "operation")
		a := rapid.SampledFrom(collectives.Algorithms(op)).Draw(t, "algorithm")
		ranks := rapid.IntRange(2, 60).Draw(t, "ranks")
		c := mpivirt.Repeated{Operation: op, Bytes: rapid.Int64Range(1, 300).Draw(t, "bytes")}
		seed := rapid.Uint64().Draw(t, "seed")
		tgt := target(t, fmt.Sprintf(`name: test
ranks_per_node: %d
node: {interfaces: %d, bandwidth: %s, message_gap: %s, rail: %s, memory: %s}
network: {model: twolevel, intra: {latency: 300ns, bandwidth: 6GB/s}, inter: {latency: 1us, bandwidth: 2GB/s}, overhead: {send: 30ns, receive: 20ns}, eager_limit: 4KiB%s}
`, rapid.SampledFrom([]int{1, 2, 3, 8, 16}).Draw(t, "ranks per node"), rapid.IntRange(1, 3).Draw(t, "interfaces"),
			rapid.SampledFrom([]string{"20MB/s", "1GB/s"}).Draw(t, "bandwidth"), rapid.SampledFrom([]string{"0ns", "333ns", "4us"}).Draw(t, "gap"),
			rapid.SampledFrom([]string{"local", "shared", "striped"}).Draw(t, "rail"), rapid.SampledFrom([]string{"infinite", "100MB/s", "50GB/s"}).Draw(t, "memory"),
			rapid.SampledFrom([]string{"", ", local_copy: {bandwidth: 1GB/s}, reduce: {bandwidth: 500MB/s}"}).Draw(t, "work")), ranks)
		run := func(engines int, interpreter mpivirt.Interpreter) *mpivirt.Result {
			result, err := simulate(t, mpivirt.Config{
				Target: tgt, Algorithms: map[collectives.Operation]collectives.Algorithm{op: a}, Collectives: interpreter,
				Program: repeats(c, 3, func(rank, time int) vtime.Duration {
					return vtime.Duration(random.Mix(seed^uint64(rank*4+time)) % uint64(5*vtime.Microsecond))
				}),
			}, engines)
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		want := run(1, mpivirt.Message)
		for _, engines := range []int{1, rapid.IntRange(2, 4).Draw(t, "engines")} {
			if got := run(engines, mpivirt.Bulk); got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages {
				t.Fatalf("%d engines: %v and %d messages, by messages on one engine %v and %d", engines, got.VirtualTime, got.Statistics.Messages, want.VirtualTime, want.Statistics.Messages)
			}
		}
	})
}

// sumsRepeatedly is a program of ranks that do nothing but sum vectors of integers over all ranks, each time after computing at random. It
// holds the sums to the definition.
func sumsRepeatedly(elements, times int, compute func(rank, time int) vtime.Duration) mpivirt.Program {
	value := func(rank, time, at int) int64 { return int64(random.Mix(uint64(rank<<20|time<<10|at)) % 1000) }
	vector := func(rank, time int) []int64 {
		v := make([]int64, elements)
		for at := range v {
			v[at] = value(rank, time, at)
		}
		return v
	}
	check := func(rank, ranks, time int, sum []int64) error {
		for at, got := range sum {
			want := int64(0)
			for other := range ranks {
				want += value(other, time, at)
			}
			if got != want {
				return fmt.Errorf("call %d of rank %d: element %d of the sum is %d, want %d", time, rank, at, got, want)
			}
		}
		return nil
	}
	return mpivirt.Program{Name: "sums", Repeats: &mpivirt.Repeated{Operation: collectives.Allreduce, Bytes: 8 * int64(elements), Element: 8, Data: true}, Forms: []mpivirt.Form{
		mpivirt.Main(func(r *mpivirt.Rank) error {
			for time := range times {
				in, sum := vector(r.Rank(), time), make([]int64, elements)
				out := sum
				if time == 1 { // in place
					in, out = sum, sum
					copy(sum, vector(r.Rank(), time))
				}
				r.Compute(compute(r.Rank(), time))
				if err := mpivirt.Allreduce(r.World(), in, out, mpivirt.Sum[int64]()); err != nil {
					return err
				}
				if err := check(r.Rank(), r.Size(), time, sum); err != nil && r.HasContents() {
					return err
				}
			}
			return nil
		}),
		steps.Main(func() steps.Program {
			return steps.New(func(r *steps.Rank, time *int) steps.Outcome {
				if *time > 0 && r.HasContents() {
					if err := check(r.Rank(), r.Size(), *time-1, steps.Result[int64](r)); err != nil {
						return r.Fail(err)
					}
				}
				if *time == times {
					return r.Finish()
				}
				*time++
				r.Compute(compute(r.Rank(), *time-1))
				return steps.Allreduce(r, vector(r.Rank(), *time-1), mpivirt.Sum[int64]())
			})
		})}}
}

// TestRepeatedSumsOnSharedInterfaces: where the ranks of a node share interfaces and memory, an allreduce of vectors with contents that is all that
// ranks call takes the times of one of sizes by messages, with equal chunks and with uneven ones, eager and by rendezvous, with statistics and
// without, and gives the sums of the definition, however the simulation is hosted.
func TestRepeatedSumsOnSharedInterfaces(t *testing.T) {
	fewer(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		a := withFanout(t, collectives.Allreduce, rapid.SampledFrom(collectives.Algorithms(collectives.Allreduce)).Draw(t, "algorithm"))
		ranks := rapid.OneOf(rapid.SampledFrom([]int{4, 8, 16, 32}), rapid.IntRange(2, 40)).Draw(t, "ranks")
		elements := rapid.OneOf(rapid.IntRange(0, 50), rapid.SampledFrom([]int{ranks, 2 * ranks, 64})).Draw(t, "elements")
		most := rapid.SampledFrom([]vtime.Duration{1, vtime.Microsecond, 20 * vtime.Microsecond}).Draw(t, "most computing")
		seed, counted := rapid.Uint64().Draw(t, "seed"), rapid.Bool().Draw(t, "statistics")
		tgt := target(t, drawSharedInterfaces(t), ranks)
		run := func(engines int, c mpivirt.Config) *mpivirt.Result {
			c.Target, c.Algorithms = tgt, map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}
			c.Activities, c.Matrix = counted, counted
			c.Program = sumsRepeatedly(elements, 3, func(rank, time int) vtime.Duration {
				return vtime.Duration(random.Mix(seed^uint64(rank*4+time)) % uint64(most))
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
		want := run(1, mpivirt.Config{Collectives: mpivirt.Message, NoContents: true})
		for i := range 3 {
			c := mpivirt.Config{
				Kind:        rapid.SampledFrom([]*mpivirt.Kind{mpivirt.Goroutine, steps.Kind}).Draw(t, "kind"),
				Collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message}).Draw(t, "interpreter"),
				Strict:      rapid.Bool().Draw(t, "strict"), NoContents: i > 0 && rapid.Bool().Draw(t, "no contents"),
			}
			engines := rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "engines")
			got := run(engines, c)
			if got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages {
				t.Fatalf("%d engines, %+v: %v and %d messages, by messages without contents %v and %d", engines, c, got.VirtualTime, got.Statistics.Messages, want.VirtualTime, want.Statistics.Messages)
			}
			if diff := cmp.Diff(told(want), told(got)); diff != "" {
				t.Fatalf("%d engines, %+v (-by messages without contents +there):\n%s", engines, c, diff)
			}
		}
	})
}

// TestEventsOfSumsAtInterfaces: on one engine an allreduce of vectors with contents that ranks repeat goes in bulk where nodes have interfaces. The
// events of a rank do not grow with the ranks, whether chunks are equal, uneven or above the eager limit.
func TestEventsOfSumsAtInterfaces(t *testing.T) {
	const calls = 3
	for _, a := range []collectives.Algorithm{collectives.Rabenseifner, collectives.Ring, collectives.RecursiveDoubling} {
		for _, elements := range []int{10, 1024, 16384} {
			events := func(ranks int) float64 {
				tgt := target(t, `name: test
ranks_per_node: 12
node: {interfaces: 1, bandwidth: 2GB/s}
network: {model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: 5us, bandwidth: 2GB/s}, overhead: {send: 300ns, receive: 300ns}, eager_limit: 16KiB}
`, ranks)
				r, err := simulate(t, mpivirt.Config{
					Target: tgt, Kind: steps.Kind, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a},
					Program: sumsRepeatedly(elements, calls, func(rank, time int) vtime.Duration { return vtime.Duration(rank % 7) }),
				}, 1)
				if err != nil {
					t.Fatal(err)
				}
				return float64(r.Statistics.Events) / float64(ranks)
			}
			if few, many := events(16), events(64); many > 2*(calls+1) || many > few+1 {
				t.Errorf("%v of %d elements: %.1f events a rank on 16 ranks, %.1f on 64, in %d calls", a, elements, few, many, calls)
			}
		}
	}
}

// drawBulkHost draws a number of engines and their hosting, most often with collectives in bulk.
func drawBulkHost(t *rapid.T) (engines int, c mpivirt.Config) {
	engines = rapid.IntRange(1, 5).Draw(t, "engines")
	return engines, mpivirt.Config{
		Collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Bulk, mpivirt.Bulk, mpivirt.Message}).Draw(t, "interpreter"),
		Strict:      rapid.Bool().Draw(t, "strict"), Protocol: rapid.SampledFrom([]sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null}).Draw(t, "protocol"),
		Window: rapid.SampledFrom([]int64{0, 1, 1000}).Draw(t, "window"),
	}
}

// drawSharedInterfaces draws a machine whose ranks share the interfaces of their node, and perhaps its memory.
func drawSharedInterfaces(t *rapid.T) string {
	return fmt.Sprintf(`name: test
ranks_per_node: %d
node: {interfaces: %d, bandwidth: %s, message_gap: %s, rail: %s, memory: %s}
network: {model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: %s, bandwidth: 2GB/s}, overhead: {send: %s, receive: 20ns}, eager_limit: %s%s}
`, rapid.SampledFrom([]int{1, 2, 3, 7, 16}).Draw(t, "ranks per node"), rapid.IntRange(1, 3).Draw(t, "interfaces"),
		rapid.SampledFrom([]string{"20MB/s", "1GB/s"}).Draw(t, "bandwidth"), rapid.SampledFrom([]string{"0ns", "333ns"}).Draw(t, "gap"),
		rapid.SampledFrom([]string{"local", "shared", "striped"}).Draw(t, "rail"), rapid.SampledFrom([]string{"infinite", "infinite", "300MB/s"}).Draw(t, "memory"),
		rapid.SampledFrom([]string{"1us", "5us"}).Draw(t, "between"), rapid.SampledFrom([]string{"0ns", "30ns"}).Draw(t, "overhead"),
		rapid.SampledFrom([]string{"1MiB", "1MiB", "100"}).Draw(t, "eager limit"),
		rapid.SampledFrom([]string{"", ", gap: 900ns", ", local_copy: {bandwidth: 1GB/s}, reduce: {bandwidth: 500MB/s}"}).Draw(t, "work"))
}
