package p2p

import (
	"fmt"
	"strings"
	"testing"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// As many polls of a rank are foreseen as fail before the instant at which the first succeeds, or as make a loop long: for a rank
// that has a message or a request with a known outcome.
func TestNumberOfFailingPolls(t *testing.T) {
	const poll, clock, long = 1000, 5000, 20 // picoseconds
	for _, c := range []struct {
		why     string
		fields  string
		success vtime.Time
		polls   int32 // so far
		change  func(m *Messages)
		want    int
	}{
		{why: "a success long ago", success: 1, want: 0},
		{why: "a success now", success: clock, want: 0},
		{why: "a success before the next poll", success: clock + 1, want: 1},
		{why: "a success at the next poll", success: clock + poll, want: 1},
		{why: "a success behind the next poll", success: clock + poll + 1, want: 2},
		{why: "a success ten polls away", success: clock + 10*poll, want: 10},
		{why: "a success beyond a long loop", success: clock + 100*poll, want: long},
		{why: "a success beyond a long loop, after some polls", success: clock + 100*poll, polls: 15, want: long - 15},
		{why: "a long loop", success: clock + 100*poll, polls: long, want: 0},
		{why: "a loop of one poll less", success: clock + 100*poll, polls: long - 1, want: 1},
		{why: "a strict run", success: clock + 100*poll, change: func(m *Messages) { m.Partition.Strict = true }},
		{why: "ranks that have polled on", success: clock + 100*poll, change: func(m *Messages) { m.anew = true }},
		{why: "statistics", success: clock + 100*poll, change: func(m *Messages) { m.Partition.Activities = &m.Partition.Summary.Activities }},
		{why: "receives from any source", success: clock + 100*poll, change: func(m *Messages) { m.Box(0).wildcards++ }},
		{why: "progress in calls", success: clock + 100*poll, fields: ", progress: calls"},
	} {
		for _, kind := range []string{"iprobe", "test"} {
			m := openedOn(t, 2, "model: flat, latency: 1us, bandwidth: 1GB/s, poll: 1ns"+c.fields)
			m.longLoop = long
			box := m.Box(0)
			w := &box.Wait
			var found *vtime.Time
			if kind == "iprobe" {
				index := m.messages.Take()
				*m.messages.At(index) = message{comm: world.World, source: 1, rank: 1, tag: 5}
				m.addUnexpected(box, index)
				w.Procedure, w.Comm, w.Peer, w.Tag = world.Iprobe, world.World, 1, 5
				found = &m.messages.At(index).arrival
			} else {
				index := m.NewRequest(0, SendRequest, world.Issend)
				w.Procedure, w.Requests = world.Test, []int32{index}
				m.Requests.At(index).Complete = true
				found = &m.Requests.At(index).Time
			}
			*found, box.polls, m.Partition.Clock[0] = c.success, c.polls, clock
			if c.change != nil {
				c.change(m)
			}
			n := m.FailingPolls(0)
			if n != c.want {
				t.Errorf("%s, by %s: %d polls fail, want %d", c.why, kind, n, c.want)
			}
			if n > 0 {
				m.PolledInVain(0, n)
			}
			if now := m.Partition.Clock[0]; now != clock+vtime.Time(c.want*poll) || box.polls != c.polls+int32(c.want) {
				t.Errorf("%s, by %s: after %d polls the clock is %v, and %d have failed in a row", c.why, kind, c.want, now, box.polls)
			}
			switch kind { // of what is not known nothing is foreseen
			case "iprobe":
				w.Tag = 6
			case "test":
				m.Requests.At(w.Requests[0]).Complete = false
			}
			if n := m.FailingPolls(0); n != 0 {
				t.Errorf("%s, by %s: %d polls fail before a message that is not there", c.why, kind, n)
			}
			w.Peer, w.Tag = world.AnySource, 5 // a lesser message may come
			if kind == "iprobe" && m.FailingPolls(0) != 0 {
				t.Errorf("%s: polls for any source fail", c.why)
			}
		}
	}
}

// A poll whose outcome no message can change takes no timed event of its own: a rank that polls for long takes a few.
func TestPollsThatAreForeseenTakeFewEvents(t *testing.T) {
	const polls = 100 // each takes 100 ns
	for _, c := range []struct {
		why      string
		fields   string
		programs []string
		few      bool
	}{
		{"a message on its way, by its source", "", []string{"compute 1us; send 1 0 8", "compute 2us; until iprobe 0 0; recv 0 0"}, true},
		{"a receive of a message on its way", "", []string{"compute 1us; send 1 0 8", "q=irecv 0 0; compute 2us; until test q"}, true},
		{"several receives", "", []string{"compute 1us; send 1 0 8; send 1 1 8", "q=irecv 0 0; r=irecv 0 1; compute 2us; until testall q r"}, true},
		{"any of several receives", "", []string{"compute 1us; send 1 0 8; send 1 1 8", "q=irecv 0 0; r=irecv 0 1; compute 2us; until testany q r; wait q; wait r"}, true},
		{"a receive from any source", "", []string{"compute 1us; send 1 0 8", "q=irecv * 0; compute 2us; until test q"}, false},
		{"a send that waits for its match", "", []string{"compute 10us; recv 1 0", "q=issend 0 0 8; until test q"}, true},
	} {
		machine, err := network.Parse("machine", []byte("name: m\nnetwork: {model: flat, latency: 10us, poll: 100ns"+c.fields+"}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := machine.Target(int64(len(c.programs)))
		if err != nil {
			t.Fatal(err)
		}
		ranks := len(c.programs)
		x := &outcome{programs: make([][]string, ranks), ranks: make([][]string, ranks), finish: make([]string, ranks), inCalls: make([][]phase, ranks), chains: make([][]chained, ranks)}
		e := engine.New(engine.Config{Partition: engine.Partition{LPs: ranks, Engines: 1}, Transport: engine.NewInProcess(1)[0]})
		p := newPlayer(t, e, target, variant{engines: 1}, options{}, x, c.programs)
		e.ReadyRange(0, ranks)
		if err := e.Run(p); err != nil {
			t.Fatal(err)
		}
		made := 0
		for _, line := range x.ranks[1] {
			n := 0
			if _, after, polled := strings.Cut(line, ", "); polled && strings.HasPrefix(line, "until") {
				if _, err := fmt.Sscanf(after, "%d polls", &n); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				made += n
			}
		}
		if events := e.Statistics.Events; made < polls/2 || c.few != (events < 20) {
			t.Errorf("%s: %d polls take %d events", c.why, made, events)
		}
	}
}
