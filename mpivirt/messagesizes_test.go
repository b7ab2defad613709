package mpivirt_test

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
)

// sizeLines prints classes of sizes: a line each with the sizes, their number and their sum.
func sizeLines(classes []mpivirt.SizeClass) string {
	var b strings.Builder
	for _, c := range classes {
		fmt.Fprintf(&b, "%d-%d: %d, %d\n", c.Low, c.High, c.Count, c.Bytes)
	}
	return b.String()
}

// listedIn returns the messages that the operations of a program send point to point, by the number of bits of their
// sizes, and the number of its calls of collectives.
func listedIn(p *program) (sent map[int]mpivirt.SizeClass, calls uint64) {
	sent = map[int]mpivirt.SizeClass{}
	send := func(peer, bytes int) {
		if peer == mpivirt.ProcNull {
			return
		}
		class := bits.Len(uint(bytes))
		c := sent[class]
		sent[class] = mpivirt.SizeClass{Count: c.Count + 1, Bytes: c.Bytes + uint64(bytes)}
	}
	for _, ops := range p.ops {
		persistent := map[int]op{}
		for _, o := range ops {
			switch o.name {
			case "send", "ssend", "bsend", "rsend", "isend", "issend", "ibsend", "irsend", "sendrecv":
				send(o.peer, o.bytes)
			case "sendinit", "ssendinit", "bsendinit":
				persistent[o.slot] = o
			case "recvinit":
				delete(persistent, o.slot)
			case "start":
				if q, sends := persistent[o.slot]; sends {
					send(q.peer, q.bytes)
				}
			case "neighbor_alltoall":
				calls++
			}
			for _, operation := range collectives.Operations() {
				if o.name == operation.String() {
					calls++
				}
			}
		}
	}
	return sent, calls
}

// The sizes of a random program's messages are those in its list of operations. The bytes that ranks hand to
// collectives are the same however the ranks are hosted, and there are as many as calls.
func TestSizesOfRandomPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p program
		if rapid.Bool().Draw(t, "with receiver state") {
			p = programsOn(randomLogGOPS, 16, 24).Draw(t, "program")
		} else {
			p = programs(16, 24).Draw(t, "program")
		}
		_, first := p.simulate(t, hosting{engines: 1, activities: true})
		want, calls := listedIn(&p)
		got := map[int]mpivirt.SizeClass{}
		for _, c := range first.Sent {
			got[bits.Len64(uint64(c.Low))] = mpivirt.SizeClass{Count: c.Count, Bytes: c.Bytes}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-in the list +counted):\n%s", diff)
		}
		for _, c := range first.Handed {
			calls -= c.Count
		}
		if calls != 0 {
			t.Errorf("%d calls of collectives are missing of\n%s", int64(calls), sizeLines(first.Handed))
		}
		for range 2 {
			h := hosts(len(p.ops)).Draw(t, "host")
			h.activities = true
			if _, other := p.simulate(t, h); sizeLines(other.Sent) != sizeLines(first.Sent) || sizeLines(other.Handed) != sizeLines(first.Handed) {
				t.Errorf("%v:\n%s%s\nwant\n%s%s", h, sizeLines(other.Sent), sizeLines(other.Handed), sizeLines(first.Sent), sizeLines(first.Handed))
			}
		}
	})
}

// onWorld is a call on WORLD, as a main function.
func onWorld(call func(w *mpivirt.Comm, rank int) error) func(r *mpivirt.Rank) error {
	return func(r *mpivirt.Rank) error { return call(r.World(), r.Rank()) }
}

// line has three ranks on a line call a collective of neighbours.
func line(call func(c *mpivirt.Cart) error) func(r *mpivirt.Rank) error {
	return func(r *mpivirt.Rank) error {
		c, err := r.World().CartCreate([]int{3}, []bool{false}, false)
		if err != nil {
			return err
		}
		return call(c)
	}
}

// between has two ranks and a third call a collective on an intercommunicator.
func between(call func(c *mpivirt.Comm, rank int) error) func(r *mpivirt.Rank) error {
	return func(r *mpivirt.Rank) error {
		side := r.Rank() / 2
		mine, err := r.World().Split(side, r.Rank())
		if err != nil {
			return err
		}
		c, err := mpivirt.IntercommCreate(mine, 0, r.World(), 2-2*side, 0)
		if err != nil {
			return err
		}
		return call(c, r.Rank())
	}
}

// refused returns an error unless a call of a rank that gets errors ends with one.
func refused(call func(w *mpivirt.Comm) error) func(r *mpivirt.Rank) error {
	return func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		if err := call(r.World()); err == nil {
			return errors.New("the call is not refused")
		}
		return nil
	}
}

