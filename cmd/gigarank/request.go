package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/internal/noise"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// runFlags are the flags of run as they are written, so that all their faults can be
// reported together.
type runFlags struct {
	ranks, lambda                         string
	machine, engines, lp, sync            string
	strict                                bool
	barrier, allreduce, collectives       string
	library                               string
	algorithms                            []string
	mapping, allocation, perNode          string
	ideal                                 bool // the network is ideal
	iterations, compute, payload          string
	contents, datatype                    string
	seed, noise, json, report, progress   string
	watchdog, lostAfter, polls            string
	stack, stacks, skeleton               string
	label, strictFunctions, stats, matrix bool
	verbose                               bool
	cpu                                   cpuFlags
	programArguments                      []string
	path, sites                           bool
	trace                                 traceFlags
	form                                  skeletonForm // what is run of a program with a skeleton
	timeline                              timelineFlags
	replays                               *bench.Entry            // the trace that is replayed in the place of a program; nil for none
	explains                              func(error) error       // adds to the error of a program that has failed; nil for none
	machineRead                           func(t *network.Target) // hears the machine; nil for nobody
}

// Headings of flags in the help of several commands.
const (
	groupSimulated = "What is simulated"
	groupMachine   = "The target machine"
	groupResults   = "Results"
	groupHosting   = "Hosting"
	groupFaults    = "For finding faults"
)

