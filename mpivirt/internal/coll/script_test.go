package coll

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// A run lives for a millisecond and leaves little behind, so that collecting its garbage is dear.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// The scripts in testdata have a machine, and runs of ranks on it that call collectives. A line of a run has the calls
// of a range of ranks; what comes out is the instant at which each call is over. Each run is made on one engine and on
// several, by each interpreter, with content and without, in the blocking form and in the nonblocking one: all
// give the same. The content is checked by the definitions of the operations.
func TestScripts(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("if the change of times is meant: go test ./mpivirt/internal/coll -run Scripts -rewrite")
		}
	})
	for _, name := range []string{"bulk", "causes", "chains", "closedforms", "communicators", "contention", "costs", "endoftime", "forms", "intercommunicators", "jitter", "loggops", "mismatch", "nodes", "offload", "progress", "sums", "torus", "uneven"} {
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
	engines           int
	wanted            Interpreter
	data, nonblocking bool
	strict            bool
	protocol          engine.Protocol
	ranges            bool           // ranks that are ready together are resumed in one call
	limit             int64          // of bytes in buffers, and under way between two engines, beyond which ranks are held back; 0 for the usual one
	freely            bool           // engines run as the host lets them, and do not take turns, which takes less time
	summed            bool           // collectives sum up the calls of their members where they can
	from              vtime.Duration // from the beginning of virtual time to the instant from which the outcome counts
	latest            *vtime.Time    // becomes the latest instant of a rank, unless it is nil
	script            scriptOptions
}

// transports returns the transports of the engines.
func (v *variant) transports() []engine.Transport {
	if v.freely {
		return engine.NewInProcess(v.engines)
	}
	return engine.NewInTurns(v.engines, 1)
}

// scriptOptions are what a run is asked for beside the outcome of its calls.
type scriptOptions struct {
	causes   bool                  // the causes for which the time of calls passes come out
	chains   bool                  // the chains of work and messages by which calls end come out, too
	counts   bool                  // the parts of messages come out as well, of all ranks
	phases   bool                  // the activities of the processor in collectives of the blocking form come out, too
	sums     bool                  // the sums of calls come out: those of procedures, and whom ranks have waited for
	byRank   bool                  // the sums of each rank are kept
	bulk     bool                  // no collective goes by messages in an interpreter for bulk, without content
	repeats  bool                  // ranks call one collective alone, again and again
	repeated collectives.Operation // that collective
	by       collectives.Algorithm // of that
	bytes    int64                 // of its vector or block
	differ   bool                  // calls do not match: contents are not checked
	sites    bool                  // a failure says where both ranks have made their calls
}

// variantsOf returns the ways to make a run: on one engine and on the greatest number all of them, in between every second.
func variantsOf(engines int, forms bool) (all []variant) {
	counts := []int{1, min(2, engines), min(3, engines), engines}
	if testing.Short() { // one engine has nothing for the race detector
		counts = []int{2, engines}
	}
	for _, e := range slices.Compact(counts) {
		for _, wanted := range []Interpreter{Message, Bulk, Auto} {
			for way := range 4 {
				if e > 1 && e < engines && (e+int(wanted)+way)%2 != 0 {
					continue
				}
				v := variant{engines: e, wanted: wanted, data: way&1 != 0, nonblocking: way&2 != 0 && forms, strict: way == 3 && wanted == Auto}
				if way == 0 && wanted == Auto {
					v.protocol = engine.Null
				}
				v.ranges = way != 2
				if way == 1 {
					v.limit, v.freely = 100, true
				}
				if way == 2 && wanted == Bulk && e == engines { // without content
					v.limit = 300
				}
				all = append(all, v)
			}
		}
	}
	return all
}

