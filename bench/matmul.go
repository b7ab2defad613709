package bench

import (
	"fmt"

	"gigarank/collectives"
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
		if o.Payload > mostRow {
			return mpivirt.Program{}, fmt.Errorf("payload of %s: use at most %d, or the multiplication of a row takes longer than virtual time has room for", spelling.Count(o.Payload, "byte"), mostRow)
		}
		return mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return matmulMain(r, o) })}}, nil
	},
	State: func(_ *mpivirt.Kind, o Options) float64 {
		return 2*float64(o.Payload) + matrixBytes(o)
	},
	Messages: func(o Options, kind *mpivirt.Kind, c Course) mpivirt.Held {
		h := pairMessages(o, kind, c)
		between, within := c.delayed(toRoot) // rank 0 sends to all before it waits
		h.Leaving, h.Coming = between+within, between
		return h
	},
	// Most workers only wait: for the matrix, and for the message which says that there is no row.
	Deep: func(o Options, c Course) bool { return c.Strict || makesDeep(matrixBytes(o)) },
}

// matrixBytes returns the memory of a matrix of doubles with rows of the payload.
func matrixBytes(o Options) float64 { return float64(o.Payload) * float64(o.Payload) / 8 }

// mostRow is the most bytes of a row: it is multiplied in 52 days of virtual time.
const mostRow = 1 << 29

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
	r.Compute(rowTime(n))
}

// rowTime returns the time in which a rank multiplies a row of n elements.
func rowTime(n int) vtime.Duration { return vtime.Duration(n) * vtime.Duration(n) * multiplyTime }

func matmulMain(r *mpivirt.Rank, o Options) error {
	n := int(o.Payload / 8)
	if o.NoContents {
		return matmulSizes(r, o, n)
	}
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

// matmulSizes is matmulMain with matrices that have sizes only: ranks take the time of multiplying.
func matmulSizes(r *mpivirt.Rank, o Options, n int) error {
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		if err := r.World().CollectiveSizeOf(collectives.Bcast, int64(n)*o.Payload, 8, 0); err != nil {
			return err
		}
		var err error
		switch {
		case r.Size() == 1:
			for range n {
				r.Compute(rowTime(n))
			}
		case r.Rank() == 0:
			err = handOutSizes(r, o.Payload, n)
		default:
			err = workSizes(r, o.Payload, n)
		}
		if err != nil {
			return err
		}
		r.Record(i, "matmul", r.Now().Sub(start))
	}
	return nil
}

// handOutSizes is handOut of n rows that have a number of bytes.
func handOutSizes(r *mpivirt.Rank, bytes int64, n int) error {
	world, next := r.World(), 0
	send := func(worker int) error {
		if next == n {
			return world.SendSize(0, worker, n)
		}
		next++
		return world.SendSize(bytes, worker, next-1)
	}
	for worker := 1; worker < r.Size(); worker++ {
		if err := send(worker); err != nil {
			return err
		}
	}
	for range n {
		status, err := world.RecvSize(bytes, mpivirt.AnySource, mpivirt.AnyTag)
		if err == nil {
			err = send(status.Source)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// workSizes is work on rows that have a number of bytes.
func workSizes(r *mpivirt.Rank, bytes int64, n int) error {
	for {
		status, err := r.World().RecvSize(bytes, 0, mpivirt.AnyTag)
		if err != nil || status.Tag == n {
			return err
		}
		r.Compute(rowTime(n))
		if err := r.World().SendSize(bytes, 0, status.Tag); err != nil {
			return err
		}
	}
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
