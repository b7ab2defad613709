package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The scripts in testdata have a machine, and runs of ranks on it. A line of a run has the calls of a range of ranks; what
// comes out is each call with the instants at which it begins and ends, and its completion, or how the run ends.
// Each run is made on one engine and on several, of one process and of one each, by workers and not, strictly and not,
// with collectives by messages and in bulk, with small buffers: all give the same.
func TestScripts(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("if the change of times is meant: go test ./mpivirt/internal/kernel -run Scripts -rewrite")
		}
	})
	for _, name := range []string{"calls", "collectives", "ends", "groups"} {
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
				return runScript(t, d, machine)
			})
		})
	}
}

// variant is a way to make a run, on which results do not depend.
type variant struct {
	engines     int
	hosts       bool // each engine in a simulation of its own, as in processes
	kind        *Kind
	strict      bool
	collectives coll.Interpreter
	limit       int64 // of bytes in buffers
}

// variants returns the ways to make a run on at most so many engines.
func variants(engines int) (all []variant) {
	for e := 1; e <= engines; e++ {
		all = append(all,
			variant{engines: e, kind: fixed},
			variant{engines: e, kind: movable, strict: true, collectives: coll.Message},
			variant{engines: e, kind: movable, collectives: coll.Bulk, limit: 60},
			variant{engines: e, kind: fixed, hosts: true, strict: e == 2})
	}
	return all
}

// The kinds of ranks of scripts.
var (
	fixed   = &Kind{Name: "script"}
	movable = &Kind{Name: "script that any goroutine runs", Movable: true}
)

// runScript returns the outcome of a run, which is that of all its variants.
func runScript(t *testing.T, d *datadriven.TestData, machine *network.Machine) string {
	ranks, polls, engines := 0, 0, 3
	d.ScanArgs(t, "ranks", &ranks)
	d.MaybeScanArgs(t, "polls", &polls)
	d.MaybeScanArgs(t, "engines", &engines)
	target, err := machine.Target(int64(ranks))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	programs := make([][]string, ranks)
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		who, calls, _ := strings.Cut(line, ": ")
		from, to, several := strings.Cut(who, "-")
		lo, err := strconv.Atoi(from)
		hi := lo
		if several && err == nil {
			hi, err = strconv.Atoi(to)
		}
		if who == "all" {
			lo, hi, err = 0, ranks-1, nil
		}
		if err != nil || hi >= ranks {
			d.Fatalf(t, "%q names no ranks of %d: %v", who, ranks, err)
		}
		for rank := lo; rank <= hi; rank++ {
			programs[rank] = append(programs[rank], strings.Split(calls, "; ")...)
		}
	}
	ways := variants(min(ranks, engines))
	outcomes := make([]string, len(ways))
	var playing sync.WaitGroup // at once: most of the time of a deadlock is the patience of its engines
	for i, v := range ways {
		playing.Go(func() { outcomes[i] = play(t, v, int32(polls), target, programs) })
	}
	playing.Wait()
	for i, v := range ways {
		if outcomes[i] != outcomes[0] {
			d.Fatalf(t, "with %+v:\n%s\nelse\n%s", v, outcomes[i], outcomes[0])
		}
	}
	return outcomes[0]
}

// play makes one run.
func play(t *testing.T, v variant, polls int32, target *network.Target, programs [][]string) string {
	form := &script{t: t, kind: v.kind, programs: programs, lines: make([][]string, len(programs))}
	all := engine.NewInProcess(v.engines)
	c := Config{
		Target: target, Program: Program{Name: "script", Forms: []Form{form}}, Polls: polls, Strict: v.strict, Collectives: v.collectives,
		BufferLimit: v.limit, Activities: true,
	}
	var simulations []*Simulation
	for i := range all {
		own := all
		if v.hosts {
			own = all[i : i+1]
		}
		c.Transports = own
		s, err := New(c)
		if err != nil {
			t.Error(err)
			return ""
		}
		if simulations = append(simulations, s); !v.hosts {
			break
		}
	}
	results, errs := make([]*Result, len(simulations)), make([]error, len(simulations))
	var running sync.WaitGroup
	for i, s := range simulations {
		running.Go(func() { results[i], errs[i] = s.Run() })
	}
	running.Wait()
	if p := simulations[0].Progress(); errs[0] == nil && !v.hosts && (p.Ranks != uint64(len(programs)) || p.SetUp != p.Ranks || p.Events == 0) {
		t.Errorf("%+v: the progress at the end is %+v", v, p)
	}
	for _, s := range simulations {
		s.Close()
	}
	return form.text(results[0], errs[0])
}

