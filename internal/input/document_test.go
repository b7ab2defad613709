package input_test

import (
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/input"
)

// All that is wrong with the form of a document is told at its line, and what is right is read nevertheless.
func TestFormOfADocument(t *testing.T) {
	for _, c := range []struct{ why, text, want string }{
		{"empty", "", "f:1: the file is empty: start"},
		{"only a comment", "# nothing\n", "f:1: the file is empty: start"},
		{"no YAML", "a: 1\nb: c: d\n", "f:2: not YAML: mapping values are not allowed in this context"},
		{"no mapping", "- a\n- b\n", "f:1: is a list, not a mapping: fields"},
		{"a key twice", "a: 1\nb: 2\na: 3\n", "f:3: a: is given again; first in line 1: remove one of the two"},
		{"a key that is a list", "a: 1\n[b, c]: 2\n", "f:2: a key is a list, not a name: fields"},
		{"two documents", "a: 1\n---\nb: 2\n", "f:2: a second document begins: one"},
		{"two faults", "b: 1\nb: 2\n---\n[", "f:2: b: is given again; first in line 1: remove one of the two\nf:4: not YAML: did not find expected node content"},
	} {
		d := input.Document{File: "f"}
		if top := d.Root([]byte(c.text), "start", "one"); top != nil {
			d.Fields(top, "", top.Line, "fields")
		}
		d.Faults.Sort()
		if got := d.Faults.Error(); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

// Fields keep their order, lines and paths, also behind an alias.
func TestFields(t *testing.T) {
	d := input.Document{File: "f"}
	top := d.Root([]byte("z: &z {b: 1, a: ''}\ny: *z\n"), "", "")
	outer, _ := d.Fields(top, "", 1, "")
	if len(outer) != 2 || outer[0].Name != "z" || outer[1].Path != "y" || outer[1].Line != 2 || outer[1].Node.Kind != yaml.MappingNode {
		t.Fatalf("%+v", outer)
	}
	inner, ok := d.Fields(outer[1].Node, outer[1].Path, outer[1].Line, "")
	if !ok || len(inner) != 2 || inner[0].Path != "y.b" || inner[1].Name != "a" || input.KindOf(inner[1].Node) != "empty" || input.KindOf(inner[0].Node) != `the value "1"` {
		t.Errorf("%t, %+v", ok, inner)
	}
	if len(d.Faults) > 0 {
		t.Error(d.Faults)
	}
}

// Each fault can be had by itself, and a long value is cut.
func TestFaults(t *testing.T) {
	faults := input.Faults{{File: "f", Line: 2, What: "second"}, {File: "f", Line: 1, Field: "a.b", What: "first", Remedy: "mend it"}}
	faults.Sort()
	var one input.Fault
	if want := "f:1: a.b: first: mend it\nf:2: second"; faults.Error() != want || !errors.As(error(faults), &one) || one.Line != 1 {
		t.Errorf("%v, %+v", faults, one)
	}
	long := &yaml.Node{Kind: yaml.ScalarNode, Value: strings.Repeat("ä", 61)}
	if got, want := input.KindOf(long), `a value that begins with "`+strings.Repeat("ä", 60)+`"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
