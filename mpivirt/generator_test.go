package mpivirt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"

	"pgregory.net/rapid"
)

// op is one operation of one rank of a program. Peers are members of the
// communicator; fields that an operation does not need are zero.
type op struct {
	name     string
	comm     int // 0 is WORLD, 1 is SELF; others are numbered by the operations that make them
	peer     int // destination or source
	tag      int
	bytes    int  // size of the message, or room for it
	sized    bool // of the message only the size is simulated
	slot     int  // where the request goes; collectives without a slot block
	slots    []int
	polls    int // tests and probes: how often to try; 0 is until it succeeds
	from     int // sendrecv: source, tag and room
	fromTag  int
	room     int
	duration vtime.Duration
	root     int
	count    int   // elements of a vector or block
	counts   []int // elements of the members' blocks, where they differ; see elementsTo; of a graph: distances to the neighbours
	ordered  bool  // a reduction that does not commute
	made     int   // communicator to make
	color    int
	key      int
	group    []int // create, create_group: members
}

// field is a part of an op in its text form.
type field struct {
	key   string
	value any // *int, *bool, *[]int or *vtime.Duration
}

func (o *op) fields() []field {
	return []field{
		{"comm", &o.comm}, {"peer", &o.peer}, {"tag", &o.tag}, {"bytes", &o.bytes}, {"sized", &o.sized},
		{"slot", &o.slot}, {"slots", &o.slots}, {"polls", &o.polls}, {"from", &o.from}, {"fromtag", &o.fromTag},
		{"room", &o.room}, {"for", &o.duration}, {"root", &o.root}, {"count", &o.count}, {"counts", &o.counts}, {"ordered", &o.ordered},
		{"made", &o.made}, {"color", &o.color}, {"key", &o.key}, {"group", &o.group},
	}
}

// elementsTo is how many elements a member gives to another in an alltoallv.
func (o *op) elementsTo(from, to int) int { return o.counts[(from+2*to)%len(o.counts)] }

// String gives the operation as parseOp reads it: its name and what is not zero.
func (o *op) String() string {
	words := []string{o.name}
	for _, f := range o.fields() {
		switch v := f.value.(type) {
		case *int:
			if *v != 0 {
				words = append(words, fmt.Sprintf("%s=%d", f.key, *v))
			}
		case *bool:
			if *v {
				words = append(words, f.key)
			}
		case *[]int:
			if len(*v) > 0 {
				words = append(words, f.key+"="+strings.ReplaceAll(strings.Trim(fmt.Sprint(*v), "[]"), " ", ","))
			}
		case *vtime.Duration:
			if *v != 0 {
				words = append(words, f.key+"="+v.String())
			}
		}
	}
	return strings.Join(words, " ")
}

// parseOp reads what String gives.
func parseOp(text string) (op, error) {
	words := strings.Fields(text)
	o := op{name: words[0]}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		fields := o.fields()
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i < 0 {
			return o, fmt.Errorf("%q: no field %q", text, key)
		}
		if err := fields[i].parse(value); err != nil {
			return o, fmt.Errorf("%q: %s: %w", text, key, err)
		}
	}
	return o, nil
}

func (f field) parse(value string) (err error) {
	switch v := f.value.(type) {
	case *int:
		*v, err = strconv.Atoi(value)
	case *bool:
		*v = true
	case *[]int:
		for item := range strings.SplitSeq(value, ",") {
			n, e := strconv.Atoi(item)
			if e != nil {
				return e
			}
			*v = append(*v, n)
		}
	case *vtime.Duration:
		*v, err = vtime.ParseDuration(value)
	}
	return err
}

// program is a list of operations for each rank, and the machine to run it on.
type program struct {
	machine    string // YAML
	algorithms map[collectives.Operation]collectives.Algorithm
	ops        [][]op // by rank
}