// text returns what comes out of a run. Of a run that fails that is how it ends: how far others have come is no result.
func (s *script) text(r *Result, err error) string {
	var b strings.Builder
	if err == nil {
		for lo := 0; lo < len(s.lines); {
			hi := lo
			for hi+1 < len(s.lines) && slices.Equal(s.lines[hi+1], s.lines[lo]) {
				hi++
			}
			who := fmt.Sprint(lo)
			if hi > lo {
				who += fmt.Sprintf("-%d", hi)
			}
			for _, line := range s.lines[lo] {
				fmt.Fprintf(&b, "%s: %s\n", who, line)
			}
			lo = hi + 1
		}
		for _, i := range r.Iterations {
			fmt.Fprintf(&b, "%s %d: %d of %v to %v, %v in the mean\n", i.Operation, i.Index, i.Count, i.Min, i.Max, i.Mean)
		}
	}
	fmt.Fprintf(&b, "%d ranks have ended by %v, complete: %t\n", r.Finished, r.VirtualTime, r.Complete)
	if err == nil != r.Complete {
		s.t.Errorf("%v, and complete: %t", err, r.Complete)
	}
	var stopped *engine.Stopped
	switch {
	case errors.As(err, &stopped): // as a process tells whose engine has not failed itself
		fmt.Fprintln(&b, withoutStack(string(stopped.Reason)))
	case err != nil:
		fmt.Fprintln(&b, withoutStack(err.Error()))
	}
	return b.String()
}

// withoutStack returns a text without the stack of a panic.
func withoutStack(text string) string {
	text, _, _ = strings.Cut(text, "\ngoroutine")
	return text
}

// script is the form of a program whose ranks make the calls of a script.
type script struct {
	t        *testing.T
	kind     *Kind
	programs [][]string
	lines    [][]string
}

// Kind implements [Form].
func (s *script) Kind() *Kind { return s.kind }

// Body implements [Form].
func (s *script) Body(k *Kernel, n int) Body {
	b := &scriptBody{script: s, k: k, ranks: make([]scripted, n)}
	for lp := range b.ranks {
		rank := int(k.Global(int32(lp)))
		b.ranks[lp] = scripted{rank: rank, calls: s.programs[rank], comm: world.World, names: map[string]int32{}, found: map[string]int32{}, persistent: map[string]*Persistent{}}
	}
	return b
}

// scriptBody is the body of an engine.
type scriptBody struct {
	*script
	k     *Kernel
	ranks []scripted
}

// scripted is a rank.
type scripted struct {
	rank       int
	calls      []string
	next       int
	begun      vtime.Time
	calling    bool
	ended      bool
	last       world.Procedure
	comm       int32
	color      int
	rally      *Communicator    // on which a communicator is made by its members alone
	names      map[string]int32 // of requests
	found      map[string]int32 // of messages that matched probes have found
	persistent map[string]*Persistent
	list       []int32
	polls      int
	numbers    int32 // of communicators that were made without a message
}

// Resume implements [Body].
func (b *scriptBody) Resume(i int) bool {
	lp, r := int32(i), &b.ranks[i]
	for !b.k.HasFailed(lp) {
		if !r.calling {
			if r.next == len(r.calls) {
				if b.k.PostponeEnd(lp) {
					return true
				}
				r.ended = true
				return false
			}
			r.calling = true
			if r.polls == 0 {
				r.begun = b.k.Clocks()[lp]
			}
			if !b.begin(lp, r, strings.Fields(r.calls[r.next])) || b.k.Pause(lp) {
				return true
			}
		} else if b.k.InParts(lp) && !b.k.Submit(lp, b.k.Composed()) {
			return true
		}
		r.calling = false
		b.end(lp, r, strings.Fields(r.calls[r.next]))
	}
	return true
}

// Interrupted implements [Body]. A call of a script that panics fails its rank.
func (b *scriptBody) Interrupted(value any) bool {
	lp := b.k.Running()
	if lp == world.None {
		return false
	}
	b.k.Unwound(lp, b.ranks[lp].last, value)
	b.k.SetRunning(world.None)
	b.k.Yield(lp+1, int32(len(b.ranks)))
	return true
}

// Ended implements [Body].
func (b *scriptBody) Ended(lp int32) bool { return b.ranks[lp].ended }

// LastCall implements [Body].
func (b *scriptBody) LastCall(lp int32) world.Procedure { return b.ranks[lp].last }

