package bench

import (
	"cmp"
	"fmt"
	"math"
	stdsync "sync"
	"unsafe"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// allreducetest times the sum of a vector of doubles over all ranks.
var allreducetest = Entry{
	Name:     "allreducetest",
	Summary:  "all ranks compute for a random time, then sum a vector of doubles; times and checks the sum",
	Defaults: Options{Iterations: 10, Compute: vtime.Millisecond, Payload: 1024 * 8},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind},
	Vectors:  true,
	Build: func(o Options) (mpivirt.Program, error) {
		if o.Datatype == 0 {
			o.Datatype = Double
		}
		if o.Payload%o.Datatype.Bytes() != 0 {
			return mpivirt.Program{}, fmt.Errorf("payload of %s: %vs have %s each", spelling.Count(o.Payload, "byte"), o.Datatype, spelling.Count(o.Datatype.Bytes(), "byte"))
		}
		if o.Payload > maxVector && !o.NoContents {
			return mpivirt.Program{}, fmt.Errorf("payload of %s: use at most 2^46, the vector is held in memory, or no contents", spelling.Count(o.Payload, "byte"))
		}
		switch o.Datatype {
		case Short, Bfloat16: // of as many bytes; without contents nothing is summed
			return allreduceProgram[int16](o), nil
		case Int:
			return allreduceProgram[int32](o), nil
		case Long:
			return allreduceProgram[int64](o), nil
		case Float:
			return allreduceProgram[float32](o), nil
		}
		return allreduceProgram[float64](o), nil
	},
	Collectives: func(o Options) []mpivirt.Use {
		compute := func(rank, time int) vtime.Duration { return computeTime(1, rank, time, o.Compute) }
		return []mpivirt.Use{{Operation: collectives.Allreduce, Bytes: o.Payload, Element: cmp.Or(o.Datatype.Bytes(), 8), Data: true, Times: o.Iterations, Alone: true, Compute: compute}}
	},
	State: func(kind *mpivirt.Kind, o Options) float64 {
		if kind == mpivirt.Goroutine {
			return 2 * float64(o.Payload)
		}
		return repeatedStateBytes(kind, o)
	},
	Shared: func(o Options) float64 { return float64(o.Payload) }, // the contributions
}

// maxVector is the most bytes of a vector: half of the address space of a process.
const maxVector = 1 << 46

// sumOfNumbers are the Collectives of programs that sum one number over all ranks.
func sumOfNumbers(Options) []mpivirt.Use {
	return []mpivirt.Use{{Operation: collectives.Allreduce, Bytes: 8, Data: true}}
}

// computeTime draws the compute time of a rank in an iteration: uniform between a half
// and three halves of the mean, at most the longest duration.
func computeTime(seed uint64, rank, iteration int, mean vtime.Duration) vtime.Duration {
	drawn := vtime.Duration(random.Intn(seed, uint64(rank), uint64(iteration), int(mean)))
	return drawn + min(mean/2, math.MaxInt64-drawn)
}

// number is an element of the vectors that allreducetest sums up.
type number interface {
	int16 | int32 | int64 | float32 | float64
}

// mostSummedFloats is the number of ranks whose sums, of up to 28 for eight ranks, are whole numbers that a float holds exactly.
const mostSummedFloats = (1<<24/28 - 1) * 8

// allreduceProgram returns the program for vectors of T.
func allreduceProgram[T number](o Options) mpivirt.Program {
	sum := mpivirt.Sum[T]()
	if o.NoContents {
		elements := o.Payload / o.Datatype.Bytes()
		return mpivirt.Program{Forms: []mpivirt.Form{
			mpivirt.Main(func(r *mpivirt.Rank) error { return allreduceSizes(r, &o, elements, sum) }),
			steps.Main(func() steps.Program {
				return repeat(o.Iterations, func(r *steps.Rank, iteration int) steps.Outcome {
					if iteration == o.Iterations {
						return r.Finish()
					}
					r.Compute(computeTime(r.Seed(), r.Rank(), iteration, o.Compute))
					return steps.AllreduceSize(r.Timed(iteration, "allreduce"), elements, sum)
				})
			})}}
	}
	// A payload is checked before it is known whether there is memory for it.
	vectors := stdsync.OnceValue(func() contributions[T] { return newContributions[T](int(o.Payload / o.Datatype.Bytes())) })
	return mpivirt.Program{Forms: []mpivirt.Form{
		mpivirt.Main(func(r *mpivirt.Rank) error {
			c := vectors()
			// Made further up the stack, they would make it double.
			vector, sum := c.two()
			return allreduceMain(r, &o, c, vector, sum)
		}),
		steps.Main(func() steps.Program {
			p := &allreduceSteps[T]{Options: o, vectors: vectors(), sum: sum, checked: -1}
			return repeat(o.Iterations, p.step)
		})}}
}

