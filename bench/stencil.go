package bench

import (
	"fmt"
	"sync/atomic"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// stencil is the skeleton of a code that solves a partial differential equation on a
// box with periodic boundaries. The box is cut into a [grid] of ranks. In each step a
// rank computes and exchanges a face with both neighbours in one dimension after the
// other, so that edges and corners travel along. It then takes part in an allreduce of
// one number, as for a residual. Where the grid is one rank thick, the rank is its own
// neighbour and sends nothing.
var stencil = Entry{
	Name:     "stencil",
	Summary:  "steps of a 3D halo exchange on a periodic grid of ranks, then an allreduce of 8 bytes; times both",
	Defaults: Options{Iterations: 10, Compute: vtime.Millisecond, Payload: 1024 * 8},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind},
	Build: func(o Options) (mpivirt.Program, error) {
		if err := holdsNumber(o); err != nil {
			return mpivirt.Program{}, err
		}
		g := &lazyGrid{}
		return mpivirt.Program{
			Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return stencilMain(r, o, g.of(r.Size())) }),
				steps.Main(func() steps.Program {
					p := &stencilSteps{Options: o, lazyGrid: g, checked: -1}
					return steps.New(p.step)
				})},
		}, nil
	},
	Collectives: sumOfNumbers,
	State: func(kind *mpivirt.Kind, o Options) float64 {
		if kind == steps.Kind {
			return stencilStateSize
		}
		return 2*float64(o.Payload) + sentBytes(o.Payload)
	},
	Deep: always,
	Messages: func(o Options, kind *mpivirt.Kind, c Course) mpivirt.Held { // shares are measured
		h := mpivirt.Held{Mailboxes: 1, Requests: 4, Messages: 2, Operations: 5}
		h.Length = float64(o.Payload)
		delayed, between := facesDelayed(c)
		if kind == mpivirt.Goroutine { // event ranks simulate sizes alone
			h.Payload = float64(o.Payload)
		}
		switch ahead := o.Iterations > 1; { // some ranks are an iteration ahead
		case c.Postponed && kind != mpivirt.Goroutine:
			h.Requests, h.Messages = 3, 1.4
		case c.Postponed && ahead:
			h.Messages = 2.6
		case c.Postponed:
		case delayed > 0: // a rank has sent both faces of a dimension, and waits for those of its neighbours
			h.Requests, h.Leaving, h.Coming = 2, 2*delayed, 2*between
		case c.Apart && ahead:
			h.Requests, h.Messages = 2, 0.9
		default: // ranks go on in their order: requests and messages are few at a time
			h.Requests, h.Messages = 0.25, 0.25
		}
		return h
	},
}

// dimensions of the grid.
const dimensions = 3

// grid arranges ranks in a box with periodic boundaries. The last dimension varies
// fastest, as in MPI_Cart_create.
type grid struct {
	extent [dimensions]int // not increasing
}

// newGrid arranges n ranks in a grid whose extents are as close to each other as
// divisors of n can be, as MPI_Dims_create does. Their sum is the least.
func newGrid(n int) grid {
	best := grid{[dimensions]int{n, 1, 1}}
	for c := 1; c*c*c <= n; c++ {
		if n%c != 0 {
			continue
		}
		rest := n / c
		b := c
		for d := c; d*d <= rest; d++ {
			if rest%d == 0 {
				b = d
			}
		}
		if a := rest / b; rest%b == 0 && a+b+c < best.extent[0]+best.extent[1]+best.extent[2] {
			best.extent = [dimensions]int{a, b, c}
		}
	}
	return best
}

func (g grid) ranks() int { return g.extent[0] * g.extent[1] * g.extent[2] }

// neighbours returns the ranks before and after a rank in a dimension.
func (g grid) neighbours(rank, dimension int) (before, after int) {
	stride := 1
	for _, extent := range g.extent[dimension+1:] {
		stride *= extent
	}
	extent := g.extent[dimension]
	at := rank / stride % extent
	before, after = rank-stride, rank+stride
	if at == 0 {
		before += extent * stride
	}
	if at == extent-1 {
		after -= extent * stride
	}
	return before, after
}

