package study

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/internal/spelling"
	"gigarank/internal/tuning"
)

// Program is a program that a study simulates in place of a collective operation.
type Program struct {
	Name   string // of gigarank list, or a path
	Digest string // the SHA-256 of its file in hexadecimal; empty for a program of gigarank list
	// Arguments are those of its command line. {ranks} stands for the number of ranks, and {NAME} for the value of
	// an axis.
	Arguments []string
	// CPU says how CPU times of ranks count: empty if they do not, [MeasuredCPU], or replayed and the name of a
	// recording, in which {ranks} and {NAME} stand for values too.
	CPU string
	// Open returns the program with arguments.
	Open func(arguments []string) (bench.Entry, error)
}

// MeasuredCPU is the CPU of programs whose CPU times are measured.
const MeasuredCPU = "measured"

// inFile reports whether the program is named by its path.
func (g *Program) inFile() bool { return strings.ContainsRune(g.Name, '/') }

// The values of Axes.Scaling.
const (
	StrongScaling = "strong" // the work is the same whatever the number of ranks
	WeakScaling   = "weak"   // the work of each rank is
)

// byDefault is the name of the only curve of a program without libraries: the machine's library chooses algorithms.
const byDefault = "default"

// variation is a combination of values of a program's own axes.
type variation struct {
	name   string // "size=100, steps=2"; empty if there are no such axes
	values map[string]string
}

// placeholder is a name in an argument that stands for a value.
var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// ranksPlaceholder is the name that stands for the number of ranks.
const ranksPlaceholder = "ranks"

// fill returns a text with values in place of names.
func (v variation) fill(text string, ranks int64) string {
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		if name = name[1 : len(name)-1]; name == ranksPlaceholder {
			return strconv.FormatInt(ranks, 10)
		}
		return v.values[name]
	})
}

// program reads the axes of a program, and opens it once. It reports whether it is known.
func (r *reader) program(p *Plan) bool {
	p.Program = r.axes.Program
	p.variations = r.variations(p.Program)
	var err error
	p.Entry, err = p.Program.Open(p.Program.argumentsFor(p.variations[0], 1))
	if !r.check("PROGRAM", err) || p.Program.inFile() {
		return err == nil
	}
	for _, v := range p.variations[1:] { // a file says what is wrong with its arguments when it runs
		_, err := p.Program.Open(p.Program.argumentsFor(v, 1))
		r.check("ARGUMENT", err)
	}
	return true
}

// argumentsFor returns the arguments of a point.
func (g *Program) argumentsFor(v variation, ranks int64) []string {
	var all []string
	for _, text := range g.Arguments {
		all = append(all, v.fill(text, ranks))
	}
	return all
}

// variations returns each combination of the values of a program's own axes, the last axis varying fastest.
func (r *reader) variations(g *Program) []variation {
	all := []variation{{}}
	named := map[string]bool{ranksPlaceholder: true}
	for _, text := range r.axes.Values {
		name, list, paired := strings.Cut(text, "=")
		switch {
		case !paired || list == "" || !placeholder.MatchString("{"+name+"}"):
			r.fault("--arg", fmt.Errorf("%q is not NAME=VALUE,VALUE…, such as size=100,200", text))
			continue
		case named[name]:
			r.fault("--arg", fmt.Errorf("%s has values already: give an axis once, and another name to another", name))
			continue
		}
		named[name] = true
		all = crossed(all, name, splitNames(list))
		if !slices.ContainsFunc(append(slices.Clone(g.Arguments), g.CPU), func(text string) bool { return strings.Contains(text, "{"+name+"}") }) {
			r.fault("--arg", fmt.Errorf("no ARGUMENT of the program has {%s}, for which the values of %s stand", name, name))
		}
	}
	for _, text := range append(slices.Clone(g.Arguments), g.CPU) {
		for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
			if !named[found[1]] {
				r.fault("--arg", fmt.Errorf("%q has {%s}, which has no values: give them by --arg %s=VALUE,VALUE…", text, found[1], found[1]))
			}
		}
	}
	return all
}

// crossed returns the combinations of some variations with each value of one more axis.
func crossed(before []variation, name string, values []string) []variation {
	var all []variation
	for _, v := range before {
		for _, value := range values {
			one := variation{name: name + "=" + value, values: map[string]string{name: value}}
			if v.name != "" {
				one.name = v.name + ", " + one.name
			}
			maps.Copy(one.values, v.values)
			all = append(all, one)
		}
	}
	return all
}

// variationOf returns the variation of one of the plan's points.
func (p *Plan) variationOf(point Point) variation {
	i := slices.IndexFunc(p.variations, func(v variation) bool { return v.name == point.Varied })
	if i < 0 {
		panic("study: a point of another plan")
	}
	return p.variations[i]
}

// Arguments returns the arguments of the program at a point.
func (p *Plan) Arguments(point Point) []string {
	return p.Program.argumentsFor(p.variationOf(point), point.Ranks)
}

// Fill returns a text with the values of a point in place of {ranks} and {NAME}.
func (p *Plan) Fill(text string, point Point) string {
	return p.variationOf(point).fill(text, point.Ranks)
}

// alone reports whether the study has a single curve in each setting, that of a program.
func (p *Plan) alone() bool { return p.Program != nil && len(p.Choices) == 1 }

// Subject returns the operation or the program that is studied.
func (p *Plan) Subject() string {
	if p.Program != nil {
		return p.Program.Name
	}
	return p.Operation.String()
}

// Subject returns the operation or the program of the point.
func (p Point) Subject() string {
	if p.Program != "" {
		return p.Program
	}
	return p.Operation
}

// strong reports whether the work is the same whatever the number of ranks.
func (r *reader) strong(p *Plan) bool {
	switch r.axes.Scaling {
	case "":
		return p.Program != nil && p.Program.inFile()
	case StrongScaling, WeakScaling:
	default:
		r.fault("--scaling", fmt.Errorf("unknown scaling %q: %s", r.axes.Scaling, spelling.Choices(r.axes.Scaling, []string{StrongScaling, WeakScaling})))
	}
	return r.axes.Scaling == StrongScaling
}

// byMachine adds the only choice of a program without libraries.
func (r *reader) byMachine(p *Plan) {
	p.machines = map[string]collectives.Library{}
	for _, m := range p.Machines {
		chooser, err := tuning.Library("", m, r.read)
		if r.check("--machine", err) {
			p.machines[p.digest(m)] = chooser
		}
	}
	p.choices = append(p.choices, choice{byMachine: true, named: true})
}

// ownFlags reports flags that a program does not take.
func (r *reader) ownFlags(p *Plan) {
	if r.axes.Algorithms != "" {
		r.fault("--algorithms", errors.New("the algorithms of a program's operations are chosen by a library: write a table of your own and name its file by --library"))
	}
	if !p.Program.inFile() {
		return
	}
	for _, of := range []struct{ flag, value string }{{"--iterations", r.axes.Iterations}, {"--compute", r.axes.Compute}, {"--payload", r.axes.Payload}} {
		if of.value != "" {
			r.fault(of.flag, fmt.Errorf("%s takes arguments of its own: give them after its name", p.Program.Name))
		}
	}
}