// GoString gives the program as the scripts in testdata/programs have it, so that
// one that failed can be kept there.
func (p program) GoString() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nmachine\n%s----\n\nrun ranks=%d", p.machine, len(p.ops))
	for _, operation := range collectives.Operations() {
		if a, chosen := p.algorithms[operation]; chosen {
			fmt.Fprintf(&b, " %v=%v", operation, a)
		}
	}
	b.WriteByte('\n')
	for rank, ops := range p.ops {
		for i := range ops {
			fmt.Fprintf(&b, "%d: %s\n", rank, &ops[i])
		}
	}
	b.WriteString("----\n")
	return b.String()
}

// programs generates programs that are valid by construction: whatever the
// machine, they end, and every receive gets a message.
//
// A program grows step by step; a step appends operations to the ranks that take
// part. What an operation waits for belongs to its own step or to earlier ones, so
// by induction over the steps every operation ends. Within (communicator, source,
// tag) sends and named receives come in the same order, so each receive gets the
// message of its step. Receives from any source have a tag of their own in each
// step, and receives of any tag are followed by a barrier: they cannot take what
// belongs to another step, and within their own step it does not matter which
// takes which.
//
// Steps are drawn as seeds, so that a failing program shrinks by leaving steps out.
func programs(maxRanks, maxSteps int) *rapid.Generator[program] {
	return programsOn(randomMachine, maxRanks, maxSteps)
}

// programsOn is programs for machines of some kind.
func programsOn(machines func(r *rand.Rand, ranks int) string, maxRanks, maxSteps int) *rapid.Generator[program] {
	return rapid.Custom(func(t *rapid.T) program {
		ranks := rapid.IntRange(1, maxRanks).Draw(t, "ranks")
		machine := rapid.Uint64().Draw(t, "machine")
		steps := rapid.SliceOfN(rapid.Uint64(), 1, maxSteps).Draw(t, "steps")
		return generate(machines, ranks, machine, steps)
	})
}

// generate makes the program of some seeds.
func generate(machines func(r *rand.Rand, ranks int) string, ranks int, machine uint64, steps []uint64) program {
	source := rand.New(rand.NewPCG(machine, 1))
	g := &generator{slots: make([]int, ranks), pending: make([][]int, ranks), tag: 1000, made: 2}
	g.ops = make([][]op, ranks)
	g.machine = machines(source, ranks)
	g.algorithms = randomAlgorithms(source)
	world := communicator{}
	for rank := range ranks {
		world.ranks = append(world.ranks, rank)
	}
	g.comms = []communicator{world}
	for _, seed := range steps {
		g.Rand = rand.New(rand.NewPCG(seed, 2))
		g.step()
	}
	// Some requests nobody waits for: they end after their rank.
	for rank := range ranks {
		left := slices.DeleteFunc(g.pending[rank], func(int) bool { return source.IntN(6) == 0 })
		if len(left) > 0 && source.IntN(6) > 0 {
			g.add(rank, op{name: "waitall", slots: left})
		}
	}
	return g.program
}

// randomLogGOPS writes the file of a machine with state at the receiver.
func randomLogGOPS(r *rand.Rand, ranks int) string {
	latency := []string{"1ps", "20ns", "333.333ns", "5us"}[r.IntN(4)]
	cost := func() string { return []string{"0ps", "7ns", "1us", "3us"}[r.IntN(4)] }
	text := fmt.Sprintf("name: random\nranks_per_node: %d\nmapping: %s\nnetwork:\n  model: loggops\n  L: %s\n  o: %s\n  g: %s\n  G: %dps\n  O: %dps\n  S: %d\n",
		1+r.IntN(5), []string{"block", "block", "cyclic", "random:7"}[r.IntN(4)],
		latency, cost(), cost(), r.IntN(3)*700, r.IntN(3)*450, []int{0, 16, 1000, 65535}[r.IntN(4)])
	if r.IntN(2) == 0 {
		text += "  reduce: {bandwidth: 500MB/s}\n"
	}
	if r.IntN(2) == 0 {
		text += fmt.Sprintf("  poll: %s\n", []string{"200ns", "333ns", "2us"}[r.IntN(3)])
	}
	return text + randomBarrier(r) + randomJoin(r)
}

// randomBarrier writes the time of a barrier, or nothing.
func randomBarrier(r *rand.Rand) string {
	return []string{"", "", "  barrier: {time: 1.001ns}\n", "  barrier: {time: 3us}\n"}[r.IntN(4)]
}

