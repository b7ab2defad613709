package network

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	stdsync "sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"gigarank/internal/input"
	"gigarank/vtime"
)

// The conformance suite: laws that every delay model, topology and mapping obeys. The
// tests take them from the registries, so registering a new one holds it to the laws.
// broken_test.go shows that no law is empty.

// A law is a property of targets or topologies. Its check draws its inputs, and returns
// an error that says how the law is broken.
type law[S any] struct {
	name  string
	check func(t *rapid.T, s S) error
}

// broken returns the names of the laws that s breaks, and their errors.
func broken[S any](t *rapid.T, laws []law[S], s S) (names []string, err error) {
	for _, l := range laws {
		if fault := l.check(t, s); fault != nil {
			names, err = append(names, l.name), errors.Join(err, fmt.Errorf("%s: %w", l.name, fault))
		}
	}
	return names, err
}

// obey checks the laws on drawn values.
func obey[S any](t *testing.T, laws []law[S], draw func(t *rapid.T) S) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		if _, err := broken(t, laws, draw(t)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestModelsConform(t *testing.T) {
	for _, k := range models {
		t.Run(k.name, func(t *testing.T) {
			obey(t, modelLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{model: k}) })
			if err := checkSection(k.section()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTopologiesConform(t *testing.T) {
	for _, k := range topologies {
		t.Run(k.name, func(t *testing.T) {
			obey(t, topologyLaws, func(t *rapid.T) nodesOf { return drawNodes(t, k) })
			obey(t, modelLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{topology: k}) })
			if err := checkSection(k.section()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMappingsConform(t *testing.T) {
	for _, k := range mappings {
		t.Run(k.name, func(t *testing.T) {
			obey(t, mappingLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{mapping: k}) })
			obey(t, modelLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{mapping: k}) })
			if err := checkRules(k); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestModelsAreListed: `gigarank list` has a line for each model, which fits on a terminal.
func TestModelsAreListed(t *testing.T) {
	for i, m := range Models() {
		if m.Name != models[i].name || m.Summary == "" || len(m.Summary) > 110 || len(m.Fields) == 0 {
			t.Errorf("model %d, %s: listed as %+v", i, models[i].name, m)
		}
	}
}

// TestRegistriesHaveNoTwins: machine files choose by name.
func TestRegistriesHaveNoTwins(t *testing.T) {
	names := map[string]bool{}
	for _, k := range models {
		names["model "+k.name] = true
	}
	for _, k := range topologies {
		names["topology "+k.name] = true
	}
	for _, k := range mappings {
		names["mapping "+k.name] = true
	}
	if want := len(models) + len(topologies) + len(mappings); len(names) != want {
		t.Errorf("%d different names of %d models, topologies and mappings: %v", len(names), want, names)
	}
}

// parts are the parts of a drawn machine; nil stands for any.
type parts struct {
	model    *modelKind
	topology *topologyKind
	mapping  *mappingKind
	jitter   *jitterKind // nil for any or none
}

// Drawn machines have few ranks, so that laws can look at all pairs. A fixed number of
// nodes is mostNodes. Examples of topologies have room for as many.
const (
	mostRanks = 60
	mostNodes = 199
)

// drawTargetOf draws a machine of the parts, laid out for few ranks.
func drawTargetOf(t *rapid.T, p parts) *Target {
	m := drawMachineOf(t, p)
	target, err := m.Target(int64(rapid.IntRange(1, mostRanks).Draw(t, "ranks")))
	if err != nil {
		t.Fatalf("%v\nof\n%s", err, m)
	}
	return target
}

// drawMachineOf draws a machine of the parts, with other figures than its examples have.
func drawMachineOf(t *rapid.T, p parts) *Machine {
	pickIfNil(t, &p.model, models, "model")
	pickIfNil(t, &p.topology, topologies, "topology")
	pickIfNil(t, &p.mapping, mappings, "mapping")
	perNode := rapid.IntRange(1, 7).Draw(t, "ranks per node")
	top := flowFields(rapid.SampledFrom(p.topology.examples).Draw(t, "topology fields"))
	net := flowFields(rapid.SampledFrom(p.model.examples).Draw(t, "model fields"))
	if !slices.Contains(p.model.fields, perHopField) && (p.topology != &starKind || rapid.Bool().Draw(t, "routed")) {
		net.Content = append(net.Content, flowFields("{latency_per_hop: 90ns}").Content...)
	}
	if p.model.charged && rapid.Bool().Draw(t, "charged") {
		net.Content = append(net.Content, flowFields(rapid.SampledFrom([]string{
			"{overhead: {send: 300ns, receive: 0}, gap: 100ns, eager_limit: 64, reduce: {bandwidth: 4GB/s}}",
			"{overhead: {send: 0, receive: 200ns}, gap: 1us}",
		}).Draw(t, "charges")).Content...)
	}
	if p.model.charged && (p.jitter != nil || rapid.Bool().Draw(t, "jittered")) {
		pickIfNil(t, &p.jitter, jitterKinds, "jitter")
		figure := "700ns"
		if p.jitter.listed {
			figure = "[0ns, 700ns, 20ns, 1us]"
		}
		net.Content = append(net.Content, flowFields(fmt.Sprintf("{jitter: {distribution: %s, %s: %s%s}}", p.jitter.name, p.jitter.figure, figure, p.jitter.tail())).Content...)
	}
	general := fmt.Sprintf("name: drawn\nranks_per_node: %d\nmapping: %s\n", perNode, rapid.SampledFrom(p.mapping.examples).Draw(t, "rule"))
	if rapid.Bool().Draw(t, "fixed nodes") {
		general += fmt.Sprintf("nodes: %d\n", mostNodes)
	}
	if rapid.IntRange(0, 3).Draw(t, "typed") == 0 {
		general += drawTypes(t, p, perNode)
	}
	places := ""
	for i := range mostRanks {
		places += fmt.Sprintln((i * 7 % mostRanks) / perNode * 3 % mostNodes)
	}
	listed := rapid.Bool().Draw(t, "allocation")
	if listed {
		general += "allocation: {nodes: listed}\n"
	}
	parse := func() (*Machine, string, error) {
		text := general + withKind("topology", "kind", p.topology.name, top) + withKind("network", "model", p.model.name, net)
		m, err := Parse("drawn.yaml", []byte(text), func(path string) ([]byte, error) {
			if path == "listed" {
				return []byte("60-64\n7\n0-6\n100-198\n8-59\n65-99\n"), nil
			}
			return []byte(places), nil
		})
		return m, text, err
	}
	m, text, err := parse()
	if err != nil {
		t.Fatalf("%v\nof\n%s", err, text)
	}
	// Other figures stay if the machine is valid.
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		figure := rapid.SampledFrom(append(scalars(net), figureless)).Draw(t, "figure")
		before := figure.Value
		figure.SetString(otherFigure(t, before))
		if changed, _, err := parse(); err == nil {
			m = changed
		} else {
			figure.SetString(before)
		}
	}
	return m
}

// drawTypes draws types of nodes that go with the parts. In a mapping of the suite a node has perNode ranks at most.
func drawTypes(t *rapid.T, p parts, perNode int) string {
	var fields []string
	if p.mapping == &blockKind || p.mapping == &fileKind {
		least := 1
		if p.mapping == &fileKind {
			least = perNode
		}
		fields = append(fields, fmt.Sprintf("processors: %d", rapid.IntRange(least, 9).Draw(t, "processors")))
	}
	if p.model.charged && p.model != &hopsKind && rapid.Bool().Draw(t, "intra") {
		fields = append(fields, rapid.SampledFrom([]string{"intra: {latency: 3us, bandwidth: 1GB/s}", "intra: {latency: 1ns}", "intra: {latency: 170ns, bandwidth: 77GB/s}"}).Draw(t, "within"))
	}
	if len(fields) == 0 || rapid.Bool().Draw(t, "ratio") {
		fields = append(fields, "cpu_ratio: 1.5")
	}
	spans := rapid.SampledFrom([]string{"{0: fat}", "{0-1: fat, 3: thin, 5-9: fat}", "{2-100: fat, 101: thin}"}).Draw(t, "nodes of types")
	thin := ""
	if strings.Contains(spans, "thin") {
		thin = ", thin: {cpu_ratio: 0.5}"
	}
	return fmt.Sprintf("node_types: {fat: {%s}%s}\nnodes_of: %s\n", strings.Join(fields, ", "), thin, spans)
}

// figureless stands for the figure where there is none.
var figureless = &yaml.Node{Kind: yaml.ScalarNode}

// tail returns the other fields of a distribution with a heavy tail.
func (k *jitterKind) tail() string {
	if k.shape == "" {
		return ""
	}
	return ", " + k.shape + ": 1.5, most: 1ms"
}

func pickIfNil[K any](t *rapid.T, kind **K, registry []*K, label string) {
	if *kind == nil {
		*kind = rapid.SampledFrom(registry).Draw(t, label)
	}
}

// otherFigure draws a number with the unit of another one.
func otherFigure(t *rapid.T, text string) string {
	unit := strings.TrimLeft(text, "0123456789.")
	return rapid.SampledFrom([]string{"0", "1", "2", "7", "13", "100", "1234", "999999"}).Draw(t, "number") + unit
}

// flowFields parses a mapping of YAML.
func flowFields(text string) *yaml.Node {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil || n.Content[0].Kind != yaml.MappingNode {
		panic(fmt.Sprintf("%q is no mapping: %v", text, err))
	}
	return n.Content[0]
}

// withKind returns a section of a machine file, one scalar a line.
func withKind(section, key, name string, fields *yaml.Node) string {
	named := flowFields(fmt.Sprintf("{%s: %s}", key, name))
	named.Content = append(named.Content, fields.Content...)
	whole := flowFields("{" + section + ": {}}")
	whole.Content[1] = named
	for _, n := range allNodes(whole) {
		n.Style = 0
	}
	text, err := yaml.Marshal(whole)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func allNodes(n *yaml.Node) (all []*yaml.Node) {
	all = append(all, n)
	for _, inner := range n.Content {
		all = append(all, allNodes(inner)...)
	}
	return all
}

// scalars returns the values in a node that are no mappings, lists, keys or names.
func scalars(n *yaml.Node) (values []*yaml.Node) {
	for i, inner := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && (i%2 == 0 || n.Content[i-1].Value == "name"):
		case inner.Kind == yaml.ScalarNode:
			values = append(values, inner)
		default:
			values = append(values, scalars(inner)...)
		}
	}
	return values
}

// drawSize draws a number of bytes of any magnitude.
func drawSize(t *rapid.T) int64 {
	least := rapid.SampledFrom([]int64{0, 1 << 10, 1 << 20, 1 << 31, 1 << 40, 3 << 60}).Draw(t, "at least")
	return least + rapid.Int64Range(0, 1<<13).Draw(t, "bytes")
}

func drawPair(t *rapid.T, target *Target) (src, dst int) {
	rank := rapid.IntRange(0, target.Ranks()-1)
	return rank.Draw(t, "src"), rank.Draw(t, "dst")
}

// modelLaws hold for every target, whatever its model, topology and mapping. Those on
// the time of bytes do not hold where state is shared.
var modelLaws = []law[*Target]{
	{"a latency is at least a picosecond", func(t *rapid.T, target *Target) error {
		src, dst := drawPair(t, target)
		bytes := drawSize(t)
		l, _ := target.LatencyAndTransfer(src, dst, bytes)
		if none := target.Latency(src, dst); none < vtime.Picosecond || l < vtime.Picosecond {
			return fmt.Errorf("latency %v from %d to %d, %v of %d bytes", none, src, dst, l, bytes)
		}
		return nil
	}},
	{"more bytes never arrive sooner, unless it says so", func(t *rapid.T, target *Target) error {
		if target.SharedState() {
			return nil
		}
		src, dst := drawPair(t, target)
		if none := target.Transfer(src, dst, 0); none != 0 {
			return fmt.Errorf("no bytes from %d to %d take %v", src, dst, none)
		}
		bytes := drawSize(t)
		more := bytes + rapid.Int64Range(0, 1<<12).Draw(t, "more")
		latency, few := target.LatencyAndTransfer(src, dst, bytes)
		many := target.Transfer(src, dst, more)
		if few < 0 {
			return fmt.Errorf("%d bytes from %d to %d take %v", bytes, src, dst, few)
		}
		if target.LatencyBySize() {
			return nil
		}
		if none := target.Latency(src, dst); many < few || latency != none {
			return fmt.Errorf("%d bytes from %d to %d take %v + %v, %d bytes %v, and none %v: a kind whose latency depends on the size says latencyBySize", bytes, src, dst, latency, few, more, many, none)
		}
		return nil
	}},
	{"a delay is latency and transfer, one at a time or many", checkSums},
	{"it is symmetric where it says so", func(t *rapid.T, target *Target) error {
		src, dst := drawPair(t, target)
		if bytes := drawSize(t); target.machine.model.kind().symmetric {
			there, full := target.LatencyAndTransfer(src, dst, bytes)
			back, empty := target.LatencyAndTransfer(dst, src, bytes)
			if there != back || full != empty {
				return fmt.Errorf("%v + %v from %d to %d, but %v + %v back", there, full, src, dst, back, empty)
			}
		}
		return nil
	}},
	{"all nodes of a type are alike inside", func(t *rapid.T, target *Target) error {
		src, k := drawPair(t, target)
		node := target.Node(src)
		k %= target.NodeSize(node)
		dst, i := target.NodeMember(node, k), 0
		for target.NodeMember(node, i) != src {
			i++
		}
		twin := rapid.IntRange(0, target.Nodes()-1).Draw(t, "other node")
		if max(i, k) >= target.NodeSize(twin) || target.typeOfNode(node) != target.typeOfNode(twin) {
			return nil
		}
		from, to := target.NodeMember(twin, i), target.NodeMember(twin, k)
		if d, other := target.Latency(src, dst), target.Latency(from, to); d != other {
			return fmt.Errorf("latency %v from %d to %d on node %d, and %v from %d to %d in the same places of node %d", d, src, dst, node, other, from, to, twin)
		}
		bytes := drawSize(t)
		if target.SharedState() {
			return nil
		}
		if d, other := target.Delay(src, dst, bytes), target.Delay(from, to, bytes); d != other {
			return fmt.Errorf("%d bytes take %v from %d to %d on node %d, and %v from %d to %d in the same places of node %d", bytes, d, src, dst, node, other, from, to, twin)
		}
		return nil
	}},
	{"the lookahead is below every pair of two ranges", checkLookahead},
	{"no delay of at most the bytes is above the longest", func(t *rapid.T, target *Target) error {
		if target.SharedState() {
			return nil
		}
		src, dst := drawPair(t, target)
		bytes := drawSize(t)
		fewer := min(bytes, drawSize(t))
		if d, most := target.Delay(src, dst, fewer), target.LongestDelay(bytes); d > most {
			return fmt.Errorf("%d bytes from %d to %d take %v, the longest delay of up to %d bytes is %v", fewer, src, dst, d, bytes, most)
		}
		return nil
	}},
	{"it is uniform where it says so", checkUniform},
	{"ranks and leaders are alike where it says so", checkAlike},
	{"each hop adds the latency of a hop", checkHops},
	{"the same question has the same answer", checkPure},
	{"no message allocates", checkAllocations},
	{"a sender is free before its message arrives", checkEnds},
	{"state at the receiver moves on", checkOccupancy},
}

func checkSums(t *rapid.T, target *Target) error {
	if target.SharedState() {
		return nil
	}
	src, dst := drawPair(t, target)
	bytes := drawSize(t)
	out := make([]vtime.Duration, rapid.IntRange(0, target.Ranks()-max(src, dst)).Draw(t, "length"))
	target.Delays(src, dst, bytes, out)
	for j, got := range out {
		single := target.Delay(src+j, dst+j, bytes)
		latency, transfer := target.LatencyAndTransfer(src+j, dst+j, bytes)
		if sum := latency.Plus(transfer); got != sum || single != sum || transfer != target.Transfer(src+j, dst+j, bytes) {
			return fmt.Errorf("%d bytes from %d to %d take %v among others, %v alone, %v of latency and transfer", bytes, src+j, dst+j, got, single, sum)
		}
	}
	return nil
}

// checkHops compares the latencies of two machines between which only the latency of a hop differs.
func checkHops(t *rapid.T, target *Target) error {
	if !target.machine.routed {
		return nil
	}
	src, dst := drawPair(t, target)
	const less, more = 1 * us, 3 * us
	var latencies [2]vtime.Duration
	for i, perHop := range []vtime.Duration{less, more} {
		m := *target.machine
		m.perHop = perHop
		laid, err := m.Target(int64(target.Ranks()))
		if err != nil {
			return err
		}
		latencies[i] = laid.Latency(src, dst)
	}
	hops := target.Hops(target.Node(src), target.Node(dst))
	if got, want := latencies[1]-latencies[0], vtime.Duration(hops)*(more-less); got != want {
		return fmt.Errorf("a hop that takes %v longer adds %v to the latency from %d to %d, which are %d hops apart: want %v", more-less, got, src, dst, hops, want)
	}
	return nil
}

func checkLookahead(t *rapid.T, target *Target) error {
	span := func(name string) (lo, hi int) {
		lo = rapid.IntRange(0, target.Ranks()-1).Draw(t, name)
		return lo, rapid.IntRange(lo+1, target.Ranks()).Draw(t, name)
	}
	loA, hiA := span("a")
	loB, hiB := span("b")
	got, bytes := target.Lookahead(loA, hiA, loB, hiB), drawSize(t)
	if got < vtime.Picosecond {
		return fmt.Errorf("lookahead %v from [%d,%d) to [%d,%d)", got, loA, hiA, loB, hiB)
	}
	for a := loA; a < hiA; a++ {
		for b := loB; b < hiB; b++ {
			if l := target.Latency(a, b); l < got {
				return fmt.Errorf("lookahead %v from [%d,%d) to [%d,%d), but latency %v from %d to %d", got, loA, hiA, loB, hiB, l, a, b)
			}
			if d := target.Delay(a, b, bytes); d < got {
				return fmt.Errorf("lookahead %v from [%d,%d) to [%d,%d), but %d bytes take %v from %d to %d", got, loA, hiA, loB, hiB, bytes, d, a, b)
			}
		}
	}
	return nil
}

// checkUniform looks at all pairs that are far enough apart.
func checkUniform(t *rapid.T, target *Target) error {
	bytes, from := drawSize(t), target.UniformFrom()
	if stateful := target.ReceiverState() || target.SharedState(); stateful && (from < target.Ranks() || target.LeadersUniform()) {
		return fmt.Errorf("uniform from distance %d, leaders uniform: %t, though there is state", from, target.LeadersUniform())
	}
	var all []vtime.Duration
	for a := range target.Ranks() {
		for b := range target.Ranks() {
			if d := target.Delay(a, b, bytes); distance(a, b) >= from && !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	if len(all) > 1 {
		return fmt.Errorf("uniform from distance %d, where %d bytes take %v", from, bytes, all)
	}
	return nil
}

func checkAlike(t *rapid.T, target *Target) error {
	bytes := drawSize(t)
	check := func(who string, ranks []int, src, dst int, ok bool) error {
		if !ok {
			return nil
		}
		for _, d := range delaysAmong(target, ranks, bytes) {
			if want := target.Delay(src, dst, bytes); d != want {
				return fmt.Errorf("%s are alike, but %d bytes take %v from %d to %d, and %v elsewhere", who, bytes, want, src, dst, d)
			}
		}
		return nil
	}
	var ranks, leaders []int
	for r := range target.Ranks() {
		ranks = append(ranks, r)
	}
	for n := range target.Nodes() {
		leaders = append(leaders, target.NodeMember(n, 0))
	}
	src, dst, ok := target.AlikeRanks()
	errRanks := check("ranks", ranks, src, dst, ok)
	src, dst, ok = target.AlikeLeaders()
	if target.LeadersUniform() && !ok {
		return errors.New("leaders are uniform, but not alike")
	}
	return errors.Join(errRanks, check("leaders", leaders, src, dst, ok))
}

// checkPure calls twice, and from several goroutines at once. The time of the bytes may
// change where state is shared.
func checkPure(t *rapid.T, target *Target) error {
	bytes := drawSize(t)
	type answer struct{ latency, transfer, lookahead, longest vtime.Duration }
	ask := func(i int) (a answer) {
		src, dst := i*7%target.Ranks(), i*3%target.Ranks()
		a.latency = target.Latency(src, dst)
		a.lookahead = target.Lookahead(src, target.Ranks(), 0, dst+1)
		if !target.SharedState() {
			a.transfer, a.longest = target.Transfer(src, dst, bytes), target.LongestDelay(bytes)
		}
		return a
	}
	const questions, goroutines = 30, 3
	var first, again [questions]answer
	for i := range first {
		first[i] = ask(i)
	}
	var elsewhere [goroutines][questions]answer
	var group stdsync.WaitGroup
	for g := range elsewhere {
		group.Go(func() {
			for i := range questions {
				j := (i*11 + g) % questions
				elsewhere[g][j] = ask(j)
			}
		})
	}
	for i := questions - 1; i >= 0; i-- {
		again[i] = ask(i)
	}
	group.Wait()
	for _, answers := range append(elsewhere[:], again) {
		if answers != first {
			return fmt.Errorf("of %d bytes: first %+v, then %+v", bytes, first, answers)
		}
	}
	return nil
}

func checkAllocations(t *rapid.T, target *Target) error {
	src, dst := drawPair(t, target)
	bytes := drawSize(t)
	out := make([]vtime.Duration, min(8, target.Ranks()-max(src, dst)))
	var o Occupancy
	n := testing.AllocsPerRun(3, func() {
		target.Delay(src, dst, bytes)
		target.Delays(src, dst, bytes, out)
		target.Rendezvous(src, dst, bytes, 0, 0)
		target.Lookahead(0, src+1, 0, dst+1)
		target.LongestDelay(bytes)
		if target.ReceiverState() {
			target.Depart(&o, bytes, 0)
			target.TakeIn(&o, bytes, 0)
		}
	})
	if n != 0 {
		return fmt.Errorf("%v allocations", n)
	}
	return nil
}

// checkEnds compares the processors and ports at both ends with the delay.
func checkEnds(t *rapid.T, target *Target) error {
	if target.SharedState() {
		return nil
	}
	src, dst := drawPair(t, target)
	bytes := rapid.Int64Range(0, 1<<40).Draw(t, "bytes")
	const at, posted = vtime.Time(5000), vtime.Time(7000)
	if !target.ReceiverState() {
		var sender, receiver Port
		free, leaves := target.Send(&sender, bytes, at)
		arrival := leaves.Add(target.Delay(src, dst, bytes))
		done := target.Receive(&receiver, bytes, posted, posted, arrival)
		if free != at.Add(target.SendTime(bytes)) || leaves != at.Add(target.Overhead().Send) || free > arrival {
			return fmt.Errorf("%d bytes sent at %v: free at %v, leaves at %v, arrives at %v", bytes, at, free, leaves, arrival)
		}
		if done != max(posted, arrival).Add(target.ReceiveTime(bytes)) {
			return fmt.Errorf("%d bytes posted at %v, arrived at %v: received at %v", bytes, posted, arrival, done)
		}
	}
	arrival, free := target.Rendezvous(src, dst, bytes, posted, at)
	back, there := target.Latency(dst, src), posted.Add(target.Latency(dst, src)).Add(target.Delay(src, dst, bytes))
	if target.ReceiverState() { // the sender is free at the match
		arrival, back, there = max(arrival, posted), 0, posted
	}
	match := target.Match(src, dst)
	if free < posted || free > arrival || arrival != there || match != back {
		return fmt.Errorf("%d bytes matched at %v: free at %v, there at %v; of a small one the sender is free after %v", bytes, posted, free, arrival, match)
	}
	return nil
}

// checkOccupancy sends and takes in messages, each when the rank can.
func checkOccupancy(t *rapid.T, target *Target) error {
	if !target.ReceiverState() {
		return nil
	}
	if target.machine.model.kind().charged {
		return errors.New("the machine may charge for messages beside the model")
	}
	var o Occupancy
	if at := vtime.Time(17); o.CanSend(at) != at || o.CanReceive(at) != at {
		return errors.New("an idle rank is not ready at once")
	}
	now := vtime.Time(0)
	for range rapid.IntRange(1, 6).Draw(t, "messages") {
		now = now.Add(vtime.Duration(rapid.Int64Range(0, 1e7).Draw(t, "pause")))
		bytes := rapid.Int64Range(0, 1<<30).Draw(t, "bytes")
		more := bytes + rapid.Int64Range(0, 1000).Draw(t, "more")
		change, can := target.TakeIn, o.CanReceive(now)
		if rapid.Bool().Draw(t, "sends") {
			change, can = target.Depart, o.CanSend(now)
		}
		after, again, larger := o, o, o
		change(&after, bytes, can)
		change(&again, bytes, can)
		change(&larger, more, can)
		if after != again {
			return fmt.Errorf("%d bytes at %v: %+v becomes %+v, then %+v", bytes, can, o, after, again)
		}
		if after.CPU < can || after.Send < o.Send || after.Receive < o.Receive {
			return fmt.Errorf("%d bytes at %v: %+v goes back to %+v", bytes, can, o, after)
		}
		if larger.CPU < after.CPU || larger.Send < after.Send || larger.Receive < after.Receive {
			return fmt.Errorf("at %v, %d bytes lead to %+v, and %d to %+v", can, bytes, after, more, larger)
		}
		o = after
	}
	return nil
}

// nodesOf is a topology that was built for a number of nodes.
type nodesOf struct {
	topology
	nodes int
}

func drawNodes(t *rapid.T, k *topologyKind) nodesOf {
	example := rapid.SampledFrom(k.examples).Draw(t, "fields")
	text := "name: m\nnetwork: {model: flat, latency: 0, latency_per_hop: 90ns}\n" + withKind("topology", "kind", k.name, flowFields(example))
	m, err := Parse("m.yaml", []byte(text), nil)
	if err != nil {
		t.Fatalf("%v\nof\n%s", err, text)
	}
	n := rapid.IntRange(1, mostNodes).Draw(t, "nodes")
	return nodesOf{m.topology.build(n), n}
}

// topologyLaws hold for every topology.
var topologyLaws = []law[nodesOf]{
	{"hops are symmetric, and none lead to the node itself", func(t *rapid.T, top nodesOf) error {
		a, b := rapid.IntRange(0, top.nodes-1).Draw(t, "a"), rapid.IntRange(0, top.nodes-1).Draw(t, "b")
		if there, back, stay := top.hops(a, b), top.hops(b, a), top.hops(a, a); there < 0 || there != back || stay != 0 {
			return fmt.Errorf("%d hops from %d to %d, %d back, %d to itself", there, a, b, back, stay)
		}
		return nil
	}},
	{"there is room for its nodes", func(_ *rapid.T, top nodesOf) error {
		if room := top.capacity(); room < top.nodes {
			return fmt.Errorf("room for %d of %d nodes", room, top.nodes)
		}
		return nil
	}},
	{"hops are between the fewest and the most", func(_ *rapid.T, top nodesOf) error {
		fewest, most := top.fewest(), top.most(top.nodes)
		for a := range top.nodes {
			for b := range a {
				if h := top.hops(a, b); h < fewest || h > most {
					return fmt.Errorf("%d hops from %d to %d, which is not from %d to %d", h, a, b, fewest, most)
				}
			}
		}
		return nil
	}},
	{"hops between two ranges are at least those that it says", func(t *rapid.T, top nodesOf) error {
		near, ok := top.topology.(ranged)
		if !ok || top.nodes < 2 {
			return nil
		}
		cuts := rapid.SliceOfNDistinct(rapid.IntRange(0, top.nodes-1), 2, 2, rapid.ID[int]).Draw(t, "ends")
		b, c := slices.Min(cuts), slices.Max(cuts)
		a, d := rapid.IntRange(0, b).Draw(t, "a"), rapid.IntRange(c, top.nodes-1).Draw(t, "d")
		least := near.least(a, b, c, d)
		for x := a; x <= b; x++ {
			for y := c; y <= d; y++ {
				if h := top.hops(x, y); h < least {
					return fmt.Errorf("%d hops from %d to %d, but at least %d from %d..%d to %d..%d", h, x, y, least, a, b, c, d)
				}
			}
		}
		return nil
	}},
	{"hops stay for as long as it says", func(t *rapid.T, top nodesOf) error {
		s, ok := top.topology.(steady)
		if !ok {
			return nil
		}
		a, b := rapid.IntRange(0, top.nodes-1).Draw(t, "a"), rapid.IntRange(0, top.nodes-1).Draw(t, "b")
		n, hops := s.steady(a, b), top.hops(a, b)
		for i := 0; i < n && max(a, b)+i < top.nodes; i++ {
			if h := top.hops(a+i, b+i); h != hops {
				return fmt.Errorf("%d hops from %d to %d, which stay for %d nodes, but %d from %d to %d", hops, a, b, n, h, a+i, b+i)
			}
		}
		if n < 1 && a != b {
			return fmt.Errorf("%d hops from %d to %d stay for %d nodes", hops, a, b, n)
		}
		return nil
	}},
	{"the same question has the same answer", func(_ *rapid.T, top nodesOf) error {
		return checkTwice(top.nodes, func(i int) any {
			return [4]int{top.hops(0, i), top.fewest(), top.most(i + 1), top.capacity()}
		})
	}},
	{"hops allocate nothing", func(t *rapid.T, top nodesOf) error {
		b := rapid.IntRange(0, top.nodes-1).Draw(t, "b")
		if n := testing.AllocsPerRun(3, func() { top.hops(0, b); top.hops(b, 0) }); n != 0 {
			return fmt.Errorf("%v allocations", n)
		}
		return nil
	}},
}

// checkTwice calls ask n times twice, and all at once.
func checkTwice(n int, ask func(i int) any) error {
	first, together := make([]any, n), make([]any, n)
	for i := range n {
		first[i] = ask(i)
	}
	var group stdsync.WaitGroup
	for part := range 3 {
		group.Go(func() {
			for i := part; i < n; i += 3 {
				together[i] = ask(i)
			}
		})
	}
	group.Wait()
	for i := n - 1; i >= 0; i-- {
		if again := ask(i); again != first[i] || together[i] != first[i] {
			return fmt.Errorf("answer %d is %v, then %v, and %v", i, first[i], together[i], again)
		}
	}
	return nil
}

// mappingLaws hold for every layout of ranks.
var mappingLaws = []law[*Target]{
	{"each rank is on one node, in order", checkMembers},
	{"the nodes' places ascend", func(_ *rapid.T, target *Target) error {
		last, l := -1, target.paths.layout
		for n := range l.nodes() {
			place := l.place(n)
			if place <= last || target.machine.nodes != 0 && place >= target.machine.nodes {
				return fmt.Errorf("node %d is at place %d of %d, after place %d", n, place, target.machine.nodes, last)
			}
			last = place
		}
		return nil
	}},
	{"two ranges meet if two of their ranks do", func(t *rapid.T, target *Target) error {
		rank := rapid.IntRange(0, target.Ranks()-1)
		a, c := rank.Draw(t, "a"), rank.Draw(t, "c")
		b, d := rapid.IntRange(a+1, target.Ranks()).Draw(t, "b"), rapid.IntRange(c+1, target.Ranks()).Draw(t, "d")
		same, different := target.paths.layout.meeting(a, b, c, d)
		for x := a; x < b; x++ {
			for y := c; y < d; y++ {
				if onOne := target.Node(x) == target.Node(y); onOne && !same || !onOne && !different {
					return fmt.Errorf("ranks of [%d,%d) and [%d,%d) on one node: %t, on two: %t; but %d and %d are on nodes %d and %d",
						a, b, c, d, same, different, x, y, target.Node(x), target.Node(y))
				}
			}
		}
		return nil
	}},
	{"leaders ascend where it says so", func(_ *rapid.T, target *Target) error {
		for n := 1; n < target.Nodes() && target.LeadersAscend(); n++ {
			if target.NodeMember(n, 0) <= target.NodeMember(n-1, 0) {
				return fmt.Errorf("rank %d leads node %d, and rank %d the one before", target.NodeMember(n, 0), n, target.NodeMember(n-1, 0))
			}
		}
		return nil
	}},
	{"nodes are shared at its period", func(_ *rapid.T, target *Target) error {
		l, ok := target.paths.layout.(periodic)
		if !ok {
			return nil
		}
		p := l.period()
		if p < 1 || p > target.Ranks() {
			return fmt.Errorf("period %d of %d ranks", p, target.Ranks())
		}
		for a := range target.Ranks() - p {
			for b := range target.Ranks() - p {
				if (target.Node(a) == target.Node(b)) != (target.Node(a+p) == target.Node(b+p)) {
					return fmt.Errorf("ranks %d and %d are on nodes %d and %d, those %d further on %d and %d",
						a, b, target.Node(a), target.Node(b), p, target.Node(a+p), target.Node(b+p))
				}
			}
		}
		return nil
	}},
	{"blocks are kept where it says so", func(_ *rapid.T, target *Target) error {
		for r := range target.Ranks() {
			if size := target.NodeSize(0); target.KeepsBlocks() && target.Node(r) != r/size {
				return fmt.Errorf("rank %d is on node %d of nodes of %d", r, target.Node(r), size)
			}
		}
		return nil
	}},
	{"the same question has the same answer", func(_ *rapid.T, target *Target) error {
		l := target.paths.layout
		return checkTwice(l.nodes(), func(i int) any {
			least, most := l.sizes()
			return [...]int{l.node(i), l.size(i), l.member(i, 0), l.place(i), l.nodes(), least, most}
		})
	}},
	{"the node of a rank takes no memory", func(t *rapid.T, target *Target) error {
		r := rapid.IntRange(0, target.Ranks()-1).Draw(t, "rank")
		if n := testing.AllocsPerRun(3, func() { target.Hops(0, target.Node(r)); target.NodeSize(0) }); n != 0 {
			return fmt.Errorf("%v allocations", n)
		}
		return nil
	}},
}

func checkMembers(_ *rapid.T, target *Target) error {
	l := target.paths.layout
	members := make([][]int, l.nodes())
	for r := range target.Ranks() {
		node := l.node(r)
		if node < 0 || node >= len(members) || node != target.Node(r) {
			return fmt.Errorf("rank %d is on node %d of %d, or %d", r, node, len(members), target.Node(r))
		}
		members[node] = append(members[node], r)
	}
	least, most := target.Ranks(), 0
	for node, want := range members {
		got := make([]int, l.size(node))
		for k := range got {
			got[k] = l.member(node, k)
		}
		room := target.Machine().roomOf(target.paths.place(node))
		if len(want) == 0 || len(want) > room || !slices.Equal(got, want) {
			return fmt.Errorf("node %d has members %v, but its ranks are %v, of at most %d", node, got, want, room)
		}
		least, most = min(least, len(want)), max(most, len(want))
	}
	if a, b := l.sizes(); a != least || b != most {
		return fmt.Errorf("nodes are said to have %d to %d ranks, and have %d to %d", a, b, least, most)
	}
	return nil
}

// A section is the part of a machine file that one entry of a registry reads.
type section struct {
	field, key, name string // such as network, model, flat
	examples, fields []string
	asked            func(o *object) // parses the fields
	rest             string          // of the file
}

func (k *modelKind) section() section {
	return section{"network", "model", k.name, k.examples, k.fields, func(o *object) { k.parse(o) }, "topology: {kind: star}\n"}
}

func (k *topologyKind) section() section {
	return section{"topology", "kind", k.name, k.examples, k.fields, func(o *object) { k.parse(o, topologies) }, "network: {model: flat, latency: 1us, latency_per_hop: 90ns}\n"}
}

// checkSection checks the parser and the writer of an entry against each other. Unknown
// input must be refused with file, line and field.
func checkSection(s section) error {
	var faults []error
	known := map[string]bool{}
	for _, example := range s.examples {
		faults = append(faults, s.checkNonsense(example), s.checkOmissions(example))
		d := newDocument("m.yaml")
		o := d.object(flowFields(example), s.field, 1)
		s.asked(o)
		for _, key := range o.known {
			known[key] = true
		}
		for _, key := range o.order {
			if !slices.Contains(o.known, key) {
				faults = append(faults, fmt.Errorf("%s %s: the example %s has a field %s that is not read", s.key, s.name, example, key))
			}
		}
	}
	for _, key := range s.fields {
		if !known[key] {
			faults = append(faults, fmt.Errorf("%s %s: field %s is not read", s.key, s.name, key))
		}
		if !slices.ContainsFunc(s.examples, func(e string) bool { return slices.Contains(keys(flowFields(e)), key) }) {
			faults = append(faults, fmt.Errorf("%s %s: no example has field %s", s.key, s.name, key))
		}
		delete(known, key)
	}
	for key := range known {
		faults = append(faults, fmt.Errorf("%s %s: field %s is read but not listed", s.key, s.name, key))
	}
	return errors.Join(faults...)
}

func keys(n *yaml.Node) (names []string) {
	for i := 0; i < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	return names
}

const conformingFile = "machines/m.yaml"

// parse reads a machine file with fields in the section. Lines count from that of the
// section's name, which is 1.
func (s section) parse(fields *yaml.Node) (m *Machine, text string, err error) {
	text = withKind(s.field, s.key, s.name, fields) + "name: m\n" + s.rest
	m, err = Parse(conformingFile, []byte(text), nil)
	return m, text, err
}

// checkNonsense replaces each value of an example in turn.
func (s section) checkNonsense(example string) error {
	m, text, err := s.parse(flowFields(example))
	if err != nil {
		return fmt.Errorf("%s %s: its example is refused: %w", s.key, s.name, err)
	}
	var faults []error
	faults = append(faults, sameAgain(m))
	var file yaml.Node
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return err
	}
	lines := scalars(file.Content[0].Content[1])[1:] // but the name
	for i, at := range lines {
		for _, nonsense := range []string{"nonsense", "-1", "[1]", "{a: 1}"} {
			fields := flowFields(example)
			value := scalars(fields)[i]
			*value = *flowFields("{x: " + nonsense + "}").Content[1]
			_, text, err := s.parse(fields)
			if err = faultAt(err, at.Line, s.field+"."); err != nil {
				faults = append(faults, fmt.Errorf("%s %s: %s instead of %s: %w\n%s", s.key, s.name, nonsense, at.Value, err, text))
			}
		}
	}
	fields := flowFields(example)
	fields.Content = append(fields.Content, flowFields("{unheard_of: 1}").Content...)
	_, text, err = s.parse(fields)
	if err = faultAt(err, strings.Count(text[:strings.Index(text, "unheard_of")], "\n")+1, s.field+".unheard_of"); err != nil {
		faults = append(faults, fmt.Errorf("%s %s: with a field that it does not know: %w", s.key, s.name, err))
	}
	return errors.Join(faults...)
}

// checkOmissions leaves out each field of an example in turn. Those that are optional
// have a default, which the normal form shows.
func (s section) checkOmissions(example string) error {
	var faults []error
	for at := range allNodes(flowFields(example)) {
		fields := flowFields(example)
		inner := allNodes(fields)[at]
		if inner.Kind != yaml.MappingNode {
			continue
		}
		pairs := inner.Content
		for i := 0; i < len(pairs); i += 2 {
			inner.Content = slices.Concat(pairs[:i], pairs[i+2:])
			m, text, err := s.parse(fields)
			if err == nil {
				err = sameAgain(m)
			} else {
				err = faultAt(err, 0, s.field)
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s %s: without %s: %w\n%s", s.key, s.name, pairs[i].Value, err, text))
			}
		}
	}
	return errors.Join(faults...)
}

// faultAt returns nil if err has a fault of a field whose path contains part, in the
// line, or in any line if that is 0.
func faultAt(err error, line int, part string) error {
	var faults input.Faults
	if err == nil {
		return errors.New("no fault is found")
	}
	if !errors.As(err, &faults) {
		return fmt.Errorf("no Faults: %w", err)
	}
	for _, f := range faults {
		if f.File == conformingFile && f.Line >= 1 && (line == 0 || f.Line == line) && strings.Contains(f.Field, part) && f.What != "" {
			return nil
		}
	}
	return fmt.Errorf("no fault of %s in line %d of %s: %w", part, line, conformingFile, err)
}

// exported lets cmp look at all fields.
var exported = cmp.Exporter(func(reflect.Type) bool { return true })

// sameAgain returns an error unless the normal form describes the same machine and is
// its own normal form.
func sameAgain(m *Machine) error {
	again, err := Parse(conformingFile, m.YAML(), readFake)
	if err != nil {
		return fmt.Errorf("the normal form does not parse: %w\n%s", err, m)
	}
	if diff := cmp.Diff(m, again, exported, cmp.Comparer(func(a, b *modelKind) bool { return a == b })); diff != "" {
		return fmt.Errorf("the normal form means another machine:\n%s\n%s", diff, m)
	}
	if again.String() != m.String() {
		return fmt.Errorf("the normal form changes:\n%s\n%s", m, again)
	}
	return nil
}

// checkRules reads and writes the examples of a mapping.
func checkRules(k *mappingKind) error {
	const read = "name: m\nnetwork: {model: flat, latency: 1us}\n"
	parse := func(rule string) (*Machine, error) {
		return Parse(conformingFile, []byte(read+"mapping: "+fmt.Sprintf("%q", rule)), func(string) ([]byte, error) { return []byte("0\n1\n0\n2"), nil })
	}
	var faults []error
	for _, example := range k.examples {
		m, err := parse(example)
		if err != nil {
			return fmt.Errorf("mapping %s: its example %s is refused: %w", k.name, example, err)
		}
		if again, err := parse(m.Mapping()); err != nil || again.Mapping() != m.Mapping() || !cmp.Equal(again.mapping, m.mapping, exported) || m.Mapping() != example {
			faults = append(faults, fmt.Errorf("mapping %s: %s is written as %s, which means something else: %v", k.name, example, m.Mapping(), err))
		}
	}
	nonsense := []string{k.name + "?", k.name + ":"}
	if k.argument == "" {
		nonsense = append(nonsense, k.name+":1")
	} else {
		nonsense = append(nonsense, k.name)
	}
	for _, rule := range nonsense {
		_, err := parse(rule)
		if err = faultAt(err, 3, "mapping"); err != nil {
			faults = append(faults, fmt.Errorf("mapping %s: %s: %w", k.name, rule, err))
		}
	}
	return errors.Join(faults...)
}