func (f *runFlags) define(cmd *cobra.Command) {
	all := cmd.Flags()
	all.SortFlags = false
	terminal.Group(all, groupSimulated, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.ranks, "ranks", "", "virtual ranks: `N`, such as 4096, 1M, 1Mi or 2^20 (default 1024)")
		flags.StringVar(&f.lp, "lp", "", "`KIND` of ranks: "+kindNames(mpivirt.Kinds())+"; see gigarank list (default the first kind that the program has)")
		flags.StringVar(&f.iterations, "iterations", "", "number `N` of timed iterations (default the program's)")
		flags.StringVar(&f.compute, "compute", "", "virtual compute time `DUR` before each iteration, such as 1ms or 0 (default the program's)")
		flags.StringVar(&f.payload, "payload", "", "`BYTES` of a message or contribution, such as 8 or 64KiB (default the program's)")
		defineContents(flags, &f.contents, &f.datatype, fullContents.String())
		flags.StringVar(&f.seed, "seed", "1", "seed `N` of all random numbers")
		flags.StringVar(&f.noise, "noise", "none", "operating system noise in compute phases: a `SPEC` such as periodic:10ms,25us; the help of run has all")
		flags.StringVar(&f.polls, "polls", "", "treat a rank as blocked after `N` failed tests or probes in a row, as long as other ranks go on (default 1000)")
		f.cpu.define(flags)
		flags.StringVar(&f.barrier, "barrier", "", "`ALGORITHM` of barriers (default node-leader, or given if the machine has field barrier); see gigarank list")
		flags.StringVar(&f.allreduce, "allreduce", "", "`ALGORITHM` of allreduces (default node-leader)")
		flags.StringArrayVar(&f.algorithms, "algorithm", nil, "`OPERATION=ALGORITHM` of any collective, such as bcast=ring; may be repeated")
	})
	terminal.Group(all, groupMachine, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.machine, "machine", usualMachine, "target machine: a preset or a machine `FILE`")
		flags.StringVar(&f.perNode, "ranks-per-node", "", "ranks of a node, `N` (default the machine's)")
		flags.StringVar(&f.mapping, "mapping", "", "mapping `RULE` of ranks to nodes: "+strings.Join(network.Mappings(), ", ")+" (default the machine's)")
		flags.StringVar(&f.library, "library", "", "MPI library that chooses the algorithms of collectives: a `NAME` of gigarank list libraries, a file, or none for a choice by simulations (default the machine's)")
		flags.StringVar(&f.allocation, "allocation", "", "part of the machine that the job has: a `SPEC`: the shape of a torus or mesh such as 32x256, or file:PATH, a list of places (default the machine's)")
	})
	terminal.Group(all, groupResults, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.json, "json", "", "write the result as JSON to a `FILE`, or - for standard output")
		flags.BoolVar(&f.stats, "stats", false, "say where the time of ranks goes, by function, rank and cause of waiting, and count messages and calls of collectives by size")
		flags.BoolVar(&f.matrix, "matrix", false, "count the bytes between ranks as well, in blocks of ranks beyond 1,024 ranks; implies --stats")
		flags.BoolVar(&f.sites, "call-sites", false, "say where the time goes by the function, file and line that call MPI as well, of programs built with -g and of goroutine ranks; implies --stats")
		flags.BoolVar(&f.path, "critical-path", false, "follow the chain of computing and messages that ends the run, with its share for each function and rank; implies --stats; collectives go by messages")
	})
	terminal.Group(all, "Native programs", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.stack, "stack", "", "`BYTES` of the stack of a native rank, such as 64KiB (default the limit of ulimit -s)")
		flags.StringVar(&f.stacks, "stacks", "", "`WAY` in which native ranks have stacks: own, copied or auto (default auto)")
		flags.BoolVar(&f.label, "label", false, "begin lines that native ranks print with their rank, as in [3]")
		flags.BoolVar(&f.strictFunctions, "strict-functions", false, "refuse a native program that uses MPI functions which native ranks lack, before the program runs")
		flags.StringVar(&f.skeleton, "skeleton", "", "simulate the skeleton of a program that gigarank cc or fc --skeleton has built, with the times of computing in a `FILE` of gigarank skeleton weigh, or none")
		allowUnserved(flags)
	})
	terminal.Group(all, groupHosting, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.engines, "engines", "", "engines `K` of this process, at most one per rank (default one per core, or 1 where a single engine is quicker; over MPI always 1)")
		flags.StringVar(&f.sync, "sync", "hybrid", "synchronisation `PROTOCOL`: null, conditional or hybrid")
		flags.StringVar(&f.collectives, "collectives", "auto", "`INTERPRETER` of collectives: auto, message or bulk; same results")
		host.DefineLostAfter(flags, &f.lostAfter)
		flags.StringVar(&f.progress, "progress", "auto", "`MODE` of progress on standard error: auto, plain or none")
	})
	terminal.Group(all, groupFaults, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.watchdog, "watchdog", "5s", "wall time `DUR` after which a rank that is blocked outside MPI ends the run; off: never")
		flags.BoolVar(&f.strict, "strict", false, "resume ranks in the order of virtual time only; same results, slower")
		flags.BoolVarP(&f.verbose, "verbose", "v", false, "log the phases and the engine statistics on standard error")
	})
}

// request is a run that has been checked.
type request struct {
	entry    bench.Entry
	options  bench.Options // with the defaults filled in
	config   bench.Config  // without transports
	machine  string
	noise    string // as results describe it
	skeleton string // the value of --skeleton
	form     skeletonForm
	ranks    int64
	engines  int   // of this process
	need     int64 // bytes that this process is expected to take
	share    int64 // bytes that it may take
	json     string
	report   string // directory, or empty for none
	progress terminal.ProgressMode
	patience time.Duration // before progress is shown
	verbose  bool
	cpu      *cpuTimes  // nil: ignored
	trace    *recording // nil for none
	picture  *picture   // nil for none

	untold bool // statistics are counted for energy or a picture alone
}

// contents says how much of messages and vectors is simulated.
type contents string

// The values of --contents.
const (
	fullContents contents = "full"
	noContents   contents = "none"
)

func (c contents) String() string { return string(c) }

// defineContents defines the flags on the vectors and messages of programs. usual are the contents unless a flag says so.
func defineContents(flags *pflag.FlagSet, text, datatype *string, usual string) {
	flags.StringVar(text, "contents", "", "`CONTENTS` of messages and vectors: full, or none for sizes alone, with the same times and no memory for data (default "+usual+")")
	var names []string
	for _, d := range bench.Datatypes() {
		names = append(names, d.String())
	}
	flags.StringVar(datatype, "datatype", "", "`TYPE` of the elements of vectors, whose size divides the payload: "+strings.Join(names, ", ")+" (default the program's)")
}

