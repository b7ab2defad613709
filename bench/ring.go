package bench

import (
	"encoding/binary"
	"fmt"

	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// ring is the ring of small messages: all ranks at once send to the right and receive
// from the left. The sends block. A payload above the machine's eager limit makes it a
// deadlock, as on a real machine.
var ring = Entry{
	Name:     "ring",
	Summary:  "every rank sends to the right and receives from the left, blocking; deadlocks with a payload above the machine's eager limit",
	Defaults: Options{Iterations: 10, Payload: 8},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind},
	Build: func(o Options) (mpivirt.Program, error) {
		if err := holdsNumber(o); err != nil {
			return mpivirt.Program{}, err
		}
		return mpivirt.Program{
			Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return ringMain(r, o) }),
				steps.Main(func() steps.Program { return steps.New(ringSteps(o)) })},
		}, nil
	},
	State: messageState(ringStateSize),
	Messages: func(o Options, kind *mpivirt.Kind, c Course) mpivirt.Held {
		if !c.Rendezvous {
			return ringMessages(o, kind, c)
		}
		h := pairMessages(o, kind, c) // all ranks wait in their sends
		between, within := c.delayed(toRight)
		h.Leaving, h.Coming = between+within, between
		if kind != steps.Kind {
			h.Payload = 0 // a blocking send lends its slice
		}
		return h
	},
	Shared:  func(o Options) float64 { return float64(o.Payload) }, // the message from another engine
	Deep:    ringDeep,
	Waiting: ringWaiting,
}

// ringBlocking passes a token round the ring.
var ringBlocking = Entry{
	Name:     "ring_blocking",
	Summary:  "a token goes round the ring with blocking sends and receives; times a round",
	Defaults: Options{Iterations: 10, Payload: 8},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine},
	Build:    onPayload(tokenMain),
	State:    messageState(0),
	Messages: tokenMessages,
	Deep:     tokenDeep,
	Waiting:  tokenWaiting,
}

// ringNonblocking is the ring of messages with nonblocking calls.
var ringNonblocking = Entry{
	Name:     "ring_nonblocking",
	Summary:  "every rank sends to the right and receives from the left with Irecv, Isend and Waitall",
	Defaults: Options{Iterations: 10, Payload: 8},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine},
	Build:    onPayload(nonblockingMain),
	State:    messageState(0),
	Messages: ringMessages,
	Deep:     nonblockingDeep,
	Waiting:  ringWaiting,
}

// numberSize is the length of the number at the beginning of each message of these
// programs. The receiver checks it.
const numberSize = 8

func holdsNumber(o Options) error {
	if o.Payload < numberSize {
		return fmt.Errorf("payload of %s: the messages carry a number of %s, use at least that", spelling.Count(o.Payload, "byte"), spelling.Count(numberSize, "byte"))
	}
	return nil
}

// onPayload returns the Build of a program for goroutine ranks whose messages carry a
// number.
func onPayload(main func(*mpivirt.Rank, Options) error) func(Options) (mpivirt.Program, error) {
	return func(o Options) (mpivirt.Program, error) {
		return mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return main(r, o) })}}, holdsNumber(o)
	}
}

// message returns memory for a message, nil without contents.
func (o Options) message() []byte {
	if o.NoContents {
		return nil
	}
	return make([]byte, o.Payload)
}

// putNumber stores a number in a message that has memory.
func putNumber(message []byte, n int) {
	if message != nil {
		binary.LittleEndian.PutUint64(message, uint64(n))
	}
}

// checkNumber compares the number in a message that has memory with the expected number.
func checkNumber(message []byte, from, want int) error {
	if message == nil {
		return nil
	}
	if got := int(binary.LittleEndian.Uint64(message)); got != want {
		return fmt.Errorf("a message from rank %d holds %d; it must hold %d", from, got, want)
	}
	return nil
}

// ringNumber returns the number that rank sends in an iteration of the ring.
func ringNumber(rank, iteration int) int { return rank<<20 + iteration }

func ringMain(r *mpivirt.Rank, o Options) error {
	world := r.World()
	left, right := neighbours(r.Rank(), r.Size())
	out, in := o.message(), o.message()
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		putNumber(out, ringNumber(r.Rank(), i))
		var err error
		if o.NoContents {
			err = world.SendSize(o.Payload, right, 0)
		} else {
			err = mpivirt.Send(world, out, right, 0)
		}
		if err != nil {
			return err
		}
		if o.NoContents {
			_, err = world.RecvSize(o.Payload, left, 0)
		} else {
			_, err = mpivirt.Recv(world, in, left, 0)
		}
		if err != nil {
			return err
		}
		if err := checkNumber(in, left, ringNumber(left, i)); err != nil {
			return err
		}
		r.Record(i, "ring", r.Now().Sub(start))
	}
	return nil
}