// facesDelayed returns the share of the faces that are delayed on their way, and of those that pass interfaces of nodes, in the dimension that has most of
// them.
func facesDelayed(c Course) (delayed, between float64) {
	if c.target == nil || !c.target.Contended() {
		return 0, 0
	}
	g := newGrid(c.target.Ranks())
	for d, extent := range g.extent {
		if extent > 1 {
			b, w := c.delayed(func(rank, _ int) int {
				_, after := g.neighbours(rank, d)
				return after
			})
			delayed, between = max(delayed, b+w), max(between, b)
		}
	}
	return delayed, between
}

// lazyGrid is a grid that is computed when the first rank needs it.
type lazyGrid struct{ known atomic.Pointer[grid] }

func (l *lazyGrid) of(ranks int) grid {
	g := l.known.Load()
	if g == nil || g.ranks() != ranks {
		found := newGrid(ranks)
		g = &found
		l.known.Store(g)
	}
	return *g
}

// Tags of a face: the dimension that it is sent along, and whether it goes to the rank
// before or after.
func tagBefore(dimension int) int { return 2 * dimension }

func tagAfter(dimension int) int { return 2*dimension + 1 }

// residual returns a rank's contribution to the allreduce of a step. checkResidual
// compares the sum of all, by addResiduals, with the closed form.
func residual(rank, step int) int64 { return int64(rank + step) }

var addResiduals = mpivirt.Sum[int64]()

func checkResidual(sum int64, ranks, step int) error {
	if want := int64(ranks)*int64(ranks-1)/2 + int64(ranks)*int64(step); sum != want {
		return fmt.Errorf("the sum of step %d is %d; it must be %d", step, sum, want)
	}
	return nil
}

func stencilMain(r *mpivirt.Rank, o Options, g grid) error {
	out, before, after := o.message(), o.message(), o.message()
	mine, sum := make([]int64, 1), make([]int64, 1)
	requests := make([]mpivirt.Request, 4)
	for step := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		putNumber(out, ringNumber(r.Rank(), step))
		for d, extent := range g.extent {
			if extent == 1 {
				continue
			}
			var err error
			if o.NoContents {
				err = exchangeSizes(r, g, d, o.Payload, requests)
			} else {
				err = exchangeFaces(r, g, d, out, before, after, requests)
			}
			if err != nil {
				return err
			}
			left, right := g.neighbours(r.Rank(), d)
			if err := checkNumber(before, left, ringNumber(left, step)); err != nil {
				return err
			}
			if err := checkNumber(after, right, ringNumber(right, step)); err != nil {
				return err
			}
		}
		r.Record(step, "halo", r.Now().Sub(start))
		start = r.Now()
		mine[0] = residual(r.Rank(), step)
		if err := mpivirt.Allreduce(r.World(), mine, sum, addResiduals); err != nil {
			return err
		}
		r.Record(step, "allreduce", r.Now().Sub(start))
		if o.NoContents {
			continue
		}
		if err := checkResidual(sum[0], r.Size(), step); err != nil {
			return err
		}
	}
	return nil
}

// exchangeFaces sends a face to both neighbours in a dimension, and receives theirs. It keeps
// its four requests in the slice.
func exchangeFaces(r *mpivirt.Rank, g grid, d int, out, before, after []byte, requests []mpivirt.Request) error {
	world := r.World()
	left, right := g.neighbours(r.Rank(), d)
	var err error
	if requests[0], err = mpivirt.Irecv(world, before, left, tagAfter(d)); err != nil {
		return err
	}
	if requests[1], err = mpivirt.Irecv(world, after, right, tagBefore(d)); err != nil {
		return err
	}
	if requests[2], err = mpivirt.Isend(world, out, left, tagBefore(d)); err != nil {
		return err
	}
	if requests[3], err = mpivirt.Isend(world, out, right, tagAfter(d)); err != nil {
		return err
	}
	return mpivirt.WaitallInto(requests, nil)
}

