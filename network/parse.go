package network

import (
	"errors"
	"fmt"
	"strings"

	"gigarank/internal/input"
	"gigarank/internal/spelling"
)

// Parse returns the machine of a machine file. Faults name the file by name, and the path of a
// mapping file is relative to the file's folder. read, which may be nil, reads such files. The
// error is an [input.Faults] with all faults.
func Parse(name string, text []byte, read func(path string) ([]byte, error)) (*Machine, error) {
	d := newDocument(name)
	m := &Machine{}
	if top := d.root(text); top != nil {
		m.parse(top, read)
	}
	if len(d.Faults) > 0 {
		d.Faults.Sort()
		return nil, d.Faults
	}
	return m, nil
}

func (m *Machine) parse(top *object, read func(path string) ([]byte, error)) {
	m.name = top.text("name", true)
	m.description = top.text("description", false)
	m.source = top.text("source", false)
	m.validated = top.text("validated", false)
	m.library = top.text("library", false)
	m.nodes = top.count("nodes", false, 1, maxRanks)
	if m.perNode = 1; top.has("ranks_per_node") {
		m.perNode = top.count("ranks_per_node", true, 1, maxRanks)
	} else {
		top.skip("ranks_per_node")
	}
	m.parseMapping(top, read)
	m.parseCPURatios(top)
	m.parseEnergy(top)
	m.topology = star{}
	if o := top.object("topology", false, ""); o != nil {
		faults := len(top.doc.Faults)
		m.topology = parseTopology(o, topologies)
		if m.nodes != 0 && len(top.doc.Faults) == faults {
			top.checkCapacity("nodes", m.nodes, m.topology)
		}
	}
	m.parseAllocation(top, read)
	network := top.object("network", true, "write network: {model: flat, latency: 1us, bandwidth: 10GB/s}")
	m.parseNetwork(network)
	m.parseInterfaces(top)
	m.parseContention(top)
	m.parseTaper(top)
	m.parseNodeTypes(top)
	m.checkTopology(top)
	m.checkCongestion(top)
	m.checkTorusWrites(top)
	m.parseFittedTo(top)
	m.parseEstimates(top)
	top.within("network", network, modelFields())
	top.close("", nil)
}

// checkTopology reports a missing topology, and a topology without effect.
func (m *Machine) checkTopology(top *object) {
	if m.model == nil {
		return
	}
	depends := ""
	switch given := top.has("topology"); {
	case m.model.kind().needsTopology:
		depends = "model " + m.Model()
	case m.routed:
		depends = "network." + perHopField
	case m.congestion.bandwidth != 0:
		depends = "network." + congestionField
	case m.WritesAlongTorus():
		depends = "network." + torusWritesField
	case m.contention.Topology:
		depends = "contention.topology"
	case given && m.topology != nil && m.topology != topologySpec(star{}):
		top.fault("topology", "makes no difference: model "+m.Model()+" looks at it only with network."+perHopField,
			"give the time that a hop adds, such as "+perHopField+": 100ns, or contention of model fair with topology: true, or remove the topology")
	}
	if depends != "" && !top.has("topology") {
		top.doc.Fault(top.line, "topology", "is missing, and "+depends+" depends on it", "write one such as topology: {kind: torus, dimensions: 3}")
	}
}

func (m *Machine) parseFittedTo(top *object) {
	const remedy = "write a list of conditions such as ['op=allreduce,nodes=8']"
	for _, node := range top.list("fitted_to", false, remedy) {
		if text := input.Target(node).Value; text != "" {
			m.fittedTo = append(m.fittedTo, text)
		} else {
			top.doc.Fault(node.Line, "fitted_to", "an entry is "+input.KindOf(input.Target(node)), remedy)
		}
	}
}

func (m *Machine) parseEstimates(top *object) {
	const remedy = "write a list of paths such as [network.intra.latency]"
	for _, node := range top.list("estimates", false, remedy) {
		p := input.Target(node).Value
		switch {
		case p == "":
			top.doc.Fault(node.Line, "estimates", "an entry is "+input.KindOf(input.Target(node)), remedy)
		case !top.doc.seen[p]:
			top.doc.Fault(node.Line, "estimates", fmt.Sprintf("this file has no field %q", p), remedy)
		default:
			m.estimates = append(m.estimates, p)
		}
	}
}

// Load returns a machine: a preset by its name, or else a machine file by its path. It reads files
// through read only, such as os.ReadFile.
func Load(nameOrPath string, read func(path string) ([]byte, error)) (*Machine, error) {
	if text, ok := presetText(nameOrPath); ok {
		return Parse(nameOrPath, text, nil)
	}
	text, err := read(nameOrPath)
	if err == nil {
		return Parse(nameOrPath, text, read)
	}
	names := presetNames()
	remedy := spelling.Suggest(nameOrPath, names, "the presets are "+strings.Join(names, ", "))
	return nil, errors.Join(fmt.Errorf("machine %q is neither a preset nor a file that can be read: %s", nameOrPath, remedy), err)
}
