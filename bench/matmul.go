package bench

import (
	"fmt"

	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// matmul multiplies two matrices A and B. Rank 0 sends the rows of A out on demand and
// receives the rows of the product from any rank that is ready.
var matmul = Entry{
	Name:     "matmul",
	Summary:  "rank 0 hands rows of a matrix out to the others on demand and collects the product; payload is the size of a row",
	Defaults: Options{Iterations: 1, Payload: 64 * 8},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine},
	Build: func(o Options) (mpivirt.Program, error) {
		if o.Payload%8 != 0 || o.Payload < 8 {
			return mpivirt.Program{}, fmt.Errorf("payload of %s: a row is made of doubles of 8 bytes, use a multiple of that", spelling.Count(o.Payload, "byte"))
		}
		return mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return matmulMain(r, o) })}}, nil
	},
	State: func(_ *mpivirt.Kind, o Options) float64 {
		row := float64(o.Payload)
		return 2*row + row*row/8
	},
	Messages: pairMessages,
	// In one iteration most workers find their only message, which says that there is no row.
	Deep: func(o Options, strict bool) bool { return strict || o.Iterations > 1 },
}

// multiplyTime is the time of a multiplication and an addition on a rank.
const multiplyTime = vtime.Nanosecond

// The operands are A = (i+k) and B = (k-j). The elements of their product are whole
// numbers, exact in doubles up to n = 10^5: the sum over k of (i+k)(k-j), that is Σk² +
// (i-j)Σk - n·i·j.

func leftRow(row []float64, i int) {
	for k := range row {
		row[k] = float64(i + k)
	}
}

func rightMatrix(b []float64, n int) {
	for k := range n {
		for j := range n {
			b[k*n+j] = float64(k - j)
		}
	}
}

func checkProduct(row []float64, i int) error {
	n := len(row)
	sum, squares := n*(n-1)/2, (n-1)*n*(2*n-1)/6
	for j, got := range row {
		if want := float64(squares + (i-j)*sum - n*i*j); got != want {
			return fmt.Errorf("element (%d, %d) of the product is %v; it must be %v", i, j, got, want)
		}
	}
	return nil
}

// multiplyRow stores row·b in out, and takes the virtual time for it.
func multiplyRow(r *mpivirt.Rank, out, row, b []float64) {
	n := len(row)
	clear(out)
	for k, a := range row {
		for j, v := range b[k*n : (k+1)*n] {
			out[j] += float64(a * v) // not fused, which would depend on the host
		}
	}
	r.Compute(vtime.Duration(n) * vtime.Duration(n) * multiplyTime)
}

func matmulMain(r *mpivirt.Rank, o Options) error {
	n := int(o.Payload / 8)
	b := make([]float64, n*n)
	if r.Rank() == 0 {
		rightMatrix(b, n)
	}
	row, out := make([]float64, n), make([]float64, n)
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		if err := mpivirt.Bcast(r.World(), b, 0); err != nil {
			return err
		}
		var err error
		switch {
		case r.Size() == 1:
			err = multiplyAlone(r, b, row, out)
		case r.Rank() == 0:
			err = handOut(r, row)
		default:
			err = work(r, b, row, out)
		}
		if err != nil {
			return err
		}
		r.Record(i, "matmul", r.Now().Sub(start))
	}
	return nil
}

func multiplyAlone(r *mpivirt.Rank, b, row, out []float64) error {
	for i := range row {
		leftRow(row, i)
		multiplyRow(r, out, row, b)
		if err := checkProduct(out, i); err != nil {
			return err
		}
	}
	return nil
}

// handOut sends every worker a row, and another row for each row that comes back. The tag
// of a message is the number of its row; tag n without data ends a worker.
func handOut(r *mpivirt.Rank, row []float64) error {
	world, n := r.World(), len(row)
	next := 0
	send := func(worker int) error {
		if next == n {
			return mpivirt.Send(world, row[:0], worker, n)
		}
		leftRow(row, next)
		next++
		return mpivirt.Send(world, row, worker, next-1)
	}
	for worker := 1; worker < r.Size(); worker++ {
		if err := send(worker); err != nil {
			return err
		}
	}
	for range n {
		status, err := mpivirt.Recv(world, row, mpivirt.AnySource, mpivirt.AnyTag)
		if err == nil {
			err = checkProduct(row, status.Tag)
		}
		if err == nil {
			err = send(status.Source)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// work multiplies rows until there are none.
func work(r *mpivirt.Rank, b, row, out []float64) error {
	world, n := r.World(), len(row)
	for {
		status, err := mpivirt.Recv(world, row, 0, mpivirt.AnyTag)
		if err != nil || status.Tag == n {
			return err
		}
		multiplyRow(r, out, row, b)
		if err := mpivirt.Send(world, out, 0, status.Tag); err != nil {
			return err
		}
	}
}
