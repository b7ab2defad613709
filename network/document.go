package network

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
	"gigarank/vtime"
)

// document is a machine file being read. It collects all faults of the file.
type document struct {
	file   string
	faults Faults
	seen   map[string]bool // paths of the fields in the file
}

func (d *document) fault(line int, field, what, remedy string) {
	d.faults = append(d.faults, Fault{d.file, line, field, what, remedy})
}

// An object is a mapping of a document. Each of its methods reads one field. The method reports the
// field's faults and then returns the zero value. A missing field is a fault only if it is
// required. An absent object has no fields and reports nothing.
type object struct {
	doc    *document
	path   string
	line   int
	fields map[string]field
	order  []string          // of the fields in the file
	known  []string          // fields that methods have read
	inner  map[string]string // fields of a section, by name: the name of the section
}

type field struct {
	node *yaml.Node
	line int // of the key
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line|unmarshal errors:\s+line) ([0-9]+): `)

// root parses the text of the document.
func (d *document) root(text []byte) *object {
	var top, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(&top)
	switch {
	case errors.Is(err, io.EOF):
		d.fault(1, "", "the file is empty", "start with name:, and see `gigarank machine show xt5`")
		return nil
	case err != nil:
		d.syntaxFault(err)
		return nil
	}
	if err := decoder.Decode(&more); err == nil {
		d.fault(more.Line, "", "a second document begins", "describe one machine a file")
	} else if !errors.Is(err, io.EOF) {
		d.syntaxFault(err)
	}
	return d.object(top.Content[0], "", top.Line)
}

func (d *document) syntaxFault(err error) {
	line, what := 1, err.Error()
	if m := syntaxLine.FindStringSubmatch(what); m != nil {
		line, _ = strconv.Atoi(m[1])
		what = what[len(m[0]):]
	}
	d.fault(max(line, 1), "", "not YAML: "+strings.TrimPrefix(what, "yaml: "), "")
}

// object reads a mapping, and reports duplicate keys.
func (d *document) object(node *yaml.Node, path string, line int) *object {
	node = target(node)
	if node.Kind != yaml.MappingNode {
		d.fault(line, path, "is "+kindOf(node)+", not a mapping", "write fields as key: value")
		return nil
	}
	o := &object{doc: d, path: path, line: line, fields: make(map[string]field)}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name := key.Value
		if key.Kind != yaml.ScalarNode {
			d.fault(key.Line, path, "a key is "+kindOf(key)+", not a name", "write fields as key: value")
			continue
		}
		if first, twice := o.fields[name]; twice {
			d.fault(key.Line, fieldPath(path, name), fmt.Sprintf("is given again; first in line %d", first.line), "remove one of the two")
			continue
		}
		o.fields[name] = field{value, key.Line}
		o.order = append(o.order, name)
		d.seen[fieldPath(path, name)] = true
	}
	return o
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
	case node.Tag == "!!null":
		return "empty"
	}
	const most = 60 // characters
	if text := []rune(node.Value); len(text) > most {
		return fmt.Sprintf("a value that begins with %q", string(text[:most]))
	}
	return fmt.Sprintf("the value %q", node.Value)
}

// take returns a field. It reports a missing field that is required.
func (o *object) take(key string, required bool, remedy string) (field, bool) {
	if o == nil {
		return field{}, false
	}
	o.known = append(o.known, key)
	f, ok := o.fields[key]
	if !ok && required {
		o.doc.fault(o.line, fieldPath(o.path, key), "is missing", remedy)
	}
	return f, ok
}

func (o *object) has(key string) bool {
	if o == nil {
		return false
	}
	_, ok := o.fields[key]
	return ok
}

// fault reports a fault of the field, which must be present.
func (o *object) fault(key, what, remedy string) {
	o.doc.fault(o.fields[key].line, fieldPath(o.path, key), what, remedy)
}

// scalar returns a value in the form in which it is written.
func (o *object) scalar(key string, required bool, remedy string) (string, bool) {
	f, ok := o.take(key, required, remedy)
	if !ok {
		return "", false
	}
	node := target(f.node)
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		o.fault(key, "is "+kindOf(node), remedy)
		return "", false
	}
	return node.Value, true
}

// text reads one line of text.
func (o *object) text(key string, required bool) string {
	s, ok := o.scalar(key, required, "write some text")
	if ok && strings.TrimSpace(s) == "" {
		o.fault(key, "is blank", "write some text")
	}
	return strings.Join(strings.Fields(s), " ")
}

// count reads a whole number from least to most.
func (o *object) count(key string, required bool, least, most int64) int {
	remedy := fmt.Sprintf("write a whole number of at least %d, such as 16 or 1Ki", least)
	s, ok := o.scalar(key, required, remedy)
	if !ok {
		return 0
	}
	n, err := quantity.ParseCount(s)
	switch {
	case err != nil:
		o.fault(key, err.Error(), "")
	case n < least:
		o.fault(key, fmt.Sprintf("%d is too small", n), remedy)
	case n > most:
		o.fault(key, fmt.Sprintf("%d is too large", n), fmt.Sprintf("write a whole number of at most %d", most))
	default:
		return int(n)
	}
	return 0
}

// size reads a number of bytes.
func (o *object) size(key string, required bool, otherwise int64) int64 {
	s, ok := o.scalar(key, required, "write a size such as 64KiB")
	if !ok {
		return otherwise
	}
	n, err := quantity.ParseSize(s)
	if err != nil {
		o.fault(key, err.Error(), "")
	}
	return n
}

// longestFigure bounds a single duration of a machine file.
const longestFigure = 24 * vtime.Hour

// duration reads a length of time that is not negative.
func (o *object) duration(key string, required bool, otherwise vtime.Duration) vtime.Duration {
	const remedy = "write a number and one of ps, ns, us, ms, s, such as 1.5us"
	s, ok := o.scalar(key, required, remedy)
	if !ok {
		return otherwise
	}
	d, err := vtime.ParseDuration(s)
	switch {
	case err != nil:
		o.fault(key, err.Error(), "")
	case d < 0:
		o.fault(key, fmt.Sprintf("%q is negative", s), "write a time of at least 0")
	case d > longestFigure:
		o.fault(key, fmt.Sprintf("%q is too long", s), "write a time of at most a day")
	case d == 0 && strings.ContainsAny(mantissa(s), "123456789"):
		o.fault(key, fmt.Sprintf("%q is less than half a picosecond, the unit of time", s), "write 0 or at least 1ps")
	default:
		return d
	}
	return otherwise
}

// mantissa returns the beginning of the number s, up to its exponent.
func mantissa(s string) string {
	head, _, _ := strings.Cut(strings.ToLower(s), "e")
	return head
}

// bandwidth reads bytes per second; a missing bandwidth is infinite.
func (o *object) bandwidth(key string, required bool) bandwidth {
	s, ok := o.scalar(key, required, "write a bandwidth such as 2GB/s")
	if !ok {
		return 0
	}
	b, err := parseBandwidth(s)
	if err != nil {
		o.fault(key, err.Error(), "")
	}
	return b
}

// pick reads the name of one of the kinds. It returns the zero value for a missing or unknown name.
func pick[K any](o *object, key string, kinds []K, name func(K) string) (kind K) {
	var names []string
	for _, k := range kinds {
		names = append(names, name(k))
	}
	slices.Sort(names)
	remedy := "write one of " + strings.Join(names, ", ")
	s, ok := o.scalar(key, true, remedy)
	if !ok {
		return kind
	}
	for _, k := range kinds {
		if name(k) == s {
			return k
		}
	}
	o.fault(key, fmt.Sprintf("%q is unknown", s), spelling.Suggest(s, names, remedy))
	return kind
}

// object reads a mapping within o.
func (o *object) object(key string, required bool, remedy string) *object {
	f, ok := o.take(key, required, remedy)
	if !ok {
		return nil
	}
	return o.doc.object(f.node, fieldPath(o.path, key), f.line)
}

// list reads a nonempty list. It returns nil for a missing list.
func (o *object) list(key string, required bool, remedy string) []*yaml.Node {
	f, ok := o.take(key, required, remedy)
	if !ok {
		return nil
	}
	node := target(f.node)
	if node.Kind != yaml.SequenceNode {
		o.fault(key, "is "+kindOf(node)+", not a list", remedy)
		return nil
	}
	if len(node.Content) == 0 {
		o.fault(key, "is an empty list", remedy)
	}
	return node.Content
}

// objects reads a list of mappings. An entry that is not a mapping becomes an absent object.
func (o *object) objects(key string, remedy string) []*object {
	var items []*object
	for i, node := range o.list(key, true, remedy) {
		path := fmt.Sprintf("%s[%d]", fieldPath(o.path, key), i)
		items = append(items, o.doc.object(node, path, node.Line))
	}
	return items
}

// skip records that an optional field is missing.
func (o *object) skip(key string) {
	if o != nil {
		o.known = append(o.known, key)
	}
}

// within records which fields belong into a section, for users who write them beside it.
func (o *object) within(name string, section *object, kinds map[string][]string) {
	if section == nil {
		return
	}
	o.inner = map[string]string{}
	for _, key := range slices.Concat(section.known, slices.Concat(slices.Collect(maps.Values(kinds))...)) {
		o.inner[key] = name
	}
}

// close reports the fields that no method has read. The kinds of selector, such as the delay
// models, have fields of their own. A field of another kind is reported as such.
func (o *object) close(selector string, kinds map[string][]string) {
	if o == nil {
		return
	}
	for _, key := range o.order {
		if slices.Contains(o.known, key) {
			continue
		}
		if owners := kindsWith(kinds, key); len(owners) > 0 {
			o.fault(key, fmt.Sprintf("belongs to another %s: %s", selector, strings.Join(owners, ", ")),
				"remove it, or change "+selector)
			continue
		}
		if section := o.inner[key]; section != "" {
			o.fault(key, "is a field of "+section, "write it there")
			continue
		}
		o.fault(key, "is unknown", spelling.Suggest(key, o.known, "the fields here are "+strings.Join(o.known, ", ")))
	}
}

// kindsWith returns the kinds that have the field.
func kindsWith(kinds map[string][]string, key string) []string {
	var names []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if slices.Contains(kinds[kind], key) {
			names = append(names, kind)
		}
	}
	return names
}

// closeAny is close for an unknown kind: a field of any kind is accepted.
func (o *object) closeAny(kinds map[string][]string) {
	if o == nil {
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for _, key := range kinds[kind] {
			if !slices.Contains(o.known, key) {
				o.known = append(o.known, key)
			}
		}
	}
	o.close("", nil)
}