// contentsWays are the values of --contents.
var contentsWays = []contents{fullContents, noContents}

// readContents reads whether messages have contents, and the datatype of vectors.
func (r *request) readContents(contentsText, datatype string, faults *terminal.UsageError) {
	if contentsText != "" {
		chosen, err := terminal.Choose("contents", contentsText, contentsWays)
		faults.Add("--contents", err)
		r.config.Options.NoContents = chosen == noContents
	}
	if datatype != "" {
		var err error
		r.config.Datatype, err = terminal.Choose("datatype", datatype, bench.Datatypes())
		faults.Add("--datatype", err)
	}
}

// checkContents reports a program or kind of rank that needs contents, or has no datatype to choose.
func (r *request) checkContents(faults *terminal.UsageError) {
	if r.config.Options.NoContents {
		switch kind := r.config.Kind; {
		case kind != nil && kind.NeedsContents:
			faults.Add("--contents", kind.Contentless())
		default:
			faults.Add("--contents", r.entry.CheckContents(r.config.Options))
		}
		if r.cpu != nil && r.cpu.mode == cpuMeasured {
			faults.Add("--contents", errors.New("none, but the CPU time of code that reads and writes contents is to be measured: leave one of the two out"))
		}
	}
	faults.Add("--datatype", r.entry.CheckDatatype(r.config.Options, r.ranks))
}

// Values that flags choose from.
var (
	protocols    = []sync.Protocol{sync.Null, sync.Conditional, sync.Hybrid}
	interpreters = []interpreter{interpreter(mpivirt.Auto), interpreter(mpivirt.Message), interpreter(mpivirt.Bulk)}
)

// interpreter gives mpivirt's interpreters the names of the command line.
type interpreter mpivirt.Interpreter

func (i interpreter) String() string { return [...]string{"auto", "message", "bulk"}[i] }

// newRequest checks everything that can be known before a run. The error is a
// [terminal.UsageError] with all faults.
func newRequest(c *terminal.Console, h *host.Processes, program string, f *runFlags) (*request, error) {
	r, faults := readRequest(c, h, program, f)
	if len(faults) == 0 {
		faults.Add("--ranks", r.checkMemory(c, h))
	}
	return r, faults.OrNil()
}

// readRequest is newRequest without the check of the memory.
func readRequest(c *terminal.Console, h *host.Processes, program string, f *runFlags) (*request, terminal.UsageError) {
	var faults terminal.UsageError
	r := &request{verbose: f.verbose, json: f.json, report: f.report, skeleton: f.skeleton}
	if slices.Contains(terminal.StandardNames, f.json) {
		r.json = terminal.StandardOutput
	}
	var err error
	r.entry, err = lookUp(c, program, f, &faults)
	r.form = f.form
	faults.Add("PROGRAM", err)
	r.readHosting(f, err == nil, &faults)
	r.chooseAlgorithms(f, &faults)
	r.readNumbers(c, f, &faults)
	r.readContents(f.contents, f.datatype, &faults)
	r.readTarget(c, h, f, &faults)
	r.form.weigh(r.ranks)
	faults.Add("--collectives", r.countEnergy())
	r.config.Library, err = loadLibrary(c, f.library, r.targetMachine())
	faults.AddFile("--library", err)
	faults.Add("--barrier", r.checkBarrier())
	faults.Add("--algorithm", r.checkOffload())
	r.countEngines(c, h, f, &faults)
	if r.entry.Name != "" && !isPath(r.entry.Name) {
		own, wrong := r.entry.ReadArguments(f.programArguments, c.ReadFile)
		for _, err := range wrong {
			faults.AddFile("ARGUMENT", err)
		}
		r.config.Own = own
		faults.Add("--noise", r.entry.CheckNoise(r.config.Noise))
	}
	r.options = r.entry.Resolve(r.config.Options)
	r.readCPU(h, &f.cpu, f.programArguments, &faults)
	r.readTimeline(h, &f.timeline, f.trace.file != "", &faults)
	r.readTrace(h, &f.trace, f.programArguments, &faults)
	if r.entry.Name != "" {
		r.checkContents(&faults)
	}
	if len(faults) == 0 {
		faults.Add("--algorithm", r.entry.CheckCollectives(r.config))
	}
	if f.ideal {
		faults.Add("--ideal", r.idealize(h, f.engines))
	}
	if len(faults) == 0 && f.engines == "" && f.lambda == "" {
		r.joinEngines()
	}
	if h.Index == 0 {
		faults.Add("--json", terminal.CheckWritable(r.json))
		checkReport(r.report, &faults)
	}
	return r, faults
}

