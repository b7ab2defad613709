package resource

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The scripts in testdata have a machine and messages of its ranks, which delay each other. A line is a message: its name, its sender and
// receiver, its bytes, when it asks to leave, and what it is: ordered, of an agent (in round N), or work in the memory. What comes out
// is when it begins to leave, when it asks at its receiver's node, when its sender is free, when it arrives, and how long the others have
// delayed it since it asked last.
func TestNetworks(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("if the change of times is meant: go test ./mpivirt/internal/resource -run Networks -rewrite")
		}
	})
	for _, name := range []string{"interfaces", "layers", "links"} {
		t.Run(name, func(t *testing.T) {
			var machine *network.Machine
			datadriven.RunTest(t, "testdata/"+name, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd == "machine" {
					m, err := network.Parse("machine", []byte("name: m\n"+d.Input), nil)
					if err != nil {
						d.Fatalf(t, "%v", err)
					}
					machine = m
					return ""
				}
				return playMessages(t, d, machine)
			})
		})
	}
}

// traffic has ranks of one engine send messages: it stands in for the kernel, and for the rooms that the messages belong to.
type traffic struct {
	partition world.Partition
	net       Network
	messages  []Passage
	names     []string
	lines     [][]string // by message
}

// playMessages sends the messages of a script.
func playMessages(t *testing.T, d *datadriven.TestData, machine *network.Machine) string {
	var ranks int
	d.ScanArgs(t, "ranks", &ranks)
	target, err := machine.Target(int64(ranks))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	f := &traffic{}
	transports := engine.NewInProcess(1)
	e := engine.New(engine.Config{Partition: engine.Partition{LPs: ranks, Engines: 1}, Transport: transports[0], Lookahead: func(int) vtime.Duration { return vtime.Second }})
	f.partition.Init(world.Settings{Engine: e, Target: target})
	f.net = NewNetwork(&f.partition)
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		f.read(t, target, line)
	}
	f.net.Carries(OfProgram, f)
	f.net.Carries(OfAgents, f)
	if x, has := f.net.(*Interfaces); has && d.HasArg("layers") {
		x.InLayers(f)
	}
	e.ReadyRange(0, 1)
	if err := e.Run(f); err != nil {
		d.Fatalf(t, "%v", err)
	}
	var b strings.Builder
	for i, lines := range f.lines {
		fmt.Fprintf(&b, "%s: %s\n", f.names[i], strings.Join(lines, ", "))
	}
	return b.String()
}

// read reads the line of a message: "a: 0 to 3, 1000 bytes at 2us ordered".
func (f *traffic) read(t *testing.T, target *network.Target, line string) {
	var at, name string
	var p Passage
	if _, err := fmt.Sscanf(line, "%s %d to %d, %d bytes at %s", &name, &p.Source, &p.Dest, &p.Bytes, &at); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	since, err := vtime.ParseDuration(at)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	p.At = vtime.Time(0).Add(since)
	p.Sent, p.Left, p.Index = p.At, p.At, int32(len(f.messages))
	p.Latency, p.Transfer = target.LatencyAndTransfer(int(p.Source), int(p.Dest), p.Bytes)
	p.Ordered = strings.Contains(line, "ordered")
	if _, rest, of := strings.Cut(line, "path until "); of { // the path between the two ranks has taken the message before it then
		until, err := vtime.ParseDuration(strings.Fields(rest)[0])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		p.At = vtime.Time(0).Add(until)
	}
	if _, round, of := strings.Cut(line, "round "); of {
		p.Owner = OfAgents
		if _, err := fmt.Sscan(round, &p.Order[1]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	if strings.Contains(line, "work") {
		p.Work, p.Transfer = target.CombiningTime(p.Bytes), target.ReduceTime(p.Bytes)
		p.Bytes, p.Latency = 0, 0
	}
	f.messages, f.names, f.lines = append(f.messages, p), append(f.names, strings.TrimSuffix(name, ":")), append(f.lines, nil)
}

// Next implements [Layers]: the layers are the rounds of the messages, and of the work behind them.
func (f *traffic) Next(node, rail int, way Way, from uint64) (layer uint64, messages int) {
	layer = 1 << 62
	t := f.partition.Target
	for i := range f.messages {
		p := &f.messages[i]
		within := t.Node(int(p.Source)) == t.Node(int(p.Dest))
		rank := p.Source
		if way == Inward {
			rank = p.Dest
		}
		each, shared, _ := t.Interfaces()
		own := 0
		if !shared && way != Within {
			own = t.RankInNode(int(rank)) % each
		}
		if within != (way == Within) || within && t.MemoryTime(p.Bytes).Plus(p.Work) == 0 || t.Node(int(rank)) != node || own != rail || p.Layer() < from {
			continue
		}
		switch {
		case p.Layer() < layer:
			layer, messages = p.Layer(), 1
		case p.Layer() == layer:
			messages++
		}
	}
	return layer, max(messages, 1)
}

func (f *traffic) note(p *Passage, format string, arguments ...any) {
	f.lines[p.Index] = append(f.lines[p.Index], fmt.Sprintf(format, arguments...))
}

func (f *traffic) Left(p *Passage, begins, asks vtime.Time) {
	f.note(p, "begins at %v, asks at %v", begins, asks)
	f.net.Reach(*p, asks)
}

func (f *traffic) Freed(p *Passage, at vtime.Time, delay vtime.Duration) {
	f.note(p, "frees its sender at %v, delayed by %v", at, delay)
}

func (f *traffic) Arrived(p *Passage, at vtime.Time) {
	f.note(p, "arrives at %v, delayed by %v", at, f.net.Delay(p, at))
}

// Run has all messages ask. They ask in the order of the host, which is not that of virtual time.
func (f *traffic) Run(int32) {
	for _, p := range slices.Backward(f.messages) {
		if !p.Ordered {
			f.net.Leave(p)
		}
	}
	for _, p := range f.messages {
		if p.Ordered {
			f.net.Leave(p)
		}
	}
	f.partition.Engine.Finished(f.partition.Ranks)
}

func (f *traffic) Handle(ev engine.Event)          { f.net.Serve(ev.Source, ev.Time) }
func (f *traffic) Deliver(int, []byte)             {}
func (f *traffic) Drained()                        {}
func (f *traffic) InCall(int32, int32, vtime.Time) {}
func (f *traffic) Withdrawn(*engine.Event) bool    { return false }