// Stop implements [Body].
func (b *scriptBody) Stop() {}

func (b *scriptBody) number(word string) int {
	switch word {
	case "*":
		return world.AnySource
	case "-":
		return world.ProcNull
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		b.t.Errorf("%q: %v", word, err)
	}
	return n
}

func (b *scriptBody) tag(word string) int {
	if word == "*" {
		return world.AnyTag
	}
	return b.number(word)
}

// scriptProcedures are the procedures of the words in a script.
var scriptProcedures = func() map[string]world.Procedure {
	all := map[string]world.Procedure{"mrecv": world.Recv, "imrecv": world.Irecv, "dup": world.CommDup, "split": world.CommSplit, "create": world.CommCreate,
		"group": world.CommCreateGroup, "free": world.CommFree, "exchange": world.NeighborAlltoall, "meet": world.IntercommCreate}
	for p := range world.Procedure(world.Procedures()) {
		if c := p.Class(); c != world.ClassNone && c < world.ClassCollective {
			all[strings.ToLower(p.String())] = p
		}
	}
	for _, op := range collectives.Operations() {
		all[op.String()] = world.ProcedureOf(op)
	}
	return all
}()

// begin begins a call of a rank. It reports whether it is over.
func (b *scriptBody) begin(lp int32, r *scripted, words []string) bool {
	k := b.k
	if words[0] == "until" {
		words = words[1:]
	}
	name, word, named := strings.Cut(words[0], "=")
	if !named {
		name, word = "", words[0]
	}
	words = words[1:]
	if word == "world" {
		return b.onWorld(lp, r, words)
	}
	p, known := scriptProcedures[word]
	if !known {
		k.NewCompletion(lp)
		b.alone(lp, r, name, word, words)
		return true
	}
	on := k.Communicator(r.comm)
	group := k.GroupOf(on, lp)
	r.last = p
	q := k.Compose(p, on, int32(group.Member(r.rank)))
	switch c := p.Class(); {
	case c == world.ClassSend:
		q.Sends(b.content(words[2]), b.bytes(words[2]), b.number(words[0]), b.tag(words[1]))
	case word == "mrecv" || word == "imrecv":
		room := b.number(words[1])
		q.Receives(make([]byte, room), int64(room), true, 0, 0).Takes(r.found[words[0]])
	case c == world.ClassReceive || c == world.ClassProbe:
		b.receives(q, words)
	case c == world.ClassSendReceive:
		q.Sends(b.content(words[2]), b.bytes(words[2]), b.number(words[0]), b.tag(words[1]))
		b.receives(q, words[3:])
	case p == world.Start:
		q.Starts(r.persistent[words[0]])
		name = words[0]
	case c == world.ClassWait || c == world.ClassTest || p == world.Cancel:
		r.list = r.list[:0]
		for _, word := range words {
			r.list = append(r.list, r.names[word])
		}
		if Keeps(p, len(r.list)*100) { // few of them are as good as many here
			return k.Submit(lp, q.WaitsForSet(k.KeepList(lp, slices.Clone(r.list))))
		}
		q.Waits(r.list, nil)
	case p == world.CommFree:
	case p == world.CommCreateGroup:
		g := world.Strided(b.number(words[0]), 1, b.number(words[1]))
		rally, v, err := k.CreateGroup(on, g, b.number(words[2]), lp)
		r.color, r.rally = 0, rally
		return k.Submit(lp, k.Compose(p, rally, int32(g.Member(r.rank))).Enters(v, err))
	case p == world.NeighborAlltoall:
		q.Exchanges(b.exchange(words), nil)
	case p == world.IntercommCreate:
		var told []byte
		if leader := b.number(words[0]); group.Member(r.rank) == leader {
			theirs := []uint64{uint64(b.number(words[2]))}
			for _, rank := range words[3:] {
				theirs = append(theirs, uint64(b.number(rank)))
			}
			told = Told(uint64(b.number(words[1])), theirs)
		}
		q.Enters(k.Meeting(b.number(words[0]), told), nil)
	default:
		q.Enters(b.hands(r, p, group, words))
	}
	if name != "" && (p.Class() == world.ClassCollective || p.Class() == world.ClassNeighborhood) {
		q.Nonblocking()
	}
	over := k.Submit(lp, q)
	if b := k.Completion(); name != "" && p.Class() != world.ClassProbe && b.Err == nil {
		r.names[name] = b.Request
	}
	return over
}

