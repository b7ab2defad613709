package study

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/internal/noise"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/vtime"
)

// Axes are the axes of a study, as its user writes them. An empty text stands for a
// default.
type Axes struct {
	Operation    string         // a collective operation that a program times
	Program      *Program       // in place of an operation
	Values       []string       // "size=100,200": values of {size} in the program's arguments
	Scaling      string         // StrongScaling or WeakScaling; default strong for a program in a file
	Ranks        string         // "2^10..2^20", "1K,4K", "2^10..2^30:x4"; up to 2^31-2
	RanksPerNode string         // a list; default the machine's
	Algorithms   string         // a list of names with arguments, or all; default those worth seeing that are not hopeless
	Libraries    string         // a list of names and files; none is added
	Payload      string         // "8..1Mi", in bytes; default the program's
	Machines     string         // a list of presets and files; default xt5
	Mapping      string         // a list of mappings; default the machine's
	Noise        []string       // as for run; the study without noise is added
	Seed         string         // a list; default 1
	Compute      string         // a time; default 0, or 1ms if there is noise
	Iterations   string         // default 1, or 10 if there is noise
	Datatype     bench.Datatype // of the elements of vectors; default the program's
	NoContents   bool           // messages and vectors have sizes only
	Quick        bool           // other defaults, for a study in under a minute
}

// The defaults. A default algorithm is left out at points whose expected wall time
// exceeds a limit. A named one never is.
const (
	defaultRanks   = "2^10..2^20"
	defaultMachine = "xt5"
	quickRanks     = "2^4..2^20:x4"
	quickPayload   = "8,1Ki,64Ki"
	defaultLimit   = 60e9  // ns
	quickLimit     = 1.5e9 // ns

	mostRanks = 1<<31 - 2 // of a simulation

	noisyCompute    = vtime.Millisecond
	noisyIterations = 10
)

// Plan is a study that has been checked. Its points are in the order in which they are
// simulated: that of growing cost, so that a time limit loses the fewest.
type Plan struct {
	Operation collectives.Operation // without a Program
	Program   *Program              // nil for an operation
	Entry     bench.Entry           // the program, or that which times the operation
	// Datatype is that of vectors, the program's default if it is zero.
	Datatype bench.Datatype
	// NoContents has messages and vectors have sizes only: results are the same, and take no memory for data.
	NoContents bool
	Points     []Point
	// Notes are remarks on the axes, each with its flag.
	Notes []string
	// LeftOut are the points of default algorithms that are expected to take too long.
	LeftOut []Point
	// TooLarge are the points that the caller leaves out because they do not fit the
	// memory.
	TooLarge []Point
	// Killed are the points that the caller leaves out because their simulation has been
	// killed, most likely for its memory.
	Killed []Point
	// The values of the axes, in the order in which they are shown.
	Ranks    []int64
	Payloads []int64
	Choices  []string           // algorithms and libraries
	Machines []*network.Machine // with mappings and ranks per node applied
	Noises   []string
	noises   map[string]noise.Spec
	Seeds    []uint64

	choices    []choice // in the order of Choices
	digests    map[*network.Machine]string
	variations []variation                    // of a program's arguments; one without a name if there is no axis
	strong     bool                           // the work is the same whatever the number of ranks
	machines   map[string]collectives.Library // the library of each machine by its digest, for a program without libraries
}

// digest returns the machine's digest, which takes a while to compute.
func (p *Plan) digest(m *network.Machine) string {
	d, known := p.digests[m]
	if !known {
		d = m.Digest()
		p.digests[m] = d
	}
	return d
}

// NoNoise stands for no noise.
const NoNoise = "none"

