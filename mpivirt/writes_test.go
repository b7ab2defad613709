package mpivirt_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/vtime"
)

// Collectives along the links of a torus end for all ranks the machine's time after the last entry, and move the same data as messages
// do, on any hosting, blocking and not.
func TestWritesAlongTorus(t *testing.T) {
	shapes := [][]int{{2, 2}, {3, 2}, {2, 2, 2}, {5}, {3, 3}}
	rapid.Check(t, func(rt *rapid.T) {
		dims := rapid.SampledFrom(shapes).Draw(rt, "shape")
		ranks := 1
		for _, n := range dims {
			ranks *= n
		}
		machine := fmt.Sprintf("name: torus\nnode: {bandwidth: 1GB/s}\ntopology: {kind: torus, dims: %s}\nnetwork: {model: flat, latency: 1us, reduce: {bandwidth: 2GB/s}, torus_writes: {begin: 6us, hop: 2us, take: 500ns}}\n",
			fmt.Sprint("[", join(dims), "]"))
		laidOut := target(rt, machine, ranks)
		op := rapid.SampledFrom([]collectives.Operation{collectives.Bcast, collectives.Reduce, collectives.Allreduce, collectives.Allgather, collectives.Gather, collectives.Alltoall}).Draw(rt, "operation")
		words, root := rapid.IntRange(1, 40).Draw(rt, "words"), rapid.IntRange(0, ranks-1).Draw(rt, "root")
		trees, segment := rapid.IntRange(2, 6).Draw(rt, "trees"), rapid.Int64Range(1, 99).Draw(rt, "segment")
		bytes := int64(8 * words)
		var algorithm collectives.Algorithm
		var want vtime.Duration
		switch op {
		case collectives.Allgather:
			algorithm, want = collectives.TorusRings, laidOut.RingsTime(bytes)
		case collectives.Gather:
			algorithm, want = collectives.TorusDirect, laidOut.DirectTime(bytes)
		case collectives.Alltoall:
			algorithm, want = collectives.TorusSpread, laidOut.SpreadTime(bytes)
		default:
			algorithm = collectives.TorusTrees.WithFanout(trees).WithSegment(segment)
			want = laidOut.TreesTime(network.Trees{Up: op != collectives.Bcast, Down: op != collectives.Reduce, Count: trees, Segment: segment}, bytes)
		}
		entries := rapid.SliceOfN(rapid.Int64Range(0, 5_000_000), ranks, ranks).Draw(rt, "entries")
		nonblocking := rapid.Bool().Draw(rt, "nonblocking")
		h := rapid.SampledFrom(hostings(ranks)).Draw(rt, "host")
		left, outputs := make([]vtime.Time, ranks), make([][]uint64, ranks)
		_, err := simulate(rt, mpivirt.Config{
			Target: laidOut, Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
			Algorithms: map[collectives.Operation]collectives.Algorithm{op: algorithm},
			Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) (err error) {
				r.Compute(vtime.Duration(entries[r.Rank()]))
				outputs[r.Rank()], err = alongTorus(r.World(), op, words, root, nonblocking)
				left[r.Rank()] = r.Now()
				return err
			})}},
		}, h.Engines)
		if err != nil {
			rt.Fatal(err)
		}
		end := vtime.Time(slices.Max(entries)).Add(want)
		for rank := range ranks {
			if left[rank] != end {
				rt.Errorf("rank %d leaves at %v, want %v", rank, left[rank], end)
			}
			if data := dataAlongTorus(op, ranks, words, root, rank); data != nil && !slices.Equal(outputs[rank], data) {
				rt.Errorf("rank %d has %v, want %v", rank, outputs[rank], data)
			}
		}
	})
}

func join(dims []int) (text string) {
	for i, n := range dims {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(n)
	}
	return text
}

// alongTorus calls an operation on vectors whose word i of rank r is 1000·i + r, and returns what the rank has in the end.
func alongTorus(c *mpivirt.Comm, op collectives.Operation, words, root int, nonblocking bool) ([]uint64, error) {
	input, output := make([]uint64, words), make([]uint64, words)
	for i := range input {
		input[i] = uint64(1000*i + c.Rank())
	}
	if op == collectives.Allgather || op == collectives.Gather || op == collectives.Alltoall {
		output = make([]uint64, words*c.Size())
	}
	if op == collectives.Alltoall {
		input = make([]uint64, words*c.Size())
		for i := range input {
			input[i] = uint64(1000*i + c.Rank())
		}
	}
	sum := mpivirt.Sum[uint64]()
	var err error
	var q mpivirt.Request
	switch {
	case op == collectives.Bcast && nonblocking:
		q, err = mpivirt.Ibcast(c, input, root)
		output = input
	case op == collectives.Bcast:
		return input, mpivirt.Bcast(c, input, root)
	case op == collectives.Reduce && nonblocking:
		q, err = mpivirt.Ireduce(c, input, output, sum, root)
	case op == collectives.Reduce:
		return output, mpivirt.Reduce(c, input, output, sum, root)
	case op == collectives.Allreduce && nonblocking:
		q, err = mpivirt.Iallreduce(c, input, output, sum)
	case op == collectives.Allreduce:
		return output, mpivirt.Allreduce(c, input, output, sum)
	case op == collectives.Allgather && nonblocking:
		q, err = mpivirt.Iallgather(c, input, output)
	case op == collectives.Allgather:
		return output, mpivirt.Allgather(c, input, output)
	case op == collectives.Alltoall && nonblocking:
		q, err = mpivirt.Ialltoall(c, input, output)
	case op == collectives.Alltoall:
		return output, mpivirt.Alltoall(c, input, output)
	case nonblocking:
		q, err = mpivirt.Igather(c, input, output, root)
	default:
		return output, mpivirt.Gather(c, input, output, root)
	}
	if err == nil {
		_, err = q.Wait()
	}
	return output, err
}

// dataAlongTorus returns what a rank has in the end, by the definition of the operation; nil for any data.
func dataAlongTorus(op collectives.Operation, ranks, words, root, rank int) (data []uint64) {
	if (op == collectives.Reduce || op == collectives.Gather) && rank != root {
		return nil
	}
	switch op {
	case collectives.Bcast:
		for i := range words {
			data = append(data, uint64(1000*i+root))
		}
	case collectives.Reduce, collectives.Allreduce:
		for i := range words {
			data = append(data, uint64(1000*i*ranks+ranks*(ranks-1)/2))
		}
	case collectives.Alltoall:
		for r := range ranks {
			for i := range words {
				data = append(data, uint64(1000*(rank*words+i)+r))
			}
		}
	default:
		for r := range ranks {
			for i := range words {
				data = append(data, uint64(1000*i+r))
			}
		}
	}
	return data
}
