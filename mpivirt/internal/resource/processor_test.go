package resource

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// What a fake rank does.
const (
	computes uint8 = iota
	sends
	waits // until an instant
	matches
)

// message is one that reaches a rank, or that it sends.
type message struct {
	arrival, released vtime.Time
	source            int32
	bytes             int64
}

// scene is what happens on one processor: the operations of its program, one after the other, those of agents, and the
// messages that reach it.
type scene struct {
	target   *network.Target
	program  []Operation // Index is the number of bytes of a send, Length the end of a wait
	agents   []Operation
	messages []message
}

// fake stands in for the rooms of messages and of collectives, and for the kernel of an engine.
type fake struct {
	*scene
	x   *Processors
	p   *world.Partition
	log []string
}

func (f *fake) note(format string, arguments ...any) {
	f.log = append(f.log, fmt.Sprintf(format, arguments...))
}

// Run begins all of it: the rank starts its program and does not wait.
func (f *fake) Run(int32) {
	for i, m := range f.messages {
		f.x.Reach(0, Arrival{At: m.arrival, Released: m.released, Source: m.source, Index: int32(i)})
	}
	for _, op := range f.agents {
		f.x.Ask(0, op)
	}
	for _, op := range f.program {
		f.x.Operate(0, op)
	}
	f.x.Operate(0, Operation{Need: Order, Function: func() { f.note("the program is over at %v", f.p.Clock[0]) }})
	f.p.Engine.Finished(1)
}

func (f *fake) Handle(ev engine.Event)  { f.x.Serve(0, ev.Time) }
func (f *fake) Deliver(_ int, _ []byte) {}
func (f *fake) Drained()                {}

func (f *fake) Begin(_ int32, p *Processor, op *Operation, at vtime.Time) bool {
	f.note("owner %d, kind %d, call %d: %v", op.Owner, op.Kind, op.Call, at)
	f.carryOut(&p.State, op, at)
	if op.Kind == matches {
		f.x.TellMatch(OfAgents, 0, op.Index, 1, at)
	}
	return true
}

// carryOut has an operation occupy CPU and interface.
func (s *scene) carryOut(state *network.Occupancy, op *Operation, at vtime.Time) {
	switch op.Kind {
	case computes:
		state.CPU = at.Add(op.Length)
	case sends:
		s.target.Depart(state, int64(op.Index), at)
	}
}

func (f *fake) Size(index int32) int64                      { return f.messages[index].bytes }
func (f *fake) CallOf(int32, int32) world.Procedure         { return world.Recv }
func (f *fake) Sender(int32) (int32, world.Procedure, bool) { return 0, world.Send, true }
func (f *fake) Leaving(*Operation) (world.Procedure, string, bool) {
	return world.Send, "a message", true
}
func (f *fake) Pass(_ int32, kind uint8)          { f.note("passes %d", kind) }
func (f *fake) InLoop(int32, vtime.Time) bool     { return false }
func (f *fake) Skipped(vtime.Time, vtime.Time)    {}
func (f *fake) Ended(int32)                       { f.note("a wait ends at %v", f.p.Clock[0]) }
func (f *fake) Matched(index int32, t vtime.Time) { f.note("match %d: %v", index, t) }
func (f *fake) TakeIn(_, index int32, arrival, at vtime.Time) {
	f.note("message %d of %v: %v", index, arrival, at)
}
func (f *fake) Ends(_ int32, p *Processor, op *Operation) (at, released vtime.Time) {
	return max(op.Earliest, vtime.Time(op.Length)), op.Released
}

// candidate is what can begin at an instant.
type candidate struct {
	at, released   vtime.Time
	source, number int64
	begin          func()
}