// runScript returns the outcome of a run, which is that of all its variants.
func runScript(t *testing.T, d *datadriven.TestData, machine *network.Machine) string {
	ranks, engines := 0, 3
	d.ScanArgs(t, "ranks", &ranks)
	engines = min(ranks, 5)
	d.MaybeScanArgs(t, "engines", &engines)
	target, err := machine.Target(int64(ranks))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	programs := make([][]string, ranks)
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		who, calls, _ := strings.Cut(line, ": ")
		lo, hi := rangeOf(t, who, ranks)
		for rank := lo; rank <= hi; rank++ {
			programs[rank] = append(programs[rank], repeated(t, strings.Split(calls, "; "))...)
		}
	}
	options := scriptOptionsOf(t, d)
	variants := variantsOf(engines, !d.HasArg("blocking") && !options.repeats && !options.phases && !options.sums)
	if options.chains || options.counts && !options.causes { // only messages have chains, and arrays count the parts of messages for statistics alone
		variants = slices.DeleteFunc(variants, func(v variant) bool { return v.wanted != Message })
	}
	for i := range variants {
		variants[i].script = options
		variants[i].summed = options.sums && variants[i].wanted != Message && i%3 > 0
	}
	outcomes := make([]string, len(variants))
	var playing sync.WaitGroup // at once: most of the time of a deadlock is the patience of its engines
	for i, v := range variants {
		playing.Go(func() { outcomes[i] = play(t, v, target, programs) })
	}
	playing.Wait()
	for i, v := range variants {
		if outcomes[i] != outcomes[0] {
			d.Fatalf(t, "with %+v:\n%s\nelse, with %+v:\n%s", v, outcomes[i], variants[0], outcomes[0])
		}
	}
	return outcomes[0]
}

// scriptOptionsOf reads the options of a run: causes, and repeated=(operation,algorithm,bytes).
func scriptOptionsOf(t *testing.T, d *datadriven.TestData) (o scriptOptions) {
	o.phases, o.counts = d.HasArg("phases"), d.HasArg("activities")
	o.chains = d.HasArg("chains")
	o.causes = d.HasArg("causes") || o.phases || o.chains
	o.differ, o.sites = d.HasArg("differ"), d.HasArg("sites")
	o.sums, o.byRank, o.bulk = d.HasArg("sums") || d.HasArg("sumsbyrank"), d.HasArg("sumsbyrank"), d.HasArg("bulk")
	if o.repeats = d.HasArg("repeated"); o.repeats {
		var operation, algorithm string
		d.ScanArgs(t, "repeated", &operation, &algorithm, &o.bytes)
		for _, op := range collectives.Operations() {
			if op.String() == operation {
				o.repeated = op
			}
		}
		by, err := collectives.ParseAlgorithm(o.repeated, algorithm)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		o.by = by
	}
	return o
}

// repeated returns calls with the repetitions that they say, as in 20*barrier, of which only the last is told.
func repeated(t *testing.T, calls []string) (all []string) {
	for _, call := range calls {
		if times, one, several := strings.Cut(call, "*"); several {
			n, err := strconv.Atoi(times)
			if err != nil {
				t.Fatalf("%q: %v", call, err)
			}
			call = one
			for range n - 1 {
				all = append(all, silent+call)
			}
		}
		all = append(all, call)
	}
	return all
}

// silent precedes a call of which nothing comes out.
const silent = "~"

// rangeOf returns the least and the greatest rank of "all", "3" or "2-5".
func rangeOf(t reporter, who string, ranks int) (lo, hi int) {
	if who == "all" {
		return 0, ranks - 1
	}
	from, to, several := strings.Cut(who, "-")
	lo, err := strconv.Atoi(from)
	if hi = lo; several && err == nil {
		hi, err = strconv.Atoi(to)
	}
	if err != nil || hi >= ranks {
		t.Fatalf("%q names no ranks of %d: %v", who, ranks, err)
	}
	return lo, hi
}

// reporter is what runs need of a test, or of a test of a property.
type reporter interface {
	Error(arguments ...any)
	Errorf(format string, arguments ...any)
	Fatalf(format string, arguments ...any)
}

