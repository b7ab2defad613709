package bench_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// On the flat machine of the tests a message of n bytes takes 1 us + n ns.
func onFlat(bytes int64) vtime.Duration {
	return vtime.Microsecond + vtime.Duration(bytes)*vtime.Nanosecond
}

func options(iterations int, payload int64) bench.Config {
	return bench.Config{Options: bench.Options{Iterations: iterations, Payload: payload}}
}

// expectAll expects n timed operations, each of which took d at all ranks.
func expectAll(t *testing.T, r *mpivirt.Result, n int, d vtime.Duration) {
	t.Helper()
	if len(r.Iterations) != n {
		t.Errorf("%d operations are recorded, want %d", len(r.Iterations), n)
	}
	for _, it := range r.Iterations {
		if it.Min != d || it.Max != d {
			t.Errorf("operation %d %s took %v to %v, want %v", it.Index, it.Operation, it.Min, it.Max, d)
		}
	}
}

func expectEnd(t *testing.T, r *mpivirt.Result, d vtime.Duration) {
	t.Helper()
	if r.VirtualTime != vtime.Time(d) {
		t.Errorf("ended at %v, want %v", r.VirtualTime, d)
	}
}

// All ranks send at once, so each iteration takes one message.
func TestRingTakesOneMessageAnIteration(t *testing.T) {
	for _, program := range []string{"ring", "ring_nonblocking"} {
		for _, ranks := range []int{1, 2, 3, 10} {
			r := run(t, program, flat, ranks, 1, options(5, 100))
			expectAll(t, r, 5, onFlat(100))
			expectEnd(t, r, 5*onFlat(100))
		}
	}
}

// A token passes every rank in turn: a round takes as many messages as there are
// ranks.
func TestTokenTakesRanksMessagesARound(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 10} {
		r := run(t, "ring_blocking", flat, ranks, 1, options(5, 100))
		expectEnd(t, r, 5*vtime.Duration(ranks)*onFlat(100))
	}
}

// A two-way time is that of a message and one back, whatever the number of ranks. A
// single rank sends both to itself.
func TestMpipingTakesTwoMessagesARepetition(t *testing.T) {
	for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
		for _, ranks := range []int{1, 2, 3, 6, 7} {
			for _, compute := range []vtime.Duration{0, 3 * vtime.Microsecond} {
				c := options(3, 0)
				c.Kind, c.Compute = kind, compute
				r := run(t, "mpiping", flat, ranks, 1, c)
				if len(r.Iterations) != 22 {
					t.Fatalf("%d sizes, want those from 8 B to 16 MiB: 22", len(r.Iterations))
				}
				for i, it := range r.Iterations {
					if want := 2 * onFlat(8<<i); it.Min != want || it.Max != want || it.Count != uint64(ranks) {
						t.Errorf("%d %v ranks, %s: %v to %v of %d pairs, want %v of all", ranks, kind, it.Operation, it.Min, it.Max, it.Count, want)
					}
				}
			}
		}
	}
}

// Pairs within a node and between nodes are separate, each with the times of its own
// link. The two levels are 500 ns + 0.125 ns a byte and 5 us + 0.5 ns a byte. A message
// of 8 bytes and one back take 1.002 us and 10.008 us, those of 1 MiB 263.144 us and
// 1.058576 ms. Ten ranks on nodes of four have seven pairs within and three between.
// The text is the same on any number of engines and for both kinds of rank.
func TestMpipingTellsLinksApart(t *testing.T) {
	const machine = "name: two\nranks_per_node: 4\nnetwork:\n  model: twolevel\n" +
		"  intra: {latency: 500ns, bandwidth: 8GB/s}\n  inter: {latency: 5us, bandwidth: 2GB/s}\n"
	var first string
	for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
		for _, engines := range []int{1, 2, 3} {
			var text strings.Builder
			c := options(2, 0)
			c.Kind = kind
			c.Output = func(s string) { text.WriteString(s) }
			r := run(t, "mpiping", machine, 10, engines, c)
			for _, want := range []struct {
				at    int
				name  string
				d     vtime.Duration
				pairs uint64
			}{
				{0, "8 B between nodes", 10008 * vtime.Nanosecond, 3},
				{1, "8 B within a node", 1002 * vtime.Nanosecond, 7},
				{34, "1 MiB between nodes", 1058576 * vtime.Nanosecond, 3},
				{35, "1 MiB within a node", 263144 * vtime.Nanosecond, 7},
			} {
				if it := r.Iterations[want.at]; it.Operation != want.name || it.Min != want.d || it.Mean != want.d || it.Max != want.d || it.Count != want.pairs {
					t.Errorf("%v ranks, %d engines: %+v, want %+v", kind, engines, it, want)
				}
			}
			if first == "" {
				first = text.String()
			}
			if text.String() != first {
				t.Errorf("%v ranks on %d engines print\n%s\nand on one\n%s", kind, engines, text.String(), first)
			}
		}
	}
	lines := strings.Split(first, "\n")
	for at, want := range map[int]string{
		0:  "size pairs least two-way mean most bandwidth",
		1:  "8 B within a node 1.002us 1.002us 1.002us 15.97 MB/s",
		2:  "8 B between nodes 10.008us 10.008us 10.008us 1.599 MB/s",
		35: "1 MiB within a node 263.144us 263.144us 263.144us 7970 MB/s",
		36: "1 MiB between nodes 1.058576ms 1.058576ms 1.058576ms 1981 MB/s",
	} {
		if got := strings.Join(strings.Fields(lines[at]), " "); got != want {
			t.Errorf("line %d is %q, want %q", at, got, want)
		}
	}
}

