package network

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/machines.md names every field and every kind in code quotes or in an example, and
// its machine files have no faults.
func TestReferenceOfMachineFiles(t *testing.T) {
	file, err := os.ReadFile("../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	whole := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(whole) < 3 {
		t.Errorf("%d machine files, want at least 3", len(whole))
	}
	general := map[string]bool{}
	for i, example := range whole {
		d := newDocument("docs/machines.md")
		if i == 0 {
			d.seen = general
		}
		m := &Machine{}
		m.parse(d.root([]byte(example[1])), os.ReadFile)
		if len(d.Faults) > 0 {
			t.Errorf("%v in\n%s", d.Faults, example[1])
		}
	}
	// The first example has all general fields. The reader says which there are.
	reader := newDocument("")
	top := reader.root([]byte("name: m\n"))
	(&Machine{}).parse(top, nil)
	net := reader.root([]byte("model: flat\nlatency: 1us\n"))
	(&Machine{}).parseNetwork(net)
	for _, known := range [][]string{top.known, net.known} {
		for _, field := range known {
			if !strings.Contains(text, "`"+field+"`") {
				t.Errorf("docs/machines.md does not explain %s", field)
			}
		}
	}
	for _, field := range top.known {
		if !general[field] && field != "contention" && field != "taper" { // which stand in place of node
			t.Errorf("the first example has no %s", field)
		}
	}
	var words []string
	for _, k := range models {
		words = append(append(words, k.name), k.fields...)
	}
	for _, k := range jitterKinds {
		words = append(words, "distribution: "+k.name+", "+k.figure)
	}
	for _, k := range topologies {
		words = append(words, "kind: "+k.name)
	}
	words = append(words, Mappings()...)
	for _, word := range slices.Compact(words) {
		if !regexp.MustCompile("[`{ ]" + regexp.QuoteMeta(word) + "[`},: ]").MatchString(text) {
			t.Errorf("docs/machines.md does not name %s", word)
		}
	}
	// The topologies of the table can be read.
	for _, row := range regexp.MustCompile("(?m)^\\| `({kind: .*?})` \\|").FindAllStringSubmatch(text, -1) {
		if _, err := Parse("row", []byte("name: m\ntopology: "+row[1]+"\nnetwork: {model: flat, latency: 1us, latency_per_hop: 1ns}\n"), nil); err != nil {
			t.Errorf("%s: %v", row[1], err)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `({distribution: .*?})` \\|").FindAllStringSubmatch(text, -1) {
		if _, err := Parse("row", []byte("name: m\nnetwork: {model: flat, latency: 1us, jitter: "+row[1]+"}\n"), nil); err != nil {
			t.Errorf("%s: %v", row[1], err)
		}
	}
}
