package bench

import (
	"fmt"
	"math"

	"gigarank/collectives"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// mpiping times messages of growing size between neighbours in the ring of all ranks,
// there and back. The program of that name of the µπ papers does so (Perumalla and
// Park, "Simulating Billion-Task Parallel Programs", SPECTS 2014). Each rank begins the
// exchange with the rank to its right. The exchanges of a rank do not overlap, and the
// first is not timed, so that both ranks are ready when the clock starts. The program
// reports the least, mean and greatest time over the pairs, separately for pairs on one
// node and on two.
var mpiping = Entry{
	Name:     "mpiping",
	Summary:  "messages of 8 B to 16 MiB there and back between neighbours in a ring; two-way times within and between nodes, bandwidth",
	Defaults: Options{Iterations: 10},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind},
	Build: func(o Options) (mpivirt.Program, error) {
		shared := newPings(o) // ranks only read it
		return mpivirt.Program{
			Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return shared.main(r) }),
				steps.Main(func() steps.Program {
					p := newPings(o)
					return steps.New(func(r *steps.Rank, s *pingState) steps.Outcome { return p.step(r, s) })
				})},
		}, nil
	},
	Collectives: func(o Options) []mpivirt.Use {
		sums := sumOfNumbers(o)
		sums[0].Row = 2 // of extremes and of sums
		return append(sums, mpivirt.Use{Operation: collectives.Barrier})
	},
	State: func(kind *mpivirt.Kind, _ Options) float64 { // no payload
		if kind == steps.Kind {
			return pingStateSize
		}
		return 0
	},
	Messages: func(o Options, kind *mpivirt.Kind, c Course) mpivirt.Held {
		o.Payload = 0
		h := pairMessages(o, kind, c)
		between, within := c.delayed(toRight)
		switch delayed := between + within; {
		case c.Postponed:
		case delayed > 0: // one message of a pair, whose neighbours wait for its ranks in the other phase
			h.Requests, h.Messages, h.Leaving, h.Coming = min(1, 3*delayed), min(0.5, delayed), min(0.5, delayed), min(0.5, between)
		case !c.Apart: // pairs go on in their order: few messages are under way at a time
			h.Requests, h.Messages = 0.05, 0.05
		}
		return h
	},
	Deep: always,
}

// The sizes of messages: 8 bytes doubling to 16 MiB. Only the size of a message is
// simulated, and no memory is held for its data.
const (
	leastPing = 8
	pingSizes = 22
)

func pingSize(step int) int64 { return leastPing << step }

// The kinds of pairs.
const (
	withinNode = iota
	betweenNodes
	pairKinds
)

var pairNames = [pairKinds]string{"within a node", "between nodes"}