// randomJoin writes the times of joins within a node, or nothing.
func randomJoin(r *rand.Rand) string {
	return []string{
		"", "", "  join: [{size: 0, delay: 13ns}]\n", "  join: [{size: 0, delay: 2.5us}, {size: 1000, delay: 3us}, {size: 4096, delay: 11us}]\n",
		"  join: {levels: [{name: complex, ranks: 2, latency: 77ns, gap: 5ns}, {name: node, latency: 1us, gap: 300ns}], bandwidth: 2GB/s}\n",
	}[r.IntN(5)]
}

// randomMachine writes the file of a machine whose receivers have no state.
func randomMachine(r *rand.Rand, ranks int) string {
	var b strings.Builder
	perNode := 1 + r.IntN(5)
	if r.IntN(4) == 0 {
		perNode = 1 + r.IntN(ranks)
	}
	fmt.Fprintf(&b, "name: random\nranks_per_node: %d\n", perNode)
	fmt.Fprintf(&b, "mapping: %s\n", []string{"block", "block", "cyclic", fmt.Sprintf("random:%d", r.IntN(100))}[r.IntN(4)])
	latency := func() string { return []string{"1ps", "20ns", "333.333ns", "1us", "5us", "20us"}[r.IntN(6)] }
	bandwidth := func() string { return []string{"100MB/s", "1GB/s", "3GB/s", "7.77GB/s"}[r.IntN(4)] }
	switch r.IntN(6) {
	case 0:
		fmt.Fprintf(&b, "network:\n  model: flat\n  latency: %s\n  bandwidth: %s\n", latency(), bandwidth())
	case 1:
		fmt.Fprintf(&b, "network:\n  model: twolevel\n  intra: {latency: %s, bandwidth: %s}\n  inter: {latency: %s, bandwidth: %s}\n",
			latency(), bandwidth(), latency(), bandwidth())
	case 2:
		topology := []string{"{kind: torus, dimensions: 3}", "{kind: ring}", "{kind: mesh, dimensions: 2}", "{kind: tree, arity: 3}"}[r.IntN(4)]
		fmt.Fprintf(&b, "topology: %s\nnetwork:\n  model: hops\n  latency: %s\n  bandwidth: %s\n  latency_per_hop: 123ns\n  memory_latency: %s\n  memory_bandwidth: %s\n",
			topology, latency(), bandwidth(), latency(), bandwidth())
	case 3:
		fmt.Fprintf(&b, "network:\n  model: levels\n  levels: [{name: socket, ranks: 2, latency: %s}, {name: node, latency: %s, bandwidth: %s}, "+
			"{name: leaf, nodes: 2, delays: [{size: 16, delay: %s}, {size: 2000, delay: 30us}]}, {name: machine, latency: %s, bandwidth: %s}]\n", latency(), latency(), bandwidth(), latency(), latency(), bandwidth())
	case 4:
		factor := func() string { return []string{"0.01", "0.341987", "1.5", "11.6436"}[r.IntN(4)] }
		fmt.Fprintf(&b, "network:\n  model: factors\n  intra: {latency: %s, latency_factors: [{size: 100, factor: %s}]}\n"+
			"  inter: {latency: %s, bandwidth: %s, latency_factors: [{size: 0, factor: %s}, {size: 17, factor: %s}, {size: 2000, factor: %s}], bandwidth_factors: [{size: 1000, factor: %s}]}\n",
			latency(), factor(), latency(), bandwidth(), factor(), factor(), factor(), factor())
	default:
		fmt.Fprintf(&b, "network:\n  model: table\n  intra: [{size: 0, delay: 250ns}, {size: 1000, delay: 700ns}, {size: 50000, delay: 9us}]\n"+
			"  inter: [{size: 16, delay: %s}, {size: 2000, delay: 30us}, {size: 90000, delay: 100us}]\n", latency())
	}
	if limit := r.IntN(6); limit < 4 {
		fmt.Fprintf(&b, "  eager_limit: %d\n", []int{0, 16, 1000, 20000}[limit])
	}
	if r.IntN(2) == 0 {
		cost := func() string { return []string{"0ps", "1ps", "77ns", "450ns", "2us"}[r.IntN(5)] }
		fmt.Fprintf(&b, "  overhead: {send: %s, receive: %s}\n", cost(), cost())
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "  gap: %s\n", cost())
		}
	}
	if r.IntN(2) == 0 {
		b.WriteString("  reduce: {bandwidth: 500MB/s}\n")
	}
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "  poll: %s\n", []string{"200ns", "333ns", "2us"}[r.IntN(3)])
	}
	b.WriteString(randomBarrier(r) + randomJoin(r))
	return b.String()
}

