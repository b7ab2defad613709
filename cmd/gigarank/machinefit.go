package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/internal/fit"
	"gigarank/internal/input"
)

const fitHelp = `Fit makes a machine file of the text that the OSU micro-benchmarks, IMB-MPI1 and nccl-tests print, with whatever a
job prints around it. It says what is determined by what and what could not be, simulates each point with the machine that it
made, and prints the measured time, the simulated time and their ratio.
  osu_latency, IMB PingPong      delays of messages at each level: within a node, between two nodes; the eager limit
  osu_bw                         gap between messages; the overheads are estimated by it
  osu_mbw_mr, IMB Uniband        between two nodes, interfaces of a node: bandwidth and gap of its ranks together;
                                 within a node, its memory
  osu_barrier, osu_allreduce     on one node with all its ranks: joins of a node
  osu_allreduce, osu_reduce, osu_reduce_scatter, to 64 KiB or more: bandwidth of sums
  all_reduce_perf, all_gather_perf  steps of a ring, where no ping-pong is given
Other collectives (bcast, allgather, gather, scatter, alltoall, barrier) are simulated and compared only.

Nodes and ranks a node of an output come, in this order, from FILE@NODESxRANKS, from the words of the job before a table (options
of srun and mpirun, #SBATCH lines, SLURM_NNODES and the like, a line '# gigarank: nodes=2 ppn=96'; the devices that nccl-tests lists), or from
--nodes and --ranks-per-node. Files and lines that cannot be read are refused.

Two ranks of a socket, or two nodes of a leaf switch, have a level of their own: FILE@1x2/socket:8 is osu_latency within a socket of 8
ranks, FILE@2x1/leaf:16 that between two nodes of a leaf of 16. A line '# gigarank: nodes=1 ppn=2 level=socket:8' before a table says
the same of it. FILE@1x2 alone is of two ranks as far apart as a node has them, FILE@2x1 as far as the machine has them.

`

// fitFlags are the flags of machine fit as they are written.
type fitFlags struct {
	out, name, nodes, perNode, interfaces, library string
	algorithms                                     []string
}

func newFit(c *terminal.Console) *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "fit OUTPUT...",
		Short: "Make a machine file of the output of benchmarks",
		Long:  fitHelp + terminal.ExitHelp,
		Example: `  gigarank machine fit -o my.yaml latency-2x1.txt latency-1x2.txt bw.txt mbw_mr.txt allreduce.txt
  gigarank machine fit -o my.yaml latency.txt@2x1 latency-node.txt@1x2 barrier.txt@1x96 allreduce.txt@32x96
  gigarank machine fit -o my.yaml socket.txt@1x2/socket:48 node.txt@1x2 leaf.txt@2x1/leaf:16 far.txt@2x1 mbw.txt@2x96
  gigarank machine fit -o my.yaml --nodes 32 --ranks-per-node 1 allreduce.txt latency.txt@2x1 --algorithm allreduce=recursive-doubling`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return terminal.UsageError{errors.New("gigarank machine fit takes the files with the output of benchmarks; see gigarank machine fit --help")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return fitMachine(c, args, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "out", "o", "", "machine `FILE` to write (default standard output, and the report on standard error)")
	flags.StringVar(&f.name, "name", "", "`NAME` of the machine (default that of FILE without its ending, or fitted)")
	flags.StringVar(&f.nodes, "nodes", "", "nodes `N` of jobs that say nothing")
	flags.StringVar(&f.perNode, "ranks-per-node", "", "ranks `N` on each of these nodes")
	flags.StringVar(&f.interfaces, "interfaces", "", "network interfaces `N` of a node (default 1, which stands for all of them)")
	flags.StringVar(&f.library, "library", "", "`LIBRARY` that ran the benchmarks, of gigarank list algorithms --library, or the file of a table: it chooses their algorithms, and the machine file names it")
	flags.StringArrayVar(&f.algorithms, "algorithm", nil, "`OPERATION=ALGORITHM` that the library used (default the choice of --library, or else of gigarank); may be repeated")
	return cmd
}

// layoutBehind is what may stand behind the name of a file.
var layoutBehind = regexp.MustCompile(`^(.+)@([0-9]+)x([0-9]+)(?:/([^/]*))?$`)

// fitMachine carries out the command.
func fitMachine(c *terminal.Console, files []string, f *fitFlags) error {
	series, options, err := f.prepare(c, files)
	if err != nil {
		return err
	}
	result, err := fit.Machine(series, options)
	if err != nil {
		return terminal.UsageError{err}
	}
	if f.out == "" || f.out == terminal.StandardOutput {
		result.WriteText(c.Stderr)
		_, err = c.Stdout.Write(result.YAML)
		return err
	}
	result.WriteText(c.Stdout)
	return writeDocument(c, f.out, result.YAML)
}

// prepare reads the flags and the files.
func (f *fitFlags) prepare(c *terminal.Console, files []string) ([]fit.Series, fit.Options, error) {
	var faults terminal.UsageError
	options := fit.Options{Name: f.name, Algorithms: map[collectives.Operation]string{}, Cores: c.Cores}
	if options.Name == "" {
		options.Name = "fitted"
		if base := filepath.Base(f.out); f.out != "" && f.out != terminal.StandardOutput {
			options.Name = strings.TrimSuffix(base, filepath.Ext(base))
		}
	}
	var usual fit.Layout
	number := func(flag, text string, to *int) {
		if text != "" {
			n, err := terminal.ReadCount(text, 1, math.MaxInt32)
			faults.Add(flag, err)
			*to = int(n)
		}
	}
	number("--nodes", f.nodes, &usual.Nodes)
	number("--ranks-per-node", f.perNode, &usual.PerNode)
	number("--interfaces", f.interfaces, &options.Interfaces)
	if (f.nodes == "") != (f.perNode == "") {
		faults.Add("--nodes", errors.New("give --ranks-per-node, too, or neither"))
	}
	if f.library != "" && f.library != noLibrary {
		var err error
		options.Library = f.library
		options.Chooser, err = loadLibrary(c, f.library, nil)
		faults.AddFile("--library", err)
	}
	for _, text := range f.algorithms {
		operation, name, _ := strings.Cut(text, "=")
		op, err := terminal.Choose("operation", operation, collectives.Operations())
		if err == nil {
			_, err = collectives.ParseAlgorithm(op, name)
		}
		faults.Add("--algorithm", err)
		options.Algorithms[op] = name
	}
	var all []fit.Series
	for _, file := range files {
		source := fit.Source{Name: file, Default: usual}
		if found := layoutBehind.FindStringSubmatch(file); found != nil {
			source.Name = found[1]
			number(file, found[2], &source.Given.Nodes)
			number(file, found[3], &source.Given.PerNode)
			if strings.HasSuffix(file, "/"+found[4]) {
				var err error
				source.Level, err = fit.ParseLevel(found[4])
				faults.Add(file, err)
			}
		}
		var err error
		if source.Text, err = c.ReadFile(source.Name); err != nil {
			faults.Add("OUTPUT", err)
			continue
		}
		series, notes, err := fit.Read(source)
		for _, n := range notes {
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: %v\n", n)
		}
		var inFile input.Faults
		if errors.As(err, &inFile) {
			faults.AddFile("OUTPUT", err)
		}
		all = append(all, series...)
	}
	faults.Add("--out", terminal.CheckWritable(f.out))
	return all, options, faults.OrNil()
}
