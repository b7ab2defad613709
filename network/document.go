package network

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/input"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
	"gigarank/vtime"
)

// document is a machine file being read.
type document struct {
	input.Document
	seen map[string]bool // paths of the fields in the file
}

func newDocument(file string) *document {
	return &document{Document: input.Document{File: file}, seen: map[string]bool{}}
}

// An object is a mapping of a document. Each of its methods reads one field. The method reports the
// field's faults and then returns the zero value. A missing field is a fault only if it is
// required. An absent object has no fields and reports nothing.
type object struct {
	doc    *document
	path   string
	line   int
	fields map[string]input.Field
	order  []string          // of the fields in the file
	known  []string          // fields that methods have read
	inner  map[string]string // fields of a section, by name: the name of the section
}

// root parses the text of the document.
func (d *document) root(text []byte) *object {
	top := d.Root(text, "start with name:, and see `gigarank machine show xt5`", "describe one machine a file")
	if top == nil {
		return nil
	}
	return d.object(top, "", top.Line)
}

// object reads a mapping, and reports duplicate keys.
func (d *document) object(node *yaml.Node, path string, line int) *object {
	fields, ok := d.Fields(node, path, line, "write fields as key: value")
	if !ok {
		return nil
	}
	o := &object{doc: d, path: path, line: line, fields: make(map[string]input.Field)}
	for _, f := range fields {
		o.fields[f.Name] = f
		o.order = append(o.order, f.Name)
		d.seen[f.Path] = true
	}
	return o
}

// take returns a field. It reports a missing field that is required.
func (o *object) take(key string, required bool, remedy string) (input.Field, bool) {
	if o == nil {
		return input.Field{}, false
	}
	o.known = append(o.known, key)
	f, ok := o.fields[key]
	if !ok && required {
		o.doc.Fault(o.line, input.Path(o.path, key), "is missing", remedy)
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
	o.doc.Fault(o.fields[key].Line, input.Path(o.path, key), what, remedy)
}

// scalar returns a value in the form in which it is written.
func (o *object) scalar(key string, required bool, remedy string) (string, bool) {
	f, ok := o.take(key, required, remedy)
	if !ok {
		return "", false
	}
	node := f.Node
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		o.fault(key, "is "+input.KindOf(node), remedy)
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
	return o.doc.object(f.Node, input.Path(o.path, key), f.Line)
}

// list reads a nonempty list. It returns nil for a missing list.
func (o *object) list(key string, required bool, remedy string) []*yaml.Node {
	f, ok := o.take(key, required, remedy)
	if !ok {
		return nil
	}
	node := f.Node
	if node.Kind != yaml.SequenceNode {
		o.fault(key, "is "+input.KindOf(node)+", not a list", remedy)
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
		path := fmt.Sprintf("%s[%d]", input.Path(o.path, key), i)
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
