package mpivirt_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

// scripted is a third kind of rank: a cursor in a list of calls, as in the replay of a
// trace. It is registered in these tests only, and knows what the kernel exports.
var scripted = kernel.RegisterKind(kernel.Kind{Name: "script", Summary: "a rank is a cursor in a list of calls", Bytes: 1000, Movable: true})

// call is one of a script.
type call struct {
	op
	procedure   world.Procedure // none for what a rank does without MPI
	step, which int             // of its entries in the log
	err         error           // that the call ends with; of fail, that the rank ends with
}

// procedures are the MPI calls by their names in an [op].
var procedures = func() map[string]world.Procedure {
	all := map[string]world.Procedure{
		"mrecv": world.Recv, "start": world.Start, "free": world.CommFree, "dup": world.CommDup, "split": world.CommSplit, "create": world.CommCreate,
		"create_group": world.CommCreateGroup, "graph": world.CommDup, "neighbor_alltoall": world.NeighborAlltoall,
		"cancel": world.Cancel,
	}
	for p := range world.Procedure(world.Procedures()) {
		switch p.Class() {
		case world.ClassSend, world.ClassReceive, world.ClassSendReceive, world.ClassWait, world.ClassTest, world.ClassProbe:
		default:
			continue
		}
		all[strings.ToLower(p.String())] = p
	}
	for _, operation := range collectives.Operations() {
		all[operation.String()] = world.ProcedureOf(operation)
	}
	return all
}()

// callsOf returns the calls of a random program's rank.
func callsOf(ops []op) []call {
	list := []call{{op: op{name: "attach", bytes: 1 << 20}}}
	for step, o := range ops {
		for which, name := range strings.Split(o.name, "+") {
			o.name = name
			list = append(list, call{op: o, procedure: procedures[name], step: step, which: which})
		}
	}
	return append(list, call{op: op{name: "end"}, step: len(ops)})
}

// calls reads calls as they are written in testdata/programs.
func calls(lines ...string) (list []call) {
	for _, line := range lines {
		o := must(parseOp(line))
		list = append(list, call{op: o, procedure: procedures[o.name]})
	}
	return list
}

// anyByte receives a byte from any rank.
var anyByte = fmt.Sprintf("recv peer=%d bytes=1", mpivirt.AnySource)

// failWith ends the rank with an error, if it is one.
func failWith(err error) call { return call{op: op{name: "fail"}, err: err} }

// wants makes the last call one that ends with an error, which the rank gets.
func wants(err error, list []call) []call {
	list[len(list)-1].err = err
	return list
}

// listing is a program in the form for scripted ranks.
type listing struct {
	calls func(rank int) []call
	logs  [][]entry // what the ranks see, by rank; nil if nobody reads it
}

// Kind implements [mpivirt.Form].
func (listing) Kind() *mpivirt.Kind { return scripted }

// Body implements [mpivirt.Form].
func (s listing) Body(k *kernel.Kernel, n int) kernel.Body {
	b := &cursors{k: k, ranks: make([]cursor, n), logs: s.logs}
	for lp := range int32(n) {
		c, rank := &b.ranks[lp], int(k.Global(lp))
		*c = cursor{k: k, lp: lp, list: s.calls(rank), comms: map[int]int32{0: world.World, 1: world.Self},
			slots: map[int]int32{}, persistent: map[int]*restartable{}}
		c.player = newPlayer(c, rank)
		k.SetMayCancel(lp, cancels(rank))
	}
	return b
}

// cursors are the scripted ranks of a partition.
type cursors struct {
	k     *kernel.Kernel
	ranks []cursor
	logs  [][]entry
}

// Resume implements [kernel.Body].
func (b *cursors) Resume(i int) bool {
	c, lp := &b.ranks[i], int32(i)
	for !b.k.HasFailed(lp) {
		if !c.calling {
			if c.at == len(c.list) {
				if b.logs != nil {
					b.logs[c.rank] = c.log
				}
				return false
			}
			c.calling = true
			if !c.begin(&c.list[c.at]) || b.k.Pause(lp) {
				return true
			}
		}
		c.calling = false
		c.end(&c.list[c.at])
	}
	return true
}

