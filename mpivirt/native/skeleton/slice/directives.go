package slice

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/graph"
	"gigarank/mpivirt/native/skeleton/ir"
)

// Directive is an assumption about data, by a line of the source.
type Directive struct {
	Place string // of the directive, for messages
	Kind  string // branch or payload
	File  string
	Line  int
	Value string
}

// values are the values of directives, by kind.
var values = map[string][]string{
	"branch":  {"never", "always"}, // the branch leaves its loop, or runs what it guards
	"payload": {"unused"},          // nobody's course depends on what the call receives
}

// String returns the directive as it is written.
func (d *Directive) String() string {
	return fmt.Sprintf("%s %s:%d %s", d.Kind, d.File, d.Line, d.Value)
}

// ParseDirectives returns the directives of a file: one on a line, and comments behind #. The error has all faults.
func ParseDirectives(name, text string) (all []*Directive, err error) {
	var faults []error
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		d := &Directive{Place: fmt.Sprintf("%s:%d", name, n+1), Kind: fields[0]}
		if err := d.read(fields); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", d.Place, err))
			continue
		}
		for _, other := range all {
			if other.Kind == d.Kind && other.File == d.File && other.Line == d.Line {
				faults = append(faults, fmt.Errorf("%s: %s:%d has a directive %s already, at %s: leave one of the two out", d.Place, d.File, d.Line, d.Kind, other.Place))
			}
		}
		all = append(all, d)
	}
	return all, errors.Join(faults...)
}

// read reads the words of a directive.
func (d *Directive) read(fields []string) error {
	known := values[d.Kind]
	if known == nil {
		return fmt.Errorf("%q is no directive: use branch FILE:LINE never, branch FILE:LINE always, or payload FILE:LINE unused", d.Kind)
	}
	if len(fields) != 3 {
		return fmt.Errorf("%d words: write %s FILE:LINE %s", len(fields), d.Kind, strings.Join(known, "|"))
	}
	colon := strings.LastIndexByte(fields[1], ':')
	n, err := strconv.Atoi(fields[1][colon+1:])
	if colon < 1 || err != nil || n < 1 {
		return fmt.Errorf("%q is no FILE:LINE", fields[1])
	}
	if d.Value = fields[2]; !slices.Contains(known, d.Value) {
		return fmt.Errorf("%q is no value of %s: use %s", d.Value, d.Kind, strings.Join(known, " or "))
	}
	d.File, d.Line = path.Clean(fields[1][:colon]), n
	return nil
}

// names reports whether the directive names the line of an instruction.
func (d *Directive) names(m *ir.Module, i *ir.Instr) bool {
	p := m.Position(i)
	return p != nil && p.Line == d.Line && (p.File == d.File || strings.HasSuffix(p.File, "/"+d.File))
}

// operand is a place of an operand.
type operand struct {
	of *ir.Instr
	n  int
}

// assume has the conditions and calls that directives name be what these say, and refuses directives that name nothing.
func (s *Slice) assume() {
	for _, d := range s.directives {
		met := 0
		for _, f := range s.m.Functions() {
			g := s.graphs[f]
			if g == nil {
				continue
			}
			loops := g.Loops()
			for n, b := range g.Blocks {
				if d.Kind == "branch" {
					met += s.assumeBranch(d, g, loops, n)
					continue
				}
				for _, i := range b.Instrs {
					if e := effectOf(i); e != nil && e.Group != "" && d.names(s.m, i) {
						s.unused[i] = true
						met++
					}
				}
			}
		}
		if met == 0 {
			what := map[string]string{"branch": "branch on a condition", "payload": "call that receives messages"}[d.Kind]
			s.refusals = append(s.refusals, fmt.Errorf("%s: the directive %s names a line without a %s: the source has changed, or the compiler has left it out", d.Place, d, what))
		}
	}
}

// needs reports whether the slice keeps a branch that a directive names, leaves out its way to the end of a run that fails, or keeps the content that a call receives.
func (s *Slice) needs(d *Directive) (needed bool) {
	s.each(func(_ *ir.Function, i *ir.Instr) {
		switch {
		case d.Kind == "branch":
			at := operand{i, 0}
			needed = needed || i.Op == ir.Br && len(i.Targets) == 2 && (s.kept[i] != nil || slices.Contains(s.ends, i)) && s.isNamed(d, at, at)
		case i.Op == ir.Call && d.names(s.m, i):
			e := effectOf(i)
			for n := range i.Args() {
				needed = needed || e != nil && e.Role(n).Payload() && e.Role(n) != effects.Sent && s.isNeeded(e.Group, s.kindOf(i, e, n))
			}
		}
	})
	return needed
}

