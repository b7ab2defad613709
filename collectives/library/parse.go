package library

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/collectives"
	"gigarank/internal/input"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
)

// Parse returns the table of a file. Faults name the file by name. The error is an [input.Faults] with all
// faults of the file.
func Parse(name string, data []byte) (*Table, error) {
	d := &document{input.Document{File: name}}
	t := &Table{operations: make([]operation, len(collectives.Operations()))}
	sum := sha256.Sum256(data)
	t.digest = hex.EncodeToString(sum[:8])
	if top := d.Root(data, "start with name:, and see `gigarank list algorithms --library openmpi-4.1`", "describe one library a file"); top != nil {
		t.parse(d, d.fields(top, "", "write fields as key: value"))
	}
	if len(d.Faults) > 0 {
		d.Faults.Sort()
		return nil, d.Faults
	}
	return t, nil
}

// ofBlocks is the section of MPI_Reduce_scatter_block, which a table may have beside that of reduce_scatter.
const ofBlocks = "reduce_scatter_block"

func (t *Table) parse(d *document, top []input.Field) {
	if len(d.Faults) > 0 && top == nil {
		return
	}
	known := []string{"name", "source", "inferred", "notes", "base", ofBlocks}
	for _, op := range collectives.Operations() {
		known = append(known, op.String())
	}
	var inferred, base input.Field
	lines := make([]int, len(t.operations)) // of the operations' sections; 0: there is none
	for _, f := range top {
		switch op, isOperation := operationNamed(f.Name); {
		case f.Name == "name":
			t.name, _ = d.text(f, "write the library's name, such as openmpi-4.1")
		case f.Name == "source":
			t.source, _ = d.text(f, "write where the rows were published")
		case f.Name == "notes":
			t.notes = d.texts(f, "write a list of sentences")
		case f.Name == "inferred":
			inferred = f
		case f.Name == "base":
			base = f
		case f.Name == ofBlocks:
			t.blocks.parse(d, collectives.ReduceScatter, f)
		case isOperation:
			lines[op] = f.Line
			t.operations[op].parse(d, op, f)
		default:
			d.unknown(f, known)
		}
	}
	if t.name == "" && !slices.ContainsFunc(top, func(f input.Field) bool { return f.Name == "name" }) {
		d.Fault(1, "name", "is missing", "write the library's name, such as name: my-mpi")
	}
	t.complete(d, base, lines)
	t.parseInferred(d, inferred, lines)
}

// complete takes the operations that the file leaves out from the base.
func (t *Table) complete(d *document, base input.Field, lines []int) {
	var from *Table
	if base.Node != nil {
		name, ok := d.text(base, "write the name of a library")
		if !ok {
			return
		}
		var err error
		if from, err = Named(name); err != nil {
			d.Fault(base.Line, base.Path, err.Error(), "")
			return
		}
	}
	if from != nil && lines[collectives.ReduceScatter] == 0 && len(t.blocks.rows) == 0 {
		t.blocks = from.blocks
	}
	for op := range t.operations {
		switch {
		case lines[op] > 0:
		case from != nil:
			t.operations[op] = from.operations[op]
			if from.Inferred(collectives.Operation(op)) {
				t.inferred = append(t.inferred, collectives.Operation(op))
			}
		default:
			d.Fault(1, collectives.Operation(op).String(), "is missing: no row decides its calls",
				"write its rows, or base: with the library that decides operations without rows here")
		}
	}
}

func (t *Table) parseInferred(d *document, f input.Field, lines []int) {
	if f.Node == nil {
		return
	}
	for _, name := range d.texts(f, "write a list of operations such as [bcast, gather]") {
		op, ok := operationNamed(name)
		switch {
		case !ok:
			d.Fault(f.Line, f.Path, fmt.Sprintf("there is no operation %q", name), spelling.Choices(name, operationNames()))
		case lines[op] == 0:
			d.Fault(f.Line, f.Path, fmt.Sprintf("this file has no rows of %s", name), "remove it")
		default:
			t.inferred = append(t.inferred, op)
		}
	}
}

func operationNames() []string {
	var names []string
	for _, op := range collectives.Operations() {
		names = append(names, op.String())
	}
	return names
}

func operationNamed(name string) (collectives.Operation, bool) {
	i := slices.Index(operationNames(), name)
	return collectives.Operation(max(i, 0)), i >= 0
}