// Interrupted implements [kernel.Body]: a call has no code of its own that could panic.
func (b *cursors) Interrupted(any) bool { return false }

// Ended implements [kernel.Body].
func (b *cursors) Ended(lp int32) bool { return b.ranks[lp].at == len(b.ranks[lp].list) }

// LastCall implements [kernel.Body].
func (b *cursors) LastCall(lp int32) world.Procedure { return b.ranks[lp].last }

// Stop implements [kernel.Body].
func (b *cursors) Stop() {}

// cursor is a rank. It makes a call, and reads what that has come to when it is over.
type cursor struct {
	*player
	library    // of which a player needs the three methods of a cursor here
	k          *kernel.Kernel
	lp         int32
	list       []call
	at         int  // the call that the rank makes next, or is in
	calling    bool // it is in the call
	last       world.Procedure
	comms      map[int]int32
	slots      map[int]int32
	persistent map[int]*restartable
	requests   []int32 // of a wait or test
	tries      int     // of a test or nonblocking probe
	status     mpivirt.Status
	message    int32 // status and message are those of the last probe
	buffer     []byte
	output     []uint64
	color      int                  // of the communicator that is made
	rally      *kernel.Communicator // on which it is made by its members alone
}

// restartable is a persistent request with its communicator.
type restartable struct {
	kernel.Persistent
	comm int
}

func (c *cursor) now() vtime.Time { return c.k.Clocks()[c.lp] }

func (c *cursor) size(comm int) int { return c.k.Communicator(c.comms[comm]).Size }

func (c *cursor) member(comm int) int {
	return c.k.GroupOf(c.k.Communicator(c.comms[comm]), c.lp).Member(c.rank)
}

// begin makes a call and reports whether it is over.
func (c *cursor) begin(q *call) bool {
	p, comm := q.procedure, q.comm
	c.op = q.step
	switch {
	case p == world.NoProcedure:
		c.alone(q)
		return true
	case p == world.Start:
		comm = c.persistent[q.slot].comm
	}
	c.last = p
	on := c.k.Communicator(c.comms[comm])
	if p == world.CommCreateGroup {
		return c.rallies(q, on)
	}
	asked := c.k.Compose(p, on, int32(c.member(comm)))
	switch {
	case p.Class() == world.ClassSend:
		c.begun[q.slot] = true
		asked.Sends(c.payload(&q.op), int64(q.bytes), q.peer, q.tag)
	case p == world.Recv || p == world.Irecv:
		c.receives(asked, q)
	case p == world.Start:
		c.loads(q.slot)
		asked.Starts(&c.persistent[q.slot].Persistent)
	case p == world.Sendrecv:
		c.buffer = q.buffer(q.room)
		asked.Sends(c.payload(&q.op), int64(q.bytes), q.peer, q.tag).Receives(c.buffer, int64(q.room), true, q.from, q.fromTag)
	case p.Class() == world.ClassWait || p.Class() == world.ClassTest || p == world.Cancel:
		c.requests = c.requests[:0]
		for _, slot := range q.slots {
			c.requests = append(c.requests, c.slots[slot])
		}
		asked.Waits(c.requests, nil)
	case p.Class() == world.ClassProbe:
		asked.Receives(nil, 0, true, q.peer, q.tag)
	case p == world.CommFree:
	case p == world.NeighborAlltoall:
		input, output := c.vectors(&q.op)
		if c.output = output; q.slot > 0 {
			c.begun[q.slot], c.outputs[q.slot] = true, output
		}
		asked.Exchanges(typed.NeighborAlltoall(neighborsOf(&q.op, c.member(comm), on.Size), input, output))
		if q.slot > 0 {
			asked.Nonblocking()
		}
	default:
		asked.Enters(c.hands(q))
		if q.slot > 0 {
			asked.Nonblocking()
		}
	}
	over := c.k.Submit(c.lp, asked)
	if q.slot > 0 { // the call is nonblocking; its request is not kept while the rank pauses
		c.slots[q.slot] = c.k.Completion().Request
	}
	return over
}

