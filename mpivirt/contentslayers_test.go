package mpivirt_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/sync"
	"gigarank/vtime"
)

// composed returns the affine map of x, modulo 2^32, that is first a and then b. A map multiplies by its upper half and adds its lower half. To
// compose is associative, and not commutative.
func composed(a, b uint64) uint64 {
	factor := uint32(a>>32) * uint32(b>>32)
	return uint64(factor)<<32 | uint64(uint32(b>>32)*uint32(a)+uint32(b))
}

// contentsOf is a program of ranks that do nothing but call one collective with contents, each time after computing at random. Each result is
// appended to those of its rank, as bits: of sums of doubles, whose bits depend on the order of summing, or of maps that are composed in the order of ranks.
func contentsOf(op collectives.Operation, inOrder bool, elements, times int, compute func(rank, time int) vtime.Duration, results [][]uint64) mpivirt.Program {
	value := func(rank, time, at int) uint64 {
		bits := random.Mix(uint64(rank)<<40 | uint64(time)<<32 | uint64(at))
		if !inOrder {
			bits = math.Float64bits(float64(bits>>12) * math.Pow(2, float64(bits%64)-32))
		}
		return bits
	}
	combine := mpivirt.NewOp(false, composed)
	if !inOrder {
		combine = mpivirt.NewOp(true, func(a, b uint64) uint64 {
			return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
		})
	}
	bytes := 8 * int64(elements)
	if op == collectives.ReduceScatter {
		bytes *= int64(len(results))
	}
	return mpivirt.Program{Name: "contents", Repeats: &mpivirt.Repeated{Operation: op, Bytes: bytes, Element: 8, Data: true}, Forms: []mpivirt.Form{
		mpivirt.Main(func(r *mpivirt.Rank) error {
			all := r.World()
			for time := range times {
				n, m := elements, elements
				switch op {
				case collectives.Allgather:
					m *= r.Size()
				case collectives.Alltoall:
					n, m = n*r.Size(), m*r.Size()
				case collectives.ReduceScatter:
					n *= r.Size()
				}
				in, out := make([]uint64, n), make([]uint64, m)
				for at := range in {
					in[at] = value(r.Rank(), time, at)
				}
				r.Compute(compute(r.Rank(), time))
				var err error
				switch op {
				case collectives.Allreduce:
					err = mpivirt.Allreduce(all, in, out, combine)
				case collectives.Allgather:
					err = mpivirt.Allgather(all, in, out)
				case collectives.Alltoall:
					err = mpivirt.Alltoall(all, in, out)
				case collectives.Bcast:
					if out = in; r.Rank() != r.Size()/2 {
						clear(out)
					}
					err = mpivirt.Bcast(all, out, r.Size()/2)
				case collectives.Reduce:
					err = mpivirt.Reduce(all, in, out, combine, r.Size()/2)
				case collectives.ReduceScatter:
					err = mpivirt.ReduceScatter(all, in, out, slices.Repeat([]int{elements}, r.Size()), combine)
				}
				if err != nil {
					return err
				}
				clear(in[:len(in)*map[bool]int{true: 1}[op != collectives.Bcast]]) // the program may change it now
				for at, got := range out {
					want := got
					switch {
					case op == collectives.Allgather:
						want = value(at/elements, time, at%elements)
					case op == collectives.Alltoall:
						want = value(at/elements, time, r.Rank()*elements+at%elements)
					case op == collectives.Bcast:
						want = value(r.Size()/2, time, at)
					case inOrder && (op != collectives.Reduce || r.Rank() == r.Size()/2):
						from := at
						if op == collectives.ReduceScatter {
							from += r.Rank() * elements
						}
						want = value(0, time, from)
						for other := 1; other < r.Size(); other++ {
							want = composed(want, value(other, time, from))
						}
					}
					if got != want {
						return fmt.Errorf("call %d of %v, rank %d: element %d is %x, want %x", time, op, r.Rank(), at, got, want)
					}
				}
				results[r.Rank()] = append(results[r.Rank()], out...)
			}
			return nil
		})}}
}