func (o *operation) parse(d *document, op collectives.Operation, f input.Field) {
	o.measure = measures(op)[0]
	faults := len(d.Faults)
	hasRows := false
	for _, g := range d.fields(f.Node, f.Path, "write rows: and a list of rows") {
		switch g.Name {
		case "bytes":
			o.parseMeasure(d, op, g)
		case "fallbacks":
			o.parseFallbacks(d, op, g)
		case "rows":
			hasRows = true
			for i, node := range d.list(g, "write a list of rows such as - {ranks: ..3, algorithm: linear}") {
				o.parseRow(d, op, input.Field{Name: "rows", Path: fmt.Sprintf("%s[%d]", g.Path, i), Line: node.Line, Node: input.Target(node)})
			}
		default:
			d.unknown(g, []string{"bytes", "fallbacks", "rows"})
		}
	}
	if !hasRows && len(d.Faults) == faults {
		d.Fault(f.Line, f.Path, "has no rows", "write rows: and a list of rows")
	}
	plain := !o.unclear && len(o.rows) > 0
	if plain && len(d.Faults) == faults {
		o.bindFallbacks(d, f.Path)
	}
	if plain {
		o.index()
		o.check(d, op, f.Path)
	}
}

func (o *operation) parseMeasure(d *document, op collectives.Operation, f input.Field) {
	var names []string
	for _, m := range measures(op) {
		names = append(names, m.String())
	}
	text, ok := d.text(f, "write one of "+strings.Join(names, ", "))
	if !ok {
		return
	}
	i := slices.Index(names, text)
	switch {
	case op == collectives.Barrier:
		d.Fault(f.Line, f.Path, "a barrier has no bytes", "remove it")
	case i < 0:
		d.Fault(f.Line, f.Path, fmt.Sprintf("the sizes of %s cannot count %q", op, text), spelling.Choices(text, names))
	default:
		o.measure = measures(op)[i]
	}
}

// rowFields are the fields of a row.
var rowFields = []string{"ranks", "per_node", "nodes", "power_of_two", "commutative", "sizes", "algorithm"}

func (o *operation) parseRow(d *document, op collectives.Operation, f input.Field) {
	r := Row{line: f.Line}
	faults, decided := len(d.Faults), 0
	fields := d.fields(f.Node, f.Path, "write a row such as {ranks: ..3, algorithm: linear}")
	o.unclear = o.unclear || len(d.Faults) > faults
	for _, g := range fields {
		before := len(d.Faults)
		switch g.Name {
		case "ranks":
			r.Ranks = parseRange(d, g)
		case "per_node":
			r.PerNode = parseRange(d, g)
		case "nodes":
			r.Nodes = parseRange(d, g)
		case "power_of_two":
			r.PowerOfTwo = parseCondition(d, g)
		case "commutative":
			r.Commutative = parseCondition(d, g)
		case "sizes":
			decided++
			r.Choices = parseSizes(d, op, g)
		case "algorithm":
			decided++
			r.Choices = parseChoice(d, op, 0, g)
		default:
			d.unknown(g, rowFields)
		}
		o.unclear = o.unclear || len(d.Faults) > before && g.Name != "sizes" && g.Name != "algorithm"
	}
	switch {
	case decided == 0 && len(d.Faults) == faults:
		d.Fault(f.Line, f.Path, "decides nothing", "write sizes: {0: ALGORITHM, …} or algorithm: ALGORITHM")
	case decided == 2:
		d.Fault(f.Line, f.Path, "has both sizes and algorithm", "remove one of the two")
	case op == collectives.Barrier && len(r.Choices) > 1:
		d.Fault(f.Line, f.Path, "a barrier has no bytes", "write algorithm: ALGORITHM")
	}
	o.rows = append(o.rows, r)
}

// mostRanks bounds the numbers of ranks and nodes.
const mostRanks = 1 << 40

// parseRange reads a number or a range: "16", "2..15", "4..", "..3".
func parseRange(d *document, f input.Field) Range {
	const remedy = "write a number or a range, such as 16, 2..15, 4.. or ..3"
	text, ok := d.text(f, remedy)
	if !ok {
		return Range{}
	}
	least, most, isRange := strings.Cut(text, "..")
	if !isRange {
		most = least
	}
	r := Range{1, unlimited}
	for _, end := range []struct {
		text string
		to   *int
	}{{strings.TrimSpace(least), &r.Least}, {strings.TrimSpace(most), &r.Most}} {
		if end.text == "" && isRange {
			continue
		}
		n, err := quantity.ParseCount(end.text)
		if err != nil || n < 1 || n > mostRanks {
			d.Fault(f.Line, f.Path, fmt.Sprintf("%q is not a number or range from 1 on", text), remedy)
			return Range{}
		}
		*end.to = int(n)
	}
	switch {
	case r.Least > r.Most:
		d.Fault(f.Line, f.Path, fmt.Sprintf("%q is empty", text), "write the smaller number first")
		return Range{}
	case r == Range{1, unlimited}:
		d.Fault(f.Line, f.Path, fmt.Sprintf("%q has all numbers", text), "remove it")
		return Range{}
	}
	return r
}

