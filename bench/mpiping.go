package bench

import (
	"fmt"

	"gigarank/lp"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// mpiping times messages of growing size in a ring: each rank sends to the right
// and receives from the left, even ranks in this order and odd ranks in the
// other, so that a message goes forth and one comes back as in a ping-pong.
var mpiping = Entry{
	Name:     "mpiping",
	Summary:  "messages of 8 B to 16 MiB in a ring, even ranks send first, odd ranks receive first; latency and bandwidth",
	Defaults: Options{Iterations: 10},
	Forms:    []lp.Kind{lp.Goroutine, lp.Event},
	Build: func(o Options) (mpivirt.Program, error) {
		return mpivirt.Program{
			Main: func(r *mpivirt.Rank) error { return pingMain(r, o) },
			Event: func() mpivirt.EventProgram {
				return mpivirt.Steps(func(r *mpivirt.EventRank, s *pingState) mpivirt.Outcome { return s.step(r, o) })
			},
		}, nil
	},
	State: pointToPointState(pingStateSize),
}

// The sizes of messages: 8 bytes doubling to 16 MiB. Only the size of a message is
// simulated, and no memory is held for its data.
const (
	leastPing = 8
	pingSizes = 22
)

func pingSize(step int) int64 { return leastPing << step }

// pingNames are the names of the sizes: "8 B", "64 KiB".
var pingNames = func() (names [pingSizes]string) {
	for step := range names {
		unit := (step + 3) / 10
		names[step] = fmt.Sprintf("%d %s", pingSize(step)>>(10*unit), [...]string{"B", "KiB", "MiB"}[unit])
	}
	return names
}()

// neighbours returns the ranks beside a rank in the ring of all ranks.
func neighbours(rank, size int) (left, right int) {
	left, right = rank-1, rank+1
	if rank == 0 {
		left = size - 1
	}
	if right == size {
		right = 0
	}
	return left, right
}

// checkMessage compares a message with the one that must come.
func checkMessage(got mpivirt.Status, source, tag int, bytes int64) error {
	want := mpivirt.Status{Source: source, Tag: tag, Bytes: bytes}
	if got != want {
		return fmt.Errorf("a message from rank %d with tag %d and %d bytes came; it must be from %d with tag %d and %d bytes",
			got.Source, got.Tag, got.Bytes, source, tag, bytes)
	}
	return nil
}

// pingTime returns how long a message is under way, given the time of a
// repetition: half of it, as there and back, except for a rank that is alone.
func pingTime(repetition vtime.Duration, size int) vtime.Duration {
	if size == 1 {
		return repetition
	}
	return repetition / 2
}

func pingMain(r *mpivirt.Rank, o Options) error {
	for step := range pingSizes {
		if err := r.World().Barrier(); err != nil {
			return err
		}
		start := r.Now()
		for range o.Iterations {
			r.Compute(o.Compute)
			if err := pingOnce(r, step); err != nil {
				return err
			}
		}
		repetition := r.Now().Sub(start) / vtime.Duration(o.Iterations)
		r.Record(step, pingNames[step], repetition)
		if r.Rank() == 0 {
			pingReport(r, step, repetition, o)
		}
	}
	return nil
}

// printer is a rank of either kind.
type printer interface {
	Size() int
	Printf(format string, arguments ...any)
}

// pingReport prints what a size came to, given the time of a repetition.
func pingReport(r printer, step int, repetition vtime.Duration, o Options) {
	d := pingTime(max(repetition-o.Compute, 0), r.Size())
	r.Printf("%8s  latency %v, bandwidth %.4g MB/s\n", pingNames[step], d, float64(pingSize(step))/max(d.Seconds(), 1e-12)/1e6)
}

// pingOnce sends a message to the right and receives one from the left.
func pingOnce(r *mpivirt.Rank, step int) error {
	world, bytes := r.World(), pingSize(step)
	left, right := neighbours(r.Rank(), r.Size())
	switch {
	case r.Size() == 1:
		return pingSelf(r, step)
	case r.Rank()%2 == 0:
		if err := world.SendSize(bytes, right, step); err != nil {
			return err
		}
	}
	status, err := world.RecvSize(bytes, left, step)
	if err == nil {
		err = checkMessage(status, left, step, bytes)
	}
	if err != nil || r.Rank()%2 == 0 {
		return err
	}
	return world.SendSize(bytes, right, step)
}

// pingSelf sends a message to oneself, which a blocking send cannot do.
func pingSelf(r *mpivirt.Rank, step int) error {
	receive, err := r.World().IrecvSize(pingSize(step), 0, step)
	if err != nil {
		return err
	}
	send, err := r.World().IsendSize(pingSize(step), 0, step)
	if err != nil {
		return err
	}
	statuses, err := mpivirt.Waitall([]mpivirt.Request{receive, send})
	if err != nil {
		return err
	}
	return checkMessage(statuses[0], 0, step, pingSize(step))
}

// pingState is the state of mpiping as an event rank: the program of pingMain with
// a counter of where in it the rank is.
type pingState struct {
	startLow, startHigh uint32 // two words, so that the struct has no padding
	iteration           uint32 // of the size
	size                uint8  // step of the sizes
	at                  pingPlace
}

const pingStateSize = 16

// pingPlace is what an event rank does next.
type pingPlace uint8

const (
	pingBarrier pingPlace = iota
	pingStart
	pingFirst  // send, odd ranks receive
	pingSecond // receive, odd ranks send
	pingDone   // a repetition is over
)

func (s *pingState) step(r *mpivirt.EventRank, o Options) mpivirt.Outcome {
	switch s.at {
	case pingBarrier:
		if s.size == pingSizes {
			return r.Finish()
		}
		s.at = pingStart
		return r.Barrier()
	case pingStart:
		s.startLow, s.startHigh = uint32(r.Now()), uint32(r.Now()>>32)
		s.at = pingFirst
		return r.Continue()
	case pingFirst:
		return s.first(r, o)
	case pingSecond:
		return s.second(r)
	default:
		return s.done(r, o)
	}
}

func (s *pingState) first(r *mpivirt.EventRank, o Options) mpivirt.Outcome {
	r.Compute(o.Compute)
	step := int(s.size)
	left, right := neighbours(r.Rank(), r.Size())
	s.at = pingSecond
	switch {
	case r.Size() == 1:
		s.at = pingDone
		return r.Waitall(r.Irecv(0, step), r.IsendSize(pingSize(step), 0, step))
	case r.Rank()%2 == 0:
		return r.SendSize(pingSize(step), right, step)
	default:
		return r.Recv(left, step)
	}
}

func (s *pingState) second(r *mpivirt.EventRank) mpivirt.Outcome {
	step := int(s.size)
	left, right := neighbours(r.Rank(), r.Size())
	s.at = pingDone
	if r.Rank()%2 == 0 {
		return r.Recv(left, step)
	}
	if err := checkMessage(r.Status(), left, step, pingSize(step)); err != nil {
		return r.Fail(err)
	}
	return r.SendSize(pingSize(step), right, step)
}

func (s *pingState) done(r *mpivirt.EventRank, o Options) mpivirt.Outcome {
	step := int(s.size)
	left, _ := neighbours(r.Rank(), r.Size())
	if r.Rank()%2 == 0 {
		if err := checkMessage(r.Status(), left, step, pingSize(step)); err != nil {
			return r.Fail(err)
		}
	}
	s.at = pingFirst
	s.iteration++
	if int(s.iteration) == o.Iterations {
		start := vtime.Time(s.startHigh)<<32 | vtime.Time(s.startLow)
		repetition := r.Now().Sub(start) / vtime.Duration(o.Iterations)
		r.Record(step, pingNames[step], repetition)
		if r.Rank() == 0 {
			pingReport(r, step, repetition, o)
		}
		s.iteration, s.at = 0, pingBarrier
		s.size++
	}
	return r.Continue()
}
