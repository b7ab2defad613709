package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
)

func newMachine(c *terminal.Console) *cobra.Command {
	group := &cobra.Command{
		Use:   "machine",
		Short: "Show, check or measure a target machine",
		Long: `Machine shows or checks a target machine: a preset (see gigarank list) or a YAML
file. Calibrate makes a machine file of the machine on which it runs, fit makes one of the output of
benchmarks, import one of a configuration of Dimemas.`,
	}
	group.AddCommand(
		&cobra.Command{
			Use:   "show FILE|PRESET",
			Short: "Print a machine with all defaults written out",
			Long: `Show prints a machine with all its defaults written out. The output is a machine
file again. Figures that are estimates are marked.`,
			Example: `  gigarank machine show xt5
  gigarank machine show xt5 > my-cluster.yaml`,
			Args: arguments(1, "one FILE or PRESET"),
			RunE: func(_ *cobra.Command, args []string) error { return showMachine(c, args[0]) },
		},
		&cobra.Command{
			Use:     "check FILE|PRESET",
			Short:   "Name all faults of a machine file",
			Long:    `Check names all faults of a machine file, by line, and exits with 2 if there are any.`,
			Example: `  gigarank machine check my-cluster.yaml`,
			Args:    arguments(1, "one FILE or PRESET"),
			RunE:    func(_ *cobra.Command, args []string) error { return checkMachine(c, args[0]) },
		},
	)
	group.AddCommand(newMeasure(c), newFit(c), newImport(c))
	requireSubcommand(group)
	return group
}

func showMachine(c *terminal.Console, name string) error {
	m, err := loadMachine(c, name)
	if err != nil {
		return machineError(err)
	}
	_, err = c.Stdout.Write(m.YAML())
	return err
}

func checkMachine(c *terminal.Console, name string) error {
	m, err := loadMachine(c, name)
	if err != nil {
		return machineError(err)
	}
	nodes := "as many nodes as the ranks need"
	if n := m.Nodes(); n > 0 {
		nodes = spelling.Count(n, "node")
	}
	room := "for any number of nodes"
	_, most := m.RoomOn(math.MaxInt32)
	if n, bounded := m.Room(); bounded {
		var ranks int
		ranks, most = m.RoomOn(n)
		room = fmt.Sprintf("for %s, %.4g ranks", spelling.Count(n, "node"), float64(ranks))
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: no faults; %s, up to %s on each, topology %s with room %s, mapping %s, delay model %s\n",
		m.Name(), nodes, spelling.Count(most, "rank"), m.Topology(), room, m.Mapping(), m.Model())
	return err
}

func machineError(err error) error {
	var faults terminal.UsageError
	faults.AddFile("machine", err)
	return faults
}