// rallies makes a communicator with the other members of a subgroup.
func (c *cursor) rallies(q *call, on *kernel.Communicator) bool {
	g := must(c.k.GroupOf(on, c.lp).Incl(q.group))
	rally, v, err := c.k.CreateGroup(on, g, q.tag, c.lp)
	c.color, c.rally = 0, rally
	return c.k.Submit(c.lp, c.k.Compose(q.procedure, rally, int32(g.Member(c.rank))).Enters(v, err))
}

// alone does what takes no call of the virtual MPI that has a completion.
func (c *cursor) alone(q *call) {
	k := c.k
	switch q.name {
	case "attach":
		k.Attach(c.lp, int64(q.bytes))
	case "errors_return":
		k.SetErrorsReturn(c.lp, true)
	case "compute":
		if err := k.Compute(c.lp, q.duration); err != nil {
			k.Fail(c.lp, world.Compute, err)
		}
	case "sendinit", "ssendinit", "bsendinit", "recvinit":
		p := &restartable{comm: q.comm}
		p.Procedure, p.Buffer, p.Peer, p.Tag = procedures["i"+strings.TrimSuffix(q.name, "init")], q.buffer(q.bytes), q.peer, q.tag
		if c.memory[q.slot], c.persistent[q.slot] = p.Buffer, p; p.Procedure == world.Irecv {
			c.buffers[q.slot] = nil
		} else {
			c.sends[q.slot] = &q.op
		}
	}
}

// receives fills in a receive: of what the last probe has found, if it is one of two calls.
func (c *cursor) receives(asked *kernel.Call, q *call) {
	source, tag, bytes := q.peer, q.tag, q.bytes
	if q.which == 1 {
		source, tag, bytes = c.status.Source, c.status.Tag, int(c.status.Bytes)
	}
	c.buffer = q.buffer(bytes)
	if q.slot > 0 {
		c.begun[q.slot], c.buffers[q.slot] = true, c.buffer
	}
	asked.Receives(c.buffer, int64(bytes), true, source, tag)
	if q.name == "mrecv" {
		asked.Takes(c.message)
	}
}

// hands returns what the rank hands in to a collective.
func (c *cursor) hands(q *call) (*kernel.Collective, error) {
	k, on := c.k, c.k.Communicator(c.comms[q.comm])
	group := k.GroupOf(on, c.lp)
	switch q.name {
	case "dup", "graph":
		c.color = 0
		return k.Dup(group), nil
	case "split":
		c.color = q.color
		return k.Split(q.color, q.key)
	case "create":
		v, err := k.Create(group, must(group.Incl(q.group)), c.rank)
		c.color = v.Color()
		return v, err
	}
	input, output := c.vectors(&q.op)
	if q.name == "bcast" && c.member(q.comm) == q.root {
		copy(output, input)
	}
	if c.output = output; q.slot > 0 {
		c.begun[q.slot], c.outputs[q.slot] = true, output
	}
	if q.name == "barrier" {
		return k.Barrier(), nil
	}
	v := kernel.Collective{
		Procedure: q.procedure, Operation: collectives.Barrier + collectives.Operation(q.procedure-world.Barrier), Root: q.root, Data: true,
		Element: 8, Type: world.Unsigned64, Bytes: 8 * int64(len(input)), Input: typed.Bytes(input), Output: typed.Bytes(output),
	}
	switch q.name {
	case "reduce", "allreduce", "scan", "exscan":
		v.Operator = operator(q.ordered)
	case "reduce_scatter":
		v.Operator, v.Counts = operator(q.ordered), eights(q.counts)
	case "bcast":
		v.Input = v.Output
	case "scatter":
		v.Bytes = 8 * int64(len(output))
	case "alltoall":
		v.Bytes /= int64(on.Size)
	case "gatherv":
		v.Counts = eights(q.counts)
	case "scatterv":
		v.Bytes, v.Counts = 8*int64(len(output)), eights(q.counts)
	case "allgatherv":
		v.Bytes, v.Counts = 8*int64(len(output)), eights(q.counts)
	case "alltoallv":
		out, in := q.shares(c.member(q.comm))
		v.Bytes, v.InCounts, v.OutCounts = 0, eights(out), eights(in)
	}
	return k.Prepare(v), nil
}

