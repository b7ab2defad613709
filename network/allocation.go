package network

import (
	"fmt"
	slashpath "path"
	"slices"
	"strconv"
	"strings"

	"gigarank/internal/input"
)

// allocation is the part of the machine that a job has: the places of the topology that its nodes
// take. The zero value stands for the first places, in their order.
type allocation struct {
	shape  []int   // dims of a torus or mesh of the job's own, or nil
	path   string  // of a list of places, as written, or empty
	places []int32 // places of that list, by node
}

const allocationRemedy = "write allocation: {shape: [32, 256]} or allocation: {nodes: FILE}"

// parseAllocation reads field allocation, after nodes and topology.
func (m *Machine) parseAllocation(top *object, read func(path string) ([]byte, error)) {
	o := top.object("allocation", false, allocationRemedy)
	if o == nil {
		return
	}
	if o.has("shape") {
		m.allocation.shape = parseWholes(o, "shape")
	} else {
		o.skip("shape")
	}
	file, given := o.scalar("nodes", false, "write the path of a file with the places of the nodes")
	switch {
	case given && o.has("shape"):
		o.fault("nodes", "is given beside shape", "remove one of the two")
	case given:
		m.allocation.path = file
		m.allocation.places = readPlaces(o, file, m.nodes, read)
	case !o.has("shape") && !o.has("nodes"):
		o.doc.Fault(o.line, o.path, "gives neither shape nor nodes", allocationRemedy)
	}
	o.close("", nil)
	if m.allocation.shape == nil || m.topology == nil {
		return
	}
	g, ok := m.topology.(*gridSpec)
	if !ok {
		o.fault("shape", "is that of a part of a torus or mesh, and the topology is "+m.topology.kind(), "choose a torus or mesh, or list the places with nodes: FILE")
		return
	}
	if room, size := g.build(max(m.nodes, 1)).capacity(), product(m.allocation.shape); (g.dims != nil || m.nodes != 0) && size > room {
		o.fault("shape", fmt.Sprintf("is %d nodes, but the machine has %d", size, room), "give a shape that fits")
	}
}

// readPlaces reads a list of places, as parseNodeList does, from a file whose path is
// relative to the machine file.
func readPlaces(o *object, file string, nodes int, read func(path string) ([]byte, error)) []int32 {
	if read == nil {
		o.fault("nodes", "files cannot be read here", "remove it")
		return nil
	}
	if !slashpath.IsAbs(file) {
		file = slashpath.Join(slashpath.Dir(o.doc.File), file)
	}
	text, err := read(file)
	if err != nil {
		o.fault("nodes", err.Error(), "correct the path, which is relative to the machine file")
		return nil
	}
	places, faults := parseNodeList(file, string(text), nodes)
	if len(faults) == 0 && len(places) == 0 {
		faults = input.Faults{{File: file, Line: 1, What: "the file names no nodes", Remedy: "write the place of each node, in the order of nodes"}}
	}
	o.doc.Faults = append(o.doc.Faults, faults...)
	return places
}

// mostPlaces bounds the number of nodes in a list of places.
const mostPlaces = 1 << 24

// parseNodeList reads the places of the nodes of an allocation, in the order in which the mapping
// fills the nodes: a place or a range such as 16-31 in a line; # starts a comment. Places are from
// 0 to nodes-1, or unbounded if nodes is 0, and each occurs once.
func parseNodeList(file, text string, nodes int) (places []int32, faults input.Faults) {
	most := int64(1<<31 - 1)
	if nodes != 0 {
		most = min(most, int64(nodes)-1)
	}
	remedy := fmt.Sprintf("write a place from 0 to %d, or a range such as 16-31, in a line of its own", most)
	lines := map[int32]int{}
	line := 0
	for row := range strings.Lines(text) {
		line++
		row, _, _ = strings.Cut(row, "#")
		row = strings.TrimSpace(row)
		if row == "" {
			continue
		}
		fault := func(what, remedy string) {
			faults = append(faults, input.Fault{File: file, Line: line, Field: fmt.Sprintf("node %d", len(places)), What: what, Remedy: remedy})
		}
		from, to, isRange := parseRange(row, most)
		switch {
		case !isRange:
			fault(fmt.Sprintf("%q is no place", row), remedy)
			continue
		case to < from:
			fault(fmt.Sprintf("the range %s ends before it begins", row), "write the lower place first")
			continue
		case int64(len(places))+to-from >= mostPlaces:
			fault(fmt.Sprintf("there are more than %d nodes", mostPlaces), "list fewer")
			return places, faults
		}
		for place := int32(from); int64(place) <= to; place++ {
			if other, twice := lines[place]; twice {
				fault(fmt.Sprintf("place %d is that of another node, too, in line %d", place, other), "give each node a place of its own")
				break
			}
			lines[place] = line
			places = append(places, place)
		}
	}
	return places, faults
}

func (a allocation) given() bool { return a.shape != nil || a.path != "" }

func (a allocation) write(top *objectWriter) {
	if !a.given() {
		return
	}
	o := top.writer.object("allocation")
	if a.shape != nil {
		o.numbers("shape", a.shape)
	} else {
		o.text("nodes", a.path)
	}
	top.put("allocation", o.node)
}

// String returns the allocation in the form that WithAllocation reads, empty for none.
func (a allocation) String() string {
	if a.shape != nil {
		words := make([]string, len(a.shape))
		for i, n := range a.shape {
			words[i] = strconv.Itoa(n)
		}
		return strings.Join(words, "x")
	}
	if a.path != "" {
		return "file:" + a.path
	}
	return ""
}

// topology returns the topology that contains the nodes of the allocation.
func (a allocation) topology(s topologySpec) topologySpec {
	if g, ok := s.(*gridSpec); ok && a.shape != nil {
		return &gridSpec{wrap: g.wrap, dims: a.shape}
	}
	return s
}

// extent returns the number of places that hold the nodes of the allocation.
func (a allocation) extent() int { return int(slices.Max(a.places)) + 1 }