// TestRepeatedContentsOnSharedInterfaces: where the ranks of a node share interfaces and memory, a collective with contents that is all that ranks call
// takes the same times and gives the same bits in bulk and by messages, of doubles and of operations that are not commutative, however the
// simulation is hosted.
func TestRepeatedContentsOnSharedInterfaces(t *testing.T) {
	fewer(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]collectives.Operation{collectives.Allreduce, collectives.Allreduce, collectives.Allreduce, collectives.Allgather, collectives.Alltoall,
			collectives.Bcast, collectives.Reduce, collectives.ReduceScatter}).Draw(t, "operation")
		reduces := op == collectives.Allreduce || op == collectives.Reduce || op == collectives.ReduceScatter
		inOrder := reduces && rapid.Bool().Draw(t, "in order")
		a := rapid.SampledFrom(collectives.Algorithms(op)).Filter(func(a collectives.Algorithm) bool { return !inOrder || collectives.Ordered(op, a) }).Draw(t, "algorithm")
		ranks := rapid.OneOf(rapid.SampledFrom([]int{4, 8, 16, 32}), rapid.IntRange(2, 40)).Draw(t, "ranks")
		elements := rapid.OneOf(rapid.IntRange(1, 50), rapid.SampledFrom([]int{ranks, 2 * ranks, 64})).Draw(t, "elements")
		most := rapid.SampledFrom([]vtime.Duration{1, vtime.Microsecond, 20 * vtime.Microsecond}).Draw(t, "most computing")
		seed, counted := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 3).Draw(t, "statistics") == 0
		tgt := target(t, drawSharedInterfaces(t), ranks)
		run := func(engines int, c mpivirt.Config) (*mpivirt.Result, [][]uint64) {
			results := make([][]uint64, ranks)
			c.Target, c.Algorithms = tgt, map[collectives.Operation]collectives.Algorithm{op: a}
			c.Activities, c.Matrix = counted, counted
			c.Program = contentsOf(op, inOrder, elements, 3, func(rank, time int) vtime.Duration {
				return vtime.Duration(random.Mix(seed^uint64(rank*4+time)) % uint64(most))
			}, results)
			result, err := simulate(t, c, engines)
			if err != nil {
				t.Fatal(err)
			}
			return result, results
		}
		told := func(r *mpivirt.Result) []string {
			if !counted {
				return nil
			}
			return append(statisticsText(r.Calls), activityLines(r), fmt.Sprint(r.Sent, r.Handed, r.Calls.Speeds))
		}
		want, results := run(1, mpivirt.Config{Collectives: mpivirt.Message})
		for range 3 {
			c := mpivirt.Config{
				Collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Auto, mpivirt.Auto, mpivirt.Message}).Draw(t, "interpreter"),
				Strict:      rapid.IntRange(0, 3).Draw(t, "strict") == 0, Protocol: rapid.SampledFrom([]sync.Protocol{sync.Hybrid, sync.Hybrid, sync.Conditional, sync.Null}).Draw(t, "protocol"),
				Window: rapid.SampledFrom([]int64{0, 1, 1000}).Draw(t, "window"),
			}
			engines := rapid.IntRange(1, 4).Draw(t, "engines")
			got, bits := run(engines, c)
			if got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages {
				t.Fatalf("%d engines, %+v: %v and %d messages, by messages on one engine %v and %d", engines, c, got.VirtualTime, got.Statistics.Messages, want.VirtualTime, want.Statistics.Messages)
			}
			for rank := range bits {
				if !slices.Equal(bits[rank], results[rank]) {
					t.Fatalf("%d engines, %+v: rank %d gets\n%x\nby messages on one engine\n%x", engines, c, rank, bits[rank], results[rank])
				}
			}
			if diff := cmp.Diff(told(want), told(got)); diff != "" {
				t.Fatalf("%d engines, %+v (-by messages on one engine +there):\n%s", engines, c, diff)
			}
		}
	})
}