// operator returns what reductions do, over bytes.
func operator(ordered bool) world.Operator {
	f := combine(ordered)
	return world.Operator{Name: "combine", Commutative: !ordered, Apply: func(into, left, right []byte) {
		a, b := typed.Elements[uint64](left), typed.Elements[uint64](right)
		for i, x := range a {
			typed.Elements[uint64](into)[i] = f(x, b[i])
		}
	}}
}

// eights returns counts of elements in bytes.
func eights(counts []int) (bytes []int64) {
	for _, n := range counts {
		bytes = append(bytes, 8*int64(n))
	}
	return bytes
}

// end reads what a call has come to, and goes on to the next one unless it is to be
// repeated.
func (c *cursor) end(q *call) {
	k, p, b := c.k, q.procedure, c.k.CompletionOf(c.lp)
	c.at++
	switch {
	case q.name == "fail":
		if q.err != nil {
			k.Fail(c.lp, c.last, q.err)
		}
	case p == world.NoProcedure:
		if q.name == "end" {
			c.saw(0, mpivirt.Status{}, nil)
		}
	case b.Err != nil && b.Fatal:
		k.Fail(c.lp, b.Procedure, b.Err)
	case !errors.Is(b.Err, q.err):
		k.Fail(c.lp, p, fmt.Errorf("the call ends with %v, want %v", b.Err, q.err))
	case b.Err != nil || p == world.Irecv:
	case p == world.Recv || p == world.Sendrecv:
		c.saw(q.which, k.StatusOf(b), c.buffer)
	case p.Class() == world.ClassWait || p.Class() == world.ClassTest:
		c.waited(q, b)
	case p.Class() == world.ClassProbe:
		c.probed(q, b)
	case p.Class() == world.ClassCommunicator && p != world.CommFree:
		c.made(q)
	case p.Class() == world.ClassCollective && q.slot == 0:
		if p == world.Allreduce {
			copy(typed.Bytes(c.output), k.SharedResult(c.lp, k.Communicator(c.comms[q.comm])))
		}
		c.saw(0, mpivirt.Status{}, words(c.output))
	case p == world.NeighborAlltoall && q.slot == 0:
		c.saw(0, mpivirt.Status{}, words(c.output))
	case p.Class() == world.ClassSend || p.Class() == world.ClassSendReceive || p == world.Start || p == world.CommFree || p == world.Cancel:
		c.saw(0, mpivirt.Status{}, nil)
	}
}

// repeats reports whether a test or probe that has failed is made again.
func (c *cursor) repeats(q *call, found bool) bool {
	if c.tries++; !found && c.tries != q.polls {
		c.at--
		return true
	}
	c.tries = 0
	return false
}

// waited reads what a wait or test has come to.
func (c *cursor) waited(q *call, b *kernel.Completion) {
	if c.repeats(q, b.Found) {
		return
	}
	c.saw(-1, mpivirt.Status{}, nil)
	over := b.Indices
	if q.procedure == world.Wait {
		over = []int{0}
	}
	for _, i := range over {
		status, _, _ := c.k.CompletedRequest(b, c.requests[i])
		c.sawRequest(i, q.slots[i], status)
		c.slots[q.slots[i]] = 0
	}
}

// probed reads what a probe has come to.
func (c *cursor) probed(q *call, b *kernel.Completion) {
	if c.repeats(q, b.Found) {
		return
	}
	c.status, c.message = mpivirt.Status{}, b.Message
	if b.Found {
		c.status = b.Status
	}
	c.saw(0, c.status, nil)
}

// made reads which communicator has been made.
func (c *cursor) made(q *call) {
	if c.color < 0 {
		c.saw(0, mpivirt.Status{}, nil)
		return
	}
	on := c.k.Communicator(c.comms[q.comm])
	if q.procedure == world.CommCreateGroup {
		on = c.rally
	}
	made := c.k.NewComm(c.lp, on, c.color)
	c.comms[q.made] = made.Index
	c.saw(0, mpivirt.Status{}, words(list(made.Group)))
}

