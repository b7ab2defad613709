package p2p

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The scripts in testdata have a machine, and runs of ranks on it. A line of a run has the calls of a
// rank; what comes out is each call with the instants at which it begins and ends, and its result. Each run is made
// on one engine and on several, strictly or not, with short lists and with bins: all give the same.
func TestScripts(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("if the change of times is meant: go test ./mpivirt/internal/p2p -run Scripts -rewrite")
		}
	})
	for _, name := range []string{"activities", "causes", "contention", "eager", "end", "endoftime", "exchange", "factors", "heard", "jitter", "lists", "loggops", "matching", "polls", "progress", "progress_in_waits", "rendezvous", "sums", "waitset"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // engines that find a deadlock wait for it
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
				return runScript(t, d, machine)
			})
		})
	}
}

// variant is a way to make a run, on which results do not depend.
type variant struct {
	engines      int
	strict, bins bool
	waitSet      waitSetWay
	limit        int64 // of bytes in buffers, and under way between two engines, beyond which ranks are held back; 0 for the usual one
	freely       bool  // engines run as the host lets them, and do not take turns, which takes less time
	summed       bool  // short forms of calls count themselves where they can
}

// transports returns the transports of the engines.
func (v *variant) transports() []engine.Transport {
	if v.freely {
		return engine.NewInProcess(v.engines)
	}
	return engine.NewInTurns(v.engines, 1)
}

// runScript returns the outcome of a run, which is that of all its variants.
func runScript(t *testing.T, d *datadriven.TestData, machine *network.Machine) string {
	programs := strings.Split(strings.TrimSpace(d.Input), "\n")
	target, err := machine.Target(int64(len(programs)))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	options := scriptOptions(t, d)
	var variants []variant
	for engines := 1; engines <= min(len(programs), options.engines); engines++ {
		for way := range options.ways {
			v := variant{engines: engines, strict: way&1 != 0, bins: way&2 != 0, waitSet: waitSetWay((engines + way) % 4), summed: way > 0}
			if way == 3 {
				v.limit, v.freely = 50, true
			}
			variants = append(variants, v)
		}
	}
	outcomes := make([]string, len(variants))
	var playing sync.WaitGroup // at once: most of the time of a deadlock is the patience of its engines
	for i, v := range variants {
		playing.Go(func() { outcomes[i] = options.text(playScript(t, v, options, target, programs)) })
	}
	playing.Wait()
	for i, v := range variants {
		if outcomes[i] != outcomes[0] {
			d.Fatalf(t, "with %+v:\n%s\nelse, with %+v:\n%s", v, outcomes[i], variants[0], outcomes[0])
		}
	}
	return outcomes[0]
}

// options are the arguments of a run in a script.
type options struct {
	engines int            // at most
	ways    int            // on so many engines
	polls   int32          // that make a long loop
	lasts   bool           // only the finishes come out
	counts  bool           // the activities come out, and the number of messages
	sends   bool           // the number of messages comes out
	causes  bool           // the causes for which the time of calls passes come out
	sums    bool           // the sums of calls come out
	course  bool           // the causes come out by bins of time, with the sums
	heard   bool           // the messages that are heard come out
	from    vtime.Duration // from the beginning of virtual time to the instant from which the outcome counts
}

func scriptOptions(t *testing.T, d *datadriven.TestData) options {
	o := options{engines: 3, ways: 4}
	polls := 0
	d.MaybeScanArgs(t, "engines", &o.engines)
	d.MaybeScanArgs(t, "ways", &o.ways)
	d.MaybeScanArgs(t, "polls", &polls)
	o.polls, o.lasts, o.counts, o.causes = int32(polls), d.HasArg("finish"), d.HasArg("activities"), d.HasArg("causes") || d.HasArg("heard")
	o.sends, o.sums = o.counts || d.HasArg("messages"), d.HasArg("sums")
	o.heard = d.HasArg("heard")
	return o
}

// outcome is what a run comes to.
type outcome struct {
	ranks      [][]string // by rank: a line for each call
	finish     []string
	failure    string
	activities string
	latest     vtime.Time // of a rank
	least      *world.RankError
	unreceived error
	programs   [][]string  // by rank: its calls
	inCalls    [][]phase   // by rank: when it is in a call
	chains     [][]chained // by rank: the ends of its calls
}

// chained is the end of a call by a chain of messages.
type chained struct {
	call  string
	ready vtime.Time
	chain stats.Chain
}

// checkChains reports chains that do not leave the program of a rank in one of its calls, or that take longer than from there to the end.
func (x *outcome) checkChains(t reporter, v variant) {
	for rank, of := range x.chains {
		for _, e := range of {
			c := e.chain
			in := func(p phase) bool { return p.from <= c.At && c.At <= p.to }
			if int(c.Rank) < 0 || int(c.Rank) >= len(x.chains) || !slices.ContainsFunc(x.inCalls[c.Rank], in) || c.At > e.ready || c.Works+c.Shared+c.Within > e.ready.Sub(c.At) {
				t.Errorf("%+v: %s of rank %d ends at %v by the chain %+v", v, e.call, rank, e.ready, c)
			}
		}
	}
}

// text returns what comes out of a run. Of a run that ends before its end that is its failure: how far
// others have come is no result.
func (o options) text(x *outcome) string {
	var b strings.Builder
	if x.failure != "" {
		return x.failure + "\n"
	}
	for rank, lines := range x.ranks {
		if !o.lasts {
			for _, line := range lines {
				fmt.Fprintf(&b, "%d: %s\n", rank, line)
			}
		}
		fmt.Fprintf(&b, "%d: %s\n", rank, x.finish[rank])
	}
	if x.unreceived != nil {
		fmt.Fprintln(&b, x.unreceived)
	}
	return b.String() + x.activities
}

