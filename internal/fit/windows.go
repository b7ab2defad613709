package fit

import (
	"fmt"

	"gigarank/internal/measurements"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// exchange is what the ranks of osu_latency, osu_bw and osu_mbw_mr do: in each pair one rank sends a window of messages, and
// the other one an answer.
type exchange struct {
	layout  Layout
	pairs   int // the first ranks send
	partner int // distance of the two ranks of a pair
	window  int
	bytes   int64
	answer  int64
}

// Rounds of the two simulations of an exchange: what the second one takes longer is free of the begin, when pairs are together, and of the
// end, when the last pairs are alone. Pairs need several rounds to come apart.
const (
	fewRounds  = 8
	manyRounds = 16
)

// mostPairs and mostRanks bound what the simulation of an exchange costs. Ranks between the pairs do nothing.
const (
	mostPairs = 1 << 10
	mostRanks = 1 << 17
)

// exchangeOf returns what the ranks of a row do, of a table that is no collective.
func (f *fitter) exchangeOf(s *Series, p Sample) exchange {
	e := exchange{layout: s.Layout, pairs: 1, window: s.Window, bytes: p.Bytes, answer: answerBytes}
	e.layout, e.partner = f.partner(s)
	switch {
	case s.Kind == Latency:
		e.window, e.answer = 1, p.Bytes
	case s.Kind == MessageRate && s.near():
		e.layout, e.pairs, e.partner = s.Layout, s.Pairs, s.Layout.Ranks()/2
	case s.Kind == MessageRate:
		e.layout.PerNode, e.pairs, e.partner = s.Pairs, s.Pairs, e.partner*s.Pairs
	}
	return e
}

// simulate returns the time of a round in seconds.
func (e *exchange) simulate(m *network.Machine) (float64, error) {
	ranks := e.layout.Ranks()
	if e.pairs > mostPairs || ranks > mostRanks {
		return 0, fmt.Errorf("%s of %s are more than fit simulates: %s, %s", spelling.Count(e.pairs, "pair"), spelling.Count(ranks, "rank"), spelling.Count(mostPairs, "pair"), spelling.Count(mostRanks, "rank"))
	}
	m, err := m.WithRanksPerNode(e.layout.PerNode)
	if err != nil {
		return 0, err
	}
	target, err := m.Target(int64(ranks))
	if err != nil {
		return 0, err
	}
	var took [2]vtime.Time
	for i, rounds := range [...]int{fewRounds, manyRounds} {
		if took[i], err = e.run(target, rounds); err != nil {
			return 0, err
		}
	}
	return took[1].Sub(took[0]).Seconds() / (manyRounds - fewRounds), nil
}

// run returns the time of a number of rounds, on one engine: ranks wait for each other all the time.
func (e *exchange) run(t *network.Target, rounds int) (vtime.Time, error) {
	main := mpivirt.Main(func(r *mpivirt.Rank) error { return e.carryOut(r, rounds) })
	s, err := mpivirt.New(mpivirt.Config{Target: t, Kind: main.Kind(), Transports: sync.NewInProcess(1), Protocol: sync.Hybrid, Seed: 1, Output: func(string) {},
		Program: mpivirt.Program{Name: "windows", Forms: []mpivirt.Form{main}}})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	r, err := s.Run()
	if err != nil {
		return 0, err
	}
	return r.VirtualTime, nil
}

// carryOut does what a rank does.
func (e *exchange) carryOut(r *mpivirt.Rank, rounds int) error {
	sends := r.Rank() < e.pairs
	if !sends && (r.Rank() < e.partner || r.Rank() >= e.partner+e.pairs) {
		return nil
	}
	requests := make([]mpivirt.Request, 0, e.window)
	for range rounds {
		if err := e.round(r, sends, requests); err != nil {
			return err
		}
	}
	return nil
}

// round carries out a window and its answer.
func (e *exchange) round(r *mpivirt.Rank, sends bool, requests []mpivirt.Request) error {
	w := r.World()
	for range e.window {
		begin, other := w.IrecvSize, r.Rank()-e.partner
		if sends {
			begin, other = w.IsendSize, r.Rank()+e.partner
		}
		request, err := begin(e.bytes, other, 0)
		if err != nil {
			return err
		}
		requests = append(requests, request)
	}
	if _, err := mpivirt.Waitall(requests); err != nil {
		return err
	}
	if !sends {
		return w.SendSize(e.answer, r.Rank()-e.partner, 1)
	}
	_, err := w.RecvSize(e.answer, r.Rank()+e.partner, 1)
	return err
}

// measured returns the time of a row as exchanges have it: of a round.
func (e *exchange) measured(s *Series, p Sample) float64 {
	if s.Kind == Latency {
		return 2 * p.Seconds
	}
	return float64(e.pairs) * float64(e.window) * float64(p.Bytes) / p.Rate
}

// messages returns the number of messages that a figure of the benchmark counts in a round: both ways of a ping-pong, or those
// of all windows.
func (e *exchange) messages(s *Series) float64 {
	if s.Kind == Latency {
		return 2
	}
	return float64(e.pairs * e.window)
}

// outcome returns a row that is no collective beside its simulation: the time for each message.
func (f *fitter) outcome(m *network.Machine, s *Series, p Sample) measurements.Outcome {
	e := f.exchangeOf(s, p)
	o := measurements.Outcome{Model: m, Chosen: "message", Row: measurements.Row{Line: p.Line, Machine: f.Name, Nodes: s.Layout.Nodes, PerNode: s.Layout.PerNode,
		Bytes: p.Bytes, Measured: e.measured(s, p) / e.messages(s), Source: s.File, Library: s.Benchmark}}
	if s.Kind != Latency {
		o.Chosen = fmt.Sprintf("windows of %s", spelling.Count(s.Window, "message"))
	}
	seconds, err := e.simulate(m)
	if err != nil {
		o.Reason, o.Chosen = err.Error(), ""
		return o
	}
	o.Simulated = seconds / e.messages(s)
	return o
}