// play makes one run.
func play(t reporter, v variant, target *network.Target, programs [][]string) string {
	ranks := len(programs)
	lines, ended := make([][]string, ranks), make([]bool, ranks)
	partition := engine.Partition{LPs: ranks, Engines: v.engines}
	switch { // as the kernel has it
	case target.Contention().Model != "" || target.Contended() && !target.KeepsBlocks():
		partition.Unit = ranks
	case target.KeepsBlocks() && (target.Nodes() >= v.engines || target.Contended()):
		partition.Unit = target.NodeSize(0)
	}
	transports, errs := v.transports(), make([]error, v.engines)
	players := make([]*scriptPlayer, v.engines)
	for i := range players {
		lo, hi := partition.Range(i)
		e := engine.New(engine.Config{Partition: partition, Transport: transports[i], Protocol: v.protocol, BufferLimit: v.limit, Window: v.limit, Patience: 5 * time.Millisecond, Behind: resource.SlackOn(target), Lookahead: func(dst int) vtime.Duration {
			dstLo, dstHi := partition.Range(dst)
			if lo == hi || dstLo == dstHi {
				return vtime.Second
			}
			return lookaheadOf(target, v.engines, lo, hi, dstLo, dstHi)
		}})
		players[i] = newPlayer(t, e, target, v, lines, ended, programs)
	}
	var running sync.WaitGroup
	for i, p := range players {
		running.Go(func() {
			p.k.partition.Engine.ReadyRange(0, p.k.partition.Ranks)
			errs[i] = p.k.partition.Engine.Run(p)
		})
	}
	running.Wait()
	if v.latest != nil {
		for _, p := range players {
			for _, t := range p.k.partition.Clock {
				*v.latest = max(*v.latest, t)
			}
		}
	}
	if !anyOf(errs) {
		for _, p := range players {
			p.k.Messages.SettleSums()
			p.checkTimes()
			p.checkFreed()
			p.checkReleased()
		}
		checkChains(t, players, ranks)
	}
	var least *world.RankError
	for _, p := range players {
		if own := p.k.partition.Failing.Own.Load(); own != nil && (least == nil || own.Before(least)) {
			least = own
		}
		if made, held := p.k.HeldRounds(); made > 0 && held > 0 && !v.script.differ && !p.k.partition.Fails() && !p.k.partition.ErrorsReturn && !anyOf(errs) {
			t.Errorf("%+v leaves %d round queues, round messages and agents", v, held)
		} else if made > 0 && v.script.bulk && v.wanted != Message && !v.nonblocking && !v.data && (v.engines == 1 || v.protocol != engine.Null && !target.ReceiverState()) {
			t.Errorf("%+v: a collective goes by messages, and makes %d round queues", v, made)
		}
	}
	if least != nil || anyOf(errs) { // as the kernel of engine 0 does
		called := make([][]byte, len(players))
		for i, p := range players {
			called[i] = p.k.Called()
		}
		k := players[0].k
		if misfit := FirstMisfit(called, !k.partition.Limited(), k.FailsTogether(), k.partition.NameOf); misfit != nil && (least == nil || !least.Before(misfit)) {
			least = misfit
		}
	}
	switch {
	case least != nil:
		return "fails: " + least.Error() + "\n" + v.script.places(t, players, programs, least)
	case anyOf(errs):
		for _, p := range players {
			p.checkBlocking()
		}
		return "deadlock\n" + waiting(ended)
	}
	if v.script.counts {
		return text(lines) + activities(players, ranks)
	}
	if v.script.sums {
		return text(lines) + sums(players)
	}
	return text(lines)
}

// anyOf reports whether there is an error.
func anyOf(errs []error) bool {
	for _, err := range errs {
		if err != nil {
			return true
		}
	}
	return false
}

// waiting names the ranks that have not ended.
func waiting(ended []bool) (text string) {
	for rank, ended := range ended {
		if !ended {
			text += fmt.Sprintf("%d waits\n", rank)
		}
	}
	return text
}

// lookaheadOf returns how far an engine may be ahead of another.
func lookaheadOf(target *network.Target, engines, lo, hi, dstLo, dstHi int) vtime.Duration {
	d := target.Lookahead(lo, hi, dstLo, dstHi)
	if target.BarrierTime() > 0 {
		d = min(d, FixedCostHop(target.BarrierTime(), engines))
	}
	if target.Machine().Offloads() {
		d = min(d, FixedCostHop(target.LeastOffloadTime(), engines))
	}
	if target.ReceiverState() {
		d -= resource.Slack(d)
	}
	return d
}

