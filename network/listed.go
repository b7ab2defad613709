package network

import (
	"encoding/binary"
	"fmt"
	"math"
	slashpath "path"
	"slices"
	"strconv"
	"strings"

	"gigarank/internal/input"
	"gigarank/internal/spelling"
)

// listed takes the node of each rank from a file.
type listed struct {
	path   string  // as written
	places []int32 // by rank
}

var fileKind = mappingKind{
	name:     "file",
	argument: "PATH",
	examples: []string{"file:places"},
	parse: func(r *mappingReader) mapping {
		m := listed{path: r.argument}
		if m.path == "" {
			r.fault("names no file", r.remedy)
			return m
		}
		m.places = r.places()
		return m
	},
}

func (m listed) String() string { return "file:" + m.path }

// content returns the listed nodes as bytes, for Digest.
func (m listed) content() (text []byte) {
	for _, place := range m.places {
		text = binary.LittleEndian.AppendUint32(text, uint32(place))
	}
	return text
}

// places reads the file that the argument names.
func (r *mappingReader) places() []int32 {
	if r.read == nil {
		r.fault("files cannot be read here", "use block, cyclic or random:SEED")
		return nil
	}
	file := r.argument
	if !slashpath.IsAbs(file) {
		file = slashpath.Join(slashpath.Dir(r.top.doc.File), file)
	}
	text, err := r.read(file)
	if err != nil {
		remedy := "correct the path"
		switch {
		case slashpath.IsAbs(r.argument):
		case r.top.doc.File == "":
			remedy += ", which is relative to the working directory"
		default:
			remedy += ", which is relative to the machine file"
		}
		r.fault(err.Error(), remedy)
		return nil
	}
	places, faults := parsePlaces(file, string(text), r.nodes)
	if len(faults) == 0 && len(places) == 0 {
		faults = input.Faults{{File: file, Line: 1, What: "the file names no nodes", Remedy: "write the number of each rank's node, in the order of ranks"}}
	}
	r.top.doc.Faults = append(r.top.doc.Faults, faults...)
	return places
}

// parsePlaces reads a mapping file: the number of each rank's node, in the order of ranks, one in a
// line; # starts a comment. Numbers are from 0 to nodes-1, or unbounded if nodes is 0. A line with
// several numbers is a fault: it may belong to a table of ranks and nodes.
func parsePlaces(file, text string, nodes int) ([]int32, input.Faults) {
	most := int64(math.MaxInt32)
	if nodes != 0 {
		most = min(most, int64(nodes)-1)
	}
	var places []int32
	var faults input.Faults
	line := 0
	for row := range strings.Lines(text) {
		line++
		row, _, _ = strings.Cut(row, "#")
		words := strings.Fields(row)
		if len(words) > 1 {
			faults = append(faults, input.Fault{File: file, Line: line, Field: fmt.Sprintf("rank %d", len(places)), What: fmt.Sprintf("the line has %s", spelling.Count(len(words), "column")),
				Remedy: "write the number of the rank's node alone; the first line is that of rank 0"})
			places = append(places, 0)
			continue
		}
		for _, word := range words {
			place, err := strconv.ParseInt(word, 10, 32)
			if err != nil || place < 0 || place > most {
				faults = append(faults, input.Fault{File: file, Line: line, Field: fmt.Sprintf("rank %d", len(places)),
					What: fmt.Sprintf("%q is not the number of a node", word), Remedy: fmt.Sprintf("write one from 0 to %d", most)})
			}
			places = append(places, int32(place))
		}
	}
	return places, faults
}

func (m listed) layOut(ranks, perNode, _ int) (layout, error) {
	if ranks > len(m.places) {
		return nil, fmt.Errorf("mapping %s gives the nodes of %s, but there are %d: add a line for each rank",
			m, spelling.Count(len(m.places), "rank"), ranks)
	}
	l := newListing(m.places[:ranks])
	for node := range l.places {
		if n := l.size(node); n > perNode {
			return nil, fmt.Errorf("mapping %s puts %s on node %d, but ranks_per_node is %d: raise it, or move ranks",
				m, spelling.Count(n, "rank"), l.places[node], perNode)
		}
	}
	return l, nil
}

// listing is the layout of file.
type listing struct {
	nodeOf          []int32 // by rank
	places          []int32 // by node
	start           []int32 // by node: its first index in members; one more at the end
	members         []int32 // ranks by node, ascending
	least, greatest int     // node size
}

// newListing lays out ranks with the given places.
func newListing(places []int32) *listing {
	l := &listing{nodeOf: make([]int32, len(places)), members: make([]int32, len(places)), least: len(places)}
	for r := range l.members {
		l.members[r] = int32(r)
	}
	slices.SortStableFunc(l.members, func(a, b int32) int { return int(places[a]) - int(places[b]) })
	for i, r := range l.members {
		if i == 0 || places[r] != l.places[len(l.places)-1] {
			l.places = append(l.places, places[r])
			l.start = append(l.start, int32(i))
		}
		l.nodeOf[r] = int32(len(l.places) - 1)
	}
	l.start = append(l.start, int32(len(places)))
	for node := range l.places {
		l.least, l.greatest = min(l.least, l.size(node)), max(l.greatest, l.size(node))
	}
	return l
}

func (l *listing) nodes() int               { return len(l.places) }
func (l *listing) node(rank int) int        { return int(l.nodeOf[rank]) }
func (l *listing) place(node int) int       { return int(l.places[node]) }
func (l *listing) size(node int) int        { return int(l.start[node+1] - l.start[node]) }
func (l *listing) sizes() (least, most int) { return l.least, l.greatest }
func (l *listing) member(node, k int) int   { return int(l.members[int(l.start[node])+k]) }

func (l *listing) index(rank int) int {
	node := l.nodeOf[rank]
	i, _ := slices.BinarySearch(l.members[l.start[node]:l.start[node+1]], int32(rank))
	return i
}

func (l *listing) meeting(a, b, c, d int) (same, different bool) {
	return unknownMeeting(l, l.greatest, a, b, c, d)
}