// randomAlgorithms chooses, for some operations, another algorithm than the
// default.
func randomAlgorithms(r *rand.Rand) map[collectives.Operation]collectives.Algorithm {
	chosen := map[collectives.Operation]collectives.Algorithm{}
	if r.IntN(2) == 0 {
		return chosen
	}
	for _, operation := range collectives.Operations() {
		if all := collectives.Algorithms(operation); r.IntN(2) == 0 {
			chosen[operation] = all[r.IntN(len(all))]
		}
	}
	return chosen
}

// communicator is one that the program has made, with its members.
type communicator struct {
	number int
	ranks  []int
	graph  []int // distances from each member to those that it sends to, if it has a topology
}

// generator is a program that grows.
type generator struct {
	program
	*rand.Rand
	comms   []communicator // WORLD first; SELF is not among them
	slots   []int          // by rank: requests begun
	pending [][]int        // by rank: requests that may not have been waited for
	tag     int            // last tag that belongs to one step
	made    int            // number of the next communicator
}

func (g *generator) add(rank int, o op) { g.ops[rank] = append(g.ops[rank], o) }

// begin adds an operation that makes a request.
func (g *generator) begin(rank int, o op) {
	g.slots[rank]++
	o.slot = g.slots[rank]
	g.pending[rank] = append(g.pending[rank], o.slot)
	g.add(rank, o)
}

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

// size of a message; small ones are the most frequent.
func (g *generator) size() int {
	switch n := g.IntN(20); {
	case n < 14:
		return g.IntN(65)
	case n < 18:
		return g.IntN(4097)
	default:
		return g.IntN(100_001)
	}
}

func (g *generator) span() vtime.Duration {
	switch g.IntN(8) {
	case 0:
		return vtime.Duration(g.IntN(3))
	case 1, 2, 3:
		return vtime.Duration(g.IntN(int(vtime.Microsecond)))
	case 4, 5, 6:
		return vtime.Duration(g.IntN(int(50 * vtime.Microsecond)))
	default:
		return vtime.Duration(g.IntN(int(400 * vtime.Microsecond)))
	}
}

func (g *generator) comm() communicator {
	if g.chance(2) {
		return g.comms[0]
	}
	return g.comms[g.IntN(len(g.comms))]
}

// step appends one step.
func (g *generator) step() {
	switch g.IntN(20) {
	case 0, 1, 2:
		for range 1 + g.IntN(6) {
			g.message(g.comm())
		}
	case 3:
		g.self()
	case 4, 5:
		g.hub(g.comm())
	case 6:
		g.anyTag(g.comm())
	case 7:
		g.ring(g.comm())
	case 8:
		g.readySend(g.comm())
	case 9, 10, 11:
		g.collective(g.comm(), !g.chance(2))
	case 12:
		g.communicator(g.comm())
	case 13:
		g.computes()
	case 14:
		g.observe()
	case 15:
		g.persistent(g.comm())
	case 16:
		g.free()
	case 17:
		g.neighbors()
	case 18:
		g.cancelled(g.comm())
	default:
		g.waits()
	}
	if g.chance(3) {
		g.computes()
	}
	if g.chance(3) {
		g.waits()
	}
}

