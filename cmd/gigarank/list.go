package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/internal/tuning"
	"gigarank/mpivirt"
	"gigarank/network"
)

func newList(c *terminal.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List programs, algorithms, delay models, machines and libraries",
		Long: `List prints the programs, the kinds of rank, the algorithms of each collective operation,
the delay models and the machines. Its commands print more about one of them.`,
		Example: `  gigarank list
  gigarank list --json
  gigarank list algorithms bcast allreduce
  gigarank list libraries
  gigarank list models
  gigarank list algorithms --library openmpi-4.1`,
	}
	cmd.AddCommand(newListAlgorithms(c), newListLibraries(c), newListModels(c))
	requireSubcommand(cmd)
	otherwise := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return otherwise(cmd, args)
		case asJSON:
			return listJSON(c.Stdout)
		}
		listPrograms(c.Stdout)
		listArguments(c.Stdout)
		listKinds(c.Stdout)
		listAlgorithms(c.Stdout, "\n", collectives.Operations())
		listDelayModels(c.Stdout)
		listMachines(c.Stdout)
		return nil
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as one JSON document")
	return cmd
}

// listing is the document of list --json.
type listing struct {
	Schema     int               `json:"schema"`
	Programs   []listedProgram   `json:"programs"`
	Kinds      []listed          `json:"kinds_of_rank"`
	Operations []listedOperation `json:"operations"`
	Models     []listedDelays    `json:"delay_models"`
	Machines   []listedMachine   `json:"machines"`
}

type listed struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type listedProgram struct {
	listed
	Kinds      []string `json:"kinds_of_rank"` // the first is the default
	Iterations int      `json:"iterations"`    // the defaults of its options
	Compute    int64    `json:"compute_ps"`
	Payload    int64    `json:"payload_bytes"`
	// Arguments are those that the program takes as NAME=VALUE.
	Arguments []listedArgument `json:"arguments,omitempty"`
}

type listedArgument struct {
	listed
	Default string `json:"default"`
}

type listedOperation struct {
	Name       string   `json:"name"`
	Default    string   `json:"default"`
	Algorithms []listed `json:"algorithms"`
}

type listedDelays struct {
	listed
	Fields []string `json:"fields"` // of section network that the model reads
}

type listedMachine struct {
	listed
	Source    string `json:"source"`
	Validated string `json:"validated,omitempty"`
}

// listJSON writes the listing.
func listJSON(w io.Writer) error {
	l := listing{Schema: 1}
	for _, e := range bench.Programs() {
		p := listedProgram{listed: listed{e.Name, e.Summary}, Iterations: e.Defaults.Iterations, Compute: int64(e.Defaults.Compute), Payload: e.Defaults.Payload}
		for _, kind := range e.Forms {
			p.Kinds = append(p.Kinds, kind.Name)
		}
		for _, a := range e.Arguments {
			p.Arguments = append(p.Arguments, listedArgument{listed{a.Name, a.Meaning}, a.Default})
		}
		l.Programs = append(l.Programs, p)
	}
	for _, k := range mpivirt.Kinds() {
		l.Kinds = append(l.Kinds, listed{k.Name, k.Summary})
	}
	l.Operations = listedOperations(collectives.Operations())
	for _, m := range network.Models() {
		l.Models = append(l.Models, listedDelays{listed{m.Name, m.Summary}, m.Fields})
	}
	for _, p := range network.Presets() {
		l.Machines = append(l.Machines, listedMachine{listed{p.Name, p.Summary}, p.Source, p.Validated})
	}
	return writeJSON(w, l)
}

func listedOperations(operations []collectives.Operation) []listedOperation {
	var all []listedOperation
	for _, op := range operations {
		o := listedOperation{Name: op.String(), Default: collectives.Default(op).String()}
		for _, a := range collectives.AllAlgorithms(op) {
			o.Algorithms = append(o.Algorithms, listed{a.String(), collectives.Describe(op, a)})
		}
		all = append(all, o)
	}
	return all
}

func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
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

// listArguments prints the arguments of programs that have any.
func listArguments(w io.Writer) {
	for _, e := range bench.Programs() {
		var lines []string
		for _, a := range e.Arguments {
			lines = append(lines, fmt.Sprintf("%s=%s\t%s", a.Name, a.Default, a.Meaning))
		}
		if lines != nil {
			section(w, fmt.Sprintf("\nArguments of %s, with their defaults", e.Name), lines)
		}
	}
}

func listKinds(w io.Writer) {
	var lines []string
	for _, k := range mpivirt.Kinds() {
		lines = append(lines, fmt.Sprintf("%s\t%s", k, k.Summary))
	}
	section(w, "\nKinds of rank, for --lp", lines)
}

// kindNames returns the names of kinds of rank, for help texts.
func kindNames(kinds []*mpivirt.Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// studiedKinds returns the kinds of rank that the programs of studies have.
func studiedKinds() []*mpivirt.Kind {
	entry, _ := bench.Lookup(bench.TimedBy(collectives.Barrier))
	return entry.Forms
}

// withoutLibrary says what the marks of algorithms mean.
const withoutLibrary = `
  Without a library the choice is by simulations on the machine: the preferred algorithm, unless another
  is faster by more than a quarter (barriers, and what the network sums up by itself: by half). Operations
  with a default have no such choice.
`

// listAlgorithms prints the algorithms of some operations behind a text.
func listAlgorithms(w io.Writer, before string, operations []collectives.Operation) {
	section(w, before+"Algorithms of collective operations", algorithmLines(operations))
	_, _ = io.WriteString(w, withoutLibrary)
}

// algorithmLines returns a line for each algorithm of some operations.
func algorithmLines(operations []collectives.Operation) (lines []string) {
	for _, op := range operations {
		for i, a := range collectives.AllAlgorithms(op) {
			name, mark := "", ""
			if i == 0 {
				name = op.String()
			}
			switch {
			case a != collectives.Default(op):
			case tuning.Chooses(op):
				mark = " (preferred)"
			default:
				mark = " (default)"
			}
			lines = append(lines, fmt.Sprintf("%s\t%s\t%s%s", name, a, collectives.Describe(op, a), mark))
		}
	}
	return lines
}

func listDelayModels(w io.Writer) {
	var lines []string
	for _, m := range network.Models() {
		lines = append(lines, fmt.Sprintf("%s\t%s", m.Name, m.Summary))
	}
	section(w, "\nDelay models of machines, for model in section network (docs/machines.md has their formulas)", lines)
}

func listMachines(w io.Writer) {
	var lines []string
	for _, p := range network.Presets() {
		lines = append(lines, fmt.Sprintf("%s\t%s", p.Name, p.Summary), "\tsource: "+p.Source)
		if p.Validated != "" {
			lines = append(lines, "\tvalidated: "+p.Validated)
		}
	}
	section(w, "\nMachines", lines)
}