// NewPlan checks the axes and lays the points out. read reads the files that they name.
// Each fault goes to fault, with its flag. The plan is complete if there was none.
func NewPlan(axes Axes, read func(path string) ([]byte, error), fault func(flag string, err error)) *Plan {
	p := &Plan{Datatype: axes.Datatype, NoContents: axes.NoContents, digests: map[*network.Machine]string{}, variations: []variation{{}}}
	r := &reader{axes: axes, read: read, fault: fault}
	defer func() { p.Notes = r.notes }()
	known := r.subject(p)
	p.strong = r.strong(p)
	p.Ranks = r.ranks()
	p.Machines = r.machines()
	p.Noises, p.noises = r.noises()
	p.Seeds = r.seeds()
	noisy := len(p.Noises) > 1
	compute, iterations := r.compute(p, noisy), r.iterations(p, noisy)
	if compute > math.MaxInt64/2/vtime.Duration(max(iterations, 1)) {
		fault("--compute", fmt.Errorf("%v in each of %d iterations is more than virtual time has room for: use at most 53 days in all", compute, iterations))
	}
	if !known {
		return p
	}
	r.check("--contents", p.Entry.CheckContents(bench.Options{NoContents: p.NoContents}))
	r.check("--datatype", p.Entry.CheckDatatype(bench.Options{Datatype: p.Datatype, NoContents: p.NoContents}, slices.Max(append([]int64{1}, p.Ranks...))))
	for _, spec := range p.noises {
		r.check("--noise", p.Entry.CheckNoise(spec.Seeded(1)))
	}
	p.Payloads = r.payloads(p)
	r.choices(p)
	p.checkTargets(fault)
	p.layOut(p.common(compute, iterations), axes.Quick)
	if len(p.Points) == 0 && len(p.LeftOut) > 0 {
		fault("--algorithms", fmt.Errorf("every point is expected to take over %s: name the algorithms that are to be simulated all the same",
			formatWall((&choice{}).limit(axes.Quick)/1e9)))
	}
	return p
}

// common returns the fields that all points share.
func (p *Plan) common(compute vtime.Duration, iterations int) Point {
	point := Point{Datatype: p.Datatype.String(), Compute: compute, Iterations: iterations}
	if p.Program == nil {
		point.Operation = p.Operation.String()
		return point
	}
	point.Program, point.ProgramDigest = p.Program.Name, p.Program.Digest
	return point
}

// checkTargets reports machines on which numbers of ranks do not fit.
func (p *Plan) checkTargets(fault func(string, error)) {
	for _, m := range p.Machines {
		for _, ranks := range p.Ranks {
			if _, err := m.Target(ranks); err != nil {
				fault("--ranks", err)
			}
		}
	}
}

// layOut makes the points of all combinations. common holds their common fields.
func (p *Plan) layOut(common Point, quick bool) {
	type costly struct {
		Point
		cost float64
	}
	var points []costly
	p.combinations(common, func(point Point, c *choice) {
		cost := p.hostCost(point)
		if cost > c.limit(quick) {
			p.LeftOut = append(p.LeftOut, point)
			return
		}
		points = append(points, costly{point, cost})
	})
	slices.SortStableFunc(points, func(a, b costly) int { return cmp.Compare(a.cost, b.cost) })
	for _, point := range points {
		p.Points = append(p.Points, point.Point)
	}
}

func (p *Plan) combinations(point Point, visit func(Point, *choice)) {
	for _, m := range p.Machines {
		point.Machine, point.MachineDigest = m.Name(), p.digest(m)
		point.RanksPerNode, point.Mapping = m.RanksPerNode(), m.Mapping()
		for _, point.Noise = range p.Noises {
			for _, v := range p.variations {
				point.Varied = v.name
				for _, point.Payload = range p.Payloads {
					p.ofRanks(m, v, point, visit)
				}
			}
		}
	}
}

// ofRanks visits the points on a machine that differ by their ranks, choices and seeds.
func (p *Plan) ofRanks(m *network.Machine, v variation, point Point, visit func(Point, *choice)) {
	for _, point.Ranks = range p.Ranks {
		if p.Program != nil {
			point.Arguments = spelling.Quoted(p.Program.argumentsFor(v, point.Ranks))
			point.CPU = v.fill(p.Program.CPU, point.Ranks)
		}
		for i := range p.choices {
			c := &p.choices[i]
			if p.Program == nil && !c.servedBy(p.Operation, m) {
				continue
			}
			c.fill(&point)
			for _, point.Seed = range p.Seeds {
				visit(point, c)
			}
		}
	}
}

// Machine returns the machine of one of the plan's points.
func (p *Plan) Machine(point Point) *network.Machine {
	for _, m := range p.Machines {
		if p.digest(m) == point.MachineDigest {
			return m
		}
	}
	panic("study: a point of another plan")
}

// Noise returns the noise of a point.
func (p *Plan) Noise(point Point) noise.Spec { return p.noises[point.Noise] }

// Operations returns the operations that a study can take: a program times each of them.
func Operations() []string {
	var names []string
	for _, op := range collectives.Operations() {
		if _, err := bench.Lookup(bench.TimedBy(op)); err == nil {
			names = append(names, op.String())
		}
	}
	return names
}

// reader reads the axes.
type reader struct {
	axes  Axes
	notes []string // remarks on the axes, each with its flag
	read  func(path string) ([]byte, error)
	fault func(flag string, err error)
}

// note returns a function that takes a remark on a flag.
func (r *reader) note(flag string) func(string) {
	return func(text string) { r.notes = append(r.notes, flag+": "+text) }
}

