package main

import (
	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/study"
)

func newCompare(c *terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "compare A B",
		Short: "Compare the results of two studies",
		Long: `Compare sets the points of two studies side by side: virtual times, their ratio, and
the wall times of the simulations. A and B are directories of studies. It pairs equal points.
If there are no equal points, it pairs points that differ only in machine, mapping and ranks per node.
Points of one version of gigarank have equal times: another build that differs shows here.

` + terminal.ExitHelp,
		Example: `  gigarank study compare before after
  gigarank study compare on-xt5 on-frontier`,
		Args: arguments(2, "two directories of studies"),
		RunE: func(_ *cobra.Command, args []string) error { return compareStudies(c, args[0], args[1]) },
	}
}

func compareStudies(c *terminal.Console, a, b string) error {
	var faults terminal.UsageError
	var records [2][]study.Record
	for i, dir := range []string{a, b} {
		var err error
		if records[i], err = study.ReadResults(dir); err != nil {
			faults.Add([]string{"A", "B"}[i], err)
		}
	}
	if err := faults.OrNil(); err != nil {
		return err
	}
	study.Compare(records[0], records[1]).WriteText(c.Stdout, a, b)
	return nil
}