// MPI_ERRORS_RETURN for scripted ranks: errors of arguments, of a message that is too long,
// of a collective, of a buffered send and of a start are the completion of the call.
func TestScriptedRanksGetTheirErrors(t *testing.T) {
	program := mpivirt.Program{Name: "errors", Forms: []mpivirt.Form{listing{calls: func(rank int) []call {
		ring := fmt.Sprintf("peer=%d from=%d", (rank+1)%4, (rank+3)%4)
		one := "allreduce count=1"
		var rest []call // what the others send to rank 0
		if rank > 0 {
			one = "barrier"
		} else {
			rest = calls(anyByte, anyByte, anyByte)
		}
		return slices.Concat(
			wants(mpivirt.ErrRank, calls("attach bytes=3", "errors_return", "send peer=4 bytes=1")),
			wants(mpivirt.ErrTag, calls("irecv peer=1 tag=-9 slot=1")),
			wants(mpivirt.ErrRoot, calls("wait slots=1", "bcast root=-1 count=1")),
			wants(mpivirt.ErrTruncate, calls("sendrecv bytes=2 room=1 "+ring)),
			wants(mpivirt.ErrBuffer, calls(fmt.Sprintf("bsend bytes=4 peer=%d", rank))),
			wants(mpivirt.ErrOther, calls(one)),
			wants(mpivirt.ErrRequest, calls("recvinit peer=0 slot=2 bytes=4", "start slot=2", "start slot=2")),
			calls("isend peer=0 slot=3 bytes=1", "barrier"), rest,
		)
	}}}}
	for _, h := range hostings(4) {
		_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 4), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Program: program}, h.Engines)
		if err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// A rank fails when what it has begun before has taken its time, whatever its kind: under a
// model with state at the receiver, that is later than the rank's code has come to it.
func TestFailuresWithReceiverState(t *testing.T) {
	bad := errors.New("bad")
	for _, c := range []struct {
		name  string
		main  func(r *mpivirt.Rank) error
		step  func(r *steps.Rank) steps.Outcome
		calls []call
		want  mpivirt.RankError
	}{
		{"error", func(*mpivirt.Rank) error { return bad }, func(r *steps.Rank) steps.Outcome { return r.Fail(bad) },
			[]call{failWith(bad)}, mpivirt.RankError{Call: "Isend"}},
		{"panic", func(*mpivirt.Rank) error { panic(bad) }, func(*steps.Rank) steps.Outcome { panic(bad) },
			nil, mpivirt.RankError{Call: "Isend"}},
		{"invalid", func(r *mpivirt.Rank) error { return r.World().SendSize(1, 99, 0) }, func(r *steps.Rank) steps.Outcome { return r.SendSize(1, 99, 0) },
			calls("send peer=99 bytes=1"), mpivirt.RankError{Call: "Send"}},
	} {
		program := mpivirt.Program{Name: c.name, Forms: []mpivirt.Form{
			mpivirt.Main(func(r *mpivirt.Rank) error {
				r.Compute(us(5))
				if _, err := r.World().IsendSize(8, 1-r.Rank(), 0); err != nil {
					return err
				}
				return c.main(r)
			}),
			steps.Main(func() steps.Program {
				return steps.New(func(r *steps.Rank, _ *struct{}) steps.Outcome {
					r.Compute(us(5))
					r.IsendSize(8, 1-r.Rank(), 0)
					return c.step(r)
				})
			}),
		}}
		if c.calls != nil {
			program.Forms = append(program.Forms, listing{calls: func(rank int) []call {
				return append(calls("compute for=5us", fmt.Sprintf("isend sized bytes=8 peer=%d slot=1", 1-rank)), c.calls...)
			}})
		}
		for _, form := range program.Forms {
			for _, h := range hostings(2) {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, "loggops-default", 2), Kind: form.Kind(), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Program: program,
				}, h.Engines)
				failed := rankError(t, err)
				if failed.Rank != 0 || failed.Time != vtime.Time(6500*vtime.Nanosecond) || failed.Call != c.want.Call {
					t.Errorf("%s, %v ranks, %+v: %v", c.name, form.Kind(), h, firstLine(err))
				}
			}
		}
	}
}

