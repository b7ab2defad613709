package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
)

const planHelp = `Plan forecasts the needs of gigarank run with the same flags: memory, hosts, wall time,
and the lines of a job script that ask for them. PROGRAM defaults to barriertest.

The forecast is extrapolated from a calibration: the same program with fewer ranks,
for about a second, on this machine. Plan where the job will run. The forecast assumes
cores as fast as these, one host process for each, and a network between hosts that
keeps up. It does, unless the program does little but send messages across the hosts.
Where caches hold the ranks of the calibration and not the ranks of the run, the run may
take twice as long as forecast. A calibration takes at most a third of the available memory and ten seconds. If not even
a calibration with few ranks fits, the plan has no times and says why. Memory is counted, and
measured where native ranks hold memory themselves.

`

// planFlags are the flags of plan as they are written.
type planFlags struct {
	run                  runFlags
	hosts, cores, memory string
}

func newPlan(c *terminal.Console) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan [PROGRAM [ARGUMENT]...]",
		Short: "Forecast the memory, hosts and wall time of a run",
		Long:  planHelp + terminal.ExitHelp,
		Example: `  gigarank plan --ranks 2^30 --lp event
  gigarank plan allreducetest --ranks 221184000 --lp event --cores 64 --memory 256GiB
  gigarank plan barriertest --ranks 2G --lp event --hosts 8`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return nil
			}
			if _, err := bench.Lookup(args[0]); err != nil {
				return arguments(1, "one PROGRAM (see gigarank list)")(cmd, args)
			}
			return checkArguments(args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			program := "barriertest"
			if len(args) > 0 {
				program, f.run.programArguments = args[0], args[1:]
			}
			return plan(c, program, &f)
		},
	}
	f.define(cmd)
	return cmd
}

func (f *planFlags) define(cmd *cobra.Command) {
	f.run.define(cmd)
	flags := cmd.Flags()
	for _, name := range []string{"progress", "json", "verbose"} {
		_ = flags.MarkHidden(name)
	}
	terminal.Group(flags, "Hosts to plan for", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.hosts, "hosts", "", "hosts `N` to plan for (default the fewest hosts that have the memory)")
		flags.StringVar(&f.cores, "cores", "", "cores `N` of a host (default the cores of this machine)")
		flags.StringVar(&f.memory, "memory", "", "memory `SIZE` of a host (default the memory available on this machine)")
	})
}

// allocation is a number of equal hosts. On one host, one process has an engine for
// each core and needs no MPI. On several hosts, each core has a process.
type allocation struct {
	hosts, cores int64
	alone        int64 // engines if there is one host
	memory       int64 // of each host, in bytes
}

// engines returns the number of all engines.
func (a allocation) engines() int64 {
	if a.hosts == 1 {
		return a.alone
	}
	return a.hosts * a.cores
}

// busy returns the number of cores that the engines of a run with ranks keep busy.
func (a allocation) busy(ranks int64) int64 { return min(a.engines(), a.hosts*a.cores, ranks) }

// processes returns the number of all host processes.
func (a allocation) processes() int64 {
	if a.hosts == 1 {
		return 1
	}
	return a.hosts * a.cores
}

// forecast is the expected cost of a run.
type forecast struct {
	bytesPerRank float64
	hostBytes    int64   // of each host
	first        float64 // seconds until the first iteration has ended, set-up included
	iteration    float64 // seconds, each
	wall         float64 // seconds in all
	sample       calibration
}

// plan carries out the command.
func plan(c *terminal.Console, program string, f *planFlags) error {
	h := &host.Processes{Size: 1, Local: 1}
	r, faults := readRequest(c, h, program, &f.run)
	a := f.allocation(c, &faults)
	if a.alone = a.cores; f.run.engines != "" {
		a.alone = int64(r.engines)
	}
	if err := faults.OrNil(); err != nil {
		return err
	}
	sample, err := calibrate(c, &f.run, r)
	if err != nil {
		return err
	}
	if a, err = r.allot(a, sample); err != nil {
		return err
	}
	if f.run.engines != "" && r.engines != 1 && a.hosts > 1 {
		return terminal.UsageError{fmt.Errorf("--engines: %d engines in a process, but on %s each core has a process with one engine: "+
			"leave the flag out", r.engines, spelling.Count(a.hosts, "host"))}
	}
	printPlan(c, program, f, r, a, r.foresee(a, sample))
	return nil
}

// allocation reads the flags about hosts. hosts is 0 if it is left open.
func (f *planFlags) allocation(c *terminal.Console, faults *terminal.UsageError) allocation {
	a := allocation{cores: int64(c.Cores)}
	var err error
	if f.cores != "" {
		a.cores, err = terminal.ReadCount(f.cores, 1, math.MaxInt32)
		faults.Add("--cores", err)
	}
	if f.hosts != "" {
		a.hosts, err = terminal.ReadCount(f.hosts, 1, math.MaxInt32)
		faults.Add("--hosts", err)
	}
	if f.memory == "" {
		a.memory = host.AvailableMemory(c.Root).Bytes
		return a
	}
	if a.memory, err = quantity.ParseSize(f.memory); err == nil && a.memory == 0 {
		err = fmt.Errorf("no memory: give the memory of a host, such as 64GiB")
	}
	faults.Add("--memory", err)
	return a
}