// readHosting reads the flags on how the simulation is carried out, which do not affect
// its results. known reports whether the program is known.
func (r *request) readHosting(f *runFlags, known bool, faults *terminal.UsageError) {
	var err error
	if f.lp == "" {
		r.config.Kind = mpivirt.Goroutine
		if known {
			r.config.Kind = r.entry.Forms[0]
		}
		f.lp = r.config.Kind.String()
	} else if r.config.Kind, err = terminal.Choose("kind of rank", f.lp, mpivirt.Kinds()); err != nil {
		faults.Add("--lp", err)
	} else if known {
		faults.Add("--lp", r.entry.CheckForm(r.config.Kind))
	}
	r.config.Protocol, err = terminal.Choose("protocol", f.sync, protocols)
	faults.Add("--sync", err)
	chosen, err := terminal.Choose("interpreter", f.collectives, interpreters)
	faults.Add("--collectives", err)
	r.config.Collectives = mpivirt.Interpreter(chosen)
	counting := "--stats"
	switch {
	case f.path:
		counting = "--critical-path"
	case f.report != "":
		counting = "--report"
	case f.stats:
	case f.matrix:
		counting = "--matrix"
	case f.sites:
		counting = "--call-sites"
	}
	r.config.Matrix, r.config.Path, r.config.Course = f.matrix || f.report != "", f.path, f.report != ""
	r.config.Sites = f.sites || f.report != ""
	if f.sites && known && r.config.Kind != nil && !r.config.Kind.Sited {
		faults.Add("--call-sites", fmt.Errorf("%s ranks do not know where in their source they call: %s", r.config.Kind, "use native ranks or goroutine ranks"))
	}
	if f.stats || r.config.Matrix || f.path || f.sites {
		faults.Add(counting, r.countActivities(f.path))
	}
	_, err = host.ReadLostAfter(f.lostAfter)
	faults.Add("--lost-after", err)
	r.progress, err = terminal.Choose("mode", f.progress, terminal.ProgressModes)
	faults.Add("--progress", err)
	r.config.Strict = f.strict
	r.config.Watchdog, err = readWatchdog(f.watchdog)
	faults.Add("--watchdog", err)
	r.config.Polls, err = readPolls(f.polls)
	faults.Add("--polls", err)
}

// countActivities has the activities counted, and heard message by message if each says so.
func (r *request) countActivities(each bool) error {
	switch {
	case r.entry.Direct != nil:
		return fmt.Errorf("%s makes no calls of MPI, whose times are counted: leave the flag out", r.entry.Name)
	case each && r.config.Collectives == mpivirt.Bulk:
		return errors.New("each message is heard: leave --collectives bulk out")
	case each:
		r.config.Collectives = mpivirt.Message
	}
	r.config.Activities = true
	return nil
}

// readPolls reads a number of polls, 0 if none is given; see mpivirt.Config.
func readPolls(text string) (int32, error) {
	if text == "" {
		return 0, nil
	}
	n, err := quantity.ParseCount(text)
	if err == nil && (n < 1 || n > math.MaxInt32) {
		err = fmt.Errorf("%s polls: use 1 to 2^31-1", text)
	}
	return int32(n), err
}

