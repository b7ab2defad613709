package library

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/spelling"
)

// Fault is an error in the file of a table.
type Fault struct {
	File   string
	Line   int    // counted from 1
	Field  string // path of the field, such as "allreduce.rows[2].ranks"; empty for the file as a whole
	What   string // what is wrong
	Remedy string // what to write instead
}

// Error returns "file:line: field: what: remedy".
func (f Fault) Error() string {
	parts := []string{fmt.Sprintf("%s:%d", f.File, f.Line), f.Field, f.What, f.Remedy}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// Faults are all faults of a file, by line.
type Faults []Fault

// Error returns a line for each fault.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults, for errors.As.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}

// document is a file being read. It collects the faults.
type document struct {
	file   string
	faults Faults
}

func (d *document) fault(line int, field, what, remedy string) {
	d.faults = append(d.faults, Fault{d.file, max(line, 1), field, what, remedy})
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line|unmarshal errors:\s+line) ([0-9]+): `)

// root returns the fields of the document.
func (d *document) root(text []byte) []field {
	var top, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(&top)
	switch {
	case errors.Is(err, io.EOF):
		d.fault(1, "", "the file is empty", "start with name:, and see `gigarank list algorithms --library openmpi-4.1`")
		return nil
	case err != nil:
		d.syntaxFault(err)
		return nil
	}
	if err := decoder.Decode(&more); err == nil {
		d.fault(more.Line, "", "a second document begins", "describe one library a file")
	} else if !errors.Is(err, io.EOF) {
		d.syntaxFault(err)
	}
	return d.fields(top.Content[0], "", "write fields as key: value")
}

func (d *document) syntaxFault(err error) {
	line, what := 1, err.Error()
	if m := syntaxLine.FindStringSubmatch(what); m != nil {
		line, _ = strconv.Atoi(m[1])
		what = what[len(m[0]):]
	}
	d.fault(line, "", "not YAML: "+strings.TrimPrefix(what, "yaml: "), "")
}

// field is a key of a mapping with its value.
type field struct {
	name string
	path string
	line int
	node *yaml.Node
}

// fields returns the fields of a mapping, in their order, and reports keys that are given again.
func (d *document) fields(node *yaml.Node, path, remedy string) []field {
	node = target(node)
	if node.Kind != yaml.MappingNode {
		d.fault(node.Line, path, "is "+kindOf(node)+", not a mapping", remedy)
		return nil
	}
	var all []field
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := target(node.Content[i])
		if key.Kind != yaml.ScalarNode {
			d.fault(key.Line, path, "a key is "+kindOf(key)+", not a name", remedy)
			continue
		}
		f := field{key.Value, strings.TrimPrefix(path+"."+key.Value, "."), key.Line, target(node.Content[i+1])}
		if k := slices.IndexFunc(all, func(g field) bool { return g.name == f.name }); k >= 0 {
			d.fault(f.line, f.path, fmt.Sprintf("is given again; first in line %d", all[k].line), "remove one of the two")
			continue
		}
		all = append(all, f)
	}
	return all
}

// list returns the entries of a list that is not empty.
func (d *document) list(f field, remedy string) []*yaml.Node {
	switch {
	case f.node.Kind != yaml.SequenceNode:
		d.fault(f.line, f.path, "is "+kindOf(f.node)+", not a list", remedy)
		return nil
	case len(f.node.Content) == 0:
		d.fault(f.line, f.path, "is an empty list", remedy)
	}
	return f.node.Content
}

// text returns a value on one line.
func (d *document) text(f field, remedy string) (string, bool) {
	text, ok := scalar(f.node)
	if !ok {
		d.fault(f.line, f.path, "is "+kindOf(f.node), remedy)
	}
	return text, ok
}

// texts returns the values of a list.
func (d *document) texts(f field, remedy string) []string {
	var all []string
	for _, node := range d.list(f, remedy) {
		if text, ok := scalar(target(node)); ok {
			all = append(all, text)
		} else {
			d.fault(node.Line, f.path, "an entry is "+kindOf(target(node)), remedy)
		}
	}
	return all
}

// unknown reports a field that its mapping does not have.
func (d *document) unknown(f field, known []string) {
	d.fault(f.line, f.path, "is unknown", spelling.Suggest(f.name, known, "the fields here are "+strings.Join(known, ", ")))
}

// scalar returns a value in the form in which it is written, without line breaks.
func scalar(node *yaml.Node) (string, bool) {
	text := strings.Join(strings.Fields(node.Value), " ")
	return text, node.Kind == yaml.ScalarNode && node.Tag != "!!null" && text != ""
}

// target follows an alias to its node.
func target(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

func kindOf(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a mapping"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Tag == "!!null" || node.Value == "":
		return "empty"
	}
	const most = 60 // characters
	if text := []rune(node.Value); len(text) > most {
		return fmt.Sprintf("a value that begins with %q", string(text[:most]))
	}
	return fmt.Sprintf("the value %q", node.Value)
}