// allot returns the allocation with the number of hosts that the run gets.
func (r *request) allot(a allocation, sample calibration) (allocation, error) {
	fewest := a
	fewest.hosts = max(a.hosts, 1)
	memory := float64(a.memory)
	// More hosts have more engines, which exchange more.
	for r.hostBytes(fewest, sample) > a.memory {
		each := host.MPIProcessMemory + r.cost(fewest).BytesPerEngine
		own := float64(a.cores) * each // of the processes of a host
		if own >= memory {
			return a, terminal.UsageError{fmt.Errorf("--memory: %s for the %d host processes of a host, which take %s before they have ranks: use fewer --cores, or hosts with more memory",
				terminal.Bytes(a.memory), a.cores, terminal.Bytes(int64(min(own, 1<<60))))}
		}
		one := r.bytesPerRank(fewest, sample)
		if own+float64(a.cores)*one > memory && (fewest.hosts >= r.ranks || fewest.hosts*a.cores >= r.ranks) {
			return a, terminal.UsageError{fmt.Errorf("--memory: %s for the %d host processes of a host, which take %s with one rank each: use fewer --cores, or hosts with more memory",
				terminal.Bytes(a.memory), a.cores, terminal.Bytes(int64(min(own+float64(a.cores)*one, 1<<60))))}
		}
		fewest.hosts = max(fewest.hosts+1, int64(min(math.Ceil(one*float64(r.ranks)/(memory-own)), float64(r.ranks))))
	}
	if a.hosts != 0 && a.hosts < fewest.hosts {
		return a, terminal.UsageError{fmt.Errorf("--hosts: %s with %s cannot hold %s, which takes %s on each: use at least %d",
			spelling.Count(a.hosts, "host"), terminal.Bytes(a.memory), spelling.Count(r.ranks, "rank"),
			terminal.Bytes(r.hostBytes(a, sample)), fewest.hosts)}
	}
	// Ranks take less memory among some engines than on one, as where half of them wait for the others.
	least := max(a.hosts, 1)
	fewest.hosts = least + int64(sort.Search(int(fewest.hosts-least), func(more int) bool {
		some := fewest
		some.hosts = least + int64(more)
		return r.hostBytes(some, sample) <= a.memory
	}))
	return fewest, nil
}

// cost returns the needs of a run's ranks on an allocation.
func (r *request) cost(a allocation) mpivirt.Cost {
	return bench.CostOf(r.entry, r.config, int(a.engines()))
}

// bytesPerRank returns the memory of a rank on an allocation.
func (r *request) bytesPerRank(a allocation, sample calibration) float64 {
	return r.cost(a).BytesPerRank * sample.memory
}

// hostBytes returns the memory of a run on each host of an allocation.
func (r *request) hostBytes(a allocation, sample calibration) int64 {
	shared := float64(a.engines()/a.processes()) * r.cost(a).BytesPerEngine
	each := host.NeededMemory(r.ranks, r.bytesPerRank(a, sample), shared, int(a.processes()))
	local := a.processes() / a.hosts
	return min(each, math.MaxInt64/local) * local
}

// foresee extrapolates a calibration.
func (r *request) foresee(a allocation, sample calibration) forecast {
	if sample.missing != "" {
		return forecast{bytesPerRank: r.bytesPerRank(a, sample), hostBytes: r.hostBytes(a, sample), sample: sample}
	}
	// Ranks of a busy core, in terms of the calibration's.
	load := float64(r.ranks) / float64(a.busy(r.ranks)) / (float64(sample.ranks) / float64(sample.cores))
	grow := r.timePerRank(r.ranks, a.engines()) / r.timePerRank(sample.ranks, int64(sample.engines))
	f := forecast{
		bytesPerRank: r.bytesPerRank(a, sample), hostBytes: r.hostBytes(a, sample), sample: sample,
		first: sample.first * load * grow, iteration: sample.iteration * load * grow,
	}
	f.wall = f.first + f.iteration*float64(max(r.options.Iterations-1, 0))
	return f
}