// readWatchdog reads the watchdog's limit in seconds; see mpivirt.Config.
func readWatchdog(text string) (seconds float64, err error) {
	switch text {
	case "": // a study's
		return 0, nil
	case "off":
		return -1, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a time: use a time such as 5s or 1m, or off", text)
	}
	return d.Seconds(), nil
}

// chooseAlgorithms reads the flags that choose the algorithm of an operation.
func (r *request) chooseAlgorithms(f *runFlags, faults *terminal.UsageError) {
	r.config.Algorithms = map[collectives.Operation]collectives.Algorithm{}
	if f.barrier != "" {
		faults.Add("--barrier", r.chooseAlgorithm(collectives.Barrier, f.barrier))
	}
	if f.allreduce != "" {
		faults.Add("--allreduce", r.chooseAlgorithm(collectives.Allreduce, f.allreduce))
	}
	for _, text := range f.algorithms {
		operation, algorithm, paired := strings.Cut(text, "=")
		if !paired {
			faults.Add("--algorithm", fmt.Errorf("%q is not OPERATION=ALGORITHM, such as bcast=ring", text))
			continue
		}
		op, err := terminal.Choose("operation", operation, collectives.Operations())
		if err == nil {
			err = r.chooseAlgorithm(op, algorithm)
		}
		faults.Add("--algorithm", err)
	}
}

// chooseAlgorithm stores the algorithm of an operation.
func (r *request) chooseAlgorithm(op collectives.Operation, name string) error {
	word, _, _ := strings.Cut(name, ":")
	if _, err := terminal.Choose("algorithm of "+op.String(), word, collectives.AllAlgorithms(op)); err != nil {
		return err
	}
	a, err := collectives.ParseAlgorithm(op, name)
	if err != nil {
		return err
	}
	if before, chosen := r.config.Algorithms[op]; chosen && before != a {
		return fmt.Errorf("%v for %v, which is to use %v already: choose one", a, op, before)
	}
	r.config.Algorithms[op] = a
	return nil
}

// targetMachine returns the machine, nil if it could not be read.
func (r *request) targetMachine() *network.Machine {
	if r.config.Target == nil {
		return nil
	}
	return r.config.Target.Machine()
}

// checkOffload returns an error if the network is to sum vectors up, or ranks are to write along the links of a torus, and the machine's do not.
func (r *request) checkOffload() error {
	target := r.config.Target
	for op, a := range r.config.Algorithms {
		if a == collectives.Offload && target != nil && target.Machine().Offloads() && !target.OffloadsAcross() && target.Nodes() > 1 {
			return fmt.Errorf("%v for %v on %s: the switches of machine %s sum vectors up within a node only: choose another algorithm, or ask for at most %d ranks",
				a, op, spelling.Count(target.Nodes(), "node"), target.Machine().Name(), target.Machine().RanksPerNode())
		}
		if a == collectives.Offload && target != nil && !target.Machine().Offloads() {
			return fmt.Errorf("%v for %v needs a network that sums vectors up, which machine %s has not: add allreduce or switches to network in its file, or choose another algorithm", a, op, target.Machine().Name())
		}
		if a.AlongTorus() && target != nil && !target.Machine().WritesAlongTorus() {
			return fmt.Errorf("%v for %v needs writes along the links of a torus, which machine %s does not give: add torus_writes to network in its file, or choose another algorithm", a, op, target.Machine().Name())
		}
		if a.AlongTorus() && target != nil && !target.WritesAlongTorus(target.Ranks()) {
			return fmt.Errorf("%v for %v needs ranks that fill a torus, on a node each, and %s of machine %s do not: take a rank a node and as many ranks as the torus has nodes, or choose another algorithm", a, op, spelling.Count(target.Ranks(), "rank"), target.Machine().Name())
		}
	}
	return nil
}

