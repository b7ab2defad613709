package network

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"gigarank/internal/spelling"
	"gigarank/vtime"
)

// maxRanks bounds the ranks and the nodes of a target.
const maxRanks = 1 << 40

// Target is a Machine laid out for a number of ranks. It is immutable, and safe for
// concurrent use. Its memory does not grow with the ranks, unless its mapping comes
// from a file.
type Target struct {
	machine *Machine
	// paths hold the placement of the ranks, for any model, and the delays, unless their scope is
	// byModel; messages then need no call through an interface.
	paths     paths
	delays    delays
	occupier  occupier // nil unless the model has state at the receiver
	loggops   *LogGOPS // parameters of the occupier under loggops, else nil
	overhead  Overhead // of a message
	shared    bool
	busy      *Target // in an operation in which members have many partners; nil if that makes no difference
	turns     *Target // in an operation whose root sends one blocking message after another; nil if that makes no difference
	congested *Target // in a round in which all members send; nil without congestion
	equal     *Target // for messages of equal shares; nil if that makes no difference
	uniform   int     // see UniformFrom
	jittered  bool
	// jitteredWithin is true where messages within a node have jitter.
	jitteredWithin bool
	seed           uint64 // of the jitter and of the interruptions
	interrupts     interruptions
	jitter         []jitter       // by level: of tiers, or within nodes and between them
	reduce         path           // of combined bytes
	local          path           // of the block that a rank sends to itself
	fresh          rate           // time per byte of the pages of a new buffer
	copied         rate           // time per byte of the processor at either end
	join           path           // of joins, if joins is set
	bcast          path           // of broadcasts within a node, if the machine gives them
	joins          bool           // joins take other times than messages within a node
	memory         rate           // time per byte of the memory that the ranks of a node share, in joins
	barrier        vtime.Duration // see BarrierTime
	span           Span           // of all nodes
	copies         bool           // the sender of a rendezvous is free once the bytes are copied
	// copiesOwn says that a message of a rank to itself takes the time of a local copy.
	copiesOwn bool
	typed     *typedDelays // the delays, if those within some nodes are their own
	// sharesBetween and sharesWithin are true where messages between nodes, and within a node, delay
	// each other. If the memory of a node sets a limit, all messages between nodes pass interfaces.
	sharesBetween, sharesWithin bool
	passage                     rate // time per byte of an interface of a node, or of all that stripe a message
	rail                        rate // time per byte of an interface of a node
	copying                     rate // time per byte of a message within a node, which its memory reads and writes
	carrying                    rate // time per byte that the memory of a node reads or writes
	copyingAmong                int  // ranks of a node that copy at the same time, each with its share of the memory; else 0
}