// send adds a send in one of the ways; blocking ones only if that is allowed.
func (g *generator) send(rank int, o op, blocking bool) {
	names := []string{"send", "ssend", "bsend", "isend", "issend", "ibsend"}
	if !blocking {
		names = names[3:]
	}
	o.name = names[g.IntN(len(names))]
	if o.name == "bsend" || o.name == "ibsend" {
		o.sized = false
	}
	if strings.HasPrefix(o.name, "i") {
		if o.name != "isend" {
			o.sized = false
		}
		g.begin(rank, o)
		return
	}
	g.add(rank, o)
}

// receive adds a receive in one of the ways.
func (g *generator) receive(rank int, o op) {
	names := []string{"recv", "recv", "irecv", "irecv", "probe+recv", "iprobe+recv", "mprobe+mrecv", "improbe+mrecv"}
	o.name = names[g.IntN(len(names))]
	if o.name != "recv" && o.name != "irecv" {
		o.sized = false
	}
	if o.name == "irecv" {
		g.begin(rank, o)
		return
	}
	g.add(rank, o)
}

// message is one from a member to another, named by both.
func (g *generator) message(c communicator) {
	from, to := g.IntN(len(c.ranks)), g.IntN(len(c.ranks))
	o := op{comm: c.number, tag: g.IntN(4), bytes: g.size(), sized: g.chance(6)}
	out, in := o, o
	out.peer, in.peer = to, from
	if in.bytes += g.IntN(3); g.chance(6) {
		in.sized = true
	}
	if from != to {
		g.send(c.ranks[from], out, true)
		g.receive(c.ranks[to], in)
		return
	}
	g.toSelf(c.ranks[from], out, in)
}

// self is a message of a rank to itself, on SELF.
func (g *generator) self() {
	o := op{comm: 1, tag: g.IntN(4), bytes: g.size()}
	g.toSelf(g.IntN(len(g.ops)), o, o)
}

func (g *generator) toSelf(rank int, out, in op) {
	if g.chance(2) {
		in.name = "irecv"
		g.begin(rank, in)
		g.send(rank, out, true)
		return
	}
	g.send(rank, out, false)
	g.receive(rank, in)
}

// hub is one rank that receives from any source, several messages of one tag. One
// source may be named besides: it sends as many messages more as there are
// receives from any source before the last receive that names it. Half of the hubs
// post all receives before they wait for any.
func (g *generator) hub(c communicator) {
	g.tag++
	hub := g.IntN(len(c.ranks))
	room := 0
	message := func(member int) {
		bytes := g.size()
		room = max(room, bytes)
		g.send(c.ranks[member], op{comm: c.number, peer: hub, tag: g.tag, bytes: bytes}, member != hub)
	}
	var receives []int // sources
	if named := g.IntN(len(c.ranks)); g.chance(2) {
		for range 1 + g.IntN(2) {
			receives = append(receives, named)
		}
		for range g.IntN(3) {
			receives = append(receives, mpivirt.AnySource)
		}
		g.Shuffle(len(receives), func(i, j int) { receives[i], receives[j] = receives[j], receives[i] })
		for range receives {
			message(named)
		}
	}
	for range 1 + g.IntN(6) {
		message(g.IntN(len(c.ranks)))
		receives = append(receives, mpivirt.AnySource)
	}
	ahead := g.chance(2)
	for _, source := range receives {
		o := op{name: "irecv", comm: c.number, peer: source, tag: g.tag, bytes: room}
		if ahead {
			g.begin(c.ranks[hub], o)
		} else {
			g.receive(c.ranks[hub], o)
		}
	}
}

// anyTag is a hub whose receives take any tag. They are over before a barrier that
// keeps the messages of later steps off.
func (g *generator) anyTag(c communicator) {
	hub := g.IntN(len(c.ranks))
	n, room := 1+g.IntN(5), 0
	named := g.IntN(len(c.ranks))
	source := mpivirt.AnySource
	if g.chance(2) {
		source = named
	}
	for range n {
		from, bytes := named, g.size()
		if source == mpivirt.AnySource {
			from = g.IntN(len(c.ranks))
		}
		room = max(room, bytes)
		g.send(c.ranks[from], op{comm: c.number, peer: hub, tag: g.IntN(6), bytes: bytes}, from != hub)
	}
	rank := c.ranks[hub]
	first := g.slots[rank]
	for range n {
		g.receive(rank, op{comm: c.number, peer: source, tag: mpivirt.AnyTag, bytes: room})
	}
	var slots []int
	for slot := first + 1; slot <= g.slots[rank]; slot++ {
		slots = append(slots, slot)
	}
	if len(slots) > 0 {
		g.waitFor(rank, slots)
		g.add(rank, op{name: "waitall", slots: slots})
	}
	for _, member := range c.ranks {
		g.add(member, op{name: "barrier", comm: c.number})
	}
}