// reporter is what runs need of a test, or of a test of a property.
type reporter interface {
	Error(arguments ...any)
	Errorf(format string, arguments ...any)
}

// playScript makes one run.
func playScript(t reporter, v variant, o options, target *network.Target, programs []string) *outcome {
	ranks := len(programs)
	x := &outcome{ranks: make([][]string, ranks), finish: make([]string, ranks), programs: make([][]string, ranks), inCalls: make([][]phase, ranks), chains: make([][]chained, ranks)}
	partition := engine.Partition{LPs: ranks, Engines: v.engines}
	switch { // engines keep the ranks of a node together, as the kernel has it
	case target.Contention().Model != "" || target.Contended() && !target.KeepsBlocks():
		partition.Unit = ranks
	case target.Contended():
		partition.Unit = target.NodeSize(0)
	}
	transports, errs := v.transports(), make([]error, v.engines)
	players := make([]*player, v.engines)
	for i := range players {
		lo, hi := partition.Range(i)
		e := engine.New(engine.Config{Partition: partition, Transport: transports[i], BufferLimit: v.limit, Window: v.limit, Patience: 5 * time.Millisecond, Behind: resource.SlackOn(target), Lookahead: func(dst int) vtime.Duration {
			dstLo, dstHi := partition.Range(dst)
			if lo == hi || dstLo == dstHi {
				return vtime.Second
			}
			return lookaheadOf(target, lo, hi, dstLo, dstHi)
		}})
		players[i] = newPlayer(t, e, target, v, o, x, programs)
	}
	var running sync.WaitGroup
	for i, p := range players {
		running.Go(func() {
			p.m.Partition.Engine.ReadyRange(0, p.m.Partition.Ranks)
			errs[i] = p.m.Partition.Engine.Run(p)
		})
	}
	running.Wait()
	summary, messages := &world.Summary{}, uint64(0)
	for i, p := range players {
		p.m.SettleSums()
		for _, at := range p.m.Partition.Clock {
			x.latest = max(x.latest, at)
		}
		messages += p.m.Partition.Engine.Statistics.Messages
		x.complain(errs[i], p.m)
		p.m.CountUnreceived()
		summary.Merge(&p.m.Partition.Summary)
	}
	if x.failure == "" {
		x.unreceived = summary.Unreceived.Err()
		x.checkChains(t, v)
		for _, p := range players {
			p.checkReleased(v, x.unreceived != nil)
		}
	}
	if o.sends {
		x.activities = fmt.Sprintf("%d messages\n", messages)
		if late := &summary.Late; late.Events > 0 || late.Skipped > 0 {
			x.activities += fmt.Sprintf("%d polls skipped; %d late, the first at %v for rank %d, decided to %v\n", late.Skipped, late.Events, late.Time, late.Rank, late.Decided)
		}
	}
	for _, a := range summary.Activities.Times(ranks) {
		if o.counts && a.Count > 0 {
			x.activities += fmt.Sprintf("%v: %d, %v to %v, %v a rank\n", a.Activity, a.Count, a.Min, a.Max, a.PerRank)
		}
	}
	if o.sums {
		x.activities += sums(summary)
		if course := x.checkCourse(t, v, summary); o.course {
			x.activities += course
		}
	}
	x.listens(o, players)
	return x
}

// listens adds what observers have heard, and the calls for which agents have waited.
func (x *outcome) listens(o options, players []*player) {
	var all []string
	for _, p := range players {
		all = append(all, p.awaited...)
		if o.heard {
			all = append(all, p.heard...)
		}
	}
	slices.Sort(all)
	x.activities += strings.Join(all, "")
}

// checkReleased reports memory that is still in use after a run without an error, in which each rank has waited for what it began.
func (p *player) checkReleased(v variant, unreceived bool) {
	m := p.m
	for lp := range p.ranks {
		if m.PollsInVain(int32(lp)) != 0 {
			p.Errorf("%+v: rank %d has ended and waits in a loop of polls", v, m.Partition.Global(int32(lp)))
		}
	}
	if m.inLoops != 0 || len(m.Parked) != 0 {
		p.Errorf("%+v leaves %d LPs in loops and %d parked completions", v, m.inLoops, len(m.Parked))
	}
	// A rank may end without receiving a message that a probe has matched, or waiting for a request.
	if unreceived || slices.ContainsFunc(p.ranks, func(r scripted) bool { return len(r.found) > 0 || !m.allShared(r.names) }) {
		return
	}
	if made, inUse := m.InUse(); inUse != 0 {
		p.Errorf("%+v leaves %d mailboxes and messages, of %d mailboxes", v, inUse, made)
	}
	if n := m.handshakes.InUse(); n != 0 {
		p.Errorf("%+v leaves %d handshakes", v, n)
	}
	m.NewCompletion(0) // releases what the latest call has received
	if buffers, bytes := m.Partition.Buffers.Held(), m.Partition.Engine.Buffered(); buffers != 0 || bytes != 0 {
		p.Errorf("%+v leaves %d buffers, and counts %d bytes of messages", v, buffers, bytes)
	}
	for lp := range m.computing {
		if n := m.computing[lp].open; n != 0 {
			p.Errorf("%+v: rank %d has ended, and counts %d receives and rendezvous that are not over", v, m.Partition.Global(int32(lp)), n)
		}
	}
}