// text returns the lines of all ranks. Ranks with the same ones have them together.
func text(lines [][]string) string {
	var b strings.Builder
	for lo := 0; lo < len(lines); {
		hi := lo
		for hi+1 < len(lines) && fmt.Sprint(lines[hi+1]) == fmt.Sprint(lines[lo]) {
			hi++
		}
		who := fmt.Sprint(lo)
		if hi > lo {
			who += fmt.Sprintf("-%d", hi)
		}
		for _, line := range lines[lo] {
			fmt.Fprintf(&b, "%s: %s\n", who, line)
		}
		lo = hi + 1
	}
	return b.String()
}

// scriptPlayer stands in for the kernel and the body of an engine: its ranks make the calls of a script.
type scriptPlayer struct {
	reporter
	k     *Collectives
	v     variant
	lines [][]string
	ended []bool
	ranks []scripted
	times map[int32][]vtime.Duration // by label: of the calls that were timed

	chains []chained // the ends of calls
}

// scripted is a rank.
type scripted struct {
	calls   []string
	next    int
	waits   bool // a call is not over
	comm    *Communicator
	color   int // given to the call that makes a communicator
	call    Collective
	want    []byte           // what the call is to give, nil for anything
	names   map[string]int32 // of requests
	pending map[int32]expected
	inter   *InterCall // a call that goes in parts and is not over
	made    *Communicator
	freed   []*Communicator
	entered vtime.Time // its latest call
	inCalls []interval // so far
	label   int32      // under which the call is timed
	uneven  bool       // the blocks of the call differ in length; see blockOf
	inPlace bool       // the input of the call lies in its output, or the output in the input
	longer  int        // the member whose blocks are a byte longer than others expect; -1 for none

	procedure  world.Procedure // of its latest call
	collective bool            // the latest call is a collective in the blocking form
	open       bool            // the call is to be counted when it ends
	handed     int64           // bytes that the call hands to a collective
}

// expected is what a nonblocking call is to give.
type expected struct{ got, want []byte }

func newPlayer(t reporter, e *engine.Engine, target *network.Target, v variant, lines [][]string, ended []bool, programs [][]string) *scriptPlayer {
	p := &scriptPlayer{reporter: t, k: &Collectives{}, v: v, lines: lines, ended: ended}
	p.times = map[int32][]vtime.Duration{}
	p.k.Messages.Partition.Init(world.Settings{Engine: e, Target: target, Strict: v.strict})
	if v.script.causes || v.script.counts || v.script.sums {
		p.k.Messages.Partition.Activities = &p.k.Messages.Partition.Summary.Activities
	}
	p.k.Messages.Open(nil, 0, p)
	if v.data {
		p.k.InRows = total.Name
	}
	algorithms := make([]collectives.Algorithm, len(collectives.Operations()))
	for _, op := range collectives.Operations() {
		algorithms[op] = collectives.DefaultOn(op, collectives.Hardware{Barrier: target.BarrierTime() > 0, Offload: target.Machine().Offloads()})
	}
	if v.script.repeats {
		algorithms[v.script.repeated] = v.script.by
	}
	p.k.Open(Algorithms{First: algorithms, Free: slices.Repeat([]bool{true}, len(algorithms))}, v.wanted, v.script.repeatedFor(v.data))
	if v.script.sites {
		p.k.SiteOf = p.site
	}
	p.explains()
	for i := range p.k.partition.Ranks {
		p.ranks = append(p.ranks, scripted{label: world.Untimed, calls: programs[p.k.partition.First+i], comm: p.k.Communicators.At(world.World), names: map[string]int32{}, pending: map[int32]expected{}})
	}
	return p
}

// Run, Drained, Handle and Deliver make a player an engine's kernel.
func (p *scriptPlayer) Run(item int32) {
	p.k.Combining = unsaid
	switch {
	case item >= 0:
		p.Resume(item)
	case ^item < TaskItems:
		p.k.RunAgent(^item)
	default:
		p.k.RunTask(^item - TaskItems)
	}
}

func (p *scriptPlayer) Drained() { p.k.Drained() }

func (p *scriptPlayer) Limit(f *engine.Failure) { p.k.partition.Limit(f) }

func (p *scriptPlayer) InCall(agent, what int32, at vtime.Time) { p.k.InCall(agent, what, at) }

func (p *scriptPlayer) EarliestAgent() vtime.Time { return p.k.EarliestAgent() }