// Target returns the machine laid out for a number of ranks. It fails if the ranks do not fit the
// nodes, or if the nodes do not fit the topology.
func (m *Machine) Target(ranks int64) (*Target, error) {
	if ranks < 1 || ranks > maxRanks {
		return nil, fmt.Errorf("machine %s: %s: the number of ranks must be from 1 to 2^40", m.name, spelling.Count(ranks, "rank"))
	}
	p, err := m.place(int(ranks))
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", m.name, err)
	}
	t := &Target{machine: m, paths: paths{placement: p, scope: byModel}, overhead: m.overhead, reduce: m.reduce.path(), local: m.localCopy.path(), fresh: rateOf(m.fresh.bandwidth), shared: m.model.kind().shared, jittered: m.HasJitter(), interrupts: m.interruptions}
	t.barrier = m.barrier.on(t.Nodes())
	if t.jittered {
		_, node := levelNames(m.model)
		t.jitter = m.jitter.byLevel(m.model)
		t.jitteredWithin = slices.ContainsFunc(t.jitter[:node+1], func(j jitter) bool { return j.kind != nil }) || t.Interrupts()
	}
	t.delays = m.model.over(p)
	t.span = t.spanOfAll()
	_, most := t.NodeSizes()
	memory := m.interfaces.memory
	t.sharesWithin, t.copying, t.carrying = memory != 0 && most > 1, rateOf(memory, memory), rateOf(memory)
	t.sharesBetween, t.passage = (t.sharesWithin || m.interfaces.limited() || m.sharesNetwork()) && t.Nodes() > 1, rateOf(m.interfaces.bandwidth)
	t.rail = t.passage
	if i := &m.interfaces; i.rail == railStriped {
		t.passage = nearestRate(new(big.Rat).Quo(i.bandwidth.perByte(), big.NewRat(int64(i.count), 1)))
	}
	if own, ok := t.delays.(*paths); ok {
		t.paths = *own
		t.delays = &t.paths
		if t.Contended() { // a message asks for what it shares after its latency, before its bytes are there
			t.paths.intra.least, t.paths.inter.least = own.intra.leastLatency(), own.inter.leastLatency()
		}
	}
	t.memory = rateOf(m.join.bandwidth)
	if m.join.measured != nil {
		t.join, t.joins = measuredPath(m.join.measured), true
		if m.join.bcast != nil {
			t.bcast = measuredPath(m.join.bcast)
		}
	} else if m.join.levels != nil {
		t.join, t.joins = newPath(m.join.least()), true
	} else if t.paths.scope == byLevel {
		t.join, t.joins = t.paths.tiers[t.paths.nodeTier].path, true
	}
	if typed := newTypedDelays(m, &t.paths.placement, t.delays); typed != nil {
		if t.delays == &t.paths { // whose scope changes
			all := t.paths
			typed.model = &all
		}
		t.typed, t.delays, t.paths.scope = typed, typed, byModel
	}
	t.occupier, _ = m.model.(occupier)
	t.loggops, _ = m.model.(*LogGOPS)
	t.copiesOwn = m.localCopy.given() && t.occupier == nil && !t.shared
	if c, ok := m.model.(copier); ok {
		t.copies, t.copied = true, rateOf(c.copying())
	}
	t.uniform = p.ranks
	if r, ok := t.delays.(regular); ok && !t.ReceiverState() && !t.shared && !t.HasJitter() {
		t.uniform = r.uniformFrom()
		if t.copiesOwn {
			t.uniform = max(t.uniform, 1)
		}
	}
	t.withCongestion()
	t.withPartners()
	t.withTurns()
	t.withEqualShares()
	return t, nil
}

// place puts the ranks on nodes, and the nodes on the topology, if there is room.
func (m *Machine) place(ranks int) (placement, error) {
	needed := (ranks + m.perNode - 1) / m.perNode
	if m.unevenRoom() {
		needed = 0 // which layOut finds
	}
	room := m.nodes // nodes that the mapping may use, or 0
	if listed := m.allocation.places; listed != nil {
		room = len(listed)
		if needed > room {
			return placement{}, fmt.Errorf("%s need %s of %s, but allocation %s has %d: list more, raise ranks_per_node, or ask for at most %s",
				spelling.Count(ranks, "rank"), spelling.Count(needed, "node"), spelling.Count(m.perNode, "rank"), m.Allocation(), room, spelling.Count(multiply(room, m.perNode), "rank"))
		}
	} else if m.allocation.shape != nil {
		room = product(m.allocation.shape)
	}
	if m.nodes != 0 && needed > m.nodes {
		return placement{}, fmt.Errorf("%s need %s of %s, but nodes is %d: raise nodes or ranks_per_node, or ask for at most %s",
			spelling.Count(ranks, "rank"), spelling.Count(needed, "node"), spelling.Count(m.perNode, "rank"), m.nodes, spelling.Count(multiply(m.nodes, m.perNode), "rank"))
	}
	l, err := m.layOut(ranks, room)
	if err != nil {
		return placement{}, err
	}
	p := placement{ranks: ranks, layout: l, perHop: m.perHop, places: m.allocation.places}
	if filled, ok := l.(blocks); ok {
		p.perNode = filled.perNode
	}
	places := m.nodes
	if places == 0 || m.allocation.shape != nil {
		places = l.place(l.nodes()-1) + 1
	}
	if p.places != nil {
		if last := l.place(l.nodes() - 1); last >= len(p.places) {
			return placement{}, fmt.Errorf("mapping %s names node %d, but allocation %s has %d: list more, or correct the mapping", m.mapping, last, m.Allocation(), len(p.places))
		}
		if m.nodes == 0 {
			places = m.allocation.extent()
		}
	}
	p.topology = m.allocation.topology(m.topology).build(places)
	if capacity := p.topology.capacity(); capacity < places {
		return placement{}, fmt.Errorf("%s need %s of %s, but topology %s has room for %d: enlarge it, raise ranks_per_node, or ask for at most %s",
			spelling.Count(ranks, "rank"), spelling.Count(places, "node"), spelling.Count(m.perNode, "rank"), m.Topology(), capacity, spelling.Count(multiply(capacity, m.perNode), "rank"))
	}
	p.farthest = p.topology.most(places)
	p.linkLoad = m.congestion.linkLoadOf(p.topology, places, m.interfaces.bandwidth)
	return p, nil
}

