package network

import (
	"errors"
	"fmt"
	"maps"
	"math"
	slashpath "path"
	"slices"
	"strconv"
	"strings"

	"gigarank/spelling"
)

// modelFields are the fields of section network that only some delay models
// have.
var modelFields = map[string][]string{
	"flat":     {"latency", "bandwidth", "overhead", "gap", "eager_limit"},
	"twolevel": {"intra", "inter", "overhead", "gap", "eager_limit"},
	"table":    {"intra", "inter", "overhead", "gap", "eager_limit"},
	"hops":     {"latency", "bandwidth", "latency_per_hop", "memory_latency", "memory_bandwidth", "overhead", "gap", "eager_limit"},
	"loggops":  {"L", "o", "g", "G", "O", "S"},
}

// Parse reads a machine file. The name stands for the file in faults, and the
// path of a mapping file is relative to its folder; read, which may be nil,
// reads such files. The error is a Faults with all that is wrong.
func Parse(name string, text []byte, read func(path string) ([]byte, error)) (*Machine, error) {
	d := &document{file: name, seen: make(map[string]bool)}
	m := &Machine{}
	if top := d.root(text); top != nil {
		m.parse(top, read)
	}
	if len(d.faults) > 0 {
		d.faults.sort()
		return nil, d.faults
	}
	return m, nil
}

func (m *Machine) parse(top *object, read func(path string) ([]byte, error)) {
	m.name = top.text("name", true)
	m.description = top.text("description", false)
	m.source = top.text("source", false)
	m.nodes = top.count("nodes", false, 1, maxRanks)
	if m.perNode = 1; top.has("ranks_per_node") {
		m.perNode = top.count("ranks_per_node", true, 1, maxRanks)
	}
	m.parseMapping(top, read)
	m.topology = topologySpec{kind: "star"}
	if o := top.object("topology", false, ""); o != nil {
		faults := len(top.doc.faults)
		m.topology = parseTopology(o, slices.Sorted(maps.Keys(topologyFields)))
		if m.nodes != 0 && len(top.doc.faults) == faults {
			top.checkRoom("nodes", m.nodes, &m.topology)
		}
	}
	m.parseNetwork(top.object("network", true, "write network: {model: flat, latency: 1us, bandwidth: 10GB/s}"))
	if m.model == "hops" && !top.has("topology") {
		top.doc.fault(top.line, "topology", "is missing, and model hops depends on it", "write one such as topology: {kind: torus, dimensions: 3}")
	}
	m.parseEstimates(top)
	top.close("", nil)
}

// checkRoom reports a topology of o that has not room for the nodes or units
// that the field of that name asks for.
func (o *object) checkRoom(name string, n int, s *topologySpec) {
	if room := s.build(n).capacity(); room < n {
		o.fault("topology", fmt.Sprintf("%s has room for %d, but %s is %d", s.kind, room, name, n), "enlarge it, or lower "+name)
	}
}

func (m *Machine) parseEstimates(top *object) {
	const remedy = "write a list of paths such as [network.intra.latency]"
	for _, node := range top.list("estimates", false, remedy) {
		p := target(node).Value
		switch {
		case p == "":
			top.doc.fault(node.Line, "estimates", "an entry is "+kindOf(target(node)), remedy)
		case !top.doc.seen[p]:
			top.doc.fault(node.Line, "estimates", fmt.Sprintf("this file has no field %q", p), remedy)
		default:
			m.estimates = append(m.estimates, p)
		}
	}
}

func (m *Machine) parseMapping(top *object, read func(path string) ([]byte, error)) {
	const remedy = "write block, cyclic, random:SEED or file:PATH"
	m.mapping.kind = "block"
	text, ok := top.scalar("mapping", false, remedy)
	if !ok {
		return
	}
	kind, argument, _ := strings.Cut(text, ":")
	m.mapping.kind = kind
	switch {
	case text == "block" || text == "cyclic":
	case strings.HasPrefix(text, "random:"):
		seed, err := strconv.ParseUint(argument, 10, 64)
		if err != nil {
			top.fault("mapping", fmt.Sprintf("the seed %q is no whole number from 0 to 2^64-1", argument), "write one such as random:42")
		}
		m.mapping.seed = seed
	case text == "file:":
		top.fault("mapping", "names no file", remedy)
	case strings.HasPrefix(text, "file:"):
		m.mapping.path = argument
		m.readMapping(top, read)
	default:
		top.fault("mapping", fmt.Sprintf("%q is unknown", text), spelling.Suggest(kind, []string{"block", "cyclic", "random", "file"}, remedy))
	}
}