// allShared reports whether all requests are those of calls that were complete at once.
func (m *Messages) allShared(requests map[string]int32) bool {
	for _, index := range requests {
		if index != 0 && !m.shared(index) {
			return false
		}
	}
	return true
}

// lookaheadOf returns how far an engine may be ahead of another: the least time of a message, without the slack of
// processors under a model with state at the receiver.
func lookaheadOf(target *network.Target, lo, hi, dstLo, dstHi int) vtime.Duration {
	d := target.Lookahead(lo, hi, dstLo, dstHi)
	if target.ReceiverState() {
		d -= resource.Slack(d)
	}
	return d
}

// complain keeps the least failure of a run.
func (x *outcome) complain(err error, m *Messages) {
	own := m.Partition.Failing.Own.Load()
	switch {
	case own != nil:
		if x.least == nil || own.Before(x.least) {
			x.least, x.failure = own, "fails: "+own.Error()
		}
	case err != nil && x.failure == "":
		x.failure = "ends: " + strings.SplitN(err.Error(), "\n", 2)[0]
	}
}

// player stands in for the rooms above: it is the kernel of an engine, the collectives, and the body of the ranks,
// which make the calls of a script.
type player struct {
	reporter
	m       *Messages
	x       *outcome
	bins    bool
	waitSet waitSetWay
	comm    *world.Comm
	ranks   []scripted
	heard   []string
	awaited []string // calls for which agents have waited
	sums    bool     // calls are counted
	summed  bool     // short forms count themselves
	from    vtime.Duration

	rounds []fakeRound // round messages and agents of fake collectives; see agents
}

// scripted is a rank.
type scripted struct {
	calls []string
	next  int
	begun vtime.Time
	waits bool             // a call is not over
	loop  int              // polls of the call so far, if it polls until it finds something
	names map[string]int32 // of requests
	found map[string]int32 // of messages that matched probes have found
	list  []int32          // the requests of a call
	slice scriptSlice      // those of the calls for any or some of them, where they are kept

	entered vtime.Time // its latest call, or poll
	bytes   int64      // of the message that the call sends
	large   bool       // above the eager limit
	counted bool       // the call has counted itself
}

func newPlayer(t reporter, e *engine.Engine, target *network.Target, v variant, o options, x *outcome, programs []string) *player {
	p := &player{reporter: t, m: &Messages{}, x: x, bins: v.bins, waitSet: v.waitSet, from: o.from}
	p.m.Partition.Init(world.Settings{Engine: e, Target: target, Strict: v.strict})
	if o.counts || o.causes || o.sums {
		p.m.Partition.Activities = &p.m.Partition.Summary.Activities
	}
	p.m.Open(nil, o.polls, p)
	if o.causes {
		p.m.InFull()
		p.m.Explain(true)
		p.m.Site(p.site)
		p.m.Hear(p.hears, p.departs)
	}
	if o.sums {
		p.opensSums(v.summed)
	}
	if p.m.Processors != nil {
		p.m.Processors.Carries(resource.OfAgents, (*agents)(p))
	}
	g := world.Strided(0, 1, len(programs))
	for _, context := range []uint64{world.NoContext, world.WorldContext} { // the first is in the place of those that are freed
		c := &world.Comm{Context: context, Group: g, Size: g.Size()}
		p.m.Partition.Comms.Add(c)
		c.Index, p.comm = int32(context), c
	}
	for i := range p.m.Partition.Ranks {
		calls := strings.Split(strings.TrimSpace(programs[p.m.Partition.First+i]), ";")
		if calls[0] = strings.TrimSpace(strings.TrimPrefix(calls[0], fmt.Sprintf("%d:", p.m.Partition.First+i))); calls[0] == "" {
			calls = nil
		}
		x.programs[p.m.Partition.First+i] = calls
		p.ranks = append(p.ranks, scripted{calls: calls, names: map[string]int32{}, found: map[string]int32{}})
	}
	return p
}

// hears and departs describe a message that has been received, and the end of a nonblocking send that has waited for its receiver.
func (p *player) hears(r *Received) {
	if r.Posted > r.Arrived || r.Sent > r.Arrived {
		p.Errorf("a receive posted at %v is complete at %v; the send of its message began at %v", r.Posted, r.Arrived, r.Sent)
	}
	p.heard = append(p.heard, fmt.Sprintf("%d gets %d bytes with tag %d from %d on %x in %v: posted %v, sent %v, arrived %v\n", r.Dest, r.Bytes, r.Tag, r.Source, r.Context, r.Procedure, r.Posted, r.Sent, r.Arrived))
}

func (p *player) departs(d *Departed) {
	p.heard = append(p.heard, fmt.Sprintf("%d has sent to %d with tag %d: from %v to %v\n", d.Source, d.Dest, d.Tag, d.Sent, d.Complete))
}

// Run, Handle, Deliver and Drained make a player an engine's kernel.
func (p *player) Run(item int32) { p.Resume(item) }

func (p *player) Drained() {}

func (p *player) InCall(agent, what int32, at vtime.Time) {
	p.awaited = append(p.awaited, fmt.Sprintf("%d is in a call for %d: %v\n", p.m.Partition.Global(agent-1), what, at))
}

func (p *player) EarliestAgent() vtime.Time { return vtime.Forever }

