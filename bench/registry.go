package bench

import (
	"fmt"
	"slices"
	"strings"

	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/vtime"
)

// None stands for no compute phase in Options.Compute and for no bytes in
// Options.Payload, where zero stands for the program's default.
const None = -1

// Options are the options of every program. A zero field stands for the program's
// default.
type Options struct {
	Iterations int            // timed repetitions, at least 1
	Compute    vtime.Duration // virtual compute time before each repetition; None for none
	Payload    int64          // bytes of each message or of each rank's contribution; None for none
	Datatype   Datatype       // of the elements of vectors; the program's default if it is zero
	NoContents bool           // messages and vectors have sizes, but no memory
	Own        any            // what the program's own arguments give, see [Entry.ReadArguments]; nil for the defaults
}

// or replaces zeros in o by the defaults, and None by zero.
func (o Options) or(defaults Options) Options {
	if o.Iterations == 0 {
		o.Iterations = defaults.Iterations
	}
	if o.Compute == 0 {
		o.Compute = defaults.Compute
	}
	if o.Payload == 0 {
		o.Payload = defaults.Payload
	}
	if o.Own == nil {
		o.Own = defaults.Own
	}
	o.Compute, o.Payload = max(o.Compute, 0), max(o.Payload, 0)
	return o
}

// evenly returns the compute time before each repetition, the same for all ranks, as a
// [mpivirt.Use] has it.
func (o Options) evenly() func(rank, time int) vtime.Duration {
	return func(int, int) vtime.Duration { return o.Compute }
}

// faults returns the faults of o, before the defaults are filled in.
func (o Options) faults() (faults []string) {
	if o.Iterations < 0 {
		faults = append(faults, fmt.Sprintf("%d iterations: use at least 1", o.Iterations))
	}
	if o.Compute < None {
		faults = append(faults, fmt.Sprintf("compute time of %v: use a time of at least 0", o.Compute))
	}
	if o.Payload < None {
		faults = append(faults, fmt.Sprintf("payload of %d bytes: use at least 0", o.Payload))
	}
	return faults
}

// held returns the options as far as they say what memory a program holds: without contents none of its payload.
func (o Options) held() Options {
	if o.NoContents {
		o.Payload = 0
	}
	return o
}

// Config describes one run of a program. Its Program is filled in by [New].
type Config struct {
	mpivirt.Config
	Options
}

// Simulation is a program that is ready to run.
type Simulation interface {
	// Run simulates the program to its end. With an error, the result holds the
	// finished part.
	Run() (*mpivirt.Result, error)
	// Stop ends Run early, from any goroutine.
	Stop(reason string)
	// Progress returns the state of the simulation while it runs, from any goroutine.
	Progress() mpivirt.Progress
}