// pingNames are the names of the sizes: "8 B", "64 KiB". pingOperations are the
// operations under which they are recorded: "8 B within a node".
var pingNames, pingOperations = func() (names [pingSizes]string, operations [pingSizes][pairKinds]string) {
	for step := range names {
		unit := (step + 3) / 10
		names[step] = fmt.Sprintf("%d %s", pingSize(step)>>(10*unit), [...]string{"B", "KiB", "MiB"}[unit])
		for kind, pair := range pairNames {
			operations[step][kind] = names[step] + " " + pair
		}
	}
	return names, operations
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

// checkMessage compares a message with the expected one.
func checkMessage(got mpivirt.Status, source, tag int, bytes int64) error {
	want := mpivirt.Status{Source: source, Tag: tag, Bytes: bytes}
	if got != want {
		return fmt.Errorf("a message from rank %d with tag %d and %s came; it must be from %d with tag %d and %s",
			got.Source, got.Tag, spelling.Count(got.Bytes, "byte"), source, tag, spelling.Count(bytes, "byte"))
	}
	return nil
}

// pingRole is the role of a rank in a phase.
type pingRole uint8

const (
	pingIdle pingRole = iota
	pingBegins
	pingAnswers
	pingAlone // sends to itself
)

// pingPhases returns the number of phases in which each rank of the ring begins once
// and no rank has two partners at a time.
func pingPhases(size int) int {
	if size == 1 {
		return 1
	}
	return 2 + size%2
}

// pingPhase returns the phase in which a rank begins. The last of an odd number of
// ranks has its own.
func pingPhase(rank, size int) int {
	if size%2 == 1 && rank == size-1 {
		return 2
	}
	return rank % 2
}

// pingPartner returns a rank's partner and role in a phase.
func pingPartner(rank, size, phase int) (partner int, role pingRole) {
	left, right := neighbours(rank, size)
	switch {
	case size == 1:
		return rank, pingAlone
	case pingPhase(rank, size) == phase:
		return right, pingBegins
	case pingPhase(left, size) == phase:
		return left, pingAnswers
	}
	return rank, pingIdle
}

// pings holds the values that ranks share.
type pings struct {
	Options
	most mpivirt.Op[float64]
	sum  mpivirt.Op[float64]
	// extremes of the size that rank 0 reports next, as an event rank.
	extremes []float64
	vector   [2 * pairKinds]float64 // scratch: an allreduce of event ranks takes its vector over at once
}

func newPings(o Options) *pings {
	return &pings{Options: o, most: mpivirt.Max[float64](), sum: mpivirt.Sum[float64]()}
}

// pinger is a rank of either kind.
type pinger interface {
	Rank() int
	Size() int
	Node(rank int) int
	Record(index int, operation string, d vtime.Duration)
	Printf(format string, arguments ...any)
	HasContents() bool
}

// pairKind returns whether a rank and its right neighbour are on one node.
func pairKind(r pinger) int {
	_, right := neighbours(r.Rank(), r.Size())
	if r.Node(r.Rank()) == r.Node(right) {
		return withinNode
	}
	return betweenNodes
}

// record records the two-way time of a rank's pair. all is the time of all repetitions.
func (p *pings) record(r pinger, step int, all vtime.Duration) vtime.Duration {
	d := max(all/vtime.Duration(p.Iterations)-p.Compute, 0)
	r.Record(step, pingOperations[step][pairKind(r)], d)
	return d
}

// contribution returns the contribution of a rank to the report, for each kind of pair.
// extremes are the negated and the plain time, of which the greatest counts. sums are
// the time and the number of pairs, which are added up.
func contribution(kind int, d vtime.Duration) (extremes, sums [2 * pairKinds]float64) {
	for i := range extremes {
		extremes[i] = math.Inf(-1)
	}
	extremes[2*kind], extremes[2*kind+1] = -float64(d), float64(d)
	sums[2*kind], sums[2*kind+1] = float64(d), 1
	return extremes, sums
}

// report prints the results of a size.
func (p *pings) report(r pinger, step int, extremes, sums []float64) {
	if !r.HasContents() {
		if step == 0 {
			r.Printf("no table of pairs without contents: its numbers are what ranks receive\n")
		}
		return
	}
	if step == 0 {
		r.Printf("%8s  %-13s  %15s  %15s  %15s  %s\n", "size", "pairs", "least two-way", "mean", "most", "bandwidth")
	}
	for kind, name := range pairNames {
		pairs := sums[2*kind+1]
		if pairs == 0 {
			continue
		}
		mean := vtime.Duration(math.Round(sums[2*kind] / pairs))
		r.Printf("%8s  %-13s  %15v  %15v  %15v  %.4g MB/s\n", pingNames[step], name, vtime.Duration(-extremes[2*kind]), mean,
			vtime.Duration(extremes[2*kind+1]), 2*float64(pingSize(step))/max(mean.Seconds(), 1e-12)/1e6)
	}
}

func (p *pings) main(r *mpivirt.Rank) error {
	var myExtremes, mySums, extremes, sums [2 * pairKinds]float64
	for step := range pingSizes {
		var own vtime.Duration
		for phase := range pingPhases(r.Size()) {
			if phase > 0 {
				if err := r.World().Barrier(); err != nil {
					return err
				}
			}
			d, err := p.phase(r, step, phase)
			if err != nil {
				return err
			}
			own += d
		}
		myExtremes, mySums = contribution(pairKind(r), p.record(r, step, own))
		if err := mpivirt.Allreduce(r.World(), myExtremes[:], extremes[:], p.most); err != nil {
			return err
		}
		if err := mpivirt.Allreduce(r.World(), mySums[:], sums[:], p.sum); err != nil {
			return err
		}
		if r.Rank() == 0 {
			p.report(r, step, extremes[:], sums[:])
		}
	}
	return nil
}

// phase returns the time of all repetitions if the rank begins.
func (p *pings) phase(r *mpivirt.Rank, step, phase int) (vtime.Duration, error) {
	partner, role := pingPartner(r.Rank(), r.Size(), phase)
	if role == pingIdle {
		return 0, nil
	}
	start := r.Now()
	for i := range p.Iterations + 1 {
		if i == 1 {
			start = r.Now()
		}
		if i > 0 {
			r.Compute(p.Compute)
		}
		if err := pingOnce(r, step, partner, role); err != nil {
			return 0, err
		}
	}
	if role == pingAnswers {
		return 0, nil
	}
	return r.Now().Sub(start), nil
}

// pingOnce exchanges two messages.
func pingOnce(r *mpivirt.Rank, step, partner int, role pingRole) error {
	switch role {
	case pingBegins:
		if err := r.World().SendSize(pingSize(step), partner, step); err != nil {
			return err
		}
		return pingReceive(r, step, partner)
	case pingAnswers:
		if err := pingReceive(r, step, partner); err != nil {
			return err
		}
		return r.World().SendSize(pingSize(step), partner, step)
	}
	if err := pingSelf(r, step); err != nil {
		return err
	}
	return pingSelf(r, step)
}

func pingReceive(r *mpivirt.Rank, step, partner int) error {
	status, err := r.World().RecvSize(pingSize(step), partner, step)
	if err != nil {
		return err
	}
	return checkMessage(status, partner, step, pingSize(step))
}

// pingSelf sends a message to the rank itself, which a blocking send cannot do.
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

// pingState is the state of mpiping as an event rank: the rank's place in the program
// of main.
type pingState struct {
	low, high uint32 // start of the repetitions, then their time: two words, so that the struct has no padding
	iteration uint32 // of the phase; 0 is not timed
	size      uint8  // step of the sizes
	phase     uint8
	at        pingPlace
}

const pingStateSize = 16

// pingPlace is the next action of an event rank.
type pingPlace uint8

const (
	pingFirst    pingPlace = iota // its first part of an exchange
	pingSecond                    // the other part
	pingOver                      // an exchange is over
	pingExtremes                  // the extremes are known
	pingSums                      // and the sums
)

func (s *pingState) keep(t int64) { s.low, s.high = uint32(t), uint32(t>>32) }

func (s *pingState) kept() int64 { return int64(s.high)<<32 | int64(s.low) }

func (p *pings) step(r *steps.Rank, s *pingState) steps.Outcome {
	switch s.at {
	case pingFirst:
		return p.first(r, s)
	case pingSecond:
		return p.second(r, s)
	case pingOver:
		return p.over(r, s)
	case pingExtremes:
		if r.Rank() == 0 {
			p.extremes = append(p.extremes[:0], steps.Result[float64](r)...)
		}
		_, p.vector = contribution(pairKind(r), vtime.Duration(s.kept()))
		s.at = pingSums
		return steps.Allreduce(r, p.vector[:], p.sum)
	}
	if r.Rank() == 0 {
		p.report(r, int(s.size), p.extremes, steps.Result[float64](r))
	}
	*s = pingState{size: s.size + 1}
	if s.size == pingSizes {
		return r.Finish()
	}
	return r.Continue()
}

func (p *pings) first(r *steps.Rank, s *pingState) steps.Outcome {
	partner, role := pingPartner(r.Rank(), r.Size(), int(s.phase))
	if role == pingIdle {
		return p.next(r, s)
	}
	if s.iteration == 1 && role != pingAnswers {
		s.keep(int64(r.Now()))
	}
	if s.iteration > 0 {
		r.Compute(p.Compute)
	}
	s.at = pingSecond
	step := int(s.size)
	switch role {
	case pingBegins:
		return r.SendSize(pingSize(step), partner, step)
	case pingAnswers:
		return r.Recv(partner, step)
	}
	return r.Waitall(r.Irecv(partner, step), r.IsendSize(pingSize(step), partner, step))
}

func (p *pings) second(r *steps.Rank, s *pingState) steps.Outcome {
	partner, role := pingPartner(r.Rank(), r.Size(), int(s.phase))
	s.at = pingOver
	step := int(s.size)
	switch role {
	case pingBegins:
		return r.Recv(partner, step)
	case pingAnswers:
		if err := checkMessage(r.Status(), partner, step, pingSize(step)); err != nil {
			return r.Fail(err)
		}
		return r.SendSize(pingSize(step), partner, step)
	}
	return r.Waitall(r.Irecv(partner, step), r.IsendSize(pingSize(step), partner, step))
}

func (p *pings) over(r *steps.Rank, s *pingState) steps.Outcome {
	partner, role := pingPartner(r.Rank(), r.Size(), int(s.phase))
	if role == pingBegins {
		if err := checkMessage(r.Status(), partner, int(s.size), pingSize(int(s.size))); err != nil {
			return r.Fail(err)
		}
	}
	s.at = pingFirst
	if s.iteration++; int(s.iteration) <= p.Iterations {
		return r.Continue()
	}
	if role != pingAnswers {
		s.keep(int64(r.Now()) - s.kept())
	}
	return p.next(r, s)
}

// next ends a phase of an event rank.
func (p *pings) next(r *steps.Rank, s *pingState) steps.Outcome {
	s.iteration, s.at = 0, pingFirst
	if s.phase++; int(s.phase) < pingPhases(r.Size()) {
		return r.Barrier()
	}
	own := p.record(r, int(s.size), vtime.Duration(s.kept()))
	s.keep(int64(own))
	s.at = pingExtremes
	p.vector, _ = contribution(pairKind(r), own)
	return steps.Allreduce(r, p.vector[:], p.most)
}