// ring is a shift by Sendrecv.
func (g *generator) ring(c communicator) {
	n := len(c.ranks)
	distance, tag, sizes := g.IntN(n), g.IntN(4), make([]int, n)
	for m := range sizes {
		sizes[m] = g.size()
	}
	for m, rank := range c.ranks {
		from := (m + n - distance) % n
		g.add(rank, op{name: "sendrecv", comm: c.number, peer: (m + distance) % n, tag: tag, bytes: sizes[m],
			from: from, fromTag: tag, room: sizes[from]})
	}
}

// readySend is a ready send after a barrier that its receive was posted before.
func (g *generator) readySend(c communicator) {
	g.tag++
	from, to, bytes := g.IntN(len(c.ranks)), g.IntN(len(c.ranks)), g.size()
	g.begin(c.ranks[to], op{name: "irecv", comm: c.number, peer: from, tag: g.tag, bytes: bytes})
	for _, rank := range c.ranks {
		g.add(rank, op{name: "barrier", comm: c.number})
	}
	o := op{name: "rsend", comm: c.number, peer: to, tag: g.tag, bytes: bytes}
	if g.chance(2) {
		o.name = "irsend"
		g.begin(c.ranks[from], o)
		return
	}
	g.add(c.ranks[from], o)
}

// cancelled is a receive for which there is no message, and which is cancelled.
func (g *generator) cancelled(c communicator) {
	member := g.IntN(len(c.ranks))
	rank := c.ranks[member]
	if !cancels(rank) {
		return
	}
	o := op{name: "irecv", comm: c.number, peer: g.IntN(len(c.ranks)), tag: 999, bytes: g.size()}
	if g.chance(2) {
		o.peer = mpivirt.AnySource
	}
	g.slots[rank]++
	o.slot = g.slots[rank]
	g.add(rank, o)
	for range 1 + g.IntN(3) {
		g.message(c)
	}
	g.add(rank, op{name: "cancel", slots: []int{o.slot}})
	g.pending[rank] = append(g.pending[rank], o.slot)
	g.finish(rank, o.slot)
}

// persistent is a persistent send and a persistent receive, begun several times.
func (g *generator) persistent(c communicator) {
	from, to, tag, bytes := g.IntN(len(c.ranks)), g.IntN(len(c.ranks)), g.IntN(4), g.size()
	names := []string{"sendinit", "ssendinit", "bsendinit"}
	out := g.initialise(c.ranks[from], op{name: names[g.IntN(len(names))], comm: c.number, peer: to, tag: tag, bytes: bytes})
	in := g.initialise(c.ranks[to], op{name: "recvinit", comm: c.number, peer: from, tag: tag, bytes: bytes + g.IntN(3)})
	for range 1 + g.IntN(3) {
		g.start(c.ranks[to], in)
		g.start(c.ranks[from], out)
		if g.chance(2) {
			g.computes()
		}
		g.finish(c.ranks[from], out)
		g.finish(c.ranks[to], in)
	}
}

// initialise adds the making of a persistent request.
func (g *generator) initialise(rank int, o op) (slot int) {
	g.slots[rank]++
	o.slot = g.slots[rank]
	g.add(rank, o)
	return o.slot
}

func (g *generator) start(rank, slot int) {
	g.add(rank, op{name: "start", slot: slot})
	g.pending[rank] = append(g.pending[rank], slot)
}

// finish adds waits after which a request is over for certain.
func (g *generator) finish(rank, slot int) {
	over := g.waitFor(rank, []int{slot})
	if len(over) == 0 {
		g.add(rank, op{name: "waitall", slots: []int{slot}})
	}
	g.pending[rank] = slices.DeleteFunc(g.pending[rank], func(other int) bool { return other == slot })
}