// onWorld makes a send or receive on WORLD by the short way, and by the usual one if that is not open: for a message that
// is not certain yet, whatever its arguments.
func (b *scriptBody) onWorld(lp int32, r *scripted, words []string) bool {
	k, w := b.k, b.k.Communicator(world.World)
	peer, tag := b.number(words[1]), b.tag(words[2])
	if words[0] == "send" {
		r.last = world.Send
		bytes := int64(b.number(words[3]))
		return k.SendOnWorld(lp, w, nil, bytes, peer, tag) || k.Submit(lp, k.Compose(world.Send, w, int32(r.rank)).Sends(nil, bytes, peer, tag))
	}
	r.last = world.Recv
	return k.ReceiveOnWorld(lp, w, nil, AnyLength, peer, tag) || k.Submit(lp, k.Compose(world.Recv, w, int32(r.rank)).Receives(nil, 0, false, peer, tag))
}

// bytes returns the size of a message: a number, or the length of its content in quotes.
func (b *scriptBody) bytes(word string) int64 {
	if content := b.content(word); content != nil {
		return int64(len(content))
	}
	return int64(b.number(word))
}

func (b *scriptBody) content(word string) []byte {
	if content, quoted := strings.CutPrefix(word, `"`); quoted {
		return []byte(strings.TrimSuffix(content, `"`))
	}
	return nil
}

// receives sets a receive from a source, with a tag, and with room for some bytes if that is given.
func (b *scriptBody) receives(q *Call, words []string) {
	room := 0
	if len(words) > 2 {
		room = b.number(words[2])
	}
	q.Receives(make([]byte, max(room, 0)), int64(room), len(words) > 2, b.number(words[0]), b.tag(words[1]))
}

// exchange returns messages: "< source tag room" and "> destination tag size".
func (b *scriptBody) exchange(words []string) (x Exchange) {
	for ; len(words) > 3; words = words[4:] {
		part := Part{Peer: b.number(words[1]), Tag: b.tag(words[2]), Bytes: int64(b.number(words[3]))}
		if words[0] == "<" {
			x.Receives = append(x.Receives, part)
		} else {
			x.Sends = append(x.Sends, part)
		}
	}
	return x
}

// hands returns what a rank hands in to a collective.
func (b *scriptBody) hands(r *scripted, p world.Procedure, group *world.Group, words []string) (*Collective, error) {
	r.color = 0
	switch p {
	case world.CommDup:
		return b.k.Dup(group), nil
	case world.CommSplit:
		r.color = b.number(words[0])
		return b.k.Split(r.color, b.number(words[1]))
	case world.CommCreate: // of the members from one on
		v, err := b.k.Create(group, world.Strided(b.number(words[0]), 1, b.number(words[1])), r.rank)
		r.color = v.Color()
		return v, err
	}
	bytes, root := int64(0), 0
	if len(words) > 0 {
		bytes = int64(b.number(words[0]))
	}
	if len(words) > 1 {
		root = b.number(words[1])
	}
	return b.k.Sized(p.Operation(), bytes, 1, root)
}

// alone does what takes no call of the virtual MPI.
func (b *scriptBody) alone(lp int32, r *scripted, name, word string, words []string) {
	k := b.k
	switch word {
	case "compute":
		d, err := vtime.ParseDuration(words[0])
		if err == nil {
			err = k.Compute(lp, d)
		}
		if err != nil {
			k.Fail(lp, world.Compute, err)
		}
	case "attach":
		k.Attach(lp, int64(b.number(words[0])))
	case "maycancel":
		k.SetMayCancel(lp, words[0] == "on")
	case "errors":
		k.SetErrorsReturn(lp, words[0] == "return")
	case "comm":
		r.comm = map[string]int32{"world": world.World, "self": world.Self}[words[0]]
	case "merge": // the group with high comes last
		r.numbers++
		r.comm = k.Merge(lp, k.Communicator(r.comm), r.numbers, words[0] == "low").Index
	case "twin":
		r.numbers++
		if c := k.Communicator(r.comm); c.Remote != nil {
			r.comm = k.DupInter(lp, c, r.numbers).Index
		} else {
			r.comm = k.LocalDuplicate(lp, c, r.numbers).Index
		}
	case "init":
		r.persistent[name] = &Persistent{Procedure: scriptProcedures[words[0]], Peer: b.number(words[1]), Tag: b.tag(words[2]), Buffer: make([]byte, b.number(words[3]))}
	case "clockpolls": // so many in a row
		k.StartClockPolls(lp)
		for range b.number(words[0]) {
			if d := k.PollClock(lp); d > 0 {
				if err := k.Compute(lp, d); err != nil {
					k.Fail(lp, world.Compute, err)
				}
				k.ClockPolled(lp)
			}
		}
	case "record":
		d, err := vtime.ParseDuration(words[2])
		if err != nil {
			b.t.Error(err)
		}
		k.Record(b.number(words[0]), words[1], d)
	case "fail":
		k.Fail(lp, r.last, errors.New(strings.Join(words, " ")))
	case "abort":
		k.Fail(lp, world.NoProcedure, world.Aborted(b.number(words[0])))
	case "panic":
		panic("out of order")
	default:
		b.t.Errorf("%q is no call", word)
	}
}

