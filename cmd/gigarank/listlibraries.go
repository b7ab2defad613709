package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
)

func newListAlgorithms(c *terminal.Console) *cobra.Command {
	var asJSON bool
	var name string
	cmd := &cobra.Command{
		Use:   "algorithms [OPERATION...]",
		Short: "List the algorithms of collective operations, or the choices of a library",
		Long: `Algorithms lists the algorithms of each collective operation, or of some operations. With
--library it prints which of them an MPI library takes: a library that comes along (see gigarank
list libraries) or a table of your own. The first line whose conditions hold decides. In it, an
algorithm is taken from the size before it up to the next.`,
		Example: `  gigarank list algorithms
  gigarank list algorithms bcast allreduce
  gigarank list algorithms --library openmpi-4.1
  gigarank list algorithms allreduce --library my-mpi.yaml --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			operations, err := namedOperations(args)
			if err != nil {
				return err
			}
			if name != "" {
				return listChoices(c, name, operations, asJSON)
			}
			if asJSON {
				return writeJSON(c.Stdout, struct {
					Schema     int               `json:"schema"`
					Operations []listedOperation `json:"operations"`
				}{1, listedOperations(operations)})
			}
			listAlgorithms(c.Stdout, "", operations)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "library", "", "`LIBRARY` whose choices are printed, or a file with a table")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// namedOperations returns the operations with some names, all of them without a name.
func namedOperations(names []string) ([]collectives.Operation, error) {
	if len(names) == 0 {
		return collectives.Operations(), nil
	}
	known := operationNames()
	var operations []collectives.Operation
	var faults terminal.UsageError
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			faults = append(faults, fmt.Errorf("OPERATION: unknown operation %q: %s", name, spelling.Choices(name, known)))
			continue
		}
		operations = append(operations, collectives.Operation(i))
	}
	return operations, faults.OrNil()
}

func newListLibraries(c *terminal.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "libraries",
		Short: "List the MPI libraries whose choices of algorithms are known",
		Example: `  gigarank list libraries
  gigarank list algorithms --library openmpi-4.1`,
		Args: arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			var all []listedLibrary
			for _, name := range library.Names() {
				table, err := library.Named(name)
				if err != nil {
					return libraryError(err)
				}
				all = append(all, describeLibrary(table))
			}
			if asJSON {
				return writeJSON(c.Stdout, struct {
					Schema    int             `json:"schema"`
					Libraries []listedLibrary `json:"libraries"`
				}{1, all})
			}
			var lines []string
			for _, l := range all {
				name := l.Name
				for _, line := range l.lines() {
					lines = append(lines, name+"\t"+line)
					name = ""
				}
			}
			section(c.Stdout, "MPI libraries", lines)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// listedLibrary is a library in the documents of list.
type listedLibrary struct {
	Name     string   `json:"name"`
	Source   string   `json:"source,omitempty"`
	Inferred []string `json:"inferred,omitempty"` // operations whose rows are not public
	Notes    []string `json:"notes,omitempty"`
}

func describeLibrary(table *library.Table) listedLibrary {
	l := listedLibrary{Name: table.Name(), Source: table.Source(), Notes: table.Notes()}
	for _, op := range collectives.Operations() {
		if table.Inferred(op) {
			l.Inferred = append(l.Inferred, op.String())
		}
	}
	return l
}

// lines returns what is known of a library.
func (l listedLibrary) lines() []string {
	lines := []string{"source: " + cmp.Or(l.Source, "not given")}
	if len(l.Inferred) > 0 {
		lines = append(lines, "inferred from measured times: "+strings.Join(l.Inferred, ", "))
	}
	for _, note := range l.Notes {
		lines = append(lines, "note: "+note)
	}
	return lines
}

// libraryError returns the faults of a library as wrong usage.
func libraryError(err error) error {
	var faults terminal.UsageError
	faults.AddFile("--library", err)
	return faults
}

// chosen is the document of list algorithms --library.
type chosen struct {
	Schema     int               `json:"schema"`
	Library    listedLibrary     `json:"library"`
	Operations []chosenOperation `json:"operations"`
}

type chosenOperation struct {
	Name      string           `json:"name"`
	Bytes     string           `json:"bytes,omitempty"` // what the sizes count: vector, block or total
	Inferred  bool             `json:"inferred"`
	Rows      []chosenRow      `json:"rows"`
	Fallbacks []chosenFallback `json:"fallbacks,omitempty"`
}

type chosenRow struct {
	Ranks       *bounds      `json:"ranks,omitempty"`
	PerNode     *bounds      `json:"per_node,omitempty"`
	Nodes       *bounds      `json:"nodes,omitempty"`
	PowerOfTwo  *bool        `json:"power_of_two,omitempty"`
	Commutative *bool        `json:"commutative,omitempty"`
	Sizes       []chosenSize `json:"sizes"`
}

// bounds are both ends of a range.
type bounds struct {
	Least int  `json:"least"`
	Most  *int `json:"most,omitempty"` // missing: there is no upper end
}

type chosenSize struct {
	From      int64  `json:"from_bytes"`
	Algorithm string `json:"algorithm"`
}

type chosenFallback struct {
	Algorithm string `json:"algorithm"`
	Needs     string `json:"needs"`
	Else      string `json:"else"`
}

// listChoices prints the table of a library.
func listChoices(c *terminal.Console, name string, operations []collectives.Operation, asJSON bool) error {
	table, err := library.Load(name, c.ReadFile)
	if err != nil {
		return libraryError(err)
	}
	l := describeLibrary(table)
	if asJSON {
		document := chosen{Schema: 1, Library: l}
		for _, op := range operations {
			document.Operations = append(document.Operations, chosenOf(table, op, op.String()))
			if blocks, has := table.OfBlocks(); has && op == collectives.ReduceScatter {
				document.Operations = append(document.Operations, chosenOf(blocks, op, ofBlocks))
			}
		}
		return writeJSON(c.Stdout, document)
	}
	section(c.Stdout, l.Name, l.lines())
	for _, op := range operations {
		printChoices(c.Stdout, table, op, op.String())
		if blocks, has := table.OfBlocks(); has && op == collectives.ReduceScatter {
			printChoices(c.Stdout, blocks, op, ofBlocks)
		}
	}
	return nil
}

// ofBlocks is the name of reduce_scatter with equal blocks.
const ofBlocks = "reduce_scatter_block"

func chosenOf(table *library.Table, op collectives.Operation, name string) chosenOperation {
	o := chosenOperation{Name: name, Bytes: table.Bytes(op), Inferred: table.Inferred(op)}
	for _, r := range table.Rows(op) {
		row := chosenRow{
			Ranks: boundsOf(r.Ranks), PerNode: boundsOf(r.PerNode), Nodes: boundsOf(r.Nodes),
			PowerOfTwo: truth(r.PowerOfTwo), Commutative: truth(r.Commutative),
		}
		for _, choice := range r.Choices {
			row.Sizes = append(row.Sizes, chosenSize{choice.From, choice.Algorithm.String()})
		}
		o.Rows = append(o.Rows, row)
	}
	for _, f := range table.Fallbacks(op) {
		o.Fallbacks = append(o.Fallbacks, chosenFallback{f.Algorithm.String(), f.Needs(), f.Else.String()})
	}
	return o
}

func boundsOf(r library.Range) *bounds {
	if r.All() {
		return nil
	}
	b := &bounds{Least: r.Least}
	if !r.Unlimited() {
		b.Most = &r.Most
	}
	return b
}

func truth(c library.Condition) *bool {
	if c == library.Either {
		return nil
	}
	yes := c == library.Yes
	return &yes
}

// counted says what the sizes of rows count.
var counted = map[string]string{"vector": "bytes of the vector", "block": "bytes of a rank's block", "total": "bytes of all blocks"}

func printChoices(w io.Writer, table *library.Table, op collectives.Operation, name string) {
	heading := "\n" + name
	if by := counted[table.Bytes(op)]; by != "" {
		heading += ", by " + by
	}
	if table.Inferred(op) {
		heading += ", inferred from measured times"
	}
	var lines []string
	otherwise := "always"
	for _, r := range table.Rows(op) {
		var choices []string
		for i, choice := range r.Choices {
			text := choice.Algorithm.String()
			if i > 0 {
				text = quantity.FormatSize(choice.From) + " " + text
			}
			choices = append(choices, text)
		}
		lines = append(lines, cmp.Or(conditions(r), otherwise)+"\t"+strings.Join(choices, " | "))
		otherwise = "else"
	}
	for _, f := range table.Fallbacks(op) {
		lines = append(lines, fmt.Sprintf("%s needs %s; else %s", f.Algorithm, f.Needs(), f.Else))
	}
	section(w, heading, lines)
}

// conditions returns the conditions of a row in words, "" without conditions.
func conditions(r library.Row) string {
	var words []string
	for _, n := range []struct {
		of   library.Range
		noun string
	}{{r.Ranks, "ranks"}, {r.PerNode, "ranks a node"}, {r.Nodes, "nodes"}} {
		switch {
		case n.of.All():
		case n.of.Unlimited():
			words = append(words, fmt.Sprintf("%d or more %s", n.of.Least, n.noun))
		case n.of.Least == n.of.Most:
			words = append(words, fmt.Sprintf("%d %s", n.of.Least, n.noun))
		case n.of.Least == 1:
			words = append(words, fmt.Sprintf("up to %d %s", n.of.Most, n.noun))
		default:
			words = append(words, fmt.Sprintf("%d to %d %s", n.of.Least, n.of.Most, n.noun))
		}
	}
	for _, p := range []struct {
		is      library.Condition
		yes, no string
	}{{r.PowerOfTwo, "a power of two", "no power of two"}, {r.Commutative, "commutative", "not commutative"}} {
		switch p.is {
		case library.Yes:
			words = append(words, p.yes)
		case library.No:
			words = append(words, p.no)
		}
	}
	return strings.Join(words, ", ")
}