func (p *scriptPlayer) Handle(ev engine.Event) {
	lp, k := ev.LP-int32(p.k.partition.First), p.k
	k.Combining = unsaid
	switch ev.Data {
	case world.DataWait:
		if k.Messages.HandleWait(lp, uint32(ev.Sequence), ev.Time) {
			k.Messages.Resuming(lp)
			p.Resume(lp)
			k.Messages.Resuming(world.None)
		}
	case world.DataResume:
		p.Resume(lp)
	case world.DataSettle:
		if k.Messages.HandleSettle(lp, ev.Time) {
			p.Resume(lp)
		}
	case world.DataPassage:
		k.Messages.Interfaces.Serve(ev.Source, ev.Time)
	case world.DataHandshake:
		k.Messages.HandleHandshake(int32(ev.Sequence), ev.Time)
	case world.DataDeadline:
		k.PastDeadline(ev.Time)
	case world.DataServe:
		k.Messages.Processors.Serve(lp, ev.Time)
	}
}

func (p *scriptPlayer) Withdrawn(ev *engine.Event) bool {
	return ev.Data == world.DataHandshake && p.k.Messages.HandshakeWithdrawn(int32(ev.Sequence))
}

func (p *scriptPlayer) Defers() bool                { return p.k.Messages.Defers() }
func (p *scriptPlayer) Deferred() engine.Deferred   { return p.k.Messages.Deferred() }
func (p *scriptPlayer) Proceed(all engine.Deferred) { p.k.Messages.Proceed(all) }