func (p *player) Handle(ev engine.Event) {
	lp, m := ev.LP-int32(p.m.Partition.First), p.m
	switch ev.Data {
	case world.DataWait:
		if m.HandleWait(lp, uint32(ev.Sequence), ev.Time) {
			m.Resuming(lp)
			p.Resume(lp)
			m.Resuming(world.None)
		}
	case world.DataSettle:
		if m.HandleSettle(lp, ev.Time) {
			p.Resume(lp)
		}
	case world.DataHandshake:
		m.HandleHandshake(int32(ev.Sequence), ev.Time)
	case world.DataServe:
		m.Processors.Serve(lp, ev.Time)
	case world.DataPassage:
		m.Interfaces.Serve(ev.Source, ev.Time)
	}
}

func (p *player) Withdrawn(ev *engine.Event) bool {
	return ev.Data == world.DataHandshake && p.m.HandshakeWithdrawn(int32(ev.Sequence))
}

func (p *player) Limit(f *engine.Failure) { p.m.Partition.Limit(f) }
func (p *player) Defers() bool            { return p.m.Defers() }
func (p *player) Deferred() engine.Deferred {
	return p.m.Deferred()
}
func (p *player) Proceed(all engine.Deferred) { p.m.Proceed(all) }

func (p *player) Deliver(src int, record []byte) {
	r := world.Reader{Rest: record[1:]}
	switch record[0] {
	case world.RecordMessage:
		p.m.DeliverMessage(src, r)
		return
	case world.RecordAcknowledgement:
		p.m.DeliverAcknowledgement(r)
	case world.RecordReply, world.RecordData, world.RecordFree:
		p.m.DeliverAnswer(record[0], r)
	case world.RecordMatch:
		p.m.Processors.MatchFrom(resource.OfProgram, r)
	}
	p.m.Partition.Engine.Consumed(src, len(record))
}

// Resume, IndexOfContext and End are the upcalls that have to do with ranks.
func (p *player) Resume(lp int32) {
	m := p.m
	m.Completion.Err = nil
	if box := m.Mailbox(lp); box != nil && box.Wait.Kind != NoWait {
		m.Finish(lp, box)
	}
	if m.Partition.Limited() && m.Partition.Dropped(lp) {
		return
	}
	m.Unpark(lp)
	if invariant.Enabled {
		m.CheckMailbox(lp)
	}
	m.Partition.Running = lp
	if !p.run(lp) {
		p.End(lp)
	}
}

func (p *player) IndexOfContext(context uint64) int32 { return int32(context) }

func (p *player) End(lp int32) {
	rank := p.m.Partition.Global(lp)
	p.x.finish[rank] = fmt.Sprintf("ends at %v", p.m.Partition.Clock[lp].Add(-p.from))
	p.m.Partition.Engine.Finished(1)
	p.m.CloseBox(lp)
}

// run has a rank make its calls until one is not over. It reports whether the rank goes on.
func (p *player) run(lp int32) bool {
	r := &p.ranks[lp]
	if r.waits {
		p.over(lp, r)
	}
	for r.next < len(r.calls) {
		if p.m.Partition.HasFailed(lp) {
			return true
		}
		if r.loop == 0 {
			r.begun = p.m.Partition.Clock[lp]
		}
		over := p.call(lp, r, strings.Fields(r.calls[r.next]))
		if r.waits = !over || p.pauses(lp, r.calls[r.next]); r.waits {
			return true
		}
		p.over(lp, r)
	}
	return p.m.PostponeEnd(lp)
}

// pauses has a rank resumed later if buffers are full, or under a model with state at the receiver, and reports whether
// it is. Ranks of some kinds ask after nonblocking sends alone.
func (p *player) pauses(lp int32, call string) bool {
	if p.m.Processors == nil && p.bins {
		return strings.Contains(call, "send") && p.m.Throttle(lp)
	}
	return p.m.MayPause() && p.m.Pause(lp)
}

// over notes what a call has come to. A loop of polls begins again if it has not found anything.
func (p *player) over(lp int32, r *scripted) {
	r.waits = false
	m, words := p.m, strings.Fields(r.calls[r.next])
	b := m.CompletionOf(lp)
	if p.bins {
		if box := m.Mailbox(lp); box != nil && !box.binned() && (box.unexpected.head != 0 || box.posted.head != 0) {
			m.makeBins(box)
		}
	}
	text := strings.Join(words, " ")
	p.counts(lp, r, procedureOf(words))
	if words[0] == "until" {
		if r.loop++; !b.Found {
			if n := m.FailingPolls(lp); p.bins && n > 0 { // as ranks do that are told ahead of polls that will fail
				m.PolledInVain(lp, n)
				r.loop += n
			}
			return
		}
		text, words = fmt.Sprintf("%s, %d polls", text, r.loop), words[1:]
		r.loop = 0
	}
	r.next++
	line := fmt.Sprintf("%s: %v", text, r.begun.Add(-p.from))
	if end := m.Partition.Clock[lp]; end != r.begun {
		line += fmt.Sprintf(" to %v", end.Add(-p.from))
	}
	in := phase{r.begun, m.Partition.Clock[lp]}
	if words[0] == "compute" {
		in.from = in.to
	}
	p.x.inCalls[m.Partition.Global(lp)] = append(p.x.inCalls[m.Partition.Global(lp)], in)
	line += p.causes(lp, r, words)
	p.x.ranks[m.Partition.Global(lp)] = append(p.x.ranks[m.Partition.Global(lp)], line+p.result(r, words, b))
	if b.Err != nil && b.Fatal {
		m.Fail(lp, b.Procedure, b.Err)
	}
}