var collectiveNames = []string{
	"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "scan", "exscan",
	"gatherv", "scatterv", "allgatherv", "alltoallv", "reduce_scatter",
}

// collective is one on all members of a communicator.
func (g *generator) collective(c communicator, blocking bool) {
	o := op{name: collectiveNames[g.IntN(len(collectiveNames))], comm: c.number}
	if o.name != "barrier" {
		switch g.IntN(6) {
		case 0:
			o.count = g.IntN(2000)
		case 1:
			o.count = len(c.ranks) * g.IntN(4)
		default:
			o.count = g.IntN(17)
		}
	}
	switch o.name {
	case "bcast", "reduce", "gather", "scatter", "gatherv", "scatterv":
		o.root = g.IntN(len(c.ranks))
	}
	switch o.name {
	case "reduce", "allreduce", "reduce_scatter", "scan", "exscan":
		o.ordered = g.chance(3)
	}
	switch o.name {
	case "gatherv", "scatterv", "allgatherv", "alltoallv", "reduce_scatter":
		o.counts, o.count = g.counts(len(c.ranks), o.count), 0
	}
	if o.name == "alltoallv" && g.chance(2) {
		for m := range o.counts {
			if !g.chance(3) {
				o.counts[m] = 0
			}
		}
	}
	for _, rank := range c.ranks {
		if blocking {
			g.add(rank, o)
		} else {
			g.begin(rank, o)
		}
	}
}

// counts draws how many elements the members' blocks have: the same for all, or up
// to limit.
func (g *generator) counts(members, limit int) []int {
	counts := make([]int, members)
	same := g.chance(3)
	for m := range counts {
		counts[m] = limit
		if !same {
			counts[m] = g.IntN(limit + 1)
		}
	}
	return counts
}

// free gives a communicator up. Requests on it may be pending.
func (g *generator) free() {
	if len(g.comms) == 1 {
		return
	}
	i := 1 + g.IntN(len(g.comms)-1)
	for _, rank := range g.comms[i].ranks {
		g.add(rank, op{name: "free", comm: g.comms[i].number})
	}
	g.comms = slices.Delete(g.comms, i, i+1)
}

// graph makes a communicator with a topology: each member sends to those at some distances, and
// may do so several times.
func (g *generator) graph(c communicator) {
	distances := make([]int, 1+g.IntN(4))
	for i := range distances {
		distances[i] = g.IntN(len(c.ranks))
	}
	for _, rank := range c.ranks {
		g.add(rank, op{name: "graph", comm: c.number, made: g.made, counts: distances})
	}
	g.comms = append(g.comms, communicator{g.made, c.ranks, distances})
	g.made++
}

// neighbors is a neighbourhood collective of all members of a communicator with a topology.
func (g *generator) neighbors() {
	if g.made <= 12 && !slices.ContainsFunc(g.comms, func(c communicator) bool { return c.graph != nil }) {
		g.graph(g.comm())
	}
	for _, c := range g.comms {
		if c.graph == nil || g.chance(3) {
			continue
		}
		o := op{name: "neighbor_alltoall", comm: c.number, counts: c.graph, count: g.IntN(17)}
		if g.chance(4) {
			o.count = g.IntN(9000)
		}
		blocking := !g.chance(2)
		for _, rank := range c.ranks {
			if blocking {
				g.add(rank, o)
			} else {
				g.begin(rank, o)
			}
		}
	}
}

// neighborsOf returns the neighbours of a member of a communicator of a size, from the distances.
func (o *op) neighborsOf(member, size int) (sources, destinations []int) {
	for _, d := range o.counts {
		sources, destinations = append(sources, (member+size-d)%size), append(destinations, (member+d)%size)
	}
	return sources, destinations
}

