package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
)

func newList(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List programs, algorithms and machines",
		Args:  arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			listPrograms(c.stdout)
			listKinds(c.stdout)
			listAlgorithms(c.stdout)
			listMachines(c.stdout)
			return nil
		},
	}
}

// section prints a heading and lines of columns separated by tabs.
func section(w io.Writer, heading string, lines []string) {
	_, _ = fmt.Fprintln(w, heading)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, line := range lines {
		_, _ = fmt.Fprintf(table, "  %s\n", line)
	}
	_ = table.Flush()
}

func listPrograms(w io.Writer) {
	var lines []string
	for _, e := range bench.Programs() {
		forms := make([]string, len(e.Forms))
		for i, form := range e.Forms {
			forms[i] = form.String()
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s", e.Name, strings.Join(forms, ", "), e.Summary))
	}
	section(w, "Programs (name, kinds of rank, description)", lines)
}

func listKinds(w io.Writer) {
	var lines []string
	for _, k := range mpivirt.Kinds() {
		lines = append(lines, fmt.Sprintf("%s\t%s", k, k.Summary))
	}
	section(w, "\nKinds of rank, for --lp", lines)
}

// kindNames returns the names of the kinds of rank, for help texts.
func kindNames() string {
	var names []string
	for _, k := range mpivirt.Kinds() {
		names = append(names, k.Name)
	}
	return strings.Join(names, " or ")
}

func listAlgorithms(w io.Writer) {
	var lines []string
	for _, op := range collectives.Operations() {
		for i, a := range collectives.Algorithms(op) {
			name, mark := "", ""
			if i == 0 {
				name = op.String()
			}
			if a == collectives.Default(op) {
				mark = " (default)"
			}
			lines = append(lines, fmt.Sprintf("%s\t%s\t%s%s", name, a, collectives.Describe(op, a), mark))
		}
	}
	section(w, "\nAlgorithms of collective operations", lines)
}

func listMachines(w io.Writer) {
	var lines []string
	for _, p := range network.Presets() {
		lines = append(lines, fmt.Sprintf("%s\t%s", p.Name, p.Summary), "\tsource: "+p.Source)
	}
	section(w, "\nMachines", lines)
}