// procedureOf returns the procedure of a call, NoProcedure for what is none.
func procedureOf(words []string) world.Procedure {
	if words[0] == "until" {
		words = words[1:]
	}
	_, word, named := strings.Cut(words[0], "=")
	if !named {
		word = words[0]
	}
	return procedures[word]
}

// causes says why the time of a call has passed, as statistics do, and by whose message the call has ended.
func (p *player) causes(lp int32, r *scripted, words []string) (text string) {
	c := procedureOf(words)
	if end := p.m.Partition.Clock[lp]; p.m.Explains() && !p.sums && c != world.NoProcedure && end > r.begun {
		var why stats.Ending
		var all stats.Causes
		chain := ""
		ended := p.m.EndedBy(lp, c)
		p.m.EndingOf(lp, ended, &why)
		why.Split(r.begun, end, &all)
		if c := why.Chain; why.Known && why.Ready > r.begun {
			chain = fmt.Sprintf(", chain of %d at %v", c.Rank, c.At.Add(-p.from))
			for i, d := range []vtime.Duration{c.Works, c.Shared, c.Within} {
				if d != 0 {
					chain += fmt.Sprintf(" %s %v", []string{"works", "shared", "within"}[i], d)
				}
			}
		}
		if rank := p.m.Partition.Global(lp); why.Known && why.Ready > r.begun && p.m.Processors == nil { // it waits for the chain
			p.x.chains[rank] = append(p.x.chains[rank], chained{r.calls[max(r.next-1, 0)], why.Ready, why.Chain})
		}
		if ended.Rank != world.None {
			text = fmt.Sprintf(", by %d", ended.Rank)
		}
		text += p.sentFrom(lp, r, ended)
		for cause, d := range all {
			if d > 0 {
				text += fmt.Sprintf(", %v %v", stats.Cause(cause), d)
			}
		}
		text += chain
	}
	return text
}

// site returns the place of the call that a rank makes: the rank and the number of the call, from 1 on.
func (p *player) site(lp int32) stats.Site {
	return stats.Site(p.m.Partition.Global(lp))<<16 | stats.Site(p.ranks[lp].next+1)
}

// sentFrom says which of its sender's calls has sent the message that has ended a call, and checks that this is a send to the rank.
func (p *player) sentFrom(lp int32, r *scripted, ended Ended) string {
	site := p.m.SentFrom(ended)
	if site == 0 {
		return ""
	}
	from, call := int(site>>16), p.x.programs[site>>16][site&(1<<16-1)-1]
	if words := strings.Fields(call); ended.Rank != world.None && from != ended.Rank || !strings.Contains(words[0], "send") && !strings.Contains(words[0], "exchange") {
		p.Errorf("%s of rank %d is ended by rank %d, and sent by %q of rank %d", r.calls[max(r.next-1, 0)], p.m.Partition.Global(lp), ended.Rank, call, from)
	}
	return fmt.Sprintf(", sent in call %d", site&(1<<16-1))
}

// result describes the completion of a call.
func (p *player) result(r *scripted, words []string, b *Completion) (text string) {
	if b.Err != nil {
		text += ", " + b.Err.Error()
	}
	name, _, named := strings.Cut(words[0], "=")
	if !b.Found {
		if strings.Contains(words[0], "test") || strings.Contains(words[0], "probe") {
			text += ", nothing"
		}
		return text
	}
	for _, i := range b.Indices { // of a list
		switch index := r.list[i]; {
		case index == 0:
		case index == p.m.CompletedSend:
			text += fmt.Sprintf(", %s sent", words[1+i])
			delete(r.names, words[1+i])
		default:
			status, buffer, _ := p.m.CompletedRequest(b, index)
			text += fmt.Sprintf(", %s %s", words[1+i], describe(status, buffer))
		}
	}
	for _, index := range alone(b) {
		q := p.m.Requests.At(index)
		text += ", " + describe(q.status(), q.Buffer)
	}
	if len(b.Completed) == 0 && b.Status != world.EmptyStatus {
		text += ", " + describe(b.Status, b.Data)
	}
	for _, f := range b.Failures {
		text += fmt.Sprintf(", fails: %v", f.Err)
	}
	for name, index := range r.names { // is MPI_REQUEST_NULL from now on
		if slices.Contains(b.Completed, index) && !p.m.shared(index) {
			delete(r.names, name)
		}
	}
	if named && b.Message != 0 {
		r.found[name] = b.Message
	}
	return text
}

// alone returns the completed requests of a call without a list.
func alone(b *Completion) []int32 {
	if len(b.Indices) > 0 {
		return nil
	}
	return b.Completed
}

// describe describes a message that was received or found.
func describe(s world.Status, content []byte) string {
	switch {
	case s == world.EmptyStatus:
		return "sent"
	case s == world.ProcNullStatus:
		return "of nobody"
	case s == world.CancelledStatus:
		return "cancelled"
	}
	text := fmt.Sprintf("from %d tag %d, %d bytes", s.Source, s.Tag, s.Bytes)
	if content := strings.TrimRight(string(content), "\x00"); content != "" {
		text += fmt.Sprintf(" %q", content)
	}
	return text
}