// assumeBranch has the branch that ends a node go where a directive says, if this names it or a part of its condition, and returns the number of
// conditions for which it has.
func (s *Slice) assumeBranch(d *Directive, g *graph.Graph, loops []*graph.Loop, n int) int {
	last := g.Blocks[n].Last()
	if last.Op != ir.Br || len(last.Targets) != 2 || last.Targets[0] == last.Targets[1] {
		return 0
	}
	at := operand{last, 0}
	if !s.isNamed(d, at, at) {
		return 0
	}
	way, err := wayOf(d, g, loops, n)
	if err != nil {
		s.refusals = append(s.refusals, fmt.Errorf("%s: %w", d.Place, err))
		return 1
	}
	named := s.namedParts(d, at, at, int64(1-way))
	for _, part := range named {
		if part == at {
			s.closed[last] = 1 - way
		}
		s.assumed[part] = ir.Number(part.of.Operands[part.n].Of(), int64(1-way))
	}
	return len(named)
}

// isNamed reports whether a directive names a condition of a branch, or one of its parts.
func (s *Slice) isNamed(d *Directive, branch, at operand) bool {
	l, is := at.of.Operands[at.n].(*ir.Local)
	if !is || l.Def == nil {
		return d.names(s.m, at.of)
	}
	if parts, _ := partsOf(l.Def); parts != nil {
		return slices.ContainsFunc(parts, func(n int) bool { return s.isNamed(d, branch, operand{l.Def, n}) })
	}
	return s.namesCondition(d, branch, l)
}

// namesCondition reports whether a directive names a condition without parts, by its own line or as all of the condition of a branch, by the branch's.
func (s *Slice) namesCondition(d *Directive, branch operand, l *ir.Local) bool {
	return d.names(s.m, l.Def) || branch.of.Operands[0] == l && d.names(s.m, branch.of)
}

// namedParts returns the places of conditions that are to have a value as a directive says: the whole condition if a part of it with this value decides it, or
// if all parts are named, else the parts.
func (s *Slice) namedParts(d *Directive, branch, at operand, value int64) (named []operand) {
	l, is := at.of.Operands[at.n].(*ir.Local)
	if !is || l.Def == nil {
		return []operand{at}
	}
	parts, neutral := partsOf(l.Def)
	if parts == nil {
		return []operand{at}
	}
	met := 0
	for _, n := range parts {
		part := operand{l.Def, n}
		if !s.isNamed(d, branch, part) {
			continue
		}
		if met++; value != neutral || met == len(parts) {
			return []operand{at}
		}
		named = append(named, s.namedParts(d, branch, part, value)...)
	}
	return named
}

// partsOf returns the places of the conditions that a condition joins by "and" or "or", and the value with which one of them leaves the other to decide.
func partsOf(i *ir.Instr) (parts []int, neutral int64) {
	constant := func(n int, want int64) bool {
		got, is := ir.IntOf(i.Operands[n])
		return is && got == want
	}
	switch {
	case i.Result.Type.N != 1 || i.Result.Type.Kind != ir.Integer:
	case i.Op == ir.And:
		return []int{0, 1}, 1
	case i.Op == ir.Or:
		return []int{0, 1}, 0
	case i.Op == ir.Select && constant(2, 0):
		return []int{0, 1}, 1
	case i.Op == ir.Select && constant(1, 1):
		return []int{0, 2}, 0
	}
	return nil, 0
}

// wayOf returns the target of a branch that a directive chooses: "never" stays in the loop if the other way leaves it, else goes where the ways meet.
func wayOf(d *Directive, g *graph.Graph, loops []*graph.Loop, n int) (int, error) {
	stays := func(way int) bool { return false }
	for _, l := range slices.Backward(loops) {
		if slices.Contains(l.Nodes, n) {
			stays = func(way int) bool { return slices.Contains(l.Nodes, g.Node(g.Blocks[n].Last().Targets[way])) }
			break
		}
	}
	meets := func(way int) bool { return g.Node(g.Blocks[n].Last().Targets[way]) == g.Postdominators()[n] }
	for _, chosen := range []func(int) bool{stays, meets} {
		for way := range 2 {
			if chosen(way) && !chosen(1-way) {
				if d.Value == "always" {
					way = 1 - way
				}
				return way, nil
			}
		}
	}
	return 0, fmt.Errorf("the directive %s names a branch with two ways, neither of which leaves a loop or goes around a statement", d)
}

// isUnused reports whether a directive says that what a call receives is not needed.
func (s *Slice) isUnused(p *payload) bool { return s.unused[p.call] && p.role != effects.Sent }