// timedState is the state of an event rank that repeats a timed operation: how often it
// has begun it, and when last. Two words of 32 bits hold the instant, so that the
// struct has no padding.
type timedState struct {
	begun, startLow, startHigh uint32
}

// start records that an operation begins at t.
func (s *timedState) start(t vtime.Time) {
	s.begun++
	s.startLow, s.startHigh = uint32(t), uint32(t>>32)
}

// end returns the number of the operation that was begun last, from 0, and its duration
// until t.
func (s *timedState) end(t vtime.Time) (index int, d vtime.Duration) {
	return int(s.begun) - 1, t.Sub(vtime.Time(s.startHigh)<<32 | vtime.Time(s.startLow))
}

// ringState is the state of ring as an event rank. begun counts its iterations.
type ringState struct {
	timedState
	next ringStep
}

// ringStep is the next action of a rank of ring.
type ringStep uint8

const (
	ringBegins ringStep = iota
	ringSends
	ringReceives
)

const ringStateSize = 16

// ringSteps is ringMain as steps. The message is scratch of the engine: a send copies it. It is not
// inlined itself: in a function literal that comes from an inlined function the compiler inlines no call.
//
//go:noinline
func ringSteps(o Options) func(r *steps.Rank, s *ringState) steps.Outcome {
	message := o.message()
	return func(r *steps.Rank, s *ringState) steps.Outcome {
		left, right := neighbours(r.Rank(), r.Size())
		switch {
		case s.next == ringReceives:
			s.next = ringBegins
			return r.Recv(left, 0)
		case s.next == ringBegins && s.begun > 0:
			index, d := s.end(r.Now())
			if !o.NoContents {
				if err := checkNumber(r.Data(), left, ringNumber(left, index)); err != nil {
					return r.Fail(err)
				}
			}
			r.Record(index, "ring", d)
			if int(s.begun) == o.Iterations {
				return r.Finish()
			}
		}
		if s.next == ringBegins && o.Compute > 0 {
			r.Compute(o.Compute)
			s.next = ringSends
			return r.Continue()
		}
		s.start(r.Now())
		s.next = ringReceives
		if o.NoContents {
			return r.SendSize(o.Payload, right, 0)
		}
		putNumber(message, ringNumber(r.Rank(), int(s.begun)-1))
		return steps.Send(r, message, right, 0)
	}
}

// tokenMain passes a token that counts its hops. Rank 0 sends it first and receives it
// last. A single rank can only send it to itself, and must not block in that.
func tokenMain(r *mpivirt.Rank, o Options) error {
	left, right := neighbours(r.Rank(), r.Size())
	out, in := o.message(), o.message()
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		hops := i*r.Size() + r.Rank()
		putNumber(out, hops)
		var err error
		switch world := r.World(); {
		case o.NoContents:
			err = tokenSizes(r, o, left, right)
		case r.Size() == 1:
			_, err = mpivirt.Sendrecv(world, out, 0, 0, in, 0, 0)
		case r.Rank() == 0:
			if err = mpivirt.Send(world, out, right, 0); err == nil {
				_, err = mpivirt.Recv(world, in, left, 0)
			}
		default:
			if _, err = mpivirt.Recv(world, in, left, 0); err == nil {
				err = mpivirt.Send(world, out, right, 0)
			}
		}
		if err != nil {
			return err
		}
		r.Record(i, "round", r.Now().Sub(start))
		want := hops - 1
		if r.Rank() == 0 {
			want = hops + r.Size() - 1
		}
		if err := checkNumber(in, left, want); err != nil {
			return err
		}
	}
	return nil
}

// tokenSizes passes a token without contents.
func tokenSizes(r *mpivirt.Rank, o Options, left, right int) error {
	world := r.World()
	if r.Size() == 1 {
		_, err := world.SendrecvSize(o.Payload, 0, 0, o.Payload, 0, 0)
		return err
	}
	if r.Rank() == 0 {
		if err := world.SendSize(o.Payload, right, 0); err != nil {
			return err
		}
	}
	if _, err := world.RecvSize(o.Payload, left, 0); err != nil || r.Rank() == 0 {
		return err
	}
	return world.SendSize(o.Payload, right, 0)
}

func nonblockingMain(r *mpivirt.Rank, o Options) error {
	world := r.World()
	left, right := neighbours(r.Rank(), r.Size())
	out, in := o.message(), o.message()
	requests := make([]mpivirt.Request, 2)
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		putNumber(out, ringNumber(r.Rank(), i))
		var err error
		if o.NoContents {
			requests[0], err = world.IrecvSize(o.Payload, left, 0)
		} else {
			requests[0], err = mpivirt.Irecv(world, in, left, 0)
		}
		if err != nil {
			return err
		}
		if o.NoContents {
			requests[1], err = world.IsendSize(o.Payload, right, 0)
		} else {
			requests[1], err = mpivirt.Isend(world, out, right, 0)
		}
		if err != nil {
			return err
		}
		if err := mpivirt.WaitallInto(requests, nil); err != nil {
			return err
		}
		if err := checkNumber(in, left, ringNumber(left, i)); err != nil {
			return err
		}
		r.Record(i, "ring", r.Now().Sub(start))
	}
	return nil
}