// procedures are the procedures of the words in a script.
var procedures = map[string]world.Procedure{
	"send": world.Send, "ssend": world.Ssend, "bsend": world.Bsend, "rsend": world.Rsend,
	"isend": world.Isend, "issend": world.Issend, "ibsend": world.Ibsend, "irsend": world.Irsend,
	"recv": world.Recv, "irecv": world.Irecv, "sendrecv": world.Sendrecv, "isendrecv": world.Isendrecv,
	"mrecv": world.Recv, "imrecv": world.Irecv,
	"wait": world.Wait, "waitall": world.Waitall, "waitany": world.Waitany, "waitsome": world.Waitsome,
	"test": world.Test, "testall": world.Testall, "testany": world.Testany, "testsome": world.Testsome,
	"probe": world.Probe, "iprobe": world.Iprobe, "mprobe": world.Mprobe, "improbe": world.Improbe,
	"exchange": world.NeighborAlltoall,
}

// waitsInCall are the procedures that wait, test or probe from their beginning.
var waitsInCall = map[world.Procedure]bool{
	world.Recv: true, world.Wait: true, world.Waitall: true, world.Waitany: true, world.Waitsome: true,
	world.Test: true, world.Testall: true, world.Testany: true, world.Testsome: true,
	world.Probe: true, world.Iprobe: true, world.Mprobe: true, world.Improbe: true,
}

// scriptKinds are the waits, tests and probes of the words in a script.
var scriptKinds = map[string]WaitKind{
	"waitall": WaitAll, "waitany": WaitAny, "waitsome": WaitSome, "test": TestAll, "testall": TestAll, "testany": TestAny, "testsome": TestSome,
	"probe": WaitProbe, "mprobe": WaitProbe, "iprobe": TestProbe, "improbe": TestProbe,
}

// scriptModes are the modes of sends by the letter before "send".
var scriptModes = map[string]world.SendMode{"": world.Standard, "s": world.Synchronous, "r": world.Ready, "b": world.Buffered}

// number returns a number of a script; * is any source or tag, - is nobody.
func (p *player) number(word string) int {
	switch word {
	case "*":
		return -1
	case "-":
		return world.ProcNull
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		p.Errorf("%q: %v", word, err)
	}
	return n
}

// source and tag return a number for a receive.
func (p *player) source(word string) int {
	if word == "*" {
		return world.AnySource
	}
	return p.number(word)
}

func (p *player) tag(word string) int {
	if word == "*" {
		return world.AnyTag
	}
	return p.number(word)
}

// message returns the message of a send: its size, or its content in quotes.
func (p *player) message(words []string) (o outgoing) {
	o.Dest, o.Tag = p.number(words[0]), p.number(words[1])
	if content, quoted := strings.CutPrefix(words[2], `"`); quoted {
		o.Payload = []byte(strings.TrimSuffix(content, `"`))
		o.Bytes = int64(len(o.Payload))
	} else {
		o.Bytes = int64(p.number(words[2]))
	}
	return o
}

// room returns what a receive asks for: from whom, with which tag, and room for how much; without a size it
// takes a message of any length.
func (p *player) room(words []string) (v incoming) {
	v.Source, v.Tag = p.source(words[0]), p.tag(words[1])
	if len(words) > 2 {
		v.Bytes, v.Sized = int64(p.number(words[2])), true
		v.Buffer = make([]byte, v.Bytes)
	}
	return v
}