// Entry describes a program.
type Entry struct {
	Name     string          // as given on the command line
	Summary  string          // one line
	Defaults Options         // values of the options that are left zero
	Forms    []*mpivirt.Kind // the kinds of rank that the program can run as; the first is the default
	// Vectors are of elements of a datatype, which an option may choose.
	Vectors bool
	// Reads says why the program needs the contents of messages; it is empty if sizes do.
	Reads string
	// Steady says why noise of the operating system does not lengthen the program's compute phases; it is empty if noise does.
	Steady string
	// Arguments are the arguments that only this program has, and Read returns the options that their values give, as
	// Options.Own has them, or all faults. Both are nil for none.
	Arguments []Argument
	Read      func(values Values, readFile func(string) ([]byte, error)) (any, []error)
	// Build returns the program. No zero in its options stands for a default. Exactly
	// one of Build and Direct is set.
	Build func(Options) (mpivirt.Program, error)
	// Direct returns the simulation of a program that runs on the engine without MPI.
	// Its options are filled in like the options of Build.
	Direct func(Config) (Simulation, error)
	// Collectives returns the collectives of WORLD that all ranks take part in, with the
	// options filled in; nil for none.
	Collectives func(Options) []mpivirt.Use
	// State returns the bytes that the program holds for each rank beyond the bytes of the LP
	// itself, with the options filled in; nil for none.
	State func(*mpivirt.Kind, Options) float64
	// Deep reports whether ranks call deeper than in a barrier: they begin nonblocking calls, or more than fewCalls of their calls are complete
	// at once. Strict ranks wait for the instant of a message that is there. nil
	// is never. Under a model with state at the receiver all do.
	Deep func(o Options, c Course) bool
	// Waiting returns how many ranks of an engine wait at a time at most, and the share of all ranks that do so besides, with the
	// options filled in: the others end, and leave their stacks, before more begin. nil is all. Strict ranks all wait, and those
	// under a model with state at the receiver.
	Waiting func(o Options, c Course) (some, share float64)
	// Messages returns what ranks hold for point-to-point messages, with the options filled
	// in; nil for programs without such messages.
	Messages func(o Options, kind *mpivirt.Kind, c Course) mpivirt.Held
	// Shared returns the bytes that the program holds on each engine for all its ranks
	// together, with the options filled in; nil for next to none.
	Shared func(Options) float64
	// Figures returns numbers that the program makes of its recorded times over a number of ranks, with the options filled in; nil for none.
	Figures func(o Options, ranks int64, iterations []mpivirt.Iteration) []Figure
}

// Course says how ranks go on. Which messages they hold depends on it.
type Course struct {
	Postponed bool // ranks go on before their messages have left: the model has state at the receiver
	Apart     bool // ranks leave a collective one after the other, since it goes by messages
	Strict    bool // each message waits for its instant
	// Rendezvous: the payload is above the machine's eager limit, so senders wait for receivers.
	Rendezvous bool
	target     *network.Target
}

// fewCalls is the number of calls that are complete at once for which the stack of a goroutine rank is not made larger.
const fewCalls = 4

// delayed returns the share of the messages from each rank to another one that delay other messages at interfaces of nodes, and in the
// memory of a node. They wait for virtual time, while ranks whose messages delay none go on. It looks at the first ranks of many.
func (c Course) delayed(to func(rank, ranks int) int) (between, within float64) {
	const most = 1 << 14
	if c.target == nil || !c.target.Contended() {
		return 0, 0
	}
	ranks := c.target.Ranks()
	looked := min(ranks, most)
	for rank := range looked {
		switch other := to(rank, ranks); {
		case !c.target.Shares(rank, other):
		case c.target.Node(rank) == c.target.Node(other):
			within++
		default:
			between++
		}
	}
	return between / float64(looked), within / float64(looked)
}

// programs are all programs, in the order in which they are listed.
var programs = []*Entry{
	&barriertest,
	&allreducetest,
	&bcasttest,
	&reducetest,
	&gathertest,
	&scattertest,
	&allgathertest,
	&alltoalltest,
	&reducescattertest,
	&scantest,
	&exscantest,
	&mpiping,
	&ring,
	&ringBlocking,
	&ringNonblocking,
	&deadlock,
	&deadlockFix,
	&picalc,
	&matmul,
	&stencil,
	&ddptraining,
	&phold,
}

// Programs returns all programs.
func Programs() []Entry {
	list := make([]Entry, len(programs))
	for i, e := range programs {
		list[i] = *e
	}
	return list
}

// Lookup returns the program with a name. The error lists the programs and suggests the
// one that may have been meant.
func Lookup(name string) (Entry, error) {
	names := make([]string, len(programs))
	for i, e := range programs {
		if e.Name == name {
			return *e, nil
		}
		names[i] = e.Name
	}
	return Entry{}, fmt.Errorf("unknown program %q: %s", name, spelling.Choices(name, names))
}

// Resolve returns o with the program's defaults in place of zeros, and zero in place of
// [None].
func (e Entry) Resolve(o Options) Options { return o.or(e.Defaults) }