// check reports a fault if err is one, and returns whether there is none.
func (r *reader) check(flag string, err error) bool {
	if err != nil {
		r.fault(flag, err)
	}
	return err == nil
}

// subject reads what is studied. It reports whether it is known.
func (r *reader) subject(p *Plan) bool {
	if r.axes.Program != nil {
		known := r.program(p)
		r.ownFlags(p)
		return known
	}
	if len(r.axes.Values) > 0 {
		r.fault("--arg", errors.New("a study of an operation has no arguments: name a program, or leave the flag out"))
	}
	return r.operation(p)
}

func (r *reader) operation(p *Plan) bool {
	names := Operations()
	for _, op := range collectives.Operations() {
		if op.String() == r.axes.Operation && slices.Contains(names, op.String()) {
			p.Operation = op
			p.Entry, _ = bench.Lookup(bench.TimedBy(op))
			return true
		}
	}
	r.fault("OPERATION", fmt.Errorf("unknown operation %q: %s", r.axes.Operation, spelling.Choices(r.axes.Operation, names)))
	return false
}

func (r *reader) ranks() []int64 {
	text := r.axes.Ranks
	if text == "" && r.axes.Quick {
		text = quickRanks
	} else if text == "" {
		text = defaultRanks
	}
	values, _ := r.axis("--ranks", text, "2^10..2^20 or 1K,4K", bounded(quantity.ParseCount, 1, mostRanks))
	return values
}

// axis reads the values of a flag. It reports false after faults.
func (r *reader) axis(flag, text, example string, one func(string) (int64, error)) ([]int64, bool) {
	values, faults := parseAxis(text, example, one, r.note(flag))
	for _, fault := range faults {
		r.fault(flag, fault)
	}
	return values, len(faults) == 0
}

// bounded reads a number from least to most.
func bounded(parse func(string) (int64, error), least, most int64) func(string) (int64, error) {
	return func(text string) (int64, error) {
		n, err := parse(text)
		switch {
		case err != nil:
			return 0, err
		case n < least:
			return 0, fmt.Errorf("%s is too small: use at least %d", text, least)
		case n > most:
			return 0, fmt.Errorf("%s is too large: use at most %d", text, most)
		}
		return n, nil
	}
}

func (r *reader) payloads(p *Plan) []int64 {
	if p.Program == nil && p.Operation == collectives.Barrier {
		if r.axes.Payload != "" {
			r.fault("--payload", errors.New("a barrier carries no data: leave the flag out"))
		}
		return []int64{0}
	}
	text := r.axes.Payload
	if text == "" && r.axes.Quick && p.Program == nil {
		text = quickPayload
	} else if text == "" {
		return []int64{p.Entry.Defaults.Payload}
	}
	values, right := r.axis("--payload", text, "8..1Mi or 8,64Ki", bounded(quantity.ParseSize, 0, math.MaxInt64))
	if right && p.Entry.Build != nil {
		for _, payload := range values {
			o := bench.Options{Iterations: 1, Payload: payload, Datatype: p.Datatype, NoContents: p.NoContents}
			_, err := p.Entry.Build(o)
			r.check("--payload", err)
		}
	}
	return values
}

// noteHardware says that algorithms of some machines' hardware are simulated on these only.
func (r *reader) noteHardware(p *Plan) {
	for _, of := range []struct {
		algorithm collectives.Algorithm
		lacks     string
	}{{collectives.GivenTime, "gives no time of a barrier"}, {collectives.Offload, "gives no collectives that the network carries out"},
		{collectives.TorusTrees, "gives no writes along the links of a torus by one rank a node"}, {collectives.TorusRings, "gives no writes along the links of a torus by one rank a node"},
		{collectives.TorusDirect, "gives no writes along the links of a torus by one rank a node"}, {collectives.TorusSpread, "gives no writes along the links of a torus by one rank a node"}} {
		a, lacks := of.algorithm, of.lacks
		i := slices.IndexFunc(p.Machines, func(m *network.Machine) bool {
			return !slices.Contains(collectives.AlgorithmsOn(p.Operation, mpivirt.HardwareOf(m)), a)
		})
		if i >= 0 && slices.Contains(p.Choices, a.String()) {
			r.note("--algorithms")(fmt.Sprintf("%v is left out on %s, whose file %s", a, p.Machines[i].Name(), lacks))
		}
	}
}

// hardware returns what any of the machines carries out by itself.
func (p *Plan) hardware() (h collectives.Hardware) {
	for _, m := range p.Machines {
		own := mpivirt.HardwareOf(m)
		h.Barrier, h.Offload, h.Torus = h.Barrier || own.Barrier, h.Offload || own.Offload, h.Torus || own.Torus
	}
	return h
}

