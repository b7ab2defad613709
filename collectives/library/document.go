package library

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/input"
	"gigarank/internal/spelling"
)

// document is the file of a table being read.
type document struct{ input.Document }

// fields returns the fields of a mapping, in their order.
func (d *document) fields(node *yaml.Node, path, remedy string) []input.Field {
	fields, _ := d.Fields(node, path, node.Line, remedy)
	return fields
}

// list returns the entries of a list that is not empty.
func (d *document) list(f input.Field, remedy string) []*yaml.Node {
	switch {
	case f.Node.Kind != yaml.SequenceNode:
		d.Fault(f.Line, f.Path, "is "+input.KindOf(f.Node)+", not a list", remedy)
		return nil
	case len(f.Node.Content) == 0:
		d.Fault(f.Line, f.Path, "is an empty list", remedy)
	}
	return f.Node.Content
}

// text returns a value on one line.
func (d *document) text(f input.Field, remedy string) (string, bool) {
	text, ok := scalar(f.Node)
	if !ok {
		d.Fault(f.Line, f.Path, "is "+input.KindOf(f.Node), remedy)
	}
	return text, ok
}

// texts returns the values of a list.
func (d *document) texts(f input.Field, remedy string) []string {
	var all []string
	for _, node := range d.list(f, remedy) {
		if text, ok := scalar(input.Target(node)); ok {
			all = append(all, text)
		} else {
			d.Fault(node.Line, f.Path, "an entry is "+input.KindOf(input.Target(node)), remedy)
		}
	}
	return all
}

// unknown reports a field that its mapping does not have.
func (d *document) unknown(f input.Field, known []string) {
	d.Fault(f.Line, f.Path, "is unknown", spelling.Suggest(f.Name, known, "the fields here are "+strings.Join(known, ", ")))
}

// scalar returns a value in the form in which it is written, without line breaks.
func scalar(node *yaml.Node) (string, bool) {
	text := strings.Join(strings.Fields(node.Value), " ")
	return text, node.Kind == yaml.ScalarNode && node.Tag != "!!null" && text != ""
}