// Over hops the links between nodes differ. In a row of four nodes three pairs are one
// hop apart, and the last and the first node three. So a message and one back take 2·(1
// us + 1 us) and 2·(1 us + 3 us).
func TestMpipingReportsTheSpread(t *testing.T) {
	const machine = "name: row\nranks_per_node: 1\ntopology: {kind: mesh, dims: [4]}\nnetwork:\n  model: hops\n" +
		"  latency: 1us\n  latency_per_hop: 1us\n  bandwidth: 1PB/s\n  memory_bandwidth: 1PB/s\n"
	for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
		c := options(2, 0)
		c.Kind = kind
		it := run(t, "mpiping", machine, 4, 2, c).Iterations[0]
		if it.Min != 4*vtime.Microsecond || it.Max != 8*vtime.Microsecond || it.Mean != 5*vtime.Microsecond {
			t.Errorf("%v ranks: %+v, want 4, 5 and 8 us", kind, it)
		}
	}
}

// Both messages are under way at once, and each is acknowledged across the
// latency.
func TestDeadlockFixTakesAMessageAndItsAcknowledgement(t *testing.T) {
	r := run(t, "deadlock_fix", flat, 5, 1, options(4, 100))
	expectAll(t, r, 4, onFlat(100)+vtime.Microsecond)
}

// The midpoint rule errs by h²/24·(f'(1)-f'(0)) = 1/(12n²), here n = 100,000.
func TestPicalcErrsAsTheMidpointRule(t *testing.T) {
	for _, ranks := range []int{1, 7} {
		var pi, err float64
		var n int
		c := options(1, 0)
		c.Output = func(text string) {
			if _, scan := fmt.Sscanf(text, "pi is %g with %d intervals, error %g", &pi, &n, &err); scan != nil {
				t.Errorf("%q is printed: %v", text, scan)
			}
		}
		run(t, "picalc", flat, ranks, 1, c)
		if want := 1 / (12 * float64(n) * float64(n)); n != 100_000 || math.Abs(pi-math.Pi-want) > 1e-13 {
			t.Errorf("%d ranks: pi is %.16f with %d intervals, want %.16f", ranks, pi, n, math.Pi+want)
		}
	}
}

// n rows of n² multiplications of a nanosecond each.
func TestMatmulAlone(t *testing.T) {
	const n = 12
	r := run(t, "matmul", flat, 1, 1, options(2, 8*n))
	expectAll(t, r, 2, n*n*n*vtime.Nanosecond)
}

// One worker: the right matrix comes. Then each row takes a message, the work and a
// message back. A message without data ends it.
func TestMatmulWithOneWorker(t *testing.T) {
	const n = 12
	r := run(t, "matmul", flat, 2, 1, options(1, 8*n))
	expectEnd(t, r, onFlat(8*n*n)+n*n*n*vtime.Nanosecond+(2*n-1)*onFlat(8*n)+onFlat(0))
}

func TestProgramsRefusePayloads(t *testing.T) {
	for _, c := range []struct {
		program string
		payload int64
		want    string
	}{
		{"ring", 7, "ring: payload of 7 bytes"},
		{"ring_blocking", bench.None, "payload of 0 bytes"},
		{"deadlock_fix", 3, "use at least that"},
		{"matmul", 20, "a row is made of doubles"},
		{"matmul", bench.None, "payload of 0 bytes"},
	} {
		_, err := bench.New(c.program, options(1, c.payload))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %d bytes: %v, want it to say %q", c.program, c.payload, err, c.want)
		}
	}
}

