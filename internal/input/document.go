package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is a file in YAML that is being read. It collects all faults of the file.
type Document struct {
	File   string
	Faults Faults
}

// Fault adds a fault of a field, or of the file as a whole.
func (d *Document) Fault(line int, field, what, remedy string) {
	d.Faults = append(d.Faults, Fault{d.File, max(line, 1), field, what, remedy})
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line|unmarshal errors:\s+line) ([0-9]+): `)

// Root parses the text of a document. It returns nil if that is empty or not YAML. The remedies are those for an
// empty file and for a second document in it.
func (d *Document) Root(text []byte, empty, second string) *yaml.Node {
	var top, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(&top)
	switch {
	case errors.Is(err, io.EOF):
		d.Fault(1, "", "the file is empty", empty)
		return nil
	case err != nil:
		d.syntaxFault(err)
		return nil
	}
	if err := decoder.Decode(&more); err == nil {
		d.Fault(more.Line, "", "a second document begins", second)
	} else if !errors.Is(err, io.EOF) {
		d.syntaxFault(err)
	}
	return top.Content[0]
}

func (d *Document) syntaxFault(err error) {
	line, what := 1, err.Error()
	if m := syntaxLine.FindStringSubmatch(what); m != nil {
		line, _ = strconv.Atoi(m[1])
		what = what[len(m[0]):]
	}
	d.Fault(line, "", "not YAML: "+strings.TrimPrefix(what, "yaml: "), "")
}

// Field is a key of a mapping with its value.
type Field struct {
	Name string
	Path string
	Line int        // of the key
	Node *yaml.Node // behind an alias
}

// Fields returns the fields of a mapping, in their order. It reports keys that are given again, and a node at a line that is no
// mapping, with a remedy.
func (d *Document) Fields(node *yaml.Node, path string, line int, remedy string) (fields []Field, ok bool) {
	node = Target(node)
	if node.Kind != yaml.MappingNode {
		d.Fault(line, path, "is "+KindOf(node)+", not a mapping", remedy)
		return nil, false
	}
	first := map[string]int{} // lines
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := Target(node.Content[i]), Target(node.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			d.Fault(key.Line, path, "a key is "+KindOf(key)+", not a name", remedy)
			continue
		}
		f := Field{key.Value, Path(path, key.Value), key.Line, value}
		if line, twice := first[f.Name]; twice {
			d.Fault(f.Line, f.Path, fmt.Sprintf("is given again; first in line %d", line), "remove one of the two")
			continue
		}
		first[f.Name] = f.Line
		fields = append(fields, f)
	}
	return fields, true
}

// Path returns the path of a field in the mapping at a path, which is "" at the top.
func Path(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// Target follows an alias to its node.
func Target(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// KindOf returns the kind of a node that is not as it should be: "a mapping", "the value "3"".
func KindOf(node *yaml.Node) string {
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