// checkBarrier returns an error if barriers are to take the time that the machine gives, and
// it gives none.
func (r *request) checkBarrier() error {
	a, target := r.config.Algorithms[collectives.Barrier], r.config.Target
	if a != collectives.GivenTime || target == nil || target.BarrierTime() > 0 {
		return nil
	}
	return fmt.Errorf("%v needs the time of a barrier, which machine %s does not give: add barrier: {time: 3us} to network in its file, or choose another algorithm", a, target.Machine().Name())
}

// readNumbers reads the options of the program, the seed and the noise.
func (r *request) readNumbers(c *terminal.Console, f *runFlags, faults *terminal.UsageError) {
	if f.iterations != "" {
		n, err := terminal.ReadCount(f.iterations, 1, math.MaxInt32)
		faults.Add("--iterations", err)
		r.config.Iterations = int(n)
	}
	if f.compute != "" {
		d, err := vtime.ParseDuration(f.compute)
		if err == nil && d < 0 {
			err = fmt.Errorf("%s is negative: use a time of at least 0", f.compute)
		}
		faults.Add("--compute", err)
		if r.config.Compute = d; d == 0 {
			r.config.Compute = bench.None
		}
	}
	if f.payload != "" {
		n, err := payload(f.payload)
		faults.Add("--payload", err)
		if r.config.Payload = n; n == 0 {
			r.config.Payload = bench.None
		}
	}
	seed, err := strconv.ParseUint(strings.TrimSpace(f.seed), 0, 64)
	if err != nil {
		err = fmt.Errorf("%q is not a seed: use a whole number from 0 to 2^64-1", f.seed)
	}
	faults.Add("--seed", err)
	r.config.Seed = seed
	noise, err := noise.Parse(f.noise, c.ReadFile)
	faults.AddFile("--noise", err)
	r.noise = noise.String()
	r.config.Noise = noise.Seeded(seed)
}

func payload(text string) (int64, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "-") {
		return 0, fmt.Errorf("%s is negative: use a size of at least 0", text)
	}
	return quantity.ParseSize(text)
}

// mostRanks is the most ranks that mpivirt can simulate.
const mostRanks = 1<<31 - 2

// readTarget reads the number of ranks and the machine, and lays it out.
func (r *request) readTarget(c *terminal.Console, h *host.Processes, f *runFlags, faults *terminal.UsageError) {
	ranksKnown := r.readRanks(c, h, f, faults)
	machine, err := loadMachine(c, f.machine)
	if err != nil {
		faults.AddFile("--machine", err)
		if usual, err := loadMachine(c, usualMachine); err == nil {
			f.vary(c, usual, faults) // for the faults of other flags
		}
		return
	}
	r.machine = machine.Name()
	machine = f.vary(c, machine, faults)
	if ranksKnown {
		r.config.Target, err = machine.Target(r.ranks)
		faults.Add("--machine", err)
		if f.machineRead != nil {
			f.machineRead(r.config.Target)
		}
	}
}

// vary returns the machine with the ranks per node and the mapping of the flags.
func (f *runFlags) vary(c *terminal.Console, machine *network.Machine, faults *terminal.UsageError) *network.Machine {
	if f.perNode != "" {
		n, err := terminal.ReadCount(f.perNode, 1, mostRanks)
		faults.Add("--ranks-per-node", err)
		if err == nil {
			machine, _ = machine.WithRanksPerNode(int(n))
		}
	}
	if f.mapping != "" {
		mapped, err := machine.WithMapping(f.mapping, c.ReadFile)
		faults.Add("--mapping", err)
		if err == nil {
			machine = mapped
		}
	}
	if f.allocation != "" {
		allocated, err := machine.WithAllocation(f.allocation, c.ReadFile)
		faults.Add("--allocation", err)
		if err == nil {
			machine = allocated
		}
	}
	return machine
}

// usualMachine is the machine unless a flag names one.
const usualMachine = "xt5"

// usualRanks is the number of ranks unless a flag gives one.
const usualRanks = "1024"