func printPlan(c *terminal.Console, program string, f *planFlags, r *request, a allocation, v forecast) {
	out := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	p := func(name, format string, arguments ...any) {
		_, _ = fmt.Fprintf(out, "%s\t%s\n", name, fmt.Sprintf(format, arguments...))
	}
	_, _ = fmt.Fprintf(c.Stdout, "%s: %s as %v LPs on %s\n\n", program, spelling.Count(r.ranks, "rank"), r.config.Kind, r.machine)
	least := "" // a native program that was ended may have taken more
	if v.sample.missing != "" && r.config.Kind == native.Kind {
		least = "at least "
	}
	p("memory", "%s%s a rank, %s in all", least, terminal.MeanBytes(v.bytesPerRank), terminal.Bytes(v.hostBytes*min(a.hosts, math.MaxInt64/v.hostBytes)))
	p("hosts", "%d, with %d cores and %s of %s each", a.hosts, a.cores, terminal.Bytes(v.hostBytes), terminal.Bytes(a.memory))
	if v.sample.missing != "" {
		p("times", "not known, since nothing could be measured: set a time limit of your own")
		p("calibration", "none: %s", v.sample.missing)
	} else if r.options.Iterations == 0 {
		p("whole run", "%s", terminal.Seconds(v.wall))
		p("calibration", "%s ranks on %s: %s a rank", terminal.Count(float64(v.sample.ranks)),
			spelling.Count(v.sample.engines, "engine"), terminal.Seconds(v.sample.first/float64(v.sample.ranks)))
	} else {
		p("first iteration", "after %s, with the set-up", terminal.Seconds(v.first))
		p("each further one", "%s", terminal.Seconds(v.iteration))
		p("all "+spelling.Count(r.options.Iterations, "iteration"), "%s", terminal.Seconds(v.wall))
		p("calibration", "%s ranks on %s: %s a rank and iteration", terminal.Count(float64(v.sample.ranks)),
			spelling.Count(v.sample.engines, "engine"), terminal.Seconds(v.sample.iteration/float64(v.sample.ranks)))
	}
	if v.sample.failure != "" {
		p("the program fails", "%s; memory and times are those until then", v.sample.failure)
	}
	_ = out.Flush()
	run := append([]string{"gigarank"}, f.run.arguments(program)...)
	_, _ = fmt.Fprint(c.Stdout, jobLines(terminal.CommandLine(append(run, "--json", "result.json")), a, v))
}

// arguments returns the arguments of the run that the flags describe, without those for
// its output and its hosts.
func (f *runFlags) arguments(program string) []string {
	args := slices.Concat([]string{"run", program}, f.programArguments, []string{"--ranks", cmp.Or(f.ranks, usualRanks), "--machine", f.machine, "--lp", f.lp})
	for _, flag := range []struct{ name, value, usual string }{
		{"--ranks-per-node", f.perNode, ""}, {"--mapping", f.mapping, ""}, {"--library", f.library, ""}, {"--engines", f.engines, ""}, {"--sync", f.sync, "hybrid"}, {"--collectives", f.collectives, "auto"}, {"--barrier", f.barrier, ""},
		{"--allreduce", f.allreduce, ""}, {"--iterations", f.iterations, ""}, {"--compute", f.compute, ""},
		{"--payload", f.payload, ""}, {"--contents", f.contents, ""}, {"--datatype", f.datatype, ""}, {"--seed", f.seed, "1"}, {"--noise", f.noise, "none"}, {"--polls", f.polls, ""}, {"--stack", f.stack, ""}, {"--stacks", f.stacks, ""},
	} {
		if flag.value != flag.usual {
			args = append(args, flag.name, flag.value)
		}
	}
	for _, a := range f.algorithms {
		args = append(args, "--algorithm", a)
	}
	if f.strict {
		args = append(args, "--strict")
	}
	return args
}

// jobLines returns the lines of job scripts that ask for an allocation: half as much
// time again as expected, if that is known, and a tenth more memory. B: sends the signal to
// the batch shell, which exec replaces by the launcher.
func jobLines(command string, a allocation, v forecast) string {
	minutes := int(math.Ceil(v.wall*1.5/60)) + 1
	limit := fmt.Sprintf("%02d:%02d:00", minutes/60, minutes%60)
	time, walltime := " --time="+limit, "\n  #PBS -l walltime="+limit
	if v.sample.missing != "" {
		time, walltime = "", ""
	}
	gib := int64(math.Ceil(float64(v.hostBytes) * 1.1 / (1 << 30)))
	tasks, cpus, srun, mpiexec := a.cores, int64(1), "srun --kill-on-bad-exit=1 "+command, fmt.Sprintf("mpiexec -n %d %s", a.processes(), command)
	if a.processes() == 1 {
		tasks, cpus, srun, mpiexec = 1, a.cores, command, command
	}
	return fmt.Sprintf(`
Slurm:
  #SBATCH --nodes=%d --ntasks-per-node=%d --cpus-per-task=%d
  #SBATCH --mem=%dG%s --signal=B:TERM@60
  exec %s

PBS:
  #PBS -l select=%d:ncpus=%d:mpiprocs=%d:mem=%dgb%s
  %s
`, a.hosts, tasks, cpus, gib, time, srun, a.hosts, a.cores, tasks, gib, walltime, mpiexec)
}