// layOut puts the ranks on nodes. room is their number, or 0 for as many as the ranks need.
func (m *Machine) layOut(ranks, room int) (layout, error) {
	if !m.unevenRoom() {
		return m.mapping.layOut(ranks, m.perNode, room)
	}
	if err := m.checkRoom(m.mapping); err != nil {
		return nil, err
	}
	if _, fills := m.mapping.(block); fills {
		return m.fillUneven(ranks, room)
	}
	l, err := m.mapping.layOut(ranks, maxRanks, room)
	if err != nil {
		return nil, err
	}
	for node := range l.nodes() {
		place := l.place(node)
		if places := m.allocation.places; place < len(places) {
			place = int(places[place])
		}
		if size := l.size(node); size > m.roomOf(place) {
			return nil, fmt.Errorf("mapping %s puts %d ranks on node %d, which has room for %d: raise ranks_per_node or the processors of its type, or move ranks", m.mapping, size, l.place(node), m.roomOf(place))
		}
	}
	return l, nil
}

// Machine returns the description of the target.
func (t *Target) Machine() *Machine { return t.machine }

// Ranks returns the number of ranks.
func (t *Target) Ranks() int { return t.paths.ranks }

// Node returns the node of a rank.
func (t *Target) Node(rank int) int { return t.paths.node(rank) }

// Nodes returns the number of nodes that hold at least one rank, numbered from 0.
func (t *Target) Nodes() int { return t.paths.layout.nodes() }

// NodeSize returns the number of ranks on the node, at least 1.
func (t *Target) NodeSize(node int) int { return t.paths.layout.size(node) }

// NodeSizes returns the least and the greatest number of ranks on a node.
func (t *Target) NodeSizes() (least, most int) { return t.paths.layout.sizes() }

// NodeMember returns the k-th rank of the node in ascending order. Rank 0 of the node is its
// leader.
func (t *Target) NodeMember(node, k int) int { return t.paths.layout.member(node, k) }

// KeepsBlocks reports whether the ranks fill the nodes one after another: the node of rank r is r
// divided by the size of node 0.
func (t *Target) KeepsBlocks() bool { return t.paths.perNode > 0 }

// LeadersAscend reports whether the ranks of the nodes' leaders ascend with the nodes
// and NodeMember takes constant time and no search.
func (t *Target) LeadersAscend() bool {
	l, ok := t.paths.layout.(ordered)
	return ok && l.leadersAscend()
}

// Hops returns the hops between two nodes: the links of a minimal route.
func (t *Target) Hops(a, b int) int { return t.paths.hops(a, b) }

// Latency returns the delay of a message without bytes. It is at least one picosecond,
// also from a rank to itself.
func (t *Target) Latency(src, dst int) vtime.Duration {
	_, latency := t.path(src, dst)
	return latency
}

// Transfer returns the transfer time of the bytes of a message, to the nearest picosecond, ties to
// even.
func (t *Target) Transfer(src, dst int, bytes int64) vtime.Duration {
	_, transfer := t.LatencyAndTransfer(src, dst, bytes)
	return transfer
}

