package training

import (
	"fmt"
	"math/big"
	"slices"

	"gigarank/vtime"
)

// Work is what a rank does in a step, and what with.
type Work struct {
	Model   *Model
	Batch   int64    // samples of a rank in a step
	Speed   *big.Rat // operations a second that the rank reaches
	Memory  *big.Rat // bytes a second between the rank and its memory
	Element int64    // bytes of a gradient
	First   int64    // limit of the first bucket in bytes
	Limit   int64    // limit of each other bucket
}

// Bucket is a vector of gradients that is summed up over all ranks at a time.
type Bucket struct {
	Bytes int64
	Ready vtime.Duration // its last gradient is there, counted from the beginning of the step
}

// Plan is a step of a rank.
type Plan struct {
	Forward, Backward, Optimizer vtime.Duration
	Buckets                      []Bucket // at least one, in the order in which they are ready
}

// Computing returns the time that a step takes without communication.
func (p *Plan) Computing() vtime.Duration {
	return p.Forward.Plus(p.Backward).Plus(p.Optimizer)
}

// optimizerBytes are read and written for a parameter by Adam: in mixed precision a gradient and a parameter of 2 bytes, a parameter
// and two moments of 4 bytes that are read and written; in single precision a gradient of 4 bytes, and the same three.
const optimizerBytes = 28

// backwardFactor is the ratio of the operations of backward to those of forward.
const backwardFactor = 2

// longest is the longest computing of a step: 11 days.
const longest = 1_000_000 * vtime.Second

// NewPlan returns the plan of a step. It returns an error for a step that is too long to be simulated.
func NewPlan(w Work) (p *Plan, err error) {
	p = &Plan{}
	for _, l := range w.Model.Layers {
		if err := w.compute(&p.Forward, 1, l); err != nil {
			return nil, err
		}
	}
	limit, filling := w.First, Bucket{}
	for _, l := range slices.Backward(w.Model.Layers) {
		if err := w.compute(&p.Backward, backwardFactor, l); err != nil {
			return nil, err
		}
		if l.Parameters == 0 {
			continue
		}
		filling.Bytes += l.Parameters * w.Element
		filling.Ready = p.Forward + p.Backward
		if filling.Bytes >= limit {
			p.Buckets = append(p.Buckets, filling)
			limit, filling = w.Limit, Bucket{}
		}
	}
	if filling.Bytes > 0 {
		p.Buckets = append(p.Buckets, filling)
	}
	p.Optimizer, err = timeOf(optimizerBytes, w.Model.Parameters(), 1, w.Memory)
	return p, err
}

// compute adds the time of a layer, with a multiple of the operations of its forward pass, to a sum.
func (w *Work) compute(sum *vtime.Duration, factor int64, l Layer) error {
	d, err := timeOf(factor, l.Operations, w.Batch, w.Speed)
	if err != nil {
		return err
	}
	if *sum += d; *sum > longest {
		return errTooLong
	}
	return nil
}

var errTooLong = fmt.Errorf("a step computes for more than %v: use a smaller batch, or a greater speed", longest)

// timeOf returns the time of a·b·c at a rate a second, to the nearest picosecond.
func timeOf(a, b, c int64, rate *big.Rat) (vtime.Duration, error) {
	t := new(big.Rat).SetInt(big.NewInt(a))
	for _, n := range []int64{b, c, int64(vtime.Second)} {
		t.Mul(t, new(big.Rat).SetInt64(n))
	}
	t.Quo(t, rate)
	t.Add(t, big.NewRat(1, 2))
	whole := new(big.Int).Quo(t.Num(), t.Denom())
	if !whole.IsInt64() || whole.Int64() > int64(longest) {
		return 0, errTooLong
	}
	return vtime.Duration(whole.Int64()), nil
}