// twin does what a processor does, by the order in the doc comment of processor.go: of all that can begin at the least instant, what was
// released first; of that, what the program does, then agents by call, then messages by source and order.
func (s *scene) twin() (log []string) {
	note := func(format string, arguments ...any) { log = append(log, fmt.Sprintf(format, arguments...)) }
	var state network.Occupancy
	clock, released := vtime.Time(0), vtime.Time(0)
	program, agents := slices.Clone(s.program), slices.Clone(s.agents)
	type coming struct {
		message
		index int
	}
	var inbox []coming
	for i, m := range s.messages {
		inbox = append(inbox, coming{m, i})
	}
	slices.SortStableFunc(inbox, func(a, b coming) int {
		if a.arrival != b.arrival {
			return int(a.arrival - b.arrival)
		}
		return int(a.source - b.source)
	})
	canBegin := func(need Need, earliest vtime.Time, length vtime.Duration) vtime.Time {
		switch need {
		case CPU:
			return max(earliest, state.CPU)
		case Interface:
			return state.CanSend(earliest)
		case End:
			return max(earliest, vtime.Time(length))
		}
		return earliest
	}
	var pending []candidate // matches
	over := false
	for {
		for len(program) > 0 && program[0].Need == Order {
			note("passes %d", program[0].Kind)
			program = program[1:]
		}
		if len(program) == 0 && !over {
			note("the program is over at %v", clock)
			over = true
		}
		all := slices.Clone(pending)
		if len(inbox) > 0 {
			m := inbox[0]
			at := state.CanReceive(m.arrival)
			all = append(all, candidate{at, m.released, int64(m.source), 0, func() {
				inbox = inbox[1:]
				s.target.TakeIn(&state, m.bytes, at)
				note("message %d of %v: %v", m.index, m.arrival, at)
			}})
		}
		if len(program) > 0 {
			op := program[0]
			at := canBegin(op.Need, clock, op.Length)
			all = append(all, candidate{at, released, own, 0, func() {
				program = program[1:]
				note("owner 0, kind %d, call %d: %v", op.Kind, op.Call, at)
				s.carryOut(&state, &op, at)
				released, clock = at, max(clock, state.CPU, at)
				if op.Need == End {
					note("a wait ends at %v", clock)
				}
			}})
		}
		for i, op := range agents {
			at := canBegin(op.Need, op.Earliest, op.Length)
			all = append(all, candidate{at, op.Released, ofAgents, int64(op.Call), func() {
				agents = slices.Delete(agents, i, i+1)
				note("owner 1, kind %d, call %d: %v", op.Kind, op.Call, at)
				s.carryOut(&state, &op, at)
				if op.Kind == matches { // a picosecond later, and of that instant before all else
					pending = append(pending, candidate{at.Add(vtime.Picosecond), unknown, 1, int64(len(pending)), func() {
						pending = pending[1:]
						note("match %d: %v", op.Index, at)
					}})
				}
			}})
		}
		if len(all) == 0 {
			return log
		}
		least := slices.MinFunc(all, func(a, b candidate) int {
			for _, d := range []int64{int64(a.at - b.at), int64(a.released - b.released), a.source - b.source, a.number - b.number} {
				if d != 0 {
					return int(d)
				}
			}
			return 0
		})
		least.begin()
	}
}

// loggopsTarget returns a machine with state at the receiver.
func loggopsTarget(t interface{ Fatal(...any) }) *network.Target {
	m, err := network.Parse("m", []byte("name: m\nnetwork: {model: loggops, L: 40ns, o: 3ns, g: 5ns, G: 1ns, O: 1ns, S: 65535}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(4)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// A processor begins what the plain rule says, at the same instants and in the same order.
func TestProcessorsAgainstTheRule(t *testing.T) {
	target := loggopsTarget(t)
	rapid.Check(t, func(t *rapid.T) {
		instant := func(name string) vtime.Time { return vtime.Time(1000 * rapid.IntRange(0, 30).Draw(t, name)) }
		s := &scene{target: target}
		for range rapid.IntRange(0, 6).Draw(t, "operations") {
			op := Operation{Kind: rapid.SampledFrom([]uint8{computes, sends, waits, 7}).Draw(t, "kind")}
			switch op.Kind {
			case computes:
				op.Need, op.Length = CPU, vtime.Duration(instant("length"))
			case sends:
				op.Need, op.Index = Interface, rapid.Int32Range(1, 20).Draw(t, "bytes")
			case waits:
				op.Need, op.Length = End, vtime.Duration(instant("end"))
			default:
				op.Need = Order
			}
			s.program = append(s.program, op)
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "agents") {
			op := Operation{Owner: OfAgents, Call: uint32(i + 1), Index: int32(i + 1), Earliest: instant("earliest"), Released: instant("released")}
			switch op.Kind = rapid.SampledFrom([]uint8{computes, sends, matches}).Draw(t, "agent"); op.Kind {
			case computes:
				op.Need, op.Length = CPU, vtime.Duration(instant("length"))
			case sends:
				op.Need = Interface
			}
			s.agents = append(s.agents, op)
		}
		for range rapid.IntRange(0, 5).Draw(t, "messages") {
			m := message{instant("arrival"), instant("sent"), rapid.Int32Range(1, 3).Draw(t, "source"), rapid.Int64Range(1, 20).Draw(t, "bytes")}
			s.messages = append(s.messages, m)
		}
		f, err := playScene(s)
		if err != nil {
			t.Fatal(err)
		}
		if want := s.twin(); !slices.Equal(f.log, want) {
			t.Fatalf("the processor does\n%s\nthe rule has\n%s", strings.Join(f.log, "\n"), strings.Join(want, "\n"))
		}
		if f.x.Behind(0) {
			t.Fatal("operations of the program are left")
		}
		f.x.Untaken(OfProgram, func(_, index int32) { t.Fatalf("message %d is left", index) })
	})
}

// playScene has a processor carry a scene out.
func playScene(s *scene) (*fake, error) {
	e := engine.New(engine.Config{Partition: engine.Partition{LPs: 1, Engines: 1}, Transport: engine.NewInProcess(1)[0]})
	f := &fake{scene: s, p: &world.Partition{}}
	f.p.Init(world.Settings{Engine: e, Target: s.target})
	f.x = New(f.p, f)
	f.x.Carries(OfAgents, f)
	e.ReadyRange(0, 1)
	return f, e.Run(f)
}