func (m *Machine) readMapping(top *object, read func(path string) ([]byte, error)) {
	if read == nil {
		top.fault("mapping", "files cannot be read here", "use block, cyclic or random:SEED")
		return
	}
	file := m.mapping.path
	if !slashpath.IsAbs(file) {
		file = slashpath.Join(slashpath.Dir(top.doc.file), file)
	}
	text, err := read(file)
	if err != nil {
		top.fault("mapping", err.Error(), "correct the path, which is relative to the machine file")
		return
	}
	places, faults := parsePlaces(file, string(text), m.nodes)
	if len(faults) == 0 && len(places) == 0 {
		faults = Faults{{file, 1, "", "the file names no nodes", "write the number of each rank's node, in the order of ranks"}}
	}
	m.mapping.places = places
	top.doc.faults = append(top.doc.faults, faults...)
}

// parsePlaces reads a mapping file: the number of each rank's node, in the
// order of ranks, between white space; # starts a comment. Nodes count from 0 to
// below nodes, unless that is 0.
func parsePlaces(file, text string, nodes int) ([]int32, Faults) {
	most := int64(math.MaxInt32)
	if nodes != 0 {
		most = min(most, int64(nodes)-1)
	}
	var places []int32
	var faults Faults
	line := 0
	for row := range strings.Lines(text) {
		line++
		row, _, _ = strings.Cut(row, "#")
		for word := range strings.FieldsSeq(row) {
			place, err := strconv.ParseInt(word, 10, 32)
			if err != nil || place < 0 || place > most {
				faults = append(faults, Fault{file, line, fmt.Sprintf("rank %d", len(places)),
					fmt.Sprintf("%q is no number of a node", word), fmt.Sprintf("write one from 0 to %d", most)})
			}
			places = append(places, int32(place))
		}
	}
	return places, faults
}

func (m *Machine) parseNetwork(o *object) {
	if o == nil {
		return
	}
	m.model = o.choice("model", slices.Sorted(maps.Keys(modelFields)))
	m.eagerLimit = math.MaxInt64
	if m.model != "loggops" && m.model != "" {
		m.overhead = parseOverhead(o)
		m.gap = o.duration("gap", false, 0)
		m.eagerLimit = o.size("eager_limit", false, math.MaxInt64)
	}
	if reduce := o.object("reduce", false, ""); reduce != nil {
		m.reduce = reduce.bandwidth("bandwidth", true)
		reduce.close("", nil)
	}
	m.poll = o.duration("poll", false, defaultPoll)
	if m.poll == 0 {
		o.fault("poll", "is zero, so that a program that polls would never come to an end", "write a time of at least 1ps")
	}
	switch m.model {
	case "flat":
		m.inter = parseLink(o)
	case "twolevel":
		m.intra = parseLevel(o, "intra")
		m.inter = parseLevel(o, "inter")
	case "table":
		m.intra.table = parseTable(o, "intra")
		m.inter.table = parseTable(o, "inter")
	case "hops":
		m.inter = parseLink(o)
		m.perHop = o.duration("latency_per_hop", true, 0)
		m.intra.latency = o.duration("memory_latency", false, 0)
		m.intra.bandwidth = o.bandwidth("memory_bandwidth", false)
	case "loggops":
		m.loggops = parseLogGOPS(o)
	default:
		o.closeAny(modelFields)
		return
	}
	o.close("model", modelFields)
}

func parseLink(o *object) link {
	return link{
		latency:   o.duration("latency", true, 0),
		bandwidth: o.bandwidth("bandwidth", false),
	}
}

func parseOverhead(o *object) Overhead {
	inner := o.object("overhead", false, "write overhead: {send: 300ns, receive: 300ns}")
	v := Overhead{
		Send:    inner.duration("send", inner != nil, 0),
		Receive: inner.duration("receive", inner != nil, 0),
	}
	inner.close("", nil)
	return v
}

func parseLevel(o *object, key string) link {
	inner := o.object(key, true, "write "+key+": {latency: 1us, bandwidth: 10GB/s}")
	l := parseLink(inner)
	inner.close("", nil)
	return l
}

func parseTable(o *object, key string) []measurement {
	var table []measurement
	for _, row := range o.objects(key, "write a list such as [{size: 0, delay: 1us}, {size: 1MiB, delay: 500us}]") {
		faults := len(o.doc.faults)
		next := measurement{row.size("size", true, 0), row.duration("delay", true, 0)}
		row.close("", nil)
		if row == nil || len(o.doc.faults) > faults {
			continue
		}
		if last := len(table) - 1; last >= 0 {
			switch {
			case next.size <= table[last].size:
				row.fault("size", "is not larger than the one before", "sort the list by size, each size once")
			case next.delay < table[last].delay:
				row.fault("delay", "is less than that of a smaller message", "smooth the measurements, so that more bytes never arrive sooner")
			}
		}
		table = append(table, next)
	}
	return table
}