// kind returns the kind of rank that the program runs as: asked, or the default if that is
// nil.
func (e Entry) kind(asked *mpivirt.Kind) *mpivirt.Kind {
	if asked == nil && len(e.Forms) > 0 {
		return e.Forms[0]
	}
	return asked
}

// CheckForm returns an error if the program cannot run as ranks of a kind.
func (e Entry) CheckForm(kind *mpivirt.Kind) error {
	if slices.Contains(e.Forms, kind) {
		return nil
	}
	forms := make([]string, len(e.Forms))
	for i, form := range e.Forms {
		forms[i] = form.String()
	}
	return fmt.Errorf("program %s has no %s form: use %s", e.Name, kind, strings.Join(forms, " or "))
}

// CheckContents returns an error if the program cannot do with the sizes of messages.
func (e Entry) CheckContents(o Options) error {
	if !o.NoContents || e.Reads == "" {
		return nil
	}
	return fmt.Errorf("program %s needs the contents of messages, since %s: simulate it with contents", e.Name, e.Reads)
}

// CheckDatatype returns an error if the program has no vectors of the datatype, or sums of them over a number of ranks are not exact.
func (e Entry) CheckDatatype(o Options, ranks int64) error {
	switch {
	case o.Datatype == 0:
		return nil
	case !e.Vectors:
		return fmt.Errorf("program %s has no vectors whose datatype could be chosen: leave it out", e.Name)
	case e.Name == allreducetest.Name && o.Datatype == Bfloat16 && !o.NoContents:
		return fmt.Errorf("%s sums numbers of type %v for their sizes alone: use no contents", e.Name, Bfloat16)
	case e.Name == allreducetest.Name && o.Datatype == Float && !o.NoContents && ranks > mostSummedFloats:
		return fmt.Errorf("the sums over %d ranks are not whole numbers that a float holds, so that they cannot be checked: use double, at most %d ranks, or no contents", ranks, mostSummedFloats)
	}
	return nil
}

// CheckNoise returns an error if noise of the operating system is to lengthen compute phases that it does not.
func (e Entry) CheckNoise(noise mpivirt.Noise) error {
	if noise == nil || e.Steady == "" {
		return nil
	}
	return fmt.Errorf("program %s has no noise, since %s: leave noise out", e.Name, e.Steady)
}

// CheckCollectives returns the error of a collective of the program that cannot be carried out with the configured algorithms.
func (e Entry) CheckCollectives(c Config) error {
	if e.Collectives == nil {
		return nil
	}
	for _, use := range e.Collectives(e.Resolve(c.Options)) {
		if err := c.CheckUse(use); err != nil {
			return err
		}
	}
	return nil
}

// New returns the simulation of a program. It returns an error for an unknown name, a
// kind of rank that the program does not have, and options out of range.
func New(name string, c Config) (Simulation, error) {
	e, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	return e.New(c)
}

// New returns the simulation of the program. It returns an error for a kind of rank that the
// program does not have, and options out of range.
func (e Entry) New(c Config) (Simulation, error) {
	c.Kind = e.kind(c.Kind)
	faults := c.Options.faults()
	if err := e.CheckForm(c.Kind); err != nil {
		faults = append(faults, err.Error())
	}
	if err := e.CheckContents(c.Options); err != nil {
		faults = append(faults, err.Error())
	}
	if err := e.CheckNoise(c.Noise); err != nil {
		faults = append(faults, err.Error())
	}
	ranks := int64(0)
	if c.Target != nil {
		ranks = int64(c.Target.Ranks())
	}
	if err := e.CheckDatatype(c.Options, ranks); err != nil {
		faults = append(faults, err.Error())
	}
	if faults != nil {
		return nil, fmt.Errorf("%s: %s", e.Name, strings.Join(faults, "; "))
	}
	c.Options = e.Resolve(c.Options)
	c.Config.NoContents = c.Options.NoContents
	if e.Direct != nil {
		return e.Direct(c)
	}
	var err error
	if c.Program, err = e.Build(c.Options); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	c.Program.Name, c.Program.Repeats = e.Name, e.repeats(c.Options)
	return mpivirt.New(c.Config)
}