// contributions hold the vectors of all ranks: element j of rank r is (r + j +
// iteration) mod 8. They are small whole numbers, so their sum over all ranks is exact
// in any order; that of integers is exact modulo their range.
type contributions[T number] []T

func newContributions[T number](count int) contributions[T] {
	c := make(contributions[T], count+7)
	for j := range c {
		c[j] = T(j & 7)
	}
	return c
}

// of returns a rank's vector, which must not be changed.
func (c contributions[T]) of(rank, iteration int) []T { return c[(rank+iteration)&7:][:len(c)-7] }

// two returns memory for a vector and for a sum. It is not inlined into the frames of ranks that wait, since their stacks are small.
//
//go:noinline
func (c contributions[T]) two() (vector, sum []T) {
	n := len(c) - 7
	return make([]T, n), make([]T, n)
}

// checkSum compares a sum over ranks 0 to size-1 with the closed form.
func checkSum[T number](sum []T, size, iteration int) error {
	var wanted [8]T
	for offset := range wanted {
		wanted[offset] = T(cyclicSum(size, offset+iteration))
	}
	if repeats(sum) {
		sum = sum[:8] // a fifth of the time
	}
	for j, got := range sum {
		if want := wanted[j&7]; got != want {
			return fmt.Errorf("element %d of the sum of iteration %d is %v; it must be %v", j, iteration, got, want)
		}
	}
	return nil
}

// repeats reports whether there are more than eight numbers, and each has the bits of the one
// eight before it. Strings are compared many bytes at once.
func repeats[T number](numbers []T) bool {
	var one T
	size := int(unsafe.Sizeof(one))
	eight := 8 * size
	bytes := unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), size*len(numbers))
	return len(bytes) > eight && bytes[eight:] == bytes[:len(bytes)-eight]
}

// cyclicSum returns the sum of (r + offset) mod 8 for r from 0 to size-1.
func cyclicSum(size, offset int) int {
	sum := size / 8 * 28
	for r := range size % 8 {
		sum += (r + offset) & 7
	}
	return sum
}

func allreduceMain[T number](r *mpivirt.Rank, o *Options, vectors contributions[T], vector, sum []T) error {
	world := r.World()
	add := mpivirt.Sum[T]()
	for i := range o.Iterations {
		copy(vector, vectors.of(r.Rank(), i))
		r.Compute(computeTime(r.Seed(), r.Rank(), i, o.Compute))
		start := r.Now()
		if err := mpivirt.Allreduce(world, vector, sum, add); err != nil {
			return err
		}
		r.Record(i, "allreduce", r.Now().Sub(start))
		if err := checkSum(sum, r.Size(), i); err != nil {
			return err
		}
	}
	return nil
}

// allreduceSizes is allreduceMain of vectors that have sizes only.
func allreduceSizes[T number](r *mpivirt.Rank, o *Options, elements int64, sum mpivirt.Op[T]) error {
	world := r.World()
	for i := range o.Iterations {
		r.Compute(computeTime(r.Seed(), r.Rank(), i, o.Compute))
		start := r.Now()
		if err := mpivirt.AllreduceSize(world, elements, sum); err != nil {
			return err
		}
		r.Record(i, "allreduce", r.Now().Sub(start))
	}
	return nil
}

// allreduceSteps is allreduceMain as steps. All ranks of an engine share it.
type allreduceSteps[T number] struct {
	Options
	vectors contributions[T]
	sum     mpivirt.Op[T]
	checked int // iteration whose sum, which the ranks share, has been checked
}

func (p *allreduceSteps[T]) step(r *steps.Rank, iteration int) steps.Outcome {
	if last := iteration - 1; last >= 0 && p.checked != last {
		if err := checkSum(steps.Result[T](r), r.Size(), last); err != nil {
			return r.Fail(err)
		}
		p.checked = last
	}
	if iteration == p.Iterations {
		return r.Finish()
	}
	r.Compute(computeTime(r.Seed(), r.Rank(), iteration, p.Compute))
	return steps.Allreduce(r.Timed(iteration, "allreduce"), p.vectors.of(r.Rank(), iteration), p.sum)
}