// The bytes that three ranks hand to each collective are the lengths of their send buffers in MPI. Rank 1 is the root.
func TestBytesHandedToCollectives(t *testing.T) {
	const n = 3
	uneven := []int{0, 1, 2} // elements of each member
	v := func(n int) []uint64 { return make([]uint64, n) }
	sum := mpivirt.Sum[uint64]()
	for _, c := range []struct {
		name string
		main func(r *mpivirt.Rank) error
		want string
	}{
		{"barrier", onWorld(func(w *mpivirt.Comm, _ int) error { return w.Barrier() }), "0-0: 3, 0\n"},
		{"bcast", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Bcast(w, v(3), 1) }), "0-0: 2, 0\n16-31: 1, 24\n"},
		{"reduce", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Reduce(w, v(3), v(3), sum, 1) }), "16-31: 3, 72\n"},
		{"allreduce", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Allreduce(w, v(3), v(3), sum) }), "16-31: 3, 72\n"},
		{"scan", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Scan(w, v(3), v(3), sum) }), "16-31: 3, 72\n"},
		{"exscan", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Exscan(w, v(3), v(3), sum) }), "16-31: 3, 72\n"},
		{"gather", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Gather(w, v(3), v(3*n), 1) }), "16-31: 3, 72\n"},
		{"gatherv", onWorld(func(w *mpivirt.Comm, rank int) error { return mpivirt.Gatherv(w, v(uneven[rank]), v(3), uneven, 1) }),
			"0-0: 1, 0\n8-15: 1, 8\n16-31: 1, 16\n"},
		{"scatter", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Scatter(w, v(3*n), v(3), 1) }), "0-0: 2, 0\n64-127: 1, 72\n"},
		// Of nine elements the root sends three.
		{"scatterv", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Scatterv(w, v(9), uneven, v(2), 1) }), "0-0: 2, 0\n16-31: 1, 24\n"},
		{"allgather", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Allgather(w, v(3), v(3*n)) }), "16-31: 3, 72\n"},
		{"allgatherv", onWorld(func(w *mpivirt.Comm, rank int) error { return mpivirt.Allgatherv(w, v(uneven[rank]), v(3), uneven) }),
			"0-0: 1, 0\n8-15: 1, 8\n16-31: 1, 16\n"},
		{"alltoall", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.Alltoall(w, v(n), v(n)) }), "16-31: 3, 72\n"},
		// Rank r sends r elements to each rank, and has room for nine.
		{"alltoallv", onWorld(func(w *mpivirt.Comm, rank int) error {
			return mpivirt.Alltoallv(w, v(9), []int{rank, rank, rank}, v(3), uneven)
		}), "0-0: 1, 0\n16-31: 1, 24\n32-63: 1, 48\n"},
		{"reduce_scatter", onWorld(func(w *mpivirt.Comm, rank int) error {
			return mpivirt.ReduceScatter(w, v(3), v(uneven[rank]), uneven, sum)
		}),
			"16-31: 3, 72\n"},
		{"reduce_scatter_block", onWorld(func(w *mpivirt.Comm, _ int) error { return mpivirt.ReduceScatterBlock(w, v(3), v(1), sum) }), "16-31: 3, 72\n"},
		{"nonblocking allreduce", func(r *mpivirt.Rank) error {
			q, err := mpivirt.Iallreduce(r.World(), v(3), v(3), sum)
			if err != nil {
				return err
			}
			_, err = q.Wait()
			return err
		}, "16-31: 3, 72\n"},
		// 3 * 2^40 bytes each.
		{"alltoall of sizes", onWorld(func(w *mpivirt.Comm, _ int) error { return w.CollectiveSize(collectives.Alltoall, 1<<40, 0) }),
			"2199023255552-4398046511103: 3, 9895604649984\n"},
		{"reduce_scatter of sizes", onWorld(func(w *mpivirt.Comm, _ int) error { return w.CollectiveSize(collectives.ReduceScatter, 8, 0) }), "16-31: 3, 72\n"},
		{"scatter of sizes", onWorld(func(w *mpivirt.Comm, _ int) error { return w.CollectiveSize(collectives.Scatter, 8, 1) }), "0-0: 2, 0\n16-31: 1, 24\n"},
		// Missing neighbours at the ends of the line have blocks, too (MPI 4.1, 8.6).
		{"neighbor_alltoall", line(func(c *mpivirt.Cart) error { return mpivirt.NeighborAlltoall(c, v(2), v(2)) }), "16-31: 3, 48\n"},
		{"neighbor_allgather", line(func(c *mpivirt.Cart) error { return mpivirt.NeighborAllgather(c, v(1), v(2)) }), "8-15: 3, 24\n"},
		// Two ranks on one side, rank 2 on the other (MPI 4.1, 6.2.2 and 6.2.3).
		{"allgather between groups", between(func(c *mpivirt.Comm, rank int) error { return mpivirt.Allgather(c, v(1+rank/2), v(2)) }),
			"8-15: 2, 16\n16-31: 1, 16\n"},
		{"alltoall between groups", between(func(c *mpivirt.Comm, rank int) error { return mpivirt.Alltoall(c, v(1+rank/2), v(1+rank/2)) }),
			"8-15: 2, 16\n16-31: 1, 16\n"},
		{"bcast between groups", between(func(c *mpivirt.Comm, rank int) error {
			return mpivirt.Bcast(c, v(2), []int{mpivirt.ProcNull, mpivirt.Root, 1}[rank])
		}), "0-0: 2, 0\n16-31: 1, 16\n"},
		{"reduce between groups", between(func(c *mpivirt.Comm, rank int) error {
			return mpivirt.Reduce(c, v(2), v(2), sum, []int{mpivirt.ProcNull, mpivirt.Root, 1}[rank])
		}), "0-0: 2, 0\n16-31: 1, 16\n"},
		{"dup and split", onWorld(func(w *mpivirt.Comm, rank int) error {
			d, err := w.Dup()
			if err != nil {
				return err
			}
			_, err = d.Split(0, -rank)
			return err
		}), ""},
		{"no such root", refused(func(w *mpivirt.Comm) error { return w.CollectiveSize(collectives.Reduce, 8, n) }), ""},
		{"room too short", refused(func(w *mpivirt.Comm) error { return mpivirt.Allreduce(w, v(3), v(2), sum) }), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for engines := 1; engines <= n; engines++ {
				if got := sizeLines(countSizes(t, n, engines, c.main).Handed); got != c.want {
					t.Errorf("%d engines:\n%swant\n%s", engines, got, c.want)
				}
			}
		})
	}
}