// end notes what a call has come to. A loop of polls begins again if it has not found anything.
func (b *scriptBody) end(lp int32, r *scripted, words []string) {
	k, c := b.k, b.k.CompletionOf(lp)
	text := strings.Join(words, " ")
	if words[0] == "until" {
		if r.polls++; !c.Found && c.Err == nil {
			return
		}
		words = words[1:]
	}
	r.polls = 0
	r.next++
	line := fmt.Sprintf("%s: %v", text, r.begun)
	if end := k.Clocks()[lp]; end != r.begun {
		line += fmt.Sprintf(" to %v", end)
	}
	name, word, named := strings.Cut(words[0], "=")
	if !named {
		word = words[0]
	}
	p := scriptProcedures[word]
	switch {
	case c.Err != nil:
		line += ", " + c.Err.Error()
		if c.Fatal {
			k.Fail(lp, c.Procedure, c.Err)
		}
	case word == "dup" || word == "split" || word == "create" || word == "group" || word == "meet":
		line += b.made(lp, r, word, c)
	case word == "free":
		r.comm = world.World
	case p.Class() == world.ClassProbe:
		line += describe(c.Found, c.Status, nil)
		if named && c.Found {
			r.found[name] = c.Message
		}
	case p.Class() == world.ClassWait || p.Class() == world.ClassTest:
		line += b.waited(lp, r, words, c)
	case p == world.Recv || p == world.Sendrecv || word == "world" && words[1] == "recv":
		line += describe(true, k.StatusOf(c), k.DataOf(c))
	}
	b.lines[r.rank] = append(b.lines[r.rank], line)
}

// made makes the communicator of a call that of the next ones, if there is one.
func (b *scriptBody) made(lp int32, r *scripted, word string, c *Completion) string {
	on, made := b.k.Communicator(r.comm), (*Communicator)(nil)
	switch {
	case word == "group":
		on = r.rally
		made = b.k.NewComm(lp, on, on.Group.WorldRank(0))
		if made == nil {
			made = b.k.NewComm(lp, on, r.color)
		}
	case word == "meet":
		made = b.k.Communicator(c.NewComm)
	default:
		made = b.k.NewComm(lp, on, r.color)
	}
	if made == nil {
		return ", no member"
	}
	r.comm = made.Index
	text := fmt.Sprintf(", member %d of %d", b.k.GroupOf(made, lp).Member(r.rank), made.Size)
	if made.Remote != nil {
		text += fmt.Sprintf(" before %d", made.Remote.Size)
	}
	return text
}

// waited describes the requests that a wait or test has found, which are inactive from now on.
func (b *scriptBody) waited(lp int32, r *scripted, words []string, c *Completion) (text string) {
	if !c.Found {
		return ", nothing"
	}
	at := c.Indices
	if len(at) == 0 && len(words) == 2 {
		at = []int{0}
	}
	for _, i := range at {
		name := words[1+i]
		status, content, _ := b.k.CompletedRequest(c, r.names[name])
		text += ", " + name + strings.TrimPrefix(describe(true, status, content), ",")
		r.names[name] = 0
	}
	for _, f := range c.Failures {
		text += fmt.Sprintf(", fails: %v", f.Err)
	}
	return text
}

// describe describes a message that was received or found.
func describe(found bool, s world.Status, content []byte) string {
	switch {
	case !found:
		return ", nothing"
	case s == world.EmptyStatus:
		return ", over"
	case s == world.ProcNullStatus:
		return ", of nobody"
	case s == world.CancelledStatus:
		return ", cancelled"
	}
	text := fmt.Sprintf(", from %d tag %d, %d bytes", s.Source, s.Tag, s.Bytes)
	if content := strings.TrimRight(string(content), "\x00"); content != "" {
		text += fmt.Sprintf(" %q", content)
	}
	return text
}