// matrixPrograms are programs in small, as the ranks of each carry them out.
var matrixPrograms = map[string]func(rank, ranks int) []string{
	"barriers": func(rank, _ int) []string {
		return []string{fmt.Sprintf("compute for=%dns", 100*(rank%7)), "barrier", "compute for=20us", "barrier"}
	},
	"allreduces": func(rank, _ int) []string {
		return []string{fmt.Sprintf("compute for=%dns", 100*(rank%7)), "allreduce count=3", "allreduce count=4000"}
	},
	"ring": func(rank, ranks int) []string {
		send, receive := fmt.Sprintf("send peer=%d bytes=8", (rank+1)%ranks), fmt.Sprintf("recv peer=%d bytes=8", (rank+ranks-1)%ranks)
		if ranks == 1 {
			return []string{"isend bytes=8 slot=1", receive, "wait slots=1"}
		}
		return []string{send, receive, send, receive}
	},
	"large messages": func(rank, ranks int) []string {
		return []string{
			fmt.Sprintf("irecv peer=%d bytes=100000 slot=1", (rank+ranks-1)%ranks), fmt.Sprintf("isend peer=%d bytes=100000 slot=2", (rank+1)%ranks),
			"compute for=3us", "waitall slots=1,2",
		}
	},
	"halves": func(rank, ranks int) []string {
		return []string{
			fmt.Sprintf("split color=%d key=%d made=2", rank%2, -rank), "alltoall comm=2 count=5", "scan count=2 slot=1", "dup comm=2 made=3",
			"barrier comm=3", "waitall slots=1", "free comm=3",
		}
	},
}

// Every kind comes to the same outcome under every protocol on any number of engines,
// strictly and not.
func TestMatrixOfKinds(t *testing.T) {
	t.Parallel()
	sizes, least, protocols := []int{1, 2, 29}, 1, []sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null}
	if testing.Short() { // several engines by one protocol: enough for the race detector
		sizes, least, protocols = []int{29}, 3, protocols[:1]
	}
	for name, lines := range matrixPrograms {
		for _, machine := range []string{"xt5", hockney, "loggops-default"} {
			for _, ranks := range sizes {
				p := &program{machine: machine, ops: make([][]op, ranks)}
				for rank := range p.ops {
					for _, c := range calls(lines(rank, ranks)...) {
						p.ops[rank] = append(p.ops[rank], c.op)
					}
				}
				want, plain := p.simulate(t, hosting{kind: mpivirt.Goroutine, engines: 1})
				for k, kind := range programKinds() {
					for engines := least; engines <= 3; engines++ {
						for i, protocol := range protocols {
							for _, strict := range []bool{false, true} {
								if engines == 1 && i > 0 || i > 0 && strict != ((k+engines+i+ranks)%2 > 0) {
									continue // one engine synchronises with nobody; of two protocols, one of the ways in turn
								}
								h := hosting{kind: kind, engines: engines, protocol: protocol, strict: strict}
								got, result := p.simulate(t, h)
								if result.Fingerprint != plain.Fingerprint || result.Finished != plain.Finished || !reflect.DeepEqual(got, want) {
									t.Errorf("%s on %s, %d ranks, %v: fingerprint %s, plainly %s", name, machine, ranks, h, result.Fingerprint, plain.Fingerprint)
								}
							}
						}
					}
				}
			}
		}
	}
}

// No call of a scripted rank panics, though it cannot go on: the rank fails.
func TestScriptedRanksThatCannotGoOn(t *testing.T) {
	slow := "name: slow\nnetwork: {model: flat, latency: 1us, bandwidth: 1B/s}\n"
	for _, c := range []struct{ line, call string }{
		{"compute for=-1us", "Compute"},
		{"compute for=9000000s", "Compute"},
		{"send peer=1 bytes=1073741824 sized", "Send"},
		{"isend peer=1 bytes=1073741824 sized slot=1", "Isend"},
		{"sendrecv peer=1 bytes=10000000 from=1 room=1", "Sendrecv"},
	} {
		program := mpivirt.Program{Name: "end", Forms: []mpivirt.Form{listing{calls: func(int) []call {
			return calls("errors_return", "compute for=9000000s", c.line, "barrier")
		}}}}
		for _, h := range hostings(2) {
			_, err := simulate(t, mpivirt.Config{Target: target(t, slow, 2), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Program: program}, h.Engines)
			if failed := rankError(t, err); failed.Rank != 0 || failed.Call != c.call {
				t.Errorf("%s, %+v: %v", c.line, h, firstLine(err))
			}
		}
	}
}