func parseCondition(d *document, f input.Field) Condition {
	switch text, ok := d.text(f, "write true or false"); {
	case !ok:
	case text == "true":
		return Yes
	case text == "false":
		return No
	default:
		d.Fault(f.Line, f.Path, "is "+input.KindOf(f.Node), "write true or false")
	}
	return Either
}

func parseSizes(d *document, op collectives.Operation, f input.Field) []Choice {
	var all []Choice
	before := int64(-1) // the size before
	for _, g := range d.fields(f.Node, f.Path, "write sizes such as {0: recursive-doubling, 8Ki: ring}") {
		from, err := quantity.ParseSize(g.Name)
		switch {
		case err != nil:
			d.Fault(g.Line, g.Path, err.Error(), "")
		case before < 0 && from != 0:
			d.Fault(g.Line, g.Path, fmt.Sprintf("no algorithm is given for less than %s bytes", g.Name), "begin with 0: ALGORITHM")
		case from <= before:
			d.Fault(g.Line, g.Path, "is not above the size before it, which decides its calls", "write sizes in ascending order")
		}
		before = max(from, before, 0)
		all = append(all, parseChoice(d, op, from, g)...)
	}
	if before < 0 && f.Node.Kind == yaml.MappingNode {
		d.Fault(f.Line, f.Path, "is empty", "write sizes such as {0: recursive-doubling, 8Ki: ring}")
	}
	return all
}

func parseChoice(d *document, op collectives.Operation, from int64, f input.Field) []Choice {
	a, ok := parseAlgorithm(d, op, f)
	if !ok {
		return nil
	}
	return []Choice{{From: from, Algorithm: a, fallback: -1, line: f.Line}}
}

// parseAlgorithm reads an algorithm with its arguments.
func parseAlgorithm(d *document, op collectives.Operation, f input.Field) (collectives.Algorithm, bool) {
	text, ok := d.text(f, "write the name of an algorithm")
	if !ok {
		return 0, false
	}
	a, err := collectives.ParseAlgorithm(op, text)
	if err != nil {
		d.Fault(f.Line, f.Path, strings.TrimPrefix(err.Error(), "collectives: "), "")
	}
	return a, err == nil
}

func (o *operation) parseFallbacks(d *document, op collectives.Operation, f input.Field) {
	for _, g := range d.fields(f.Node, f.Path, "write ALGORITHM: {ranks: even, else: ALGORITHM}") {
		b := Fallback{line: g.Line}
		// A fallback is that of an algorithm with any arguments.
		a, ok := parseAlgorithm(d, op, input.Field{Name: g.Name, Path: g.Path, Line: g.Line, Node: &yaml.Node{Kind: yaml.ScalarNode, Value: g.Name, Line: g.Line}})
		if ok && a != a.Base() {
			d.Fault(g.Line, g.Path, "a fallback is of an algorithm with any arguments", "write "+a.Base().String())
		}
		b.Algorithm = a.Base()
		needs, hasElse := 0, false
		faults := len(d.Faults)
		for _, h := range d.fields(g.Node, g.Path, "write {ranks: even, else: ALGORITHM}") {
			switch h.Name {
			case "else":
				hasElse = true
				b.Else, _ = parseAlgorithm(d, op, h)
			case "ranks", "elements", "machine":
				needs++
				b.parseNeed(d, h)
			default:
				d.unknown(h, []string{"ranks", "elements", "machine", "else"})
			}
		}
		if len(d.Faults) == faults && (needs != 1 || !hasElse) {
			d.Fault(g.Line, g.Path, "a fallback has one need and one algorithm in place of its own",
				"write such as {ranks: even, else: ring}, {elements: ranks, else: linear} or {machine: offload, else: binomial}")
		}
		o.fallbacks = append(o.fallbacks, b)
	}
}

func (f *Fallback) parseNeed(d *document, at input.Field) {
	words := map[string]map[string]need{
		"ranks":    {"even": evenRanks, "power-of-two": ranksPowerOfTwo},
		"elements": {"ranks": elementForEachRank, "power-of-two": elementsPowerOfTwo, "power-of-two-nodes": elementsPowerOfTwoNodes},
		"machine":  {"offload": offload, "given": givenTime, "torus": torusLinks},
	}[at.Name]
	var choices []string
	for word := range words {
		choices = append(choices, word)
	}
	slices.Sort(choices)
	text, ok := d.text(at, "write one of "+strings.Join(choices, ", "))
	if !ok {
		return
	}
	if n, isWord := words[text]; isWord {
		f.need = n
		return
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if at.Name == "elements" && err == nil && n > 1 {
		f.need, f.elements = someElements, n
		return
	}
	if at.Name == "elements" {
		choices = append(choices, "a number above 1")
	}
	d.Fault(at.Line, at.Path, fmt.Sprintf("%q is unknown", text), spelling.Choices(text, choices))
}