// always is the Deep of programs whose ranks wait for messages while they are on their way.
func always(Options, Course) bool { return true }

// toRight returns the rank to the right.
func toRight(rank, ranks int) int {
	_, right := neighbours(rank, ranks)
	return right
}

// toRoot returns rank 0.
func toRoot(int, int) int { return 0 }

// ringDeep is the Deep of the ring. Where no message delays another, the few ranks that wait make few calls. Where all messages do, sends alone are complete at
// once; else most receives are, too.
func ringDeep(o Options, c Course) bool {
	between, within := c.delayed(toRight)
	switch delayed := between + within; {
	case c.Strict, delayed > 0 && makesDeep(float64(o.Payload)):
		return true
	case delayed == 0:
		return false
	case delayed < 1:
		return 2*o.Iterations > fewCalls
	}
	return o.Iterations > fewCalls
}

// nonblockingDeep is the Deep of the ring with nonblocking calls. Without delays few ranks wait.
func nonblockingDeep(_ Options, c Course) bool {
	between, within := c.delayed(toRight)
	return c.Strict || between+within > 0
}

// tokenDeep is the Deep of a program in which a rank sends once in an iteration, and else waits.
func tokenDeep(o Options, c Course) bool {
	return c.Strict || o.Iterations > fewCalls || makesDeep(float64(o.Payload))
}

// makesDeep reports whether the runtime needs a deep stack to make a buffer: it takes a span of pages for each.
func makesDeep(bytes float64) bool { return bytes >= 4<<10 }

// ringWaiting is the Waiting of the ring: rank k finds the messages of its first k iterations, those
// before it have sent them. A rank whose message is delayed on its way begins such a row of ranks anew.
func ringWaiting(o Options, c Course) (some, share float64) {
	between, within := c.delayed(toRight)
	return float64(o.Iterations), min(1, (between+within)*float64(o.Iterations))
}

// tokenWaiting is the Waiting of a program in which a rank waits for the token to come round again, or while the token is on its way.
func tokenWaiting(o Options, c Course) (some, share float64) {
	if between, within := c.delayed(toRight); o.Iterations == 1 && between+within == 0 {
		return 1, 0
	}
	return 0, 1
}

// messageState returns the State of a program of point-to-point messages whose event ranks
// have a state of the given size. Goroutine ranks have a buffer that messages fill, and one to
// send, of which they write the number at its beginning alone.
func messageState(state float64) func(*mpivirt.Kind, Options) float64 {
	return func(kind *mpivirt.Kind, o Options) float64 {
		if kind == steps.Kind {
			return state
		}
		return float64(o.Payload) + sentBytes(o.Payload)
	}
}

// sentBytes returns the memory of a buffer that is read whole, and written at its beginning alone.
func sentBytes(bytes int64) float64 {
	if readingTakesMemory() {
		return float64(bytes)
	}
	return float64(min(bytes, 4096))
}

// ringMessages are the Messages of a program in which every rank sends one message and receives
// one. Where they are not postponed, a rank goes on as soon as the one before it has sent, so
// few messages are under way at a time. The receiver of a message that is delayed on its way waits. The ranks behind the receiver then wait one after the other, one in each
// iteration, and the rank before the next such message sends as many messages.
func ringMessages(o Options, kind *mpivirt.Kind, c Course) mpivirt.Held {
	between, within := c.delayed(toRight)
	h, delayed := pairMessages(o, kind, c), between+within
	switch {
	case c.Postponed:
		return h
	case delayed == 0:
		return mpivirt.Held{}
	}
	waiting := min(1, delayed*float64(o.Iterations))
	h.Mailboxes, h.Requests, h.Messages, h.Leaving, h.Coming = min(1, waiting+delayed), waiting, waiting, waiting, min(1, between*float64(o.Iterations))
	if kind == steps.Kind {
		h.Received = delayed
	}
	return h
}

// tokenMessages are the Messages of a program in which one message is under way, while ranks wait for it.
func tokenMessages(o Options, _ *mpivirt.Kind, c Course) mpivirt.Held {
	switch _, share := tokenWaiting(o, c); {
	case c.Postponed:
		return mpivirt.Held{Mailboxes: 1, Messages: 1, Operations: 2}
	case share == 0:
		return mpivirt.Held{}
	}
	return mpivirt.Held{Mailboxes: 1, Requests: 1}
}

// pairMessages are the Messages of a program in which partners exchange a message each.
func pairMessages(o Options, _ *mpivirt.Kind, _ Course) mpivirt.Held {
	return mpivirt.Held{Mailboxes: 1, Requests: 1, Messages: 1, Payload: float64(o.Payload), Operations: 2}
}