// countSizes returns the result of a program whose messages are counted.
func countSizes(t *testing.T, ranks, engines int, main func(r *mpivirt.Rank) error) *mpivirt.Result {
	t.Helper()
	result, err := simulate(t, mpivirt.Config{Target: target(t, inCalls, ranks), Activities: true,
		Program: mpivirt.Program{Name: "sizes", Forms: []mpivirt.Form{mpivirt.Main(main)}}}, engines)
	if err != nil {
		t.Fatalf("%d engines: %v", engines, err)
	}
	return result
}

// A message counts once, in the class of its size: 0, 1, 2-3, 4-7 and so on, also one to the rank itself. Messages to
// ProcNull, messages that MPI refuses and receives count nothing. Each start of a persistent send counts.
func TestSizesOfMessages(t *testing.T) {
	main := func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		w := r.World()
		for _, bytes := range []int64{0, 1, 2, 3, 4, 7, 8, 1 << 20, 1 << 20} {
			q, err := w.IsendSize(bytes, (r.Rank()+1)%2, 0)
			if err != nil {
				return err
			}
			if _, err := w.RecvSize(1<<20, (r.Rank()+1)%2, 0); err != nil {
				return err
			}
			if _, err := q.Wait(); err != nil {
				return err
			}
		}
		if err := w.SendSize(5, mpivirt.ProcNull, 0); err != nil {
			return err
		}
		for _, err := range []error{w.SendSize(5, 2, 0), w.SendSize(5, 0, -7), w.SendSize(-5, 0, 0)} {
			if err == nil {
				return errors.New("a send with a wrong argument is not refused")
			}
		}
		if r.Rank() == 0 {
			return nil
		}
		out, in := []byte("self"), make([]byte, 4)
		if _, err := mpivirt.Sendrecv(w, out, 1, 0, in, 1, 0); err != nil {
			return err
		}
		again := mpivirt.SendInit(w, out, 1, 0)
		for range 2 {
			if err := again.Start(); err != nil {
				return err
			}
			if err := again.Start(); err == nil {
				return errors.New("an active request is started once more")
			}
			if _, err := mpivirt.Recv(w, in, 1, 0); err != nil {
				return err
			}
			if _, err := again.Wait(); err != nil {
				return err
			}
		}
		return nil
	}
	const want = "0-0: 2, 0\n1-1: 2, 2\n2-3: 4, 10\n4-7: 7, 34\n8-15: 2, 16\n1048576-2097151: 4, 4194304\n"
	for engines := 1; engines <= 2; engines++ {
		result := countSizes(t, 2, engines, main)
		if got := sizeLines(result.Sent); got != want || result.Handed == nil || len(result.Handed) > 0 {
			t.Errorf("%d engines: %v handed, sent\n%swant none, and\n%s", engines, result.Handed, got, want)
		}
	}
}