// exchangeSizes is exchangeFaces of faces that have sizes only.
func exchangeSizes(r *mpivirt.Rank, g grid, d int, bytes int64, requests []mpivirt.Request) error {
	world := r.World()
	left, right := g.neighbours(r.Rank(), d)
	var err error
	if requests[0], err = world.IrecvSize(bytes, left, tagAfter(d)); err != nil {
		return err
	}
	if requests[1], err = world.IrecvSize(bytes, right, tagBefore(d)); err != nil {
		return err
	}
	if requests[2], err = world.IsendSize(bytes, left, tagBefore(d)); err != nil {
		return err
	}
	if requests[3], err = world.IsendSize(bytes, right, tagAfter(d)); err != nil {
		return err
	}
	return mpivirt.WaitallInto(requests, nil)
}

// stencilSteps is stencilMain as steps. Only the size of the faces is simulated. All
// ranks of an engine share it.
type stencilSteps struct {
	Options
	*lazyGrid
	residual [1]int64 // scratch: an allreduce takes its vector over at once
	checked  int      // step whose sum, which the ranks share, has been checked
}

// stencilState is the state of an event rank: the steps begun, the beginning of the
// current timed operation, and the dimension in which it exchanges faces next.
type stencilState struct {
	begun, startLow, startHigh uint32
	next                       uint32
}

const stencilStateSize = 16

// Values of next, in place of a dimension, for a rank that has been through the
// allreduce and for one that has computed.
const (
	reduced = dimensions + 1 + iota
	computed
)

func (s *stencilState) start(t vtime.Time) { s.startLow, s.startHigh = uint32(t), uint32(t>>32) }

func (s *stencilState) since(t vtime.Time) vtime.Duration {
	return t.Sub(vtime.Time(s.startHigh)<<32 | vtime.Time(s.startLow))
}

func (p *stencilSteps) step(r *steps.Rank, s *stencilState) steps.Outcome {
	if s.next == reduced {
		if err := p.end(r, s); err != nil {
			return r.Fail(err)
		}
		if s.next = 0; int(s.begun) == p.Iterations {
			return r.Finish()
		}
	}
	if s.next == 0 {
		s.begun++
		if p.Compute > 0 {
			r.Compute(p.Compute)
			s.next = computed
			return r.Continue()
		}
		s.start(r.Now())
	}
	if s.next == computed {
		s.start(r.Now())
		s.next = 0
	}
	g := p.of(r.Size())
	for s.next < dimensions {
		d := int(s.next)
		s.next++
		if g.extent[d] > 1 {
			return p.exchange(r, g, d)
		}
	}
	step := int(s.begun) - 1
	r.Record(step, "halo", s.since(r.Now()))
	s.start(r.Now())
	s.next = reduced
	p.residual[0] = residual(r.Rank(), step)
	return steps.Allreduce(r, p.residual[:], addResiduals)
}

func (p *stencilSteps) exchange(r *steps.Rank, g grid, d int) steps.Outcome {
	left, right := g.neighbours(r.Rank(), d)
	return r.Waitall(
		r.Irecv(left, tagAfter(d)), r.Irecv(right, tagBefore(d)),
		r.IsendSize(p.Payload, left, tagBefore(d)), r.IsendSize(p.Payload, right, tagAfter(d)),
	)
}

// end records the allreduce of a step and checks its sum.
func (p *stencilSteps) end(r *steps.Rank, s *stencilState) error {
	step := int(s.begun) - 1
	r.Record(step, "allreduce", s.since(r.Now()))
	if p.checked == step || p.NoContents {
		return nil
	}
	p.checked = step
	return checkResidual(steps.Result[int64](r)[0], r.Size(), step)
}
