package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/network"
	"gigarank/trace/dim"
)

const importHelp = `Import makes a machine file of the machine of another simulator: a configuration of Dimemas, FILE.cfg. It
says what it leaves out.

Nodes, processors and their relative speed, tasks by node, bandwidths (MB of 2^20 bytes), busses and links are taken over. Dimemas has
the sender's processor busy for the startup of a message: it becomes the overhead of a send. Collectives go by the
algorithms of gigarank. Wide area networks, files and sensitivities are left out.

`

// importFlags are the flags of machine import as they are written.
type importFlags struct{ out, name string }

func newImport(c *terminal.Console) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE.cfg",
		Short: "Make a machine file of a configuration of Dimemas",
		Long:  importHelp + terminal.ExitHelp,
		Example: `  gigarank machine import cluster.cfg -o cluster.yaml
  gigarank replay lulesh-8.dim --machine cluster.yaml`,
		Args: arguments(1, "one FILE.cfg"),
		RunE: func(_ *cobra.Command, args []string) error { return importMachine(c, args[0], &f) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "machine `FILE` to write (default standard output, and what is left out on standard error)")
	cmd.Flags().StringVar(&f.name, "name", "", "`NAME` of the machine (default that of FILE.cfg without its ending)")
	return cmd
}

// importMachine carries out the command.
func importMachine(c *terminal.Console, name string, f *importFlags) error {
	var faults terminal.UsageError
	text, err := c.ReadFile(name)
	faults.AddFile("FILE", err)
	if err := faults.OrNil(); err != nil {
		return err
	}
	called := f.name
	if called == "" {
		called = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	yaml, leftOut, err := dim.Machine(name, called, text)
	if err == nil {
		_, err = network.Parse(called, yaml, nil)
	}
	if err != nil {
		return terminal.UsageError{err}
	}
	toFile, to := f.out != "" && f.out != terminal.StandardOutput, c.Stderr
	if toFile {
		to = c.Stdout
	}
	for _, what := range leftOut {
		_, _ = fmt.Fprintf(to, "left out of %s, %s\n", name, what)
	}
	if !toFile {
		_, err = c.Stdout.Write(yaml)
		return err
	}
	return writeDocument(c, f.out, yaml)
}
