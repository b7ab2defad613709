package fit

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gigarank/internal/loggp"
	"gigarank/internal/spelling"
)

// Level names the units of ranks or of nodes within which a pair of ranks was measured. The zero value stands for the level of the
// node, or of the machine where the pair is on two nodes.
type Level struct {
	Name string
	Size int // of a unit: ranks where the pair is on one node, nodes where it is on two
}

// ParseLevel reads NAME:SIZE.
func ParseLevel(text string) (Level, error) {
	found := levelForm.FindStringSubmatch(text)
	if found == nil {
		return Level{}, fmt.Errorf("%q is no level such as socket:8 or leaf:16", text)
	}
	n, err := strconv.Atoi(found[2])
	if err != nil || n < 1 || n > 1<<30 {
		return Level{}, fmt.Errorf("%q is no number of ranks or nodes of a unit", found[2])
	}
	if found[1] == nodeLevel || found[1] == machineLevel {
		return Level{}, fmt.Errorf("level %s has no size: leave it out", found[1])
	}
	return Level{found[1], n}, nil
}

var levelForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):([0-9]+)$`)

// level is a level of the machine with what was measured there.
type level struct {
	Level
	near bool // within a node
	pair *loggp.Pair
}

// The names of the levels that have no size.
const (
	nodeLevel    = "node"
	machineLevel = "machine"
)

// delays finds the delays of each level, from the inside out.
func (f *fitter) delays() error {
	if err := f.findLevels(); err != nil {
		return err
	}
	for i := range f.levels {
		l := &f.levels[i]
		points, from := f.pingPongs(l)
		if len(points) == 0 && l.Size == 0 {
			points, from = f.rings(l.near)
		}
		if len(points) == 0 {
			continue
		}
		loggp.Lower(points)
		l.pair = &loggp.Pair{Delays: points}
		f.fact(l.title(), fmt.Sprintf("%s, %s to %s: %v to %v", spelling.Count(len(points), "size"), size(points[0].Bytes), size(points[len(points)-1].Bytes),
			duration(points[0].Seconds), duration(points[len(points)-1].Seconds)), from)
	}
	return f.fillLevels()
}

// findLevels lists the levels of the machine, without their delays.
func (f *fitter) findLevels() error {
	f.levels = []level{{Level: Level{Name: nodeLevel}, near: true}, {Level: Level{Name: machineLevel}}}
	for i := range f.series {
		s := &f.series[i]
		if s.Kind != Latency || s.Level == (Level{}) {
			continue
		}
		at := slices.IndexFunc(f.levels, func(l level) bool { return l.Name == s.Level.Name })
		switch {
		case at < 0:
			f.levels = append(f.levels, level{Level: s.Level, near: s.near()})
		case f.levels[at].Size != s.Level.Size || f.levels[at].near != s.near():
			return fmt.Errorf("%s:%d: level %s has another size, or lies on the other side of the node, in another output: give levels different names", s.File, s.Line, s.Level.Name)
		}
	}
	slices.SortStableFunc(f.levels, func(a, b level) int {
		switch {
		case a.near != b.near:
			return map[bool]int{true: -1, false: 1}[a.near]
		case (a.Size == 0) != (b.Size == 0):
			return map[bool]int{true: 1, false: -1}[a.Size == 0]
		}
		return cmp.Compare(a.Size, b.Size)
	})
	return nil
}

// fillLevels gives the node and the machine the delays of a neighbouring level where they have none.
func (f *fitter) fillLevels() error {
	known := func(l level) bool { return l.pair != nil }
	if !slices.ContainsFunc(f.levels, known) {
		return errors.New("nothing gives the delay of a message: give the output of osu_latency or IMB PingPong, or of all_reduce_perf")
	}
	for i := range f.levels {
		if l := &f.levels[i]; l.pair == nil {
			remedy := "osu_latency of two nodes with one rank each"
			if l.near {
				remedy = "osu_latency of two ranks of one node"
			}
			f.lacks(l.title(), "those of the nearest level that is known are taken", remedy)
		}
	}
	for i := 1; i < len(f.levels); i++ {
		if f.levels[i].pair == nil {
			f.levels[i].pair = f.levels[i-1].pair
		}
	}
	for i := len(f.levels) - 2; i >= 0; i-- {
		if f.levels[i].pair == nil {
			f.levels[i].pair = f.levels[i+1].pair
		}
	}
	f.inter = f.levels[len(f.levels)-1].pair
	f.intra = f.levels[slices.IndexFunc(f.levels, func(l level) bool { return l.near && l.Size == 0 })].pair
	return nil
}

// title names the level's delays.
func (l *level) title() string {
	switch {
	case l.Size == 0 && l.near:
		return "delays within a node"
	case l.Size == 0:
		return "delays between nodes"
	case l.near:
		return fmt.Sprintf("delays within a %s of %s", l.Name, spelling.Count(l.Size, "rank"))
	}
	return fmt.Sprintf("delays within a %s of %s", l.Name, spelling.Count(l.Size, "node"))
}

// of reports whether a table was measured at the level.
func (l *level) of(s *Series) bool {
	return s.near() == l.near && (s.Level.Name == l.Name || s.Level == (Level{}) && l.Size == 0)
}

// shortest returns the least delay of all levels.
func (f *fitter) shortest() float64 {
	least := f.inter.Delays[0].Seconds
	for _, l := range f.levels {
		least = min(least, l.pair.Delays[0].Seconds)
	}
	return least
}

// setLimit gives all levels an eager limit.
func (f *fitter) setLimit(bytes int64) {
	for _, l := range f.levels {
		l.pair.Rendezvous = &loggp.Rendezvous{EagerLimit: bytes}
	}
}

// writeLevels writes the levels as the entries of a machine file.
func (f *fitter) writeLevels(limit int64) string {
	var all []string
	for _, l := range f.levels {
		unit := ""
		if l.Size > 0 {
			unit = fmt.Sprintf("%s: %d, ", map[bool]string{true: "ranks", false: "nodes"}[l.near], l.Size)
		}
		all = append(all, fmt.Sprintf("{name: %q, %sdelays: %s}", l.Name, unit, l.pair.Table(2*duration(f.overhead), limit)))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// partner returns the nodes and the ranks a node of a job in which rank 0 and the partner, another rank, meet at the level of a
// table, and at none inside it.
func (f *fitter) partner(s *Series) (layout Layout, partner int) {
	inside := 1
	for i := range f.levels {
		l := &f.levels[i]
		if l.of(s) {
			break
		}
		if l.near == s.near() && l.Size > 0 {
			inside = l.Size
		}
	}
	if s.near() {
		return Layout{1, inside + 1}, inside
	}
	return Layout{inside + 1, 1}, inside
}
