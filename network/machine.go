package network

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/input"
	"gigarank/internal/quantity"
	"gigarank/vtime"
)

// Machine describes a target machine, without a number of ranks. It is
// immutable, and comes from Load or Parse.
type Machine struct {
	name, description, source string
	validated                 string   // part compared with measurements, and the error
	library                   string   // that chooses the algorithms of collectives, empty for none
	fittedTo                  []string // conditions of the measured collectives that figures come from
	estimates                 []string // paths of fields whose figures are estimates
	nodes                     int      // 0 for as many as the ranks need
	perNode                   int
	mapping                   mapping
	topology                  topologySpec
	allocation                allocation // of a job; the whole machine by default
	model                     model
	routed                    bool           // the file gives latency_per_hop
	perHop                    vtime.Duration // latency_per_hop, for models without such a parameter
	overhead                  Overhead
	gap                       vtime.Duration
	eagerLimit                int64 // MaxInt64 without a limit
	reduce                    memoryWork
	localCopy                 memoryWork
	datatypes                 datatypes
	partners                  partners
	blockingSend              vtime.Duration // of a root that sends one blocking message after another, in addition to the overhead
	fresh                     freshMemory
	congestion                congestion
	torusWrites               torusWrites
	poll                      vtime.Duration
	launch                    vtime.Duration // of a collective
	barrier                   offload        // times of a barrier; empty if its algorithm determines them
	offloads                  offloads
	join                      joins // empty if messages determine the times of joins
	jitter                    jitters
	interruptions             interruptions
	progress                  progress
	interfaces                interfaces
	contention                Contention
	taper                     ratio        // share of full bisection; zero if it is not given
	typed                     []typedNodes // by node, disjoint
	cpuRatio                  ratio        // of nodes that are not in cpuRatios
	cpuRatios                 []nodeRatio  // by node, disjoint
	energy                    *energy      // nil for none
}

// defaultPoll is the time of a failing Test or Iprobe unless the file gives it.
const defaultPoll = 100 * vtime.Nanosecond

// Name returns the machine's name.
func (m *Machine) Name() string { return m.name }

// Description returns one line on the machine; it may be empty.
func (m *Machine) Description() string { return m.description }

// Source returns the source of the figures; it may be empty.
func (m *Machine) Source() string { return m.source }

// Validated returns the part of the machine that was compared with measurements, the number of
// points and the error; it is empty without a comparison.
func (m *Machine) Validated() string { return m.validated }

// FittedTo returns which measured collectives the machine's figures come from, as conditions of package
// measurements.
func (m *Machine) FittedTo() []string { return m.fittedTo }

// Library returns the name or the file of the MPI library that chooses the algorithms of collectives;
// it is empty for none.
func (m *Machine) Library() string { return m.library }

// Model returns the name of the delay model, such as flat.
func (m *Machine) Model() string { return m.model.kind().name }

// Topology returns the name of the topology, such as torus.
func (m *Machine) Topology() string { return m.topology.kind() }

// Mapping returns the rule that maps ranks to nodes, as machine files write it.
func (m *Machine) Mapping() string { return m.mapping.String() }

// Allocation returns the part of the machine that the job has, in the form that WithAllocation
// reads, empty for the whole machine.
func (m *Machine) Allocation() string { return m.allocation.String() }

// Nodes returns the number of nodes, or 0 for as many as the ranks need.
func (m *Machine) Nodes() int { return m.nodes }

// Room returns the number of nodes that fit the topology. bounded is false for a topology that
// grows with the nodes.
func (m *Machine) Room() (nodes int, bounded bool) {
	if m.allocation.places != nil {
		return len(m.allocation.places), true
	}
	nodes = m.allocation.topology(m.topology).build(max(m.nodes, 1)).capacity()
	const more = 1 << 20
	if m.nodes == 0 && m.allocation.topology(m.topology).build(more).capacity() != nodes {
		return 0, false
	}
	return nodes, nodes < unlimited
}

// RanksPerNode returns the number of ranks that fit on a node.
func (m *Machine) RanksPerNode() int { return m.perNode }

// String returns the YAML of the machine as a string.
func (m *Machine) String() string { return string(m.YAML()) }

