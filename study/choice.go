package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/internal/spelling"
	"gigarank/internal/tuning"
	"gigarank/mpivirt"
	"gigarank/network"
)

// choice is one that a study compares: an algorithm, or a library that chooses algorithms.
type choice struct {
	algorithm collectives.Algorithm
	library   string         // its name; empty for an algorithm
	byMachine bool           // the library of each machine chooses
	table     *library.Table // nil for an algorithm, and for no library
	named     bool           // by the user: it is simulated whatever that takes
	reference bool           // the others are not compared with it, only drawn beside it
}

// fill sets the fields of a point that say what is chosen.
func (c *choice) fill(p *Point) {
	p.Algorithm, p.Library, p.LibraryDigest = "", c.library, ""
	switch {
	case c.byMachine:
		p.Algorithm = byDefault
	case c.table != nil:
		p.LibraryDigest = c.table.Digest()
	case c.library == "":
		p.Algorithm = c.algorithm.String()
	}
}

// servedBy reports whether a machine can carry the choice out.
func (c *choice) servedBy(op collectives.Operation, m *network.Machine) bool {
	return c.library != "" || slices.Contains(collectives.AlgorithmsOn(op, mpivirt.HardwareOf(m)), c.algorithm.Base())
}

// limit returns the expected wall time, in ns, above which points are left out.
func (c *choice) limit(quick bool) float64 {
	switch {
	case c.named:
		return math.Inf(1)
	case quick:
		return quickLimit
	}
	return defaultLimit
}

// noLibrary is the name of the curve of no library.
const noLibrary = "no library"

// Choice returns the name of the point's curve: that of its algorithm, or of the library that chooses algorithms.
func (p Point) Choice() string {
	switch p.Library {
	case "":
		return p.Algorithm
	case tuning.NoLibrary:
		return noLibrary
	}
	return p.Library
}

// Choose has a simulation of a point take the algorithm that the point names, or the choice of its library.
func (p *Plan) Choose(point Point, c *mpivirt.Config) {
	for _, one := range p.choices {
		var other Point
		switch one.fill(&other); {
		case other.Algorithm != point.Algorithm || other.Library != point.Library || other.LibraryDigest != point.LibraryDigest:
			continue
		case one.byMachine:
			c.Library = p.machines[point.MachineDigest]
		case one.table != nil:
			c.Library = one.table
		case one.library != "":
			c.Library = tuning.On(p.Machine(point))
		default:
			c.Algorithms = map[collectives.Operation]collectives.Algorithm{p.Operation: one.algorithm}
		}
		return
	}
	panic("study: a point of another plan")
}

// algorithmOf returns the algorithm that a point runs, and the bytes of the vector or block.
func (p *Plan) algorithmOf(point Point, target *network.Target) collectives.Algorithm {
	c := mpivirt.Config{Target: target}
	p.Choose(point, &c)
	count, size := elements(p.Operation, point.Payload, p.Datatype)
	return c.AlgorithmFor(p.Operation, count*size, size)
}

// compared returns the samples among which the fastest is sought: all but those of the reference.
func (p *Plan) compared(all []sample) []sample {
	i := slices.IndexFunc(p.choices, func(c choice) bool { return c.reference })
	if i < 0 {
		return all
	}
	return where(all, func(q Point) bool { return q.Choice() != p.Choices[i] })
}

// comparable returns the number of choices among which the fastest is sought.
func (p *Plan) comparable() int {
	n := 0
	for _, c := range p.choices {
		if !c.reference {
			n++
		}
	}
	return n
}

// noun returns the word for what the study compares.
func (p *Plan) noun() string {
	algorithms := slices.ContainsFunc(p.choices, func(c choice) bool { return c.library == "" })
	libraries := slices.ContainsFunc(p.choices, func(c choice) bool { return c.library != "" && !c.reference })
	switch {
	case p.Program != nil:
		return "library"
	case algorithms && libraries:
		return "choice"
	case libraries:
		return "library"
	}
	return "algorithm"
}

// allAlgorithms stands for all algorithms in --algorithms.
const allAlgorithms = "all"

// seldom are algorithms that a study shows only if they are named: those of one library, those that are the same as
// another unless they have arguments, and those that only small numbers of ranks make use of.
var seldom = []collectives.Algorithm{
	collectives.SMP, collectives.SMPRabenseifner, collectives.HAN, // of one library
	collectives.ReduceBcast, collectives.LinearSync, collectives.LinearNonblocking, collectives.SplitBinary, collectives.InOrderBinary,
	collectives.BinomialDoubling, collectives.PairwiseExchange, collectives.Spread, // likewise
	collectives.RingSegmented, collectives.RecursiveMultiplying, collectives.KBruck, collectives.Pipeline, collectives.Chain, // without arguments
	collectives.DoubleRing, collectives.AllgatherReduce, collectives.Butterfly, // few ranks
}

// choices reads the algorithms and the libraries.
func (r *reader) choices(p *Plan) {
	switch {
	case p.Program == nil:
		defer func() { r.noteHardware(p) }()
	case r.axes.Libraries == "":
		r.byMachine(p)
	}
	if p.Program == nil && (r.axes.Algorithms != "" || r.axes.Libraries == "") {
		r.algorithms(p)
	}
	if r.axes.Libraries != "" {
		r.libraries(p)
	}
	for _, c := range p.choices {
		var point Point
		c.fill(&point)
		if name := point.Choice(); !slices.Contains(p.Choices, name) {
			p.Choices = append(p.Choices, name)
		} else {
			r.fault("--library", fmt.Errorf("two libraries, or a library and an algorithm, are named %s: change name in the file", name))
		}
	}
}

func (r *reader) algorithms(p *Plan) {
	all := collectives.AlgorithmsOn(p.Operation, p.hardware())
	add := func(a collectives.Algorithm, named bool) {
		if !slices.ContainsFunc(p.choices, func(c choice) bool { return c.algorithm == a }) {
			p.choices = append(p.choices, choice{algorithm: a, named: named})
		}
	}
	if r.axes.Algorithms == "" || r.axes.Algorithms == allAlgorithms {
		for _, a := range all {
			if r.axes.Algorithms == allAlgorithms || !slices.Contains(seldom, a) {
				add(a, false)
			}
		}
		return
	}
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.String()
	}
	for _, text := range splitNames(r.axes.Algorithms) {
		name, _, _ := strings.Cut(text, ":")
		if !slices.Contains(names, name) {
			r.fault("--algorithms", fmt.Errorf("%s has no algorithm %q: %s", p.Operation, name, spelling.Choices(name, append(names, allAlgorithms))))
			continue
		}
		if a, err := collectives.ParseAlgorithm(p.Operation, text); r.check("--algorithms", err) {
			add(a, true)
		}
	}
}

// libraries reads the libraries, and adds no library to them, with which they are compared.
func (r *reader) libraries(p *Plan) {
	without := choice{library: tuning.NoLibrary, reference: true}
	names := splitNames(r.axes.Libraries)
	for _, name := range names {
		if name == tuning.NoLibrary {
			without.named, without.reference = true, false
			continue
		}
		table, err := library.Load(name, r.read)
		if r.check("--library", err) {
			p.choices = append(p.choices, choice{library: table.Name(), table: table, named: true})
		}
	}
	p.choices = append(p.choices, without)
}
