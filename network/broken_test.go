package network

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// Each law of the conformance suite is broken here by a model, topology or mapping
// without other faults. All are registered like any other, and read from machine files.

// caught returns the names of the laws that a drawn value breaks.
func caught[S any](laws []law[S], draw func(t *rapid.T) S) (all []string) {
	names := rapid.Custom(func(t *rapid.T) []string {
		names, _ := broken(t, laws, draw(t))
		return names
	})
	for seed := range 60 {
		for _, name := range names.Example(seed) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// registered puts an entry into a registry until the end of a test.
func registered[K any](t *testing.T, registry *[]*K, entry *K) {
	before := *registry
	*registry = append(slices.Clip(before), entry)
	t.Cleanup(func() { *registry = before })
}

// covers checks that each of the laws is broken by some entry.
func covers[S any](t *testing.T, laws []law[S], broken func(law string) bool) {
	t.Helper()
	for _, l := range laws {
		if !broken(l.name) {
			t.Errorf("nothing breaks the law %q", l.name)
		}
	}
}

// line is a model whose latency grows with the difference of the numbers of two nodes, and as that of any model by
// latency_per_hop for each hop.
type line struct {
	latency, step vtime.Duration
	bandwidth     bandwidth
	entry         *modelKind
	alter         alteration // nil for none
}

// alteration changes the delays of line. It is not a parameter.
type alteration func(d *altered)

// Equal is called by cmp.
func (alteration) Equal(alteration) bool { return true }

func lineKind() *modelKind {
	k := &modelKind{
		name:      "line",
		fields:    []string{"latency", "step", "bandwidth"},
		charged:   true,
		symmetric: true,
		examples:  []string{"{latency: 1us, step: 10ns, bandwidth: 1GB/s}", "{latency: 3ps, step: 1ps}"},
	}
	k.parse = func(o *object) model { return parseLine(o, k) }
	return k
}

func parseLine(o *object, k *modelKind) *line {
	return &line{
		latency:   o.duration("latency", true, 0),
		step:      o.duration("step", true, 0),
		bandwidth: o.bandwidth("bandwidth", false),
		entry:     k,
	}
}

func (m *line) kind() *modelKind { return m.entry }

func (m *line) write(o *objectWriter) {
	o.text("latency", m.latency.String())
	o.text("step", m.step.String())
	o.text("bandwidth", m.bandwidth.String())
}

func (m *line) over(p placement) delays {
	d := alongLine{p, m.step, newPath(m.latency, m.bandwidth)}
	if m.alter == nil {
		return d
	}
	a := &altered{alongLine: d, uniform: p.ranks}
	m.alter(a)
	return a
}

// alongLine are the delays of line.
type alongLine struct {
	placement
	step vtime.Duration
	path path
}

func (d alongLine) way(nodes int) vtime.Duration {
	return d.path.latency.Plus(times(int64(nodes), d.step))
}
func (d alongLine) latency(src, dst int, _ int64) vtime.Duration {
	return d.way(distance(d.node(src), d.node(dst))).Plus(d.overHops(src, dst))
}

// overHops returns the time that the hops between two ranks add to a latency.
func (d alongLine) overHops(src, dst int) vtime.Duration {
	return times(int64(d.hops(d.node(src), d.node(dst))), d.perHop)
}

func (d alongLine) transfer(_, _ int, bytes int64) vtime.Duration {
	return d.path.transfer(bytes)
}
func (d alongLine) lookahead(loA, hiA, loB, hiB int) vtime.Duration {
	if same, _ := d.layout.meeting(loA, hiA, loB, hiB); same {
		return d.way(0)
	}
	return d.way(1)
}
func (d alongLine) longest(bytes int64) vtime.Duration {
	return d.way(d.layout.nodes() - 1).Plus(times(int64(d.farthest), d.perHop)).Plus(d.path.transfer(bytes))
}

// altered are the delays of line except for the fields that are set.
type altered struct {
	alongLine
	latencyOf      func(src, dst int) vtime.Duration
	sizedLatencyOf func(bytes int64) vtime.Duration
	transferOf     func(bytes int64) vtime.Duration
	lookaheadOf    func(loA, hiA, loB, hiB int) vtime.Duration
	longestOf      func(bytes int64) vtime.Duration
	uniform        int
	ranks, leaders bool // alike
}

func (d *altered) uniformFrom() int   { return d.uniform }
func (d *altered) ranksAlike() bool   { return d.ranks }
func (d *altered) leadersAlike() bool { return d.leaders }

func (d *altered) latency(src, dst int, bytes int64) vtime.Duration {
	if d.sizedLatencyOf != nil {
		return d.sizedLatencyOf(bytes)
	}
	if d.latencyOf != nil {
		return d.latencyOf(src, dst)
	}
	return d.alongLine.latency(src, dst, bytes)
}

func (d *altered) transfer(src, dst int, bytes int64) vtime.Duration {
	if d.transferOf != nil {
		return d.transferOf(bytes)
	}
	return d.alongLine.transfer(src, dst, bytes)
}

func (d *altered) lookahead(loA, hiA, loB, hiB int) vtime.Duration {
	if d.lookaheadOf != nil {
		return d.lookaheadOf(loA, hiA, loB, hiB)
	}
	return d.alongLine.lookahead(loA, hiA, loB, hiB)
}

func (d *altered) longest(bytes int64) vtime.Duration {
	if d.longestOf != nil {
		return d.longestOf(bytes)
	}
	return d.alongLine.longest(bytes)
}

// lineAltered is line with other delays.
func lineAltered(alter func(d *altered)) *modelKind {
	k := lineKind()
	k.parse = func(o *object) model {
		m := parseLine(o, k)
		m.alter = alter
		return m
	}
	return k
}

// hasty is line with wrong bulk delays.
type hasty struct{ *line }

func (m hasty) over(p placement) delays { return hastily{m.line.over(p).(alongLine)} }

type hastily struct{ alongLine }

func (d hastily) fill(src, dst int, bytes int64, out []vtime.Duration) {
	for j := range out {
		out[j] = d.latency(src, dst+j, bytes).Plus(d.transfer(src, dst, bytes))
	}
}

// slowCopier is line with processors that copy more slowly than the network takes the
// bytes.
type slowCopier struct{ *line }

func (slowCopier) copying() bandwidth { return 1000 }

// stateful is line with state at the receiver.
type stateful struct {
	*line
	departs func(o *Occupancy, bytes int64, at vtime.Time) // nil for those of line
}

func (stateful) charge() Overhead         { return Overhead{ns, ns} }
func (stateful) interval() vtime.Duration { return ns }
func (stateful) eager() int64             { return math.MaxInt64 }

func (m stateful) depart(o *Occupancy, bytes int64, at vtime.Time) {
	if m.departs != nil {
		m.departs(o, bytes, at)
		return
	}
	o.CPU, o.Send = at.Add(ns), at.Add(ns)
}

func (stateful) takeIn(o *Occupancy, bytes int64, at vtime.Time) {
	o.CPU, o.Receive = at.Add(vtime.Duration(bytes)), at.Add(ns)
}

// lineAs is line as another model. It is uncharged if it has state at the receiver.
func lineAs(charged bool, as func(m *line) model) *modelKind {
	k := lineKind()
	k.charged = charged
	k.parse = func(o *object) model { return as(parseLine(o, k)) }
	return k
}

// conformingModels are models besides the registered ones.
func conformingModels() map[string]*modelKind {
	oneWay := lineAltered(func(d *altered) {
		d.latencyOf = func(src, dst int) vtime.Duration {
			return d.way(max(d.node(dst)-d.node(src), 0)).Plus(d.overHops(src, dst))
		}
		d.lookaheadOf = func(_, _, _, _ int) vtime.Duration { return d.way(0) }
	})
	oneWay.symmetric = false
	// The time of the bytes depends on the number of calls. All pairs claim to be
	// alike, but the target does not believe it.
	var asked atomic.Int64
	shared := lineAltered(func(d *altered) {
		d.step, d.uniform, d.ranks, d.leaders = 0, 0, true, true
		d.transferOf = func(bytes int64) vtime.Duration {
			return vtime.Duration(bytes>>32 + asked.Add(1)%2)
		}
	})
	shared.shared, shared.symmetric = true, false
	return map[string]*modelKind{
		"depends on the numbers of nodes": lineKind(),
		"one way":                         oneWay,
		"shared state":                    shared,
		"state at the receiver":           lineAs(false, func(m *line) model { return stateful{line: m} }),
	}
}

func TestOtherModelsConform(t *testing.T) {
	for name, k := range conformingModels() {
		t.Run(name, func(t *testing.T) {
			registered(t, &models, k)
			obey(t, modelLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{model: k}) })
			if err := checkSection(k.section()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Claims of a model with state count for nothing.
func TestStateDeniesUniformity(t *testing.T) {
	k := conformingModels()["shared state"]
	registered(t, &models, k)
	target := mustTarget(t, "network: {model: line, latency: 1us, step: 0}", 8)
	_, _, ranks := target.AlikeRanks()
	_, _, leaders := target.AlikeLeaders()
	if !target.SharedState() || ranks || leaders || target.LeadersUniform() || target.UniformFrom() != 8 {
		t.Errorf("shared state: %t, ranks alike: %t, leaders: %t, uniform: %t, from %d", target.SharedState(), ranks, leaders, target.LeadersUniform(), target.UniformFrom())
	}
	target = mustTarget(t, "network: {model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns}", 8)
	if _, _, leaders = target.AlikeLeaders(); !leaders || target.LeadersUniform() {
		t.Errorf("loggops: leaders alike: %t, uniform: %t", leaders, target.LeadersUniform())
	}
}

// bySize is line with another latency of messages of 1 to 999 bytes, and a lookahead.
func bySize(says bool, latency vtime.Duration, lookahead func(d *altered) vtime.Duration) *modelKind {
	k := lineAltered(func(d *altered) {
		d.step = 0
		d.sizedLatencyOf = func(bytes int64) vtime.Duration {
			if bytes > 0 && bytes < 1000 {
				return latency
			}
			return d.way(0)
		}
		d.lookaheadOf = func(_, _, _, _ int) vtime.Duration { return lookahead(d) }
	})
	k.latencyBySize = says
	return k
}

// brokenModels break the law under whose name they are listed.
func brokenModels() map[string][]*modelKind {
	var asked atomic.Int64
	oneWay := conformingModels()["one way"]
	oneWay.symmetric = true
	return map[string][]*modelKind{
		"a latency is at least a picosecond": {lineAltered(func(d *altered) { d.path.latency = 0 })},
		"more bytes never arrive sooner, unless it says so": {
			bySize(false, 3*us, func(d *altered) vtime.Duration { return d.way(0) }), // without saying so
			lineAltered(func(d *altered) {
				d.transferOf = func(bytes int64) vtime.Duration { return vtime.Duration(bytes % 1000) }
			}),
			lineAltered(func(d *altered) {
				d.transferOf = func(bytes int64) vtime.Duration { return vtime.Duration(bytes) + 1 }
			}),
			lineAltered(func(d *altered) { // the product overflows
				d.transferOf = func(bytes int64) vtime.Duration { return vtime.Duration(bytes * 3) }
			}),
		},
		"a delay is latency and transfer, one at a time or many": {lineAs(true, func(m *line) model { return hasty{m} })},
		"it is symmetric where it says so":                       {oneWay},
		"the lookahead is below every pair of two ranges": {
			lineAltered(func(d *altered) {
				d.lookaheadOf = func(_, _, _, _ int) vtime.Duration { return d.way(1) }
			}),
			lineAltered(func(d *altered) {
				d.lookaheadOf = func(_, _, _, _ int) vtime.Duration { return 0 }
			}),
			bySize(true, 1*ns, func(d *altered) vtime.Duration { return d.way(0) }), // only that without bytes
		},
		"no delay of at most the bytes is above the longest": {bySize(true, 1*ms, func(*altered) vtime.Duration { return 1 * ps }), lineAltered(func(d *altered) {
			d.longestOf = func(bytes int64) vtime.Duration { return d.way(0).Plus(d.path.transfer(bytes)) }
		})},
		"all nodes of a type are alike inside": {
			lineAltered(func(d *altered) { // the way between ranks
				d.latencyOf = func(src, dst int) vtime.Duration { return d.way(distance(src, dst)) }
			}),
			lineAltered(func(d *altered) { // nodes that differ
				d.latencyOf = func(src, dst int) vtime.Duration { return d.way(max(d.node(src), d.node(dst))) }
			}),
		},
		"it is uniform where it says so":               {lineAltered(func(d *altered) { d.uniform = min(d.uniform, 1) })},
		"ranks and leaders are alike where it says so": {lineAltered(func(d *altered) { d.ranks = true }), lineAltered(func(d *altered) { d.leaders = true })},
		"the same question has the same answer": {
			lineAltered(func(d *altered) {
				d.transferOf = func(bytes int64) vtime.Duration { return vtime.Duration(bytes>>32 + asked.Add(1)%2) }
			}),
			func() *modelKind { // shared state does not excuse the latency
				k := lineAltered(func(d *altered) {
					d.latencyOf = func(_, _ int) vtime.Duration { return vtime.Duration(1 + asked.Add(1)) }
				})
				k.shared = true
				return k
			}(),
		},
		"each hop adds the latency of a hop": {
			lineAltered(func(d *altered) { d.perHop = 0 }),
			lineAltered(func(d *altered) {
				d.latencyOf = func(src, dst int) vtime.Duration { return d.way(d.hops(d.node(src), d.node(dst))) }
			}),
		},
		"no message allocates": {lineAltered(func(d *altered) {
			d.transferOf = func(bytes int64) vtime.Duration { return *escaping(d.path.transfer(bytes)) }
		})},
		"a sender is free before its message arrives": {lineAs(true, func(m *line) model { return slowCopier{m} })},
		"state at the receiver moves on": {
			lineAs(true, func(m *line) model { return stateful{line: m} }), // the machine charges, too
			lineAs(false, func(m *line) model {
				return stateful{m, func(o *Occupancy, _ int64, at vtime.Time) { o.CPU = at - 1 }}
			}),
			lineAs(false, func(m *line) model {
				return stateful{m, func(o *Occupancy, bytes int64, at vtime.Time) { o.CPU = at.Add(vtime.Duration(1<<31 - bytes)) }}
			}),
			lineAs(false, func(m *line) model {
				return stateful{m, func(o *Occupancy, _ int64, at vtime.Time) { o.CPU = at.Add(vtime.Duration(asked.Add(1))) }}
			}),
		},
	}
}

var escaped atomic.Pointer[vtime.Duration]

// escaping puts a duration on the heap.
func escaping(d vtime.Duration) *vtime.Duration {
	escaped.Store(&d)
	return escaped.Load()
}

func TestBrokenModelsAreCaught(t *testing.T) {
	all := brokenModels()
	for name, kinds := range all {
		for _, k := range kinds {
			t.Run(name, func(t *testing.T) {
				registered(t, &models, k)
				if got := caught(modelLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{model: k}) }); !slices.Contains(got, name) {
					t.Errorf("caught by %q only", got)
				}
			})
		}
	}
	covers(t, modelLaws, func(law string) bool { return all[law] != nil })
}

// loop is a correct topology: a ring.
func loopKind(change func(g grid) topology) *topologyKind {
	return &topologyKind{
		name:     "loop",
		examples: []string{"{}"},
		parse:    func(*object, []*topologyKind) topologySpec { return loop{change} },
	}
}

type loop struct{ change func(g grid) topology }

func (loop) kind() string           { return "loop" }
func (loop) write(*objectWriter)    {}
func (l loop) build(n int) topology { return l.change(grid{dims: []int{n}, wrap: true}) }

// bent is a ring except for the fields that are set.
type bent struct {
	grid
	hopsOf    func(a, b int) int
	leastOf   func(a, b, c, d int) int
	steadyFor int // added to the nodes for which hops stay
	little    int // taken off the capacity and the most
	many      int // added to the fewest
}

func (l *bent) steady(a, b int) int { return l.grid.steady(a, b) + l.steadyFor }

func (l *bent) capacity() int  { return l.grid.capacity() - l.little }
func (l *bent) fewest() int    { return l.grid.fewest() + l.many }
func (l *bent) most(n int) int { return l.grid.most(n) - l.little }

func (l *bent) hops(a, b int) int {
	if l.hopsOf != nil {
		return l.hopsOf(a, b)
	}
	return l.grid.hops(a, b)
}

func (l *bent) least(a, b, c, d int) int {
	if l.leastOf != nil {
		return l.leastOf(a, b, c, d)
	}
	return l.grid.least(a, b, c, d)
}

func TestBrokenTopologiesAreCaught(t *testing.T) {
	var asked atomic.Int64
	const between = "hops are between the fewest and the most"
	all := map[string][]func(l *bent){
		"hops are symmetric, and none lead to the node itself": {
			func(l *bent) { l.hopsOf = func(a, b int) int { return max(b-a, 0) } },
			func(l *bent) { l.hopsOf = func(a, b int) int { return 1 } },
		},
		"there is room for its nodes": {func(l *bent) { l.little = 1 }},
		between:                       {func(l *bent) { l.little = 1 }, func(l *bent) { l.many = 1 }},
		"hops between two ranges are at least those that it says": {
			func(l *bent) { l.leastOf = func(_, b, c, _ int) int { return c - b } }, // forgets the way round
		},
		"hops stay for as long as it says": {func(l *bent) { l.steadyFor = -mostNodes }},
		"the same question has the same answer": {func(l *bent) {
			l.hopsOf = func(a, b int) int { return l.grid.hops(a, b) + int(asked.Add(1)%2) }
		}},
		"hops allocate nothing": {func(l *bent) {
			l.hopsOf = func(a, b int) int { return int(*escaping(vtime.Duration(l.grid.hops(a, b)))) }
		}},
	}
	draw := func(k *topologyKind) func(t *rapid.T) nodesOf {
		return func(t *rapid.T) nodesOf { return drawNodes(t, k) }
	}
	for name, bends := range all {
		for _, bend := range bends {
			t.Run(name, func(t *testing.T) {
				k := loopKind(func(g grid) topology {
					l := &bent{grid: g}
					bend(l)
					return l
				})
				registered(t, &topologies, k)
				if got := caught(topologyLaws, draw(k)); !slices.Contains(got, name) {
					t.Errorf("caught by %q only", got)
				}
			})
		}
	}
	covers(t, topologyLaws, func(law string) bool { return all[law] != nil })
	right := loopKind(func(g grid) topology { return &bent{grid: g} })
	registered(t, &topologies, right)
	if got := caught(topologyLaws, draw(right)); got != nil {
		t.Errorf("what is right is caught by %q", got)
	}
}

// dealt is the mapping cyclic except for its layout.
type dealt struct{ change func(l cycle) layout }

func (dealt) String() string { return "dealt" }

// Equal is called by cmp.
func (dealt) Equal(dealt) bool { return true }

func (m dealt) layOut(ranks, perNode, nodes int) (layout, error) {
	l, err := cyclic{}.layOut(ranks, perNode, nodes)
	return m.change(l.(cycle)), err
}

func dealtKind(change func(l cycle) layout) *mappingKind {
	return &mappingKind{name: "dealt", examples: []string{"dealt"}, parse: func(*mappingReader) mapping { return dealt{change} }}
}

// misdealt is cycle except for the fields that are set.
type misdealt struct {
	cycle
	memberOf func(node, k int) int
	placeOf  func(node int) int
	sizesOf  func() (least, most int)
	nodeOf   func(rank int) int
	meets    func(a, b, c, d int) (same, different bool)
	length   int // of the period
}

func (l *misdealt) period() int { return min(max(l.length, 1), l.ranks) }

func (l *misdealt) node(rank int) int {
	if l.nodeOf != nil {
		return l.nodeOf(rank)
	}
	return l.cycle.node(rank)
}

func (l *misdealt) member(node, k int) int {
	if l.memberOf != nil {
		return l.memberOf(node, k)
	}
	return l.cycle.member(node, k)
}

func (l *misdealt) place(node int) int {
	if l.placeOf != nil {
		return l.placeOf(node)
	}
	return l.cycle.place(node)
}

func (l *misdealt) sizes() (least, most int) {
	if l.sizesOf != nil {
		return l.sizesOf()
	}
	return l.cycle.sizes()
}

func (l *misdealt) meeting(a, b, c, d int) (same, different bool) {
	if l.meets != nil {
		return l.meets(a, b, c, d)
	}
	return l.cycle.meeting(a, b, c, d)
}

func TestBrokenMappingsAreCaught(t *testing.T) {
	var asked atomic.Int64
	const members, places = "each rank is on one node, in order", "the nodes' places ascend"
	// fromTheEnd numbers the nodes from the last rank on.
	fromTheEnd := func(l *misdealt) {
		l.nodeOf = func(rank int) int { return l.cycle.node(l.ranks - 1 - rank) }
		l.memberOf = func(node, k int) int { return l.ranks - 1 - l.cycle.member(node, l.cycle.size(node)-1-k) }
	}
	all := map[string][]func(l *misdealt){
		members: {
			func(l *misdealt) { l.memberOf = func(node, k int) int { return l.cycle.member(node, 0) } },
			func(l *misdealt) { l.nodeOf = func(rank int) int { return rank % (l.count + 1) } },
			func(l *misdealt) { l.sizesOf = func() (least, most int) { return 1, 1 } },
		},
		places: {
			func(l *misdealt) { l.placeOf = func(node int) int { return l.count - 1 - node } },
			func(l *misdealt) { l.placeOf = func(node int) int { return node + mostNodes } },
		},
		"two ranges meet if two of their ranks do": {
			func(l *misdealt) { l.meets = func(_, _, _, _ int) (same, different bool) { return true, false } },
			func(l *misdealt) { l.meets = func(_, _, _, _ int) (same, different bool) { return false, true } },
		},
		"leaders ascend where it says so": {fromTheEnd},
		"nodes are shared at its period": {func(l *misdealt) {
			l.nodeOf = func(rank int) int { return rank / 2 }
			l.length = 3
		}},
		"the same question has the same answer": {func(l *misdealt) {
			l.placeOf = func(node int) int { return node*1000 + int(asked.Add(1)%2) }
		}},
		"the node of a rank takes no memory": {func(l *misdealt) {
			l.nodeOf = func(rank int) int { return int(*escaping(vtime.Duration(l.cycle.node(rank)))) }
		}},
	}
	draw := func(k *mappingKind) func(t *rapid.T) *Target {
		return func(t *rapid.T) *Target {
			return drawTargetOf(t, parts{mapping: k, topology: &starKind, model: &flatKind})
		}
	}
	kind := func(alter func(l *misdealt)) *mappingKind {
		return dealtKind(func(l cycle) layout {
			m := &misdealt{cycle: l}
			alter(m)
			return m
		})
	}
	for name, alterations := range all {
		for _, alter := range alterations {
			t.Run(name, func(t *testing.T) {
				k := kind(alter)
				registered(t, &mappings, k)
				if got := caught(mappingLaws, draw(k)); !slices.Contains(got, name) {
					t.Errorf("caught by %q only", got)
				}
			})
		}
	}
	const kept = "blocks are kept where it says so" // by the type, which no other layout has
	t.Run(kept, func(t *testing.T) {
		k := dealtKind(func(l cycle) layout { return blocks{l.ranks, 1} })
		registered(t, &mappings, k)
		got := caught(mappingLaws, func(t *rapid.T) *Target {
			target := draw(k)(t)
			target.paths.perNode++
			return target
		})
		if !slices.Contains(got, kept) {
			t.Errorf("caught by %q only", got)
		}
	})
	covers(t, mappingLaws, func(law string) bool { return all[law] != nil || law == kept })
	right := kind(func(*misdealt) {})
	registered(t, &mappings, right)
	if got := caught(mappingLaws, draw(right)); got != nil {
		t.Errorf("what is right is caught by %q", got)
	}
	if err := checkRules(right); err != nil {
		t.Error(err)
	}
}

// An entry must read, list and write the same fields, and swallow nothing.
func TestBrokenSectionsAreCaught(t *testing.T) {
	for want, change := range map[string]func(k *modelKind){
		"the normal form means another machine": func(k *modelKind) {
			k.parse = lineAs(true, func(m *line) model { return forgetful{m} }).parse
		},
		"the normal form does not parse": func(k *modelKind) {
			k.parse = lineAs(true, func(m *line) model { return mute{m} }).parse
		},
		"field speed is not read":                          func(k *modelKind) { k.fields = append(k.fields, "speed") },
		"no example has field bandwidth":                   func(k *modelKind) { k.examples = k.examples[1:] },
		"field step is read but not listed":                func(k *modelKind) { k.fields = []string{"latency", "bandwidth"} },
		"has a field speed that is not read":               func(k *modelKind) { k.examples = []string{"{latency: 1us, step: 1ns, speed: 7}"} },
		"nonsense instead of 10ns: no fault":               func(k *modelKind) { k.parse = swallowing(k) },
		"-1 instead of 1us: no fault":                      func(k *modelKind) { k.parse = swallowing(k) },
		"a field that it does not know":                    func(k *modelKind) { k.parse = lenient(k) },
		"instead of 1GB/s: no fault of network. in line 5": func(k *modelKind) { k.parse = misplacing(k) },
	} {
		t.Run(want, func(t *testing.T) {
			k := lineKind()
			change(k)
			registered(t, &models, k)
			if err := checkSection(k.section()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("caught are only:\n%v", err)
			}
		})
	}
}

// forgetful writes another step than it has.
type forgetful struct{ *line }

func (m forgetful) write(o *objectWriter) {
	other := *m.line
	other.step++
	other.write(o)
}

// mute writes no latency.
type mute struct{ *line }

func (m mute) write(o *objectWriter) {
	o.text("step", m.step.String())
}

// swallowing reads a faulty field as none.
func swallowing(k *modelKind) func(o *object) model {
	return func(o *object) model {
		faults := slices.Clone(o.doc.Faults)
		m := parseLine(o, k)
		o.doc.Faults = faults
		return m
	}
}

// lenient accepts any field as its own.
func lenient(k *modelKind) func(o *object) model {
	return func(o *object) model {
		m := parseLine(o, k)
		o.known = slices.AppendSeq(o.known, maps.Keys(o.fields))
		return m
	}
}

// misplacing reports all faults in the first line.
func misplacing(k *modelKind) func(o *object) model {
	return func(o *object) model {
		m := parseLine(o, k)
		for i := range o.doc.Faults {
			o.doc.Faults[i].Line = 1
		}
		return m
	}
}