// machines returns each machine with each mapping and number of ranks per node.
func (r *reader) machines() []*network.Machine {
	text := r.axes.Machines
	if text == "" {
		text = defaultMachine
	}
	var machines []*network.Machine
	for _, name := range splitNames(text) {
		m, err := network.Load(name, r.read)
		if r.check("--machine", err) {
			machines = append(machines, m)
		}
	}
	machines = distinct(machines)
	r.checkNames(machines)
	machines = r.mapped(machines)
	machines = r.filled(machines)
	return distinct(machines)
}

// distinct keeps the first of equal machines.
func distinct(machines []*network.Machine) []*network.Machine {
	seen := map[string]bool{}
	var kept []*network.Machine
	for _, m := range machines {
		if digest := m.Digest(); !seen[digest] {
			seen[digest] = true
			kept = append(kept, m)
		}
	}
	return kept
}

// checkNames reports different machines of one name: curves and tables name machines by
// it.
func (r *reader) checkNames(machines []*network.Machine) {
	count := map[string]int{}
	for _, m := range machines {
		if count[m.Name()]++; count[m.Name()] == 2 {
			r.fault("--machine", fmt.Errorf("two machines are named %s: change name in one of the files", m.Name()))
		}
	}
}

func (r *reader) mapped(machines []*network.Machine) []*network.Machine {
	if r.axes.Mapping == "" {
		return machines
	}
	var variants []*network.Machine
	if len(machines) == 0 { // all are faulty: the mapping is still checked
		m, _ := network.Load(defaultMachine, r.read)
		machines = []*network.Machine{m}
	}
	faults := map[string]bool{}
	for _, m := range machines {
		for _, mapping := range splitNames(r.axes.Mapping) {
			variant, err := m.WithMapping(mapping, r.read)
			if err == nil {
				variants = append(variants, variant)
			} else if !faults[mapping] {
				faults[mapping] = true
				r.fault("--mapping", err)
			}
		}
	}
	return variants
}

func (r *reader) filled(machines []*network.Machine) []*network.Machine {
	if r.axes.RanksPerNode == "" {
		return machines
	}
	values, right := r.axis("--ranks-per-node", r.axes.RanksPerNode, "1,12 or 1..64", bounded(quantity.ParseCount, 1, math.MaxInt32))
	if !right {
		return nil
	}
	var variants []*network.Machine
	for _, m := range machines {
		for _, n := range values {
			variant, err := m.WithRanksPerNode(int(n))
			if r.check("--ranks-per-node", err) {
				variants = append(variants, variant)
			}
		}
	}
	return variants
}

// noises returns the noises by name. None is always the first.
func (r *reader) noises() (names []string, noises map[string]noise.Spec) {
	names, noises = []string{NoNoise}, map[string]noise.Spec{NoNoise: {}}
	for _, spec := range r.axes.Noise {
		noise, err := noise.Parse(spec, r.read)
		if !r.check("--noise", err) {
			continue
		}
		if _, known := noises[noise.String()]; !known {
			names = append(names, noise.String())
			noises[noise.String()] = noise
		}
	}
	return names, noises
}

func (r *reader) seeds() []uint64 {
	if r.axes.Seed == "" {
		return []uint64{1}
	}
	var seeds []uint64
	for _, text := range splitNames(r.axes.Seed) {
		seed, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			r.fault("--seed", fmt.Errorf("%q is not a seed: use a whole number from 0 to 2^64-1", text))
		}
		if !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

func (r *reader) compute(p *Plan, noisy bool) vtime.Duration {
	if r.axes.Compute == "" {
		if p.Program != nil {
			return p.Entry.Defaults.Compute
		}
		if noisy {
			return noisyCompute
		}
		return 0
	}
	d, err := vtime.ParseDuration(r.axes.Compute)
	switch {
	case err != nil:
	case d < 0:
		err = fmt.Errorf("%s is negative: use a time of at least 0", r.axes.Compute)
	case d == 0 && noisy:
		err = errors.New("noise lengthens compute phases: use a time above 0, or leave --noise out")
	}
	r.check("--compute", err)
	return d
}

func (r *reader) iterations(p *Plan, noisy bool) int {
	if r.axes.Iterations == "" {
		if p.Program != nil {
			return p.Entry.Defaults.Iterations
		}
		if noisy {
			return noisyIterations
		}
		return 1
	}
	n, err := bounded(quantity.ParseCount, 1, math.MaxInt32)(r.axes.Iterations)
	r.check("--iterations", err)
	return int(n)
}