// repeats returns the collective by which alone the ranks of the program communicate, nil if there is more.
func (e Entry) repeats(o Options) *mpivirt.Repeated {
	if e.Collectives == nil {
		return nil
	}
	uses := e.Collectives(o)
	if len(uses) != 1 || !uses[0].Alone {
		return nil
	}
	return &mpivirt.Repeated{Operation: uses[0].Operation, Bytes: uses[0].Bytes, Element: uses[0].Element, Data: uses[0].Data}
}

// OneEngineSuffices reports whether one engine is foreseen to simulate a program sooner than several do: the ranks communicate by one
// collective alone, which several engines carry out message by message, and one engine in bulk.
func OneEngineSuffices(e Entry, c Config, engines int) bool {
	if engines == 1 || c.Target == nil || e.repeats(e.Resolve(c.Options)) == nil {
		return false
	}
	several, one := CostOf(e, c, engines), CostOf(e, c, 1)
	return several.ByMessages && one.Time < several.Time/float64(engines)
}

// CostOf estimates the needs of a program on the host: the memory of its ranks and
// engines, and the time of its collectives. engines is their number in all. See
// [mpivirt.CostOf] for the fields of the configuration that it reads.
func CostOf(e Entry, c Config, engines int) mpivirt.Cost {
	c.Kind = e.kind(c.Kind)
	o := e.Resolve(c.Options)
	c.Config.NoContents = o.NoContents
	var uses []mpivirt.Use
	if e.Collectives != nil {
		uses = e.Collectives(o)
	}
	if e.Direct != nil {
		c.Target = nil // the engine alone knows of no machine
	}
	if e.Messages != nil && c.Target != nil && c.Target.Contended() { // ranks whose messages delay none come first
		uses = slices.Clone(uses)
		for i := range uses {
			uses[i].Unordered = true
		}
	}
	cost := mpivirt.CostOf(&c.Config, engines, uses...)
	course := Course{Postponed: c.Target != nil && c.Target.ReceiverState(), Apart: cost.ByMessages, Strict: c.Strict,
		Rendezvous: c.Target != nil && o.Payload > c.Target.EagerLimit(), target: c.Target}
	waits := 1.                                                                                  // share of the ranks
	if c.Kind != nil && e.Messages == nil && !course.Postponed && !c.Strict && c.Target != nil { // the others leave their stacks to ranks that begin later
		waits = cost.Waiting
		cost.BytesPerRank -= (1 - waits) * c.Kind.Stack
	}
	if c.Kind != nil && e.Waiting != nil && !course.Postponed && !c.Strict && c.Target != nil {
		if some, share := e.Waiting(o, course); some*float64(engines)+share*float64(c.Target.Ranks()) < float64(c.Target.Ranks()) {
			waits = share
			cost.BytesPerRank -= (1 - share) * c.Kind.Stack
			cost.BytesPerEngine += some * c.Kind.Stack
		}
	}
	counted := c.Activities && len(uses) > 0 // what statistics tell of a collective is deep
	switch {
	case c.Kind == nil:
	case course.Postponed || counted:
		cost.BytesPerRank += c.Kind.Growth
	case e.Deep != nil && e.Deep(o, course):
		cost.BytesPerRank += waits * c.Kind.Growth
	}
	if e.Messages != nil {
		cost.BytesPerRank += mpivirt.HeldBytes(&c.Config, e.Messages(o.held(), c.Kind, course), cost)
	}
	if e.State != nil {
		cost.BytesPerRank += e.State(c.Kind, o.held())
	}
	if e.Shared != nil {
		cost.BytesPerEngine += e.Shared(o.held())
	}
	return cost
}