// readRanks reads the number of ranks, which --lambda gives for each engine. It reports
// whether there was no fault.
func (r *request) readRanks(c *terminal.Console, h *host.Processes, f *runFlags, faults *terminal.UsageError) bool {
	var err error
	if f.lambda == "" {
		r.ranks, err = terminal.ReadCount(cmp.Or(f.ranks, usualRanks), 1, mostRanks)
		faults.Add("--ranks", err)
		return err == nil
	}
	if f.ranks != "" {
		faults.Add("--lambda", errors.New("the number of ranks is given by --ranks already: leave one of the two out"))
		return false
	}
	lambda, err := terminal.ReadCount(f.lambda, 1, mostRanks)
	if err != nil {
		faults.Add("--lambda", err)
		return false
	}
	r.ranks = mostRanks          // none are too few for the engines
	var none terminal.UsageError // countEngines is called again
	r.countEngines(c, h, f, &none)
	engines := int64(h.Size) * int64(r.engines)
	if len(none) > 0 {
		return false
	}
	if lambda > mostRanks/engines {
		faults.Add("--lambda", fmt.Errorf("%d ranks for each of %d engines are too many: use at most %d in all", lambda, engines, int64(mostRanks)))
		return false
	}
	r.ranks = lambda * engines
	return true
}

// loadMachine reads a preset or a machine file.
func loadMachine(c *terminal.Console, name string) (*network.Machine, error) {
	return network.Load(name, c.ReadFile)
}

// idealize has the run take place on the ideal network of its machine, on which its flags were checked. Messages that take no time leave
// engines no lookahead: there is one unless a flag asks for more. Collectives that the machine's network carries out by itself go by messages.
func (r *request) idealize(h *host.Processes, engines string) (err error) {
	if h.Size > 1 {
		return errors.New("messages of an ideal network take no time, which leaves host processes nothing to do at the same time: run one process")
	}
	if r.config.Target == nil {
		return nil
	}
	ideal := r.config.Target.Machine().Ideal()
	if engines == "" {
		r.engines = 1
	}
	maps.DeleteFunc(r.config.Algorithms, func(_ collectives.Operation, a collectives.Algorithm) bool {
		return a.HasFixedCost()
	})
	r.machine = ideal.Name()
	r.config.Target, err = ideal.Target(r.ranks)
	return err
}

// defineIdeal defines the flag for a run on an ideal network.
func (f *runFlags) defineIdeal(flags *pflag.FlagSet) {
	flags.BoolVar(&f.ideal, "ideal", false, "run on an ideal network, whose messages take a picosecond and cost processors nothing: what is left is computing and waiting for each other")
}

// countEngines sets the number of engines of this process, at most one for each rank.
func (r *request) countEngines(c *terminal.Console, h *host.Processes, f *runFlags, faults *terminal.UsageError) {
	r.engines = int(min(int64(c.Cores), max(r.ranks, 1)))
	if h.Size > 1 {
		r.engines = 1
	}
	if f.engines == "" {
		return
	}
	n, err := terminal.ReadCount(f.engines, 1, math.MaxInt32)
	switch {
	case err != nil:
	case h.Size > 1 && n != 1:
		err = fmt.Errorf("%d engines in each of %d host processes: over MPI each process has exactly one; "+
			"leave the flag out and start as many processes as engines are wanted", n, h.Size)
	}
	faults.Add("--engines", err)
	r.engines = int(min(n, max(r.ranks, 1)))
}

// joinEngines leaves one engine where one is quicker than several.
func (r *request) joinEngines() {
	if bench.OneEngineSuffices(r.entry, r.config, r.engines) {
		r.engines = 1
	}
}

// checkMemory compares the memory that the run needs with the available memory.
func (r *request) checkMemory(c *terminal.Console, h *host.Processes) error {
	available := host.Memory(c, h.Local)
	cost := bench.CostOf(r.entry, r.config, h.Size*r.engines)
	r.need = host.NeededMemory(r.ranks, cost.BytesPerRank, float64(r.engines)*cost.BytesPerEngine, h.Size)
	r.share = available.Bytes / int64(h.Local) / 10 * 9
	local := int64(h.Local)
	return host.CheckMemory(min(r.need, math.MaxInt64/local)*local, available)
}