// YAML returns the machine file in normal form: fields in a fixed order, defaults written out,
// estimates marked by a comment. Parse reads this form.
func (m *Machine) YAML() []byte {
	w := &writer{estimates: m.estimates}
	top := w.object("")
	top.text("name", m.name)
	if m.description != "" {
		top.text("description", m.description)
	}
	if m.source != "" {
		top.text("source", m.source)
	}
	if m.validated != "" {
		top.text("validated", m.validated)
	}
	if len(m.fittedTo) > 0 {
		top.put("fitted_to", textList(m.fittedTo))
	}
	if len(m.estimates) > 0 {
		top.put("estimates", textList(m.estimates))
	}
	if m.library != "" {
		top.text("library", m.library)
	}
	if m.nodes != 0 {
		top.number("nodes", m.nodes)
	}
	top.number("ranks_per_node", m.perNode)
	top.text("mapping", m.mapping.String())
	m.writeCPURatios(top)
	m.energy.write(top)
	m.writeInterfaces(top)
	m.writeContention(top)
	if m.taper.text != "" {
		top.put("taper", m.taper.node())
	}
	m.writeNodeTypes(top)
	top.put("topology", writeTopology(w, "topology", m.topology).node)
	m.allocation.write(top)
	top.put("network", m.networkYAML(w))

	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(top.node); err != nil {
		panic(fmt.Sprintf("network: a machine does not encode: %v", err))
	}
	return text.Bytes()
}

func (m *Machine) networkYAML(w *writer) *yaml.Node {
	o := w.object("network")
	o.text("model", m.Model())
	m.model.write(o)
	if m.routed {
		o.text(perHopField, m.perHop.String())
	}
	if m.overhead != (Overhead{}) || w.estimated("network.overhead") {
		inner := w.object("network.overhead")
		inner.text("send", m.overhead.Send.String())
		inner.text("receive", m.overhead.Receive.String())
		o.put("overhead", inner.node)
	}
	m.partners.write(o)
	if m.blockingSend != 0 || w.estimated("network.blocking_send") {
		o.text("blocking_send", m.blockingSend.String())
	}
	if m.gap != 0 || w.estimated("network.gap") {
		o.text("gap", m.gap.String())
	}
	if m.eagerLimit != math.MaxInt64 || w.estimated("network.eager_limit") {
		o.text("eager_limit", quantity.FormatSize(m.eagerLimit))
	}
	m.jitter.write(o)
	m.interruptions.write(o)
	if m.progress != asynchronous || w.estimated("network.progress") {
		o.text("progress", m.progress.String())
	}
	m.reduce.write(w, o, "reduce")
	m.localCopy.write(w, o, "local_copy")
	m.datatypes.write(o)
	m.fresh.write(o)
	m.congestion.write(o)
	m.torusWrites.write(o)
	o.text("poll", m.poll.String())
	if m.launch != 0 || w.estimated("network.launch") {
		o.text("launch", m.launch.String())
	}
	if len(m.barrier) > 0 {
		m.barrier.write(o)
	}
	m.writeOffloads(o)
	m.join.write(o)
	return o.node
}

// writer builds the nodes of a normalized machine file.
type writer struct{ estimates []string }

type objectWriter struct {
	*writer
	path string
	node *yaml.Node
}

// estimated reports whether the machine marks a field, or a field inside it, as an estimate. Parse
// requires such a field to be present, whatever its value.
func (w *writer) estimated(path string) bool {
	return slices.ContainsFunc(w.estimates, func(e string) bool { return e == path || strings.HasPrefix(e, path+".") })
}

func (w *writer) object(path string) *objectWriter {
	return &objectWriter{w, path, &yaml.Node{Kind: yaml.MappingNode}}
}

func (o *objectWriter) put(key string, value *yaml.Node) {
	name := &yaml.Node{Kind: yaml.ScalarNode, Value: key}
	if slices.Contains(o.estimates, input.Path(o.path, key)) {
		if value.Kind == yaml.ScalarNode || value.Style == yaml.FlowStyle {
			value.LineComment = "estimate"
		} else {
			name.LineComment = "estimate"
		}
	}
	o.node.Content = append(o.node.Content, name, value)
}

// text writes a scalar, in quotes if YAML would not read it as a string.
func (o *objectWriter) text(key, value string) {
	node := &yaml.Node{}
	node.SetString(value)
	o.put(key, node)
}

func (o *objectWriter) number(key string, value int) {
	o.put(key, &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(value)})
}

func (o *objectWriter) numbers(key string, values []int) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(v)})
	}
	o.put(key, list)
}

// within returns the path of a field.
func (o *objectWriter) within(key string) string { return input.Path(o.path, key) }

// putObjects puts a list of objects, one for each item.
func putObjects[T any](o *objectWriter, key string, items []T, write func(entry *objectWriter, item T)) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i, item := range items {
		entry := o.object(o.within(key) + "[" + strconv.Itoa(i) + "]")
		write(entry, item)
		list.Content = append(list.Content, entry.node)
	}
	o.put(key, list)
}

func textList(items []string) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, item := range items {
		node := &yaml.Node{}
		node.SetString(item)
		list.Content = append(list.Content, node)
	}
	return list
}