// Delay returns the time from the sending of a message to its arrival: Latency + Transfer, unless
// the latency depends on the size, see LatencyBySize. In
// loggops it is o + L, and the receiver and later messages are charged for the bytes: see Depart
// and TakeIn.
func (t *Target) Delay(src, dst int, bytes int64) vtime.Duration {
	latency, transfer := t.LatencyAndTransfer(src, dst, bytes)
	return latency.Plus(transfer)
}

// LatencyAndTransfer returns the latency of a message of the bytes, and Transfer. The latency is
// Latency, unless LatencyBySize. A message of a rank to itself takes the time of a local copy where
// the machine gives that time, but at least its Latency.
func (t *Target) LatencyAndTransfer(src, dst int, bytes int64) (latency, transfer vtime.Duration) {
	if src == dst && t.copiesOwn {
		latency = t.Latency(src, dst)
		return latency, max(t.LocalCopyTime(bytes)-latency, 0)
	}
	return t.between(src, dst, bytes)
}

// Occupancy returns the part of the transfer time of a message, which is given, for which its bytes
// occupy the path between two ranks: a message arrives at least that time after the message before.
func (t *Target) Occupancy(src, dst int, bytes int64, transfer vtime.Duration) vtime.Duration {
	if p, _ := t.path(src, dst); p != nil && !(src == dst && t.copiesOwn) {
		return p.occupancy(bytes, transfer)
	}
	return transfer
}

// between is LatencyAndTransfer for two ranks; equal ranks stand for any two ranks of a node.
func (t *Target) between(src, dst int, bytes int64) (latency, transfer vtime.Duration) {
	if t.paths.scope == byModel {
		return t.delays.latency(src, dst, bytes), t.delays.transfer(src, dst, bytes)
	}
	p, latency := t.path(src, dst)
	if t.paths.congested {
		return latency.Plus(p.excess(bytes)), p.transfer(bytes).Plus(t.paths.congestionTime(src, dst, bytes))
	}
	if p.steps != nil {
		s := p.step(bytes)
		return latency.Plus(s.latency - p.latency), s.rate.time(bytes)
	}
	return latency, p.transfer(bytes)
}

// path returns the path of a message and its latency without bytes. The path is nil for a model with
// its own delays.
func (t *Target) path(src, dst int) (*path, vtime.Duration) {
	p := &t.paths
	if p.scope == everywhere {
		return &p.inter, p.inter.latency
	}
	if p.scope == byModel {
		return nil, t.delays.latency(src, dst, 0)
	}
	if p.scope == byLevel {
		return p.pathOverLevels(src, dst)
	}
	return p.pathBetween(p.node(src), p.node(dst))
}

// Delays sets out[j] to Delay(src+j, dst+j, bytes) for every j.
func (t *Target) Delays(src, dst int, bytes int64, out []vtime.Duration) {
	own := src == dst && t.copiesOwn
	if t.paths.scope != byModel && !own {
		t.paths.fill(src, dst, bytes, out)
		return
	}
	if f, ok := t.delays.(filler); ok && !own {
		f.fill(src, dst, bytes, out)
		return
	}
	for j := range out {
		out[j] = t.Delay(src+j, dst+j, bytes)
	}
}

// LatencyBySize reports whether the latency of a message depends on its size. More bytes may then
// arrive sooner. Latency is that of a message without bytes.
func (t *Target) LatencyBySize() bool { return t.machine.model.kind().latencyBySize }

// LongestDelay returns an upper bound on the Delay and Jitter of a message of at most so many bytes
// between any two ranks.
func (t *Target) LongestDelay(bytes int64) vtime.Duration {
	longest := t.delays.longest(bytes)
	if t.copiesOwn {
		longest = max(longest, t.LocalCopyTime(bytes))
	}
	return longest.Plus(t.machine.jitter.most())
}