func parseLogGOPS(o *object) *LogGOPS {
	return &LogGOPS{
		Latency:         o.duration("L", true, 0),
		Overhead:        o.duration("o", true, 0),
		Gap:             o.duration("g", true, 0),
		GapPerByte:      o.duration("G", true, 0),
		OverheadPerByte: o.duration("O", false, 0),
		Eager:           o.size("S", false, math.MaxInt64),
	}
}

// parseTopology reads a topology of one of the kinds.
func parseTopology(o *object, kinds []string) topologySpec {
	s := topologySpec{kind: o.choice("kind", kinds)}
	switch s.kind {
	case "mesh", "torus":
		s.dimensions = o.count("dimensions", false, 1, 16)
		if !o.has("dimensions") {
			s.dims = parseDims(o, 1)
		} else if _, both := o.take("dims", false, ""); both {
			o.fault("dimensions", "is given beside dims", "remove one of the two")
		}
	case "twisted-torus":
		s.dims = parseDims(o, 2)
		most := int64(math.MaxInt32)
		if len(s.dims) >= 2 {
			most = max(0, int64(s.dims[1])-1)
		}
		s.twist = o.count("twist", true, 0, most)
	case "tree":
		s.arity = o.count("arity", true, 2, maxRanks)
	case "fat-tree":
		s.arity = o.count("arity", true, 2, maxRanks)
		s.levels = o.count("levels", false, 1, 64)
	case "dragonfly":
		s.parseDragonfly(o)
	case "hierarchy":
		s.hierarchical = parseUnits(o, kinds)
	case "":
		o.closeAny(topologyFields)
		return s
	}
	o.close("kind", topologyFields)
	return s
}

func parseDims(o *object, least int) []int {
	const remedy = "write a list such as [8, 8, 16]"
	var dims []int
	for _, node := range o.list("dims", true, remedy) {
		n, err := ParseCount(target(node).Value)
		if err != nil || n < 1 || n > maxRanks {
			o.doc.fault(node.Line, fieldPath(o.path, "dims"), "an entry is "+kindOf(target(node)), "write whole numbers of at least 1")
			n = 1
		}
		dims = append(dims, int(n))
	}
	if n := len(dims); n > 0 && n < least || n > 16 {
		o.fault("dims", fmt.Sprintf("there are %d of them", n), fmt.Sprintf("give from %d to 16 dimensions", least))
	}
	return dims
}

func (s *topologySpec) parseDragonfly(o *object) {
	s.routers = o.count("routers", true, 1, maxRanks)
	s.routerNodes = o.count("nodes_per_router", true, 1, maxRanks)
	s.groups = o.count("groups", false, 1, maxRanks)
	s.globalLinks = o.count("global_links", false, 1, maxRanks)
	if s.groups == 0 || s.globalLinks == 0 || s.routers == 0 {
		return
	}
	if most := mostGroups(s.routers, s.globalLinks); s.groups > most {
		o.fault("groups", fmt.Sprintf("%d routers with %d global links each join at most %d groups", s.routers, s.globalLinks, most), "lower groups, or raise routers or global_links")
	}
}

func parseUnits(o *object, kinds []string) []unitSpec {
	inner := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == "hierarchy" })
	levels := o.objects("levels", "write a list such as [{size: 16, hops: 3}, {hops: 5}]")
	var units []unitSpec
	for i, level := range levels {
		var u unitSpec
		outermost := i == len(levels)-1
		u.size = level.count("size", !outermost, 1, maxRanks)
		if links := level.object("topology", false, ""); links != nil {
			faults := len(level.doc.faults)
			spec := parseTopology(links, inner)
			u.links = &spec
			if u.size != 0 && len(level.doc.faults) == faults {
				level.checkRoom("size", u.size, u.links)
			}
		}
		if u.hops = level.count("hops", !level.has("topology"), 0, 1<<20); level.has("hops") && level.has("topology") {
			level.fault("hops", "is given beside a topology, which says the hops", "remove one of the two")
		}
		level.close("", nil)
		units = append(units, u)
	}
	return units
}

// Load reads a machine: a preset by its name, or else a file by its path. It
// does all I/O through read, such as os.ReadFile.
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