// call begins a call of a rank. It reports whether it is over.
func (p *player) call(lp int32, r *scripted, words []string) bool {
	m := p.m
	if words[0] == "until" {
		words = words[1:]
	}
	name, word, named := strings.Cut(words[0], "=")
	if !named {
		name, word = "", words[0]
	}
	words = words[1:]
	c := procedures[word]
	q := &Operands{Procedure: c, Comm: p.comm, Member: m.Partition.Global(lp)}
	m.NewCompletion(lp).Found = true
	r.entered, r.counted, r.bytes, r.large = m.Partition.Clock[lp], false, 0, false
	m.EnterCall(lp)
	if waitsInCall[c] { // as the kernel does
		m.EnterWait(lp)
	}
	m.Begins(lp)
	if strings.HasSuffix(word, "send") {
		q.Outgoing = p.message(words)
		q.Outgoing.Mode = scriptModes[strings.TrimPrefix(strings.TrimSuffix(word, "send"), "i")]
		q.Outgoing.Lent = c.Sends()
		return p.send(lp, r, q, name)
	}
	switch word {
	case "compute":
		d, err := vtime.ParseDuration(words[0])
		if r.counted = err == nil && p.summed && m.SumCompute(lp, d); err == nil && !r.counted {
			err = m.Compute(lp, d, world.Compute)
		}
		return err == nil || m.Raise(lp, world.Compute, err)
	case "attach":
		m.Attach(lp, int64(p.number(words[0])))
	case "maycancel":
		m.SetMayCancel(lp, words[0] == "on")
	case "errors":
		m.Partition.SetErrorsReturn(lp, words[0] == "return")
	case "fail":
		m.Fail(lp, world.Compute, os.ErrInvalid)
	case "recv":
		q.Incoming = p.room(words)
		return p.receive(lp, r, q)
	case "irecv":
		q.Incoming = p.room(words)
		if q.Incoming.Source == world.ProcNull {
			r.names[name] = m.Begun(lp, m.CompletedReceive)
		} else {
			r.names[name] = m.Receive(lp, q)
			if r.counted = p.summed; r.counted {
				m.SumPost(lp, c, world.WorldContext)
			}
		}
	case "mrecv", "imrecv":
		request := m.NewRequest(lp, ReceiveRequest, c)
		v, at := m.Requests.At(request), r.found[words[0]]
		v.Comm = q.Comm.Index
		if !m.Found(lp, at) {
			p.Errorf("%s: no probe has found %s", word, words[0])
		}
		m.ReceiveMatched(lp, request, at)
		delete(r.found, words[0])
		if word == "mrecv" {
			return p.waitFor(lp, request, c)
		}
		r.names[name] = request
	case "sendrecv", "isendrecv":
		q.Outgoing, q.Incoming = p.message(words), p.room(words[3:])
		if word == "isendrecv" {
			r.names[name] = m.SendReceive(lp, q)
			break
		}
		p.countsSend(lp, r, q)
		received, sent := m.Receive(lp, q), m.Send(lp, q)
		r.list = append(r.list[:0], received, sent)
		return m.WaitRequests(lp, WaitAll, []int32{received, sent}, c)
	case "exchange":
		r.names[name] = p.exchange(lp, q, words)
	case "cancel":
		if err := m.CheckCancel(r.names[words[0]]); err != nil {
			return m.Raise(lp, world.Cancel, err)
		}
		return m.Cancel(lp, r.names[words[0]])
	case "probe", "iprobe", "mprobe", "improbe":
		q.Incoming = p.room(words)
		return m.Probe(lp, scriptKinds[word], q)
	case "wait":
		return p.waitFor(lp, r.names[words[0]], c)
	case "own": // makes the request one of the rank's own, whose index tells whether it is still in use
		index, generation := m.OwnRequest(lp, r.names[words[0]], world.Irecv)
		if !m.HoldsRequest(lp, index, generation) || m.shared(index) {
			p.Errorf("request %d is not the rank's own", index)
		}
		r.names[name] = index
	case "await": // an agent of the rank goes on in the first call from some time on
		after, err := vtime.ParseDuration(words[1])
		if err != nil {
			p.Error(err)
		}
		what, from := int32(p.number(words[0])), m.Partition.Clock[lp].Add(after)
		if at, known := m.AwaitCall(lp, 0, lp+1, what, from, from); known {
			p.InCall(lp+1, what, at)
		}
	case "round", "combine":
		p.round(lp, word, words)
	case "keepany", "keepsome":
		return p.waitForSet(lp, r, word, words)
	default:
		kind, known := scriptKinds[word]
		if !known {
			p.Errorf("%q is no call", word)
			return true
		}
		if p.list(lp, r, words); !slices.ContainsFunc(r.list, func(index int32) bool { return index != 0 }) {
			return true
		}
		if p.waitSet != noWaitSet && (&wait{Kind: kind}).ofWaitSet() {
			return p.waitForSetOf(lp, r, kind, c, words)
		}
		return m.WaitRequests(lp, kind, append([]int32(nil), r.list...), c)
	}
	return true
}

// send begins a send, and waits for it if it blocks.
func (p *player) send(lp int32, r *scripted, q *Operands, name string) bool {
	m, o := p.m, &q.Outgoing
	if o.Mode == world.Buffered && o.Bytes > m.Attached[lp] {
		return m.Raise(lp, q.Procedure, world.Errorf(world.ErrBuffer, "no room in the buffer"))
	}
	index := int32(0)
	r.counted = p.countsSend(lp, r, q)
	if q.Procedure == world.Send && m.SendAtOnce(lp, o.Payload, o.Bytes, o.Dest, o.Tag) {
		return true
	}
	if o.Dest != world.ProcNull {
		index = m.Send(lp, q)
	}
	if r.counted {
		m.SumSend(lp, q.Procedure, world.WorldContext, o.Dest, o.Bytes, r.entered)
	}
	if index == 0 {
		index = m.CompletedSend
	}
	if name != "" {
		r.names[name] = m.Begun(lp, index)
		return true
	}
	return index == m.CompletedSend || m.WaitRequest(lp, index, q.Procedure)
}

// receive carries a blocking receive out.
func (p *player) receive(lp int32, r *scripted, q *Operands) bool {
	if q.Incoming.Source == world.ProcNull {
		return p.waitFor(lp, p.m.CompletedReceive, q.Procedure)
	}
	if (!p.m.Explains() || p.summed) && p.m.TakeAtOnce(lp, q.Procedure, q.Comm, &q.Incoming) {
		r.counted = p.summed
		return p.m.Partition.Clock[lp] < vtime.Forever
	}
	return p.waitFor(lp, p.m.Receive(lp, q), q.Procedure)
}

// waitFor waits for a request, as the kernel does.
func (p *player) waitFor(lp, index int32, c world.Procedure) bool {
	m := p.m
	if index != 0 && !m.shared(index) {
		q := m.Requests.At(index)
		if !q.Complete || m.Partition.Strict || m.Processors != nil {
			return m.WaitRequest(lp, index, c)
		}
		m.Charge(lp, q, max(m.Partition.Clock[lp], q.Time))
		m.Activity(lp)
	}
	b := m.NewCompletion(lp)
	b.Found = true
	m.AddRequest(b, index, c)
	return m.Partition.Clock[lp] < vtime.Forever
}