// Blocking sends of messages above the eager limit make the ring a deadlock.
func TestRingAboveTheEagerLimit(t *testing.T) {
	r, err := try(t, "ring", "loggops-default", 3, 1, options(1, 1<<20))
	if err == nil || !strings.Contains(err.Error(), "deadlock: 3 ranks wait") {
		t.Errorf("ended with %v, %v; want a deadlock of 3 ranks", r, err)
	}
}

// BenchmarkRing reports messages in a second on one engine.
func BenchmarkRing(b *testing.B) {
	for _, kind := range []*mpivirt.Kind{steps.Kind, mpivirt.Goroutine} {
		b.Run(kind.String(), func(b *testing.B) {
			b.ReportAllocs()
			messages := uint64(0)
			for b.Loop() {
				c := options(20, 8)
				c.Kind = kind
				messages += run(b, "ring", "xt5", 65536, 1, c).Statistics.Messages
			}
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// All ranks enter the first operation at once. It takes the time of the closed form,
// under each algorithm that has one.
func TestCollectivesTakeTheirClosedForm(t *testing.T) {
	const ranks, bytes = 12, 144
	cost := collectives.Cost{Alpha: vtime.Microsecond, Beta: func(n int64) vtime.Duration { return vtime.Duration(n) * vtime.Nanosecond }}
	for op := range timed() {
		if op == collectives.Allreduce {
			continue // its ranks compute for random times
		}
		checked := 0
		for _, a := range collectives.Algorithms(op) {
			want, ok := collectives.ClosedForm(op, a, ranks, bytes, 1, cost)
			if !ok || a == collectives.NodeLeader {
				continue
			}
			checked++
			for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
				c := options(2, bytes)
				c.Kind, c.Algorithms = kind, map[collectives.Operation]collectives.Algorithm{op: a}
				r := run(t, bench.TimedBy(op), flat, ranks, 2, c)
				if it := r.Iterations[0]; len(r.Iterations) != 2 || it.Operation != op.String() || it.Count != ranks || it.Max != want {
					t.Errorf("%v by %v, %v ranks: %+v, want up to %v", op, a, kind, it, want)
				}
			}
		}
		if checked == 0 {
			t.Errorf("%v: no algorithm has a closed form", op)
		}
	}
}

// Event ranks share the sum, under every algorithm and in any number of pieces.
func TestAllreducetestUnderEveryAlgorithm(t *testing.T) {
	for _, a := range collectives.Algorithms(collectives.Allreduce) {
		var first *mpivirt.Result
		for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
			for _, i := range []mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message} {
				c := options(2, 80)
				c.Kind, c.Collectives, c.Algorithms = kind, i, map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}
				r := run(t, "allreducetest", "xt5", 29, 2, c)
				if first == nil {
					first = r
				}
				if err := sameOutcome(r, first); err != nil {
					t.Errorf("%v, %v ranks, interpreter %d: %v", a, kind, i, err)
				}
			}
		}
	}
}

// All ranks exchange at once: a dimension takes a message. Where both neighbours are
// the same rank, it takes the transfer of another one.
func TestStencilTakesAMessageADimension(t *testing.T) {
	const payload = 100
	transfer := onFlat(payload) - onFlat(0)
	for _, c := range []struct {
		ranks int
		want  vtime.Duration
	}{
		{1, 0},
		{2, onFlat(payload) + transfer},
		{3, onFlat(payload)},
		{8, 3 * (onFlat(payload) + transfer)},
		{27, 3 * onFlat(payload)},
		{12, 3*onFlat(payload) + 2*transfer},
	} {
		for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
			o := options(1, payload)
			o.Kind = kind
			r := run(t, "stencil", flat, c.ranks, 1, o)
			if len(r.Iterations) != 2 {
				t.Fatalf("%d operations are recorded, want a halo and an allreduce", len(r.Iterations))
			}
			if it := r.Iterations[1]; it.Operation != "halo" || it.Min != c.want || it.Max != c.want {
				t.Errorf("%d %v ranks: %s took %v to %v, want %v", c.ranks, kind, it.Operation, it.Min, it.Max, c.want)
			}
		}
	}
}

// Faces above the eager limit are exchanged without a deadlock, since the receives are
// posted first.
func TestStencilByRendezvous(t *testing.T) {
	for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
		c := options(2, 1<<17)
		c.Kind = kind
		run(t, "stencil", "loggops-default", 12, 2, c)
	}
}
