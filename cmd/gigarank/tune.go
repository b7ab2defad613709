package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/internal/tuning"
	"gigarank/study"
)

const tuneHelp = `Tune simulates all algorithms of collectives on some machines and writes the table of a library,
which --library of run and field library of machine files read. At each size the table has the algorithm
whose greatest loss over the machines is the least: its time over that of the fastest algorithm there.
Neighbouring sizes share an algorithm while its loss is at most ` + "1.25" + `.

A number of ranks stands for those up to the next, a size likewise. Ranks are simulated on one node, with one
rank a node and on full nodes, as far as the machines have room. Simulations that would take more CPU time than
--limit are left out, and algorithms that are 12 times slower than the fastest with fewer ranks.

`

// tuneFlags are the flags of tune as they are written.
type tuneFlags struct {
	machines, operations, ranks, payload, limit, name, base, out string
}

func newTune(c *terminal.Console) *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Find the fastest algorithm of collectives by size and ranks",
		Long:  tuneHelp + terminal.ExitHelp,
		Example: `  gigarank tune --machine mine.yaml -o mine-tuned.yaml
  gigarank tune --machine mine.yaml --operations allreduce,bcast --ranks 2..4Ki:x4 --payload 8..4Mi:x8 -o mine-tuned.yaml`,
		Args: arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return tune(c, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.machines, "machine", usualMachine, "`LIST` of machine files and presets that the table serves")
	flags.StringVar(&f.operations, "operations", "", "`LIST` of operations (default all that have several algorithms)")
	flags.StringVar(&f.ranks, "ranks", "2..1Ki:x4", "`LIST` of numbers of ranks, such as 2..1Ki:x4")
	flags.StringVar(&f.payload, "payload", "8..4Mi:x8", "`LIST` of sizes: of the vector, or of a rank's block")
	flags.StringVar(&f.limit, "limit", "2s", "leave out simulations that are expected to take more CPU time than `DUR`")
	flags.StringVar(&f.name, "name", "tuned", "`NAME` of the library")
	flags.StringVar(&f.base, "base", "", "`LIBRARY` that decides the operations that are left out (default gigarank's default of each)")
	flags.StringVarP(&f.out, "out", "o", terminal.StandardOutput, "`FILE` to write, or - for standard output")
	return cmd
}

// tune carries out the command.
func tune(c *terminal.Console, f *tuneFlags) error {
	g, err := f.grid(c)
	if err != nil {
		return err
	}
	var names []string
	for _, m := range g.Machines {
		names = append(names, m.Name())
	}
	source := fmt.Sprintf("gigarank tune --machine %s --ranks %s --payload %s", strings.Join(names, ","), f.ranks, f.payload)
	text, losses := g.Measure().YAML(f.name, source, f.base)
	if _, err := library.Parse(f.name, text); err != nil {
		return fmt.Errorf("the table that was made is no table: %w", err)
	}
	for _, l := range losses {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: %v of %s from %d ranks on, %s: %v takes up to %.2f times the fastest\n",
			l.Operation, terminal.Bytes(l.Bytes), l.Ranks, l.Layout, l.Chosen, l.Loss)
	}
	return writeDocument(c, f.out, text)
}

// grid reads the flags.
func (f *tuneFlags) grid(c *terminal.Console) (*tuning.Grid, error) {
	var faults terminal.UsageError
	g := &tuning.Grid{Cores: c.Cores}
	for name := range strings.SplitSeq(f.machines, ",") {
		m, err := loadMachine(c, strings.TrimSpace(name))
		if faults.AddFile("--machine", err); err == nil {
			g.Machines = append(g.Machines, m)
		}
	}
	g.Operations = severalAlgorithms()
	if f.operations != "" {
		g.Operations = nil
		for name := range strings.SplitSeq(f.operations, ",") {
			op, err := terminal.Choose("operation", strings.TrimSpace(name), severalAlgorithms())
			faults.Add("--operations", err)
			g.Operations = append(g.Operations, op)
		}
	}
	ranks, err := study.Counts(f.ranks, 2, math.MaxInt32)
	faults.Add("--ranks", err)
	for _, n := range ranks {
		g.Ranks = append(g.Ranks, int(n))
	}
	g.Sizes, err = study.Sizes(f.payload, 1, 1<<40)
	faults.Add("--payload", err)
	limit, err := time.ParseDuration(f.limit)
	if err != nil || limit <= 0 {
		faults.Add("--limit", fmt.Errorf("%q is no time above 0: write one such as 500ms or 5s", f.limit))
	}
	g.Limit = limit.Seconds()
	if f.base != "" {
		_, err := library.Named(f.base)
		faults.Add("--base", err)
	}
	faults.Add("--out", terminal.CheckWritable(f.out))
	last := c.Now()
	g.Progress = func(done, all int) {
		if now := c.Now(); now.Sub(last) >= 10*time.Second {
			last = now
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: %d of %d groups of simulations done\n", done, all)
		}
	}
	return g, faults.OrNil()
}

// severalAlgorithms returns the operations whose algorithm can be chosen on all machines.
func severalAlgorithms() []collectives.Operation {
	return slices.DeleteFunc(collectives.Operations(), func(op collectives.Operation) bool { return len(collectives.Algorithms(op)) < 2 })
}