// communicator makes new ones of an old one.
func (g *generator) communicator(c communicator) {
	if g.made > 12 {
		return
	}
	switch g.IntN(5) {
	case 0:
		for _, rank := range c.ranks {
			g.add(rank, op{name: "dup", comm: c.number, made: g.made})
		}
		g.comms = append(g.comms, communicator{g.made, c.ranks, nil})
		g.made++
	case 1:
		g.graph(c)
	case 2:
		g.split(c)
	default:
		g.create(c, g.chance(2))
	}
}

func (g *generator) split(c communicator) {
	colors := 1 + g.IntN(4)
	parts := make([]communicator, colors)
	for color := range parts {
		parts[color].number = g.made + color
	}
	type keyed struct{ key, member int }
	members := make([][]keyed, colors)
	for m, rank := range c.ranks {
		o := op{name: "split", comm: c.number, color: g.IntN(colors), key: g.IntN(5) - 2}
		if g.chance(8) {
			o.color = mpivirt.Undefined
		} else {
			o.made = parts[o.color].number
			members[o.color] = append(members[o.color], keyed{o.key, m})
		}
		g.add(rank, o)
	}
	for color, list := range members {
		slices.SortStableFunc(list, func(a, b keyed) int { return a.key - b.key })
		for _, k := range list {
			parts[color].ranks = append(parts[color].ranks, c.ranks[k.member])
		}
		if len(list) > 0 {
			g.comms = append(g.comms, parts[color])
		}
	}
	g.made += colors
}

// create makes a communicator of a subgroup: all members of the old one call it, or the
// subgroup's alone.
func (g *generator) create(c communicator, all bool) {
	members := g.Perm(len(c.ranks))[:1+g.IntN(len(c.ranks))]
	if g.chance(2) {
		slices.Sort(members)
	}
	made := communicator{number: g.made}
	for _, m := range members {
		made.ranks = append(made.ranks, c.ranks[m])
	}
	o, callers := op{name: "create", comm: c.number, made: g.made, group: members}, c.ranks
	if !all {
		o.name, o.tag, callers = "create_group", g.IntN(3), made.ranks
	}
	for _, rank := range callers {
		g.add(rank, o)
	}
	g.comms = append(g.comms, made)
	g.made++
}

// computes lets some ranks compute.
func (g *generator) computes() {
	for range 1 + g.IntN(len(g.ops)) {
		g.add(g.IntN(len(g.ops)), op{name: "compute", duration: g.span()})
	}
}

// observe lets some ranks probe for whatever is there.
func (g *generator) observe() {
	for range 1 + g.IntN(4) {
		rank := g.IntN(len(g.ops))
		o := op{name: "iprobe", peer: g.IntN(len(g.ops)), tag: g.IntN(4), polls: 1 + g.IntN(5)}
		if g.chance(2) {
			o.peer = mpivirt.AnySource
		}
		if g.chance(2) {
			o.tag = mpivirt.AnyTag
		}
		g.add(rank, o)
	}
}

// waits lets some ranks wait for some of their requests.
func (g *generator) waits() {
	for range 1 + g.IntN(4) {
		rank := g.IntN(len(g.ops))
		pending := g.pending[rank]
		if len(pending) == 0 {
			continue
		}
		var slots []int
		for _, i := range g.Perm(len(pending))[:1+g.IntN(len(pending))] {
			slots = append(slots, pending[i])
		}
		over := g.waitFor(rank, slots)
		g.pending[rank] = slices.DeleteFunc(slices.Clone(pending), func(slot int) bool { return slices.Contains(over, slot) })
	}
}

// waitFor adds a wait or tests and returns the requests that are over for certain
// afterwards.
func (g *generator) waitFor(rank int, slots []int) (over []int) {
	o := op{slots: slots}
	names := []string{"wait", "waitall", "waitany", "waitsome", "test", "testall", "testany", "testsome"}
	o.name = names[g.IntN(len(names))]
	if o.name == "wait" || o.name == "test" {
		o.slots = slots[:1]
	}
	if strings.HasPrefix(o.name, "test") && !g.chance(3) {
		o.polls = 1 + g.IntN(4)
	}
	g.add(rank, o)
	switch o.name {
	case "wait", "waitall":
		return o.slots
	case "test", "testall":
		if o.polls == 0 {
			return o.slots
		}
	}
	return nil
}