func (p *scriptPlayer) Deliver(src int, record []byte) {
	r, k := world.Reader{Rest: record[1:]}, p.k
	k.Combining = unsaid
	switch record[0] {
	case world.RecordMessage:
		k.Messages.DeliverMessage(src, r)
	case world.RecordRound:
		k.DeliverRound(src, r)
	case world.RecordAcknowledgement:
		k.Messages.DeliverAcknowledgement(r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordRoundAcknowledgement:
		k.DeliverAcknowledgement(r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordReply, world.RecordData, world.RecordFree:
		k.Messages.DeliverAnswer(record[0], r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordRoundReply, world.RecordRoundData:
		k.DeliverRoundAnswer(record[0], r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordMatch:
		k.Messages.Processors.MatchFrom(resource.OfProgram, r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordRoundMatch:
		k.Messages.Processors.MatchFrom(resource.OfAgents, r)
		k.partition.Engine.Consumed(src, len(record))
	default:
		if k.DeliverCollective(src, record, r) {
			k.partition.Engine.Consumed(src, len(record))
		}
	}
}

// Resume and End are the upcalls that have to do with ranks.
func (p *scriptPlayer) Resume(lp int32) {
	k := p.k
	k.Messages.Completion.Err = nil
	if box := k.Messages.Mailbox(lp); box != nil && box.Wait.Kind != p2p.NoWait {
		k.Messages.Finish(lp, box)
	}
	if k.partition.Limited() && k.partition.Dropped(lp) {
		return
	}
	k.Messages.Unpark(lp)
	k.TakeFault(lp)
	if invariant.Enabled {
		k.CheckRoundQueue(lp)
	}
	k.partition.Running = lp
	if !p.run(lp) {
		p.End(lp)
	}
}

func (p *scriptPlayer) End(lp int32) {
	p.ended[p.k.partition.Global(lp)] = true
	p.k.partition.Engine.Finished(1)
	p.k.Messages.CloseBox(lp)
	p.k.CloseRoundQueue(lp)
}

func (p *scriptPlayer) IndexOfContext(context uint64) int32 { return p.k.IndexOfContext(context) }

// run has a rank make its calls until one is not over. It reports whether the rank goes on.
func (p *scriptPlayer) run(lp int32) bool {
	r := &p.ranks[lp]
	if r.waits {
		if r.inter != nil && !p.goOn(lp, r) {
			return true
		}
		p.over(lp, r)
	}
	for r.next < len(r.calls) {
		if p.k.partition.HasFailed(lp) {
			return true
		}
		r.entered = p.k.partition.Clock[lp]
		over := p.begin(lp, r, strings.Fields(strings.TrimPrefix(r.calls[r.next], silent)))
		if r.waits = !over || !p.goesOn(r) && p.k.Messages.MayPause() && p.k.Messages.Pause(lp); r.waits {
			return true
		}
		p.over(lp, r)
	}
	return p.k.Messages.PostponeEnd(lp)
}

// goesOn reports whether a rank's call leaves the rank to its next call at once, before the operations of its processor have begun: a
// phase of computing of which nothing comes out.
func (p *scriptPlayer) goesOn(r *scripted) bool {
	return strings.HasPrefix(r.calls[r.next], silent+"compute") && r.next+1 < len(r.calls)
}

// checkBlocking holds the collectives in which ranks wait, as the report of a deadlock has them, against the ranks' calls.
func (p *scriptPlayer) checkBlocking() {
	for lp := range p.ranks {
		r := &p.ranks[lp]
		inst := r.comm.Blocking(int32(lp), p.k)
		if waits := r.waits && r.collective; waits != (inst != nil) || waits && inst.callOf(r.comm.Group.Member(int(p.k.partition.Global(int32(lp))))).Procedure != r.procedure {
			p.Errorf("%+v: rank %d waits in %v %v, and in an instance %v", p.v, p.k.partition.Global(int32(lp)), r.procedure, waits, inst != nil)
		}
	}
}

// over notes the end of a call, and checks what it gives.
func (p *scriptPlayer) over(lp int32, r *scripted) {
	r.waits = false
	k, words := p.k, strings.Fields(strings.TrimPrefix(r.calls[r.next], silent))
	quiet := strings.HasPrefix(r.calls[r.next], silent)
	p.timed(lp, r)
	p.counted(lp, r)
	r.next++
	b := k.Messages.CompletionOf(lp)
	in := interval{r.entered, k.partition.Clock[lp]}
	if words[0] == "compute" {
		in.from = in.to
	}
	r.inCalls = append(r.inCalls, in)
	line := fmt.Sprintf("%s: %v%s", strings.Join(words, " "), k.partition.Clock[lp].Add(-p.v.from), p.causes(lp, r))
	rank := k.partition.Global(lp)
	for _, index := range b.Completed {
		x, has := r.pending[index]
		delete(r.pending, index)
		if has && x.want != nil && b.Err == nil && !p.v.script.differ && !bytes.Equal(x.got, x.want) {
			p.Errorf("%+v: %s of rank %d gives %x, want %x", p.v, words, rank, x.got, x.want)
		}
	}
	switch {
	case b.Err != nil:
		line += ", " + b.Err.Error()
		if b.Fatal {
			k.Messages.Fail(lp, b.Procedure, b.Err)
		}
	case words[0] == "split" || words[0] == "dup" || words[0] == "subgroup" || words[0] == "group":
		made := k.NewComm(lp, r.comm, r.color)
		if made == nil {
			line += ", no member"
		}
		line += r.takes(made, int(rank))
	case r.made != nil:
		line += r.takes(r.made, int(rank))
	case r.want != nil:
		got := r.call.Output
		if r.comm.Remote == nil && r.call.SharesResult() {
			if shared := k.SharedResult(lp, r.comm); shared != nil {
				got = shared
			}
		}
		if !p.v.script.differ && !bytes.Equal(got, r.want) {
			p.Errorf("%+v: %s of rank %d gives %x, want %x", p.v, words, rank, got, r.want)
		}
	}
	if !quiet {
		p.lines[rank] = append(p.lines[rank], line)
	}
}

// takes makes a communicator that of the next calls, if there is one, and says who the rank is in it.
func (r *scripted) takes(made *Communicator, rank int) string {
	r.made = nil
	if made == nil {
		return ""
	}
	r.comm = made
	text := fmt.Sprintf(", member %d of %d", made.Group.Member(rank), made.Size)
	if made.Remote != nil {
		text += fmt.Sprintf(" before %d", made.Remote.Size)
	}
	return text
}

// begin begins a call of a rank. It reports whether it is over.
func (p *scriptPlayer) begin(lp int32, r *scripted, words []string) bool {
	k := p.k
	k.Messages.NewCompletion(lp).Found = true
	k.Messages.EnterCall(lp)
	k.Begins(lp)
	r.procedure, r.collective = world.NoProcedure, false
	r.want = nil
	r.call.Output = nil
	switch words[0] {
	case "compute":
		d, err := vtime.ParseDuration(words[1])
		if err == nil {
			err = k.Messages.Compute(lp, d, world.Compute)
		}
		return err == nil || k.Messages.Raise(lp, world.Compute, err)
	case "errors":
		k.partition.SetErrorsReturn(lp, words[1] == "return")
		return true
	case "world":
		r.comm = k.Communicators.At(world.World)
		return true
	case "free":
		if err := k.Free(lp, r.comm); err != nil {
			return k.Messages.Raise(lp, world.CommFree, err)
		}
		r.freed = append(r.freed, r.comm)
		r.comm = k.Communicators.At(world.World)
		return true
	case "wait":
		index := r.names[words[1]]
		r.procedure = world.Wait
		k.Messages.EnterWait(lp)
		return k.Messages.WaitRequest(lp, index, world.Wait)
	case "split":
		r.color = p.number(words[1])
		v, err := k.Split(r.color, p.number(words[2]))
		if r.comm.Remote != nil {
			return p.enterUnion(lp, r, v, err)
		}
		return p.enter(lp, r, v, err, "")
	case "dup":
		r.color = 0
		v := k.Dup(k.GroupOf(r.comm, lp))
		return p.enter(lp, r, v, r.comm.Check(v), "")
	case "subgroup": // of the members from the first to the last
		g := world.Strided(p.number(words[1]), 1, p.number(words[2]))
		v, err := k.Create(r.comm.Group, g, int(k.partition.Global(lp)))
		r.color = v.Color()
		return p.enter(lp, r, v, err, "")
	case "send", "recv":
		r.procedure = world.Send
		q := &p2p.Operands{Procedure: world.Send, Comm: &r.comm.Comm, Member: int32(r.comm.Group.Member(int(k.partition.Global(lp))))}
		if words[0] == "send" {
			q.Outgoing.Dest, q.Outgoing.Bytes = p.number(words[1]), int64(p.number(words[2]))
			if index := k.Messages.Send(lp, q); index != 0 {
				return k.Messages.WaitRequest(lp, index, world.Send)
			}
			return true
		}
		r.procedure = world.Recv
		k.Messages.EnterWait(lp)
		q.Procedure, q.Incoming.Source = world.Recv, p.number(words[1])
		return k.Messages.WaitRequest(lp, k.Messages.Receive(lp, q), world.Recv)
	case "group": // of the members from the first to the last, by them alone, with a tag
		g := world.Strided(p.number(words[1]), 1, p.number(words[2]))
		on, v, err := k.CreateGroup(r.comm, g, p.number(words[3]), lp)
		r.color = v.Color()
		if err != nil {
			return p.enter(lp, r, v, err, "")
		}
		r.comm = on
		return p.enter(lp, r, v, nil, "")
	case "inter", "meet", "merge", "twin":
		return p.makeInter(lp, r, words)
	}
	name, word, named := strings.Cut(words[0], "=")
	if !named {
		name, word = "", words[0]
	}
	v := p.collective(r, int(k.partition.Global(lp)), word, words[1:])
	if r.comm.Remote != nil {
		return p.enterInter(lp, r, v, name)
	}
	return p.enter(lp, r, v, r.comm.Check(v), name)
}

func (p *scriptPlayer) number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		p.Errorf("%q: %v", word, err)
	}
	return n
}

// enter enters a rank into a collective. Under a name that is nonblocking; else it is so if the variant says so,
// and then waited for at once.
func (p *scriptPlayer) enter(lp int32, r *scripted, v *Collective, err error, name string) bool {
	k := p.k
	if err != nil {
		return k.Messages.Raise(lp, v.Procedure, err)
	}
	if v.Creation != nil {
		v.Algorithm = k.Algorithm(v, r.comm)
	}
	member := r.comm.Group.Member(int(k.partition.Global(lp)))
	if err := k.Launch(lp, r.comm, member, v); err != nil {
		return k.Messages.Raise(lp, v.Procedure, err)
	}
	nonblocking := name != "" || p.v.nonblocking && v.Creation == nil
	switch {
	case !nonblocking:
		delete(k.KeptResults, lp) // of the allreduce before, as the kernel does
		k.Messages.EnterWait(lp)
		r.procedure, r.collective = v.Procedure, true
	case k.Messages.InCalls:
		v = k.Later(v)
	}
	if name == "" && !p.v.nonblocking && v.Creation == nil && r.inter == nil && !k.Messages.Behind(lp) {
		r.label = k.partition.Label(r.next%3, "call")
		k.Timing = r.label
	}
	index := int32(0)
	p.opens(lp, r, member, v, nonblocking)
	if nonblocking {
		index = k.Messages.NewRequest(lp, p2p.CollectiveRequest, v.Procedure)
		q := k.Messages.Requests.At(index)
		q.Comm, q.Buffer = r.comm.Index, v.Output
	}
	if v.Data && p.lends(v) {
		v.Transient = true
		defer spoil(v.Input)
	}
	if k.Submits = lp; k.Messages.Behind(lp) {
		k.Submits = world.None // as in an instance that it enters later
	}
	defer func() { k.Submits = world.None }()
	switch {
	case r.comm.Size == 1:
		k.CarryOutAlone(lp, r.comm, v, index)
	case k.Messages.Processors != nil:
		k.EnterLater(lp, r.comm, member, v, index)
	case p.v.script.causes || p.v.script.sums && !p.v.summed || k.Messages.InCalls || k.Launches(): // no short forms, as in the kernel
		k.Enter(lp, r.comm, member, v, index)
	case index == 0 && v.Operation == collectives.Barrier && (p.joins(lp, r.comm) || k.EnterBarrier(lp, r.comm, member)):
		r.open = r.open && !p.v.summed // the short form tells the kernel nothing
	default:
		k.Enter(lp, r.comm, member, v, index)
	}
	switch {
	case name != "":
		r.names[name] = index
		r.pending[index] = expected{v.Output, r.want}
		r.want = nil
		return true
	case index != 0:
		r.names["latest"] = index
		r.procedure = world.Wait
		k.Messages.EnterWait(lp)
		return k.Messages.WaitRequest(lp, index, v.Procedure)
	}
	return r.comm.Size == 1
}

// lends reports whether a call's input is the rank's own again once the call has begun, as a value on the stack of a goroutine is.
func (p *scriptPlayer) lends(v *Collective) bool {
	return p.v.ranges && len(v.Input) > 0 && v.Creation == nil && !world.Overlap(v.Input, v.Output)
}

// spoil overwrites memory that nobody may read any more.
func spoil(b []byte) {
	for i := range b {
		b[i] = 0xEE
	}
}

// collective returns a call of a script: an operation, its algorithm, the bytes of a vector or block, the root.
func (p *scriptPlayer) collective(r *scripted, rank int, word string, words []string) *Collective {
	v := &r.call
	*v, r.uneven, r.inPlace, r.longer = Collective{Element: 8, Operator: affine}, false, false, -1
	for _, op := range collectives.Operations() {
		if op.String() == word {
			v.Operation, v.Procedure = op, world.ProcedureOf(op)
		}
	}
	if v.Procedure == world.NoProcedure {
		p.Errorf("%q is no collective", word)
	}
	if word == "barrier" {
		v.Element, v.Operator = 0, world.Operator{}
	}
	for _, w := range words {
		if key, value, has := strings.Cut(w, "="); has && key == "root" {
			v.Root = p.number(value)
		} else if has && key == "of" {
			v.Element = int64(p.number(value))
		} else if has && key == "longer" {
			r.longer = p.number(value)
		} else if w == "uneven" {
			r.uneven = true
		} else if w == "inplace" {
			r.inPlace = true
		} else if n, err := strconv.Atoi(w); err == nil {
			v.Bytes = int64(n)
		} else if v.Algorithm, err = collectives.ParseAlgorithm(v.Operation, w); err != nil {
			p.Error(err)
		}
	}
	if r.comm.Remote != nil {
		p.fillInter(r, v, rank)
		return v
	}
	switch v.Operation {
	case collectives.Barrier:
	case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv: // by content alone
		p.fill(r, v, rank)
	default:
		if p.v.data && v.Bytes >= 0 {
			p.fill(r, v, rank)
		}
	}
	r.counts(v, r.comm.Group.Member(rank))
	return v
}