// TestRepeatedContentsThatDisagree: where the ranks of a node share interfaces, an allreduce that ranks repeat fails for all of them, at the same instant and
// with the same error, if some of them call it with another operation, in bulk and by messages, on any number of engines.
func TestRepeatedContentsThatDisagree(t *testing.T) {
	fewer(t, 50)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom([]collectives.Algorithm{collectives.Rabenseifner, collectives.Ring, collectives.RecursiveDoubling}).Draw(t, "algorithm")
		ranks := rapid.IntRange(2, 40).Draw(t, "ranks")
		elements := rapid.OneOf(rapid.IntRange(1, 50), rapid.Just(ranks)).Draw(t, "elements")
		other := rapid.SliceOfN(rapid.IntRange(0, ranks-1), 1, 3).Draw(t, "others")
		seed := rapid.Uint64().Draw(t, "seed")
		tgt := target(t, fmt.Sprintf(`name: test
ranks_per_node: %d
node: {interfaces: 1, bandwidth: 1GB/s}
network: {model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: 1us, bandwidth: 2GB/s}, overhead: {send: 30ns, receive: 20ns}}
`, rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(t, "ranks per node")), ranks)
		run := func(engines int, c mpivirt.Config) (*mpivirt.Result, []string) {
			heard := make([]string, ranks)
			c.Target, c.Algorithms = tgt, map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}
			c.Program = mpivirt.Program{Name: "disagree", Repeats: &mpivirt.Repeated{Operation: collectives.Allreduce, Bytes: 8 * int64(elements), Element: 8, Data: true}, Forms: []mpivirt.Form{
				mpivirt.Main(func(r *mpivirt.Rank) error {
					r.SetErrorsReturn(true)
					for time := range 2 {
						in, out := make([]int64, elements), make([]int64, elements)
						for at := range in {
							in[at] = int64(random.Mix(uint64(r.Rank())<<32|uint64(time)<<16|uint64(at)) % 1000)
						}
						r.Compute(vtime.Duration(random.Mix(seed^uint64(r.Rank()*4+time)) % uint64(10*vtime.Microsecond)))
						op := mpivirt.Sum[int64]()
						if time == 1 && slices.Contains(other, r.Rank()) {
							op = mpivirt.Max[int64]()
						}
						if err := mpivirt.Allreduce(r.World(), in, out, op); err != nil {
							heard[r.Rank()] += fmt.Sprintf("%v: %v\n", r.Now(), err)
							return nil
						}
						heard[r.Rank()] += fmt.Sprintf("%v: %v\n", r.Now(), out)
					}
					return nil
				})}}
			result, err := simulate(t, c, engines)
			if err != nil {
				t.Fatal(err)
			}
			return result, heard
		}
		want, told := run(1, mpivirt.Config{Collectives: mpivirt.Message})
		for range 3 {
			c := mpivirt.Config{Collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Auto, mpivirt.Auto, mpivirt.Message}).Draw(t, "interpreter"),
				Window: rapid.SampledFrom([]int64{0, 1, 1000}).Draw(t, "window")}
			engines := rapid.IntRange(1, 4).Draw(t, "engines")
			got, heard := run(engines, c)
			if diff := cmp.Diff(told, heard); diff != "" || got.Fingerprint != want.Fingerprint {
				t.Fatalf("%d engines, %+v: %v, by messages on one engine %v (-by messages on one engine +there):\n%s", engines, c, got.VirtualTime, want.VirtualTime, diff)
			}
		}
	})
}

// TestRepeatedContentsPastTheEndOfTime: where the ranks of a node share interfaces and memory, an allreduce that ranks repeat ends the run if a message passes the
// end of virtual time, in bulk as by messages, on any number of engines. The failure names the call.
func TestRepeatedContentsPastTheEndOfTime(t *testing.T) {
	fewer(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom([]collectives.Algorithm{collectives.Rabenseifner, collectives.Ring}).Draw(t, "algorithm")
		ranks := rapid.IntRange(4, 20).Draw(t, "ranks")
		elements := rapid.OneOf(rapid.IntRange(1, 40), rapid.Just(ranks)).Draw(t, "elements")
		left := vtime.Duration(rapid.IntRange(1, int(200*vtime.Microsecond)).Draw(t, "left"))
		seed := rapid.Uint64().Draw(t, "seed")
		tgt := target(t, fmt.Sprintf(`name: test
ranks_per_node: %d
node: {interfaces: %d, bandwidth: %s, message_gap: %s, rail: %s, memory: %s}
network: {model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: %s, bandwidth: 2GB/s}, overhead: {send: 30ns, receive: 20ns}, reduce: {bandwidth: 500MB/s}}
`, rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(t, "ranks per node"), rapid.IntRange(1, 2).Draw(t, "interfaces"), rapid.SampledFrom([]string{"1MB/s", "1GB/s"}).Draw(t, "bandwidth"),
			rapid.SampledFrom([]string{"0ns", "5us"}).Draw(t, "gap"), rapid.SampledFrom([]string{"local", "shared", "striped"}).Draw(t, "rail"),
			rapid.SampledFrom([]string{"infinite", "1MB/s"}).Draw(t, "memory"), rapid.SampledFrom([]string{"1us", "30us"}).Draw(t, "between")), ranks)
		run := func(engines int, c mpivirt.Config) (string, string) {
			c.Target, c.Algorithms = tgt, map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}
			c.Program = contentsOf(collectives.Allreduce, false, elements, 1, func(rank, time int) vtime.Duration {
				return vtime.Duration(vtime.Forever) - left - vtime.Duration(random.Mix(seed^uint64(rank*4+time))%uint64(10*vtime.Microsecond))
			}, make([][]uint64, ranks))
			result, err := simulate(t, c, engines)
			if err != nil {
				return "", err.Error()
			}
			return result.Fingerprint, ""
		}
		named := func(failure string) bool {
			return strings.Contains(failure, " in Allreduce: ") && strings.Contains(failure, "end of virtual time")
		}
		want, failed := run(1, mpivirt.Config{Collectives: mpivirt.Message})
		for range 3 {
			engines := rapid.IntRange(1, 4).Draw(t, "engines")
			c := mpivirt.Config{Collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Auto, mpivirt.Auto, mpivirt.Message}).Draw(t, "interpreter")}
			got, why := run(engines, c)
			if got != want || named(why) != named(failed) {
				t.Fatalf("%d engines, interpreter %v: %s %s\nby messages on one engine %s %s", engines, c.Collectives, got, why, want, failed)
			}
		}
	})
}
