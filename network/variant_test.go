package network

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func preset(t *testing.T, name string) *Machine {
	m, err := Load(name, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A variant equals the machine of the file with that line changed.
func TestVariantIsTheFileWithAnotherLine(t *testing.T) {
	m := preset(t, "xt5")
	for _, c := range []struct{ mapping, line string }{
		{"cyclic", "mapping: cyclic"}, {"random:7", "mapping: random:7"}, {"block", "mapping: block"},
	} {
		got, err := m.WithMapping(c.mapping, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = got.WithRanksPerNode(5); err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(strings.Replace(m.String(), "mapping: block", c.line, 1), "ranks_per_node: 12", "ranks_per_node: 5", 1)
		want, err := Parse("xt5", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || got.Digest() != want.Digest() {
			t.Errorf("%s: %s, want %s", c.mapping, got, want)
		}
		a, errA := got.Target(1000)
		b, errB := want.Target(1000)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for rank := range 1000 {
			if a.Node(rank) != b.Node(rank) {
				t.Fatalf("%s: rank %d is on node %d, want %d", c.mapping, rank, a.Node(rank), b.Node(rank))
			}
		}
	}
	if m.Mapping() != "block" || m.RanksPerNode() != 12 {
		t.Errorf("the machine itself has changed: %s", m)
	}
}

// The digest of a mapping file depends on its contents, not on its name.
func TestDigestCoversTheMappingFile(t *testing.T) {
	m := preset(t, "xt5")
	digests := map[string]string{}
	for _, text := range []string{"0\n0\n1", "0\n1\n1"} {
		variant, err := m.WithMapping("file:nodes.txt", func(path string) ([]byte, error) {
			if path != "nodes.txt" {
				return nil, fmt.Errorf("asked for %s", path)
			}
			return []byte(text), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		digests[variant.Digest()] = text
	}
	if len(digests) != 2 {
		t.Errorf("two files, one digest: %v", digests)
	}
}

func TestFaultyVariants(t *testing.T) {
	m := preset(t, "xt5")
	for _, c := range []struct{ mapping, want string }{
		{"cyclc", "did you mean cyclic"},
		{"random:x", "not a whole number"},
		{"file:", "names no file"},
		{"file:gone", "no such thing: correct the path, which is relative to the working directory"},
		{"random", `"random" lacks its SEED: write random:SEED`},
		{"block:2", `"block" takes nothing after its name: write block`},
		{"a: b", "is unknown"},
		{"file:bad", `bad:2: rank 1: "x" is not the number of a node`},
	} {
		_, err := m.WithMapping(c.mapping, func(path string) ([]byte, error) {
			if path == "bad" {
				return []byte("0\nx"), nil
			}
			return nil, fmt.Errorf("no such thing")
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.mapping, err, c.want)
		}
	}
	if _, err := m.WithRanksPerNode(0); err == nil {
		t.Error("nodes without room for ranks are accepted")
	}
}
