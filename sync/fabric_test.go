package sync_test

import (
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"gigarank/sync"
)

// fabric is a transport and a scheduler for a test. Engines run as coroutines on one
// goroutine, one at a time. The next engine to run and the next message to arrive are
// random but a function of the seed, and some pairs and engines are slow. The wall
// clock stands still until nothing else can happen.
type fabric struct {
	random *rand.Rand
	slow   [][]bool // by source and destination; the diagonal for the engines
	ends   []*fabricEnd
	flying [][]byte // in order of sending; see route
	route  [][2]int // source and destination of each
	clock  time.Duration
	sent   int // messages
	owned  map[*byte]bool
	tails  map[*byte][]byte // of messages, by their first byte
}

type fabricEnd struct {
	fabric *fabric
	rank   int
	inbox  [][]byte
	source []int
	wakeAt time.Duration
	yield  func(struct{}) bool
	resume func() (struct{}, bool)
	live   bool
}

func newFabric(k int, seed uint64) *fabric {
	f := &fabric{random: rand.New(rand.NewPCG(seed, 0)), owned: map[*byte]bool{}, tails: map[*byte][]byte{}}
	for rank := range k {
		f.ends = append(f.ends, &fabricEnd{fabric: f, rank: rank})
		row := make([]bool, k)
		for i := range row {
			row[i] = f.random.IntN(3) == 0
		}
		f.slow = append(f.slow, row)
	}
	return f
}

func (f *fabric) endpoint(rank int, c sync.Config) *sync.Endpoint {
	c.Clock = func() time.Duration { return f.clock }
	return sync.NewEndpoint(f.ends[rank], c)
}

// run runs body for every engine until all return. It gives up and returns false after
// limit messages, or as many jumps of the clock.
func (f *fabric) run(limit int, body func(rank int)) bool {
	for rank, e := range f.ends {
		next, stop := iter.Pull(iter.Seq[struct{}](func(yield func(struct{}) bool) {
			e.yield = yield
			defer func() {
				if fault := recover(); fault != nil && fault != givenUp {
					panic(fault)
				}
			}()
			body(rank)
		}))
		defer stop()
		e.resume, e.live = next, true
	}
	for jumps := 0; f.sent <= limit && jumps <= limit; {
		ready, asleep := f.ready()
		choices := len(ready) + len(f.flying)
		switch {
		case choices == 0 && len(asleep) == 0:
			return true
		case choices == 0:
			jumps++
			f.clock = asleep[0].wakeAt
			for _, e := range asleep {
				f.clock = min(f.clock, e.wakeAt)
			}
		default:
			f.step(ready, f.random.IntN(choices), f.random.IntN(16) == 0)
		}
	}
	return false
}

// step resumes a ready engine or lets a message arrive. It chooses a slow one only with
// patience.
func (f *fabric) step(ready []*fabricEnd, choice int, patience bool) {
	if choice < len(ready) {
		if e := ready[choice]; patience || !f.slow[e.rank][e.rank] {
			_, e.live = e.resume()
		}
		return
	}
	i := choice - len(ready)
	if route := f.route[i]; patience || !f.slow[route[0]][route[1]] {
		f.arrive(i)
	}
}

func (f *fabric) ready() (ready, asleep []*fabricEnd) {
	for _, e := range f.ends {
		switch {
		case !e.live:
		case len(e.inbox) > 0 || e.wakeAt <= f.clock:
			ready = append(ready, e)
		default:
			asleep = append(asleep, e)
		}
	}
	return ready, asleep
}

// arrive lets the first message of the pair of message i arrive.
func (f *fabric) arrive(i int) {
	for first := range i {
		if f.route[first] == f.route[i] {
			i = first
			break
		}
	}
	e := f.ends[f.route[i][1]]
	e.inbox, e.source = append(e.inbox, f.flying[i]), append(e.source, f.route[i][0])
	f.flying = append(f.flying[:i], f.flying[i+1:]...)
	f.route = append(f.route[:i], f.route[i+1:]...)
}

// givenUp is the panic that ends an engine when run gives up.
const givenUp = "the fabric was given up"

// pause lets others run.
func (e *fabricEnd) pause(limit time.Duration) {
	e.wakeAt = e.fabric.clock + limit
	if !e.yield(struct{}{}) {
		panic(givenUp)
	}
}

func (e *fabricEnd) Rank() int { return e.rank }
func (e *fabricEnd) Size() int { return len(e.fabric.ends) }

// Alloc fills the buffer with garbage, which must not reach anyone.
func (e *fabricEnd) Alloc(n int) []byte {
	buffer := make([]byte, n, n+e.fabric.random.IntN(64))
	for i := range buffer[:cap(buffer)] {
		buffer[:cap(buffer)][i] = 0xa5
	}
	e.fabric.owned[&buffer[0]] = true
	return buffer
}

func (e *fabricEnd) Free(message []byte) {
	e.release(message)
	clear(message)
}

func (e *fabricEnd) release(message []byte) {
	if !e.fabric.owned[&message[0]] {
		panic("a buffer is given back that is not owned")
	}
	delete(e.fabric.owned, &message[0])
}

func (e *fabricEnd) Send(dst int, message []byte) error {
	e.release(message)
	f := e.fabric
	f.sent++
	f.flying, f.route = append(f.flying, message), append(f.route, [2]int{e.rank, dst})
	return nil
}

// SendTail leaves the tail where it lies until the message is received.
func (e *fabricEnd) SendTail(dst int, message []byte, tail sync.Tail) error {
	e.fabric.tails[&message[0]] = tail.Bytes
	return e.Send(dst, message)
}

func (e *fabricEnd) AwaitTail(int32) error { panic("no engine of the model awaits a tail") }
func (e *fabricEnd) HoldsTails() bool      { return len(e.fabric.tails) > 0 }

func (e *fabricEnd) Receive() (int, []byte, error) {
	if len(e.inbox) == 0 {
		return 0, nil, nil
	}
	src, message := e.source[0], e.inbox[0]
	e.source, e.inbox = e.source[1:], e.inbox[1:]
	if tail := e.fabric.tails[&message[0]]; tail != nil { // the receiver gets no byte more
		delete(e.fabric.tails, &message[0])
		message = slices.Clip(slices.Concat(message, tail))
	}
	e.fabric.owned[&message[0]] = true
	return src, message, nil
}

func (e *fabricEnd) Wait(limit time.Duration) error {
	if len(e.inbox) == 0 {
		e.pause(limit)
	}
	return nil
}

func (e *fabricEnd) Wake()        { e.wakeAt = 0 }
func (e *fabricEnd) Leave()       {}
func (e *fabricEnd) Close() error { return nil }