// exchange begins an exchange: "< source tag room" and "> destination tag size" are its messages, "end time" is
// what it computes at the end.
func (p *player) exchange(lp int32, q *Operands, words []string) int32 {
	var receives, sends []Part
	var end func() vtime.Duration
	for len(words) > 0 {
		switch words[0] {
		case "<":
			v := p.room(words[1:4])
			receives = append(receives, Part{Peer: v.Source, Tag: v.Tag, Bytes: v.Bytes, Buffer: v.Buffer})
			words = words[4:]
		case ">":
			o := p.message(words[1:4])
			sends = append(sends, Part{Peer: o.Dest, Tag: o.Tag, Bytes: o.Bytes, Buffer: o.Payload})
			words = words[4:]
		default:
			d, err := vtime.ParseDuration(words[1])
			if err != nil {
				p.Error(err)
			}
			end, words = func() vtime.Duration { return d }, words[2:]
		}
	}
	return p.m.Exchange(lp, q, p.comm.Index, receives, sends, end)
}

// list makes the list of a call's requests. Those that have been waited for are inactive.
func (p *player) list(lp int32, r *scripted, words []string) {
	r.list = r.list[:0]
	for _, name := range words {
		index := r.names[name]
		if p.m.CheckRequest(lp, index) != nil {
			index = 0
		}
		r.list = append(r.list, index)
	}
}

// waitForSet waits for any, or some, of requests that are kept from one call to the next.
func (p *player) waitForSet(lp int32, r *scripted, word string, words []string) bool {
	p.list(lp, r, words)
	if err := p.m.KeepList(lp, r.list); err != nil {
		return p.m.Raise(lp, world.Waitany, err)
	}
	if p.m.WaitSetIsEmpty(lp) {
		return true
	}
	if word == "keepany" {
		return p.m.WaitForSet(lp, WaitAny, world.Waitany)
	}
	return p.m.WaitForSet(lp, WaitSome, world.Waitsome)
}

// fakeRound is an agent that sends one message, and then the message.
type fakeRound struct {
	lp    int32
	dst   int
	bytes int64
}

// round has an agent of a fake collective ask the rank's processor for a send, or for a computation.
func (p *player) round(lp int32, word string, words []string) {
	processor := p.m.Processors.Of(lp)
	processor.Calls++
	op := resource.Operation{
		Need: resource.Interface, Owner: resource.OfAgents, Kind: sendsRound,
		Call: processor.Calls, Index: int32(len(p.rounds)), Earliest: p.m.Partition.Clock[lp], Released: processor.Released,
	}
	a := fakeRound{lp: lp}
	if word == "combine" {
		d, err := vtime.ParseDuration(words[0])
		if err != nil {
			p.Error(err)
		}
		op.Need, op.Kind, op.Length = resource.CPU, combines, d
	} else {
		a.dst, a.bytes = p.number(words[0]), int64(p.number(words[1]))
	}
	p.rounds = append(p.rounds, a)
	p.m.Processors.Ask(lp, op)
}

// log adds a line to what comes out of a rank.
func (p *player) log(lp int32, format string, arguments ...any) {
	rank := p.m.Partition.Global(lp)
	p.x.ranks[rank] = append(p.x.ranks[rank], fmt.Sprintf(format, arguments...))
}

// agents carry out the rounds of the fake collectives. The ranks of such a script have one engine.
type agents player

// The kinds of their operations.
const (
	sendsRound uint8 = iota
	receivesRound
	combines
)

func (w *agents) Size(index int32) int64 { return w.rounds[index].bytes }

func (w *agents) CallOf(_, _ int32) world.Procedure { return world.Bcast }

func (w *agents) Sender(index int32) (lp int32, c world.Procedure, live bool) {
	return w.rounds[index].lp, world.Bcast, true
}

func (w *agents) Leaving(*resource.Operation) (c world.Procedure, message string, live bool) {
	return world.Bcast, "a message of round 0", true
}

func (w *agents) TakeIn(lp, index int32, _, at vtime.Time) {
	p := (*player)(w)
	p.log(lp, "takes the message of a round in: %v", at)
	p.m.Processors.Ask(lp, resource.Operation{Owner: resource.OfAgents, Kind: receivesRound, Index: index, Earliest: at, Released: at})
}

func (w *agents) Begin(lp int32, processor *resource.Processor, op *resource.Operation, at vtime.Time) bool {
	p := (*player)(w)
	a := p.rounds[op.Index]
	switch op.Kind {
	case sendsRound:
		p.m.Partition.Target.Depart(&processor.State, a.bytes, at)
		processor.Sent = at
		arrival := at.Add(p.m.Partition.Target.Latency(int(p.m.Partition.Global(lp)), a.dst))
		p.log(lp, "sends the message of a round: %v, there at %v", at, arrival)
		to, _ := p.m.Partition.Local(a.dst)
		p.m.Processors.Reach(to, resource.Arrival{At: arrival, Released: at, Source: p.m.Partition.Global(lp), Index: op.Index, Owner: resource.OfAgents})
	case receivesRound:
		to, _ := p.m.Partition.Local(a.dst)
		p.log(to, "receives the message of a round: %v", at)
		p.m.Processors.TellMatch(resource.OfAgents, int32(p.m.Partition.Engine.Index()), op.Index, int(p.m.Partition.Global(to)), at)
	case combines:
		if processor.State.CPU = at.Add(op.Length); processor.State.CPU == vtime.Forever {
			p.m.Partition.PastEnd(int(p.m.Partition.Global(lp)), at, world.Bcast, "%v of combining", op.Length)
		}
		if p.m.Partition.Activities != nil {
			p.m.Computed(op.Length)
		}
		p.log(a.lp, "combines: %v to %v", at, processor.State.CPU)
	}
	return true
}

func (w *agents) Matched(index int32, t vtime.Time) {
	(*player)(w).log(w.rounds[index].lp, "is told of the match of its round: %v", t)
}