// Lookahead returns a lower bound on the Delay of a message of any size between a rank of [loA,hiA)
// and a rank of [loB,hiB), and on the Join of such ranks on one node, in constant time. Where
// messages delay each other, see Contended, it is one on their latency. The bound is exact with
// mapping block or cyclic for flat, loggops, twolevel, factors and table, and, unless the machine gives
// joins, with any mapping for flat and loggops. It is the longest Duration if a range is empty.
func (t *Target) Lookahead(loA, hiA, loB, hiB int) vtime.Duration {
	if loA >= hiA || loB >= hiB {
		return math.MaxInt64
	}
	least := t.delays.lookahead(loA, hiA, loB, hiB)
	if t.joins && t.leastJoin() < least {
		if same, _ := t.paths.layout.meeting(loA, hiA, loB, hiB); same {
			return t.leastJoin()
		}
	}
	return least
}

// EagerLimit returns the size in bytes above which a message uses rendezvous.
func (t *Target) EagerLimit() int64 {
	if t.occupier != nil {
		return t.occupier.eager()
	}
	return t.machine.eagerLimit
}

// PollTime returns the time that a failing Test or Iprobe takes; more than zero.
func (t *Target) PollTime() vtime.Duration { return t.machine.poll }

// LaunchTime returns the time from a call of a collective to the first message of its rank, such as the launch of a kernel on a
// GPU.
func (t *Target) LaunchTime() vtime.Duration { return t.machine.launch }

// LogGOPS returns the parameters of the loggops model, which must not be changed. It
// returns nil under another model.
func (t *Target) LogGOPS() *LogGOPS { return t.loggops }

// SharedState reports whether the Transfer of a message depends on other messages under way. Its
// Latency does not.
func (t *Target) SharedState() bool { return t.shared }

// varies reports whether two messages of one size between the same ranks may take different times.
func (t *Target) varies() bool { return t.shared || t.Contended() || t.HasJitter() }

// UniformFrom returns a distance: between ranks at least that far apart the delay depends on the
// size of the message alone. The distance is 0 in flat, or 1 with a local copy, and the number of
// ranks of a node where only nodes matter and are filled in turn. It is Ranks() if there is no such
// distance, and under a model with state at the receiver, shared state or jitter. Other messages at
// the interfaces of nodes may delay a message in addition.
func (t *Target) UniformFrom() int { return t.uniform }

// AlikeRanks returns two ranks whose messages take the same time as messages between any two ranks,
// for any size. ok is false where some pairs are farther apart than others, or where that is not
// known. A single rank is returned twice.
func (t *Target) AlikeRanks() (src, dst int, ok bool) {
	r, isRegular := t.delays.(regular)
	switch _, most := t.NodeSizes(); {
	case t.Ranks() == 1 || !t.varies() && isRegular && r.ranksAlike():
		return 0, t.Ranks() - 1, true
	case most == 1:
		return t.AlikeLeaders()
	}
	return 0, 0, false
}

// AlikeLeaders is AlikeRanks for messages between the leaders of nodes.
func (t *Target) AlikeLeaders() (src, dst int, ok bool) {
	src, dst, ok = t.leadersAlike()
	return src, dst, ok && (t.Nodes() == 1 || !t.varies())
}

// AlikeAtInterfaces is AlikeLeaders where messages between nodes delay each other, but at the interfaces of their nodes alone. The time is that of a
// message that no other message delays.
func (t *Target) AlikeAtInterfaces() (src, dst int, ok bool) {
	src, dst, ok = t.leadersAlike()
	return src, dst, ok && t.sharesBetween && !t.sharesWithin && !t.machine.sharesNetwork() && !t.shared && !t.HasJitter()
}

// leadersAlike is AlikeLeaders for the delays of messages alone.
func (t *Target) leadersAlike() (src, dst int, ok bool) {
	nodes := t.Nodes()
	r, isRegular := t.delays.(regular)
	return t.NodeMember(0, 0), t.NodeMember(nodes-1, 0), nodes == 1 || isRegular && r.leadersAlike()
}

// LeadersUniform reports whether the delay of a message between the leaders of any two
// nodes is known to depend on its size alone, as UniformFrom does. It is false under a model with state at
// the receiver, shared state or jitter.
func (t *Target) LeadersUniform() bool {
	_, _, alike := t.leadersAlike()
	return alike && !t.ReceiverState() && !t.shared && (t.Nodes() == 1 || !t.HasJitter())
}
