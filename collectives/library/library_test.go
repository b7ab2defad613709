package library_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/collectives/library"
)

// Every table that comes along has no fault.
func TestNamedTables(t *testing.T) {
	for _, name := range library.Names() {
		table, err := library.Named(name)
		if err != nil {
			t.Error(err)
		} else if table.Name() != name || table.Source() == "" {
			t.Errorf("the table %s has the name %q and the source %q", name, table.Name(), table.Source())
		}
	}
}

// whole is a table of all operations with one section in place of another.
func whole(sections ...string) string {
	text := "name: mine\nsource: a test\n"
	for _, op := range collectives.Operations() {
		i := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, op.String()+":") })
		if i >= 0 {
			text += sections[i] + "\n"
			continue
		}
		text += fmt.Sprintf("%s: {rows: [{algorithm: %s}]}\n", op, collectives.Algorithms(op)[len(collectives.Algorithms(op))-1])
	}
	for _, s := range sections {
		if name, _, _ := strings.Cut(s, ":"); !slices.ContainsFunc(collectives.Operations(), func(op collectives.Operation) bool { return op.String() == name }) {
			text += s + "\n"
		}
	}
	return text
}

func parse(t *testing.T, sections ...string) *library.Table {
	t.Helper()
	table, err := library.Parse("mine.yaml", []byte(whole(sections...)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

const allreduceRows = `allreduce:
  bytes: vector
  fallbacks:
    ring: {elements: ranks, else: recursive-doubling}
    rabenseifner: {elements: power-of-two, else: linear}
  rows:
    - {commutative: false, ranks: 4.., sizes: {0: binomial, 2Ki: recursive-doubling}}
    - {commutative: false, algorithm: linear}
    - {ranks: 2..3, sizes: {0: recursive-doubling, 8: ring}}
    - {power_of_two: true, per_node: 2.., nodes: 2.., sizes: {0: node-leader, 1MiB: ring}}
    - {sizes: {0: rabenseifner}}`

// The first row that fits decides, then the greatest size that is not above the bytes, then the
// fallback of the algorithm.
func TestChoose(t *testing.T) {
	table := parse(t, allreduceRows, `allgather:
  bytes: total
  fallbacks: {recursive-doubling: {ranks: power-of-two, else: bruck}}
  rows: [{sizes: {0: recursive-doubling, 512Ki: ring}}]`, `bcast:
  fallbacks: {offload: {machine: offload, else: binomial}}
  rows: [{sizes: {0: offload, 64: binomial}}]`)
	for _, c := range []struct {
		q    collectives.Question
		want string
	}{
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 4, Bytes: 2047}, "binomial"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 4, Bytes: 2048}, "recursive-doubling"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 3, Bytes: 2048}, "linear"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 3, Bytes: 7, ElementBytes: 1, Commutative: true}, "recursive-doubling"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 3, Bytes: 8, ElementBytes: 1, Commutative: true}, "ring"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 3, Bytes: 16, Commutative: true}, "recursive-doubling"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 3, Bytes: 17, Commutative: true}, "ring"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 3, Bytes: 24, ElementBytes: 8, Commutative: true}, "ring"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 3, Bytes: 16, ElementBytes: 8, Commutative: true}, "recursive-doubling"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 16, PerNode: 8, Bytes: 1 << 19, Commutative: true}, "node-leader"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 16, PerNode: 8, Bytes: 1 << 40, Commutative: true}, "ring"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 16, PerNode: 16, Bytes: 1 << 40, Commutative: true}, "rabenseifner"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 24, PerNode: 8, Bytes: 17, ElementBytes: 1, Commutative: true}, "rabenseifner"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 24, PerNode: 8, Bytes: 15, ElementBytes: 1, Commutative: true}, "linear"},
		{collectives.Question{Operation: collectives.Allreduce, Ranks: 1, Commutative: true}, "linear"},
		{collectives.Question{Operation: collectives.Allgather, Ranks: 64, Bytes: 8191, Commutative: true}, "recursive-doubling"},
		{collectives.Question{Operation: collectives.Allgather, Ranks: 64, Bytes: 8192, Commutative: true}, "ring"},
		{collectives.Question{Operation: collectives.Allgather, Ranks: 63, Bytes: 8, Commutative: true}, "bruck"},
		{collectives.Question{Operation: collectives.Allgather, Ranks: 63, Bytes: 1 << 62, Commutative: true}, "ring"},
		{collectives.Question{Operation: collectives.Bcast, Ranks: 63, Bytes: 8, Commutative: true}, "binomial"},
		{collectives.Question{Operation: collectives.Bcast, Ranks: 63, Bytes: 8, Commutative: true, Hardware: collectives.Hardware{Offload: true}}, "offload"},
	} {
		if got := table.Choose(c.q); got.String() != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	fujitsu, err := library.Named("fujitsu")
	if err != nil {
		t.Fatal(err)
	}
	bcast := collectives.Question{Operation: collectives.Bcast, Ranks: 64, Bytes: 1 << 20, Commutative: true}
	for torus, want := range map[bool]string{false: "split-binary:16KiB", true: "torus-trees:16KiB:fanout=6"} {
		bcast.Hardware.Torus = torus
		if got := fujitsu.Choose(bcast); got.String() != want {
			t.Errorf("where ranks write along a torus is %v: %s, want %s", torus, got, want)
		}
	}
	scatter := collectives.Question{Operation: collectives.ReduceScatter, Ranks: 3, Bytes: 8, Commutative: true, EqualBlocks: true}
	other := scatter
	other.EqualBlocks = false
	if got, want := table.Choose(scatter), table.Choose(other); got != want {
		t.Errorf("equal blocks without rows of their own: %s, want %s", got, want)
	}
	q := collectives.Question{Operation: collectives.Allreduce, Ranks: 64, PerNode: 8, Bytes: 1 << 20, Commutative: true}
	if n := testing.AllocsPerRun(100, func() { table.Choose(q) }); n != 0 {
		t.Errorf("a choice makes %v allocations", n)
	}
}

// Calls of MPI_Reduce_scatter_block are decided by the rows of Open MPI's ompi_coll_tuned_reduce_scatter_block_intra_dec_fixed,
// whose sizes count a block; others by those of reduce_scatter, whose sizes count all blocks. A table that takes reduce_scatter from a
// base takes both; one with rows of reduce_scatter has no others unless it gives them.
func TestEqualBlocks(t *testing.T) {
	named, err := library.Named("openmpi-4.1")
	if err != nil {
		t.Fatal(err)
	}
	based, err := library.Parse("mine", []byte("name: mine\nbase: openmpi-4.1\nbcast: {rows: [{algorithm: binomial}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := library.Parse("mine", []byte("name: mine\nbase: openmpi-4.1\nreduce_scatter: {rows: [{algorithm: binomial}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	both, err := library.Parse("mine", []byte("name: mine\nbase: openmpi-4.1\nreduce_scatter: {rows: [{algorithm: binomial}]}\nreduce_scatter_block: {bytes: total, rows: [{sizes: {0: butterfly, 300: linear}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		table       *library.Table
		ranks       int
		bytes       int64
		equal, kept bool // equal blocks; the operation keeps the order
		want        string
	}{
		{named, 3, 3, true, false, "recursive-doubling"},
		{named, 3, 4, true, false, "butterfly"},
		{named, 7, 1<<20 - 1, true, false, "recursive-halving"},
		{named, 7, 1 << 20, true, false, "binomial"},
		{named, 1000, 15, true, false, "binomial"},
		{named, 1000, 16, true, false, "butterfly"},
		{named, 1000, 16, true, true, "binomial"},
		{named, 1000, 16, false, false, "recursive-halving"},
		{based, 1000, 16, true, false, "butterfly"},
		{own, 1000, 16, true, false, "binomial"},
		{both, 30, 9, true, false, "butterfly"},
		{both, 30, 10, true, false, "linear"},
		{both, 30, 10, false, false, "binomial"},
	} {
		q := collectives.Question{Operation: collectives.ReduceScatter, Ranks: c.ranks, PerNode: 1, Bytes: c.bytes, Commutative: !c.kept, EqualBlocks: c.equal}
		if got := c.table.Choose(q); got.String() != c.want {
			t.Errorf("%+v: %s, want %s", q, got, c.want)
		}
	}
	if _, err := library.Parse("mine", []byte("name: mine\nbase: openmpi-4.1\nreduce_scatter_block: {rows: [{ranks: ..3, algorithm: ring}]}\n")); err == nil ||
		!strings.Contains(err.Error(), "mine:3: reduce_scatter_block") {
		t.Errorf("a hole in the rows of equal blocks: %v", err)
	}
}

// slowChoose is the definition: rows in their order, sizes in their order.
func slowChoose(table *library.Table, q collectives.Question) collectives.Algorithm {
	for _, r := range table.Rows(q.Operation) {
		nodes := (q.Ranks + q.PerNode - 1) / q.PerNode
		if !r.Ranks.Has(q.Ranks) || !r.PerNode.Has(q.PerNode) || !r.Nodes.Has(nodes) || !r.Commutative.Allows(q.Commutative) {
			continue
		}
		powers := map[int]bool{1: true, 2: true, 4: true, 8: true, 16: true, 32: true, 64: true, 128: true, 256: true}
		if !r.PowerOfTwo.Allows(powers[q.Ranks]) {
			continue
		}
		a := r.Choices[0].Algorithm
		for _, c := range r.Choices {
			if c.From <= q.Bytes {
				a = c.Algorithm
			}
		}
		return a
	}
	panic("no row fits")
}

// Tables of random rows choose as their definition does, and an unreachable row is one that decides no
// call.
func TestChooseIsItsDefinition(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 0))
	algorithms := []string{"recursive-doubling", "binomial", "linear", "rabenseifner"}
	pick := func(field string, most int) string {
		switch a, b := 1+random.IntN(most), 1+random.IntN(most); random.IntN(5) {
		case 0:
			return fmt.Sprintf("%s: %d..%d, ", field, min(a, b), max(a, b))
		case 1:
			return fmt.Sprintf("%s: ..%d, ", field, a)
		case 2:
			return fmt.Sprintf("%s: %d.., ", field, 1+a)
		}
		return ""
	}
	accepted, refused := 0, 0
	for range 800 {
		text := "allreduce:\n  rows:\n"
		for range random.IntN(4) {
			text += "    - {" + pick("ranks", 40) + pick("per_node", 6) + pick("nodes", 8)
			text += []string{"", "", "commutative: false, ", "commutative: true, "}[random.IntN(4)]
			text += []string{"", "", "power_of_two: false, ", "power_of_two: true, "}[random.IntN(4)]
			text += fmt.Sprintf("sizes: {0: %s, 100: %s}}\n", algorithms[random.IntN(4)], algorithms[random.IntN(4)])
		}
		text += "    - {sizes: {0: linear, 50: binomial}}\n"
		table, err := library.Parse("mine.yaml", []byte(whole(text)))
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "no call reaches the row") {
				t.Fatalf("seed %d: %s\n%v", seed, text, err)
			}
			continue
		}
		accepted++
		for range 200 {
			q := collectives.Question{
				Operation: collectives.Allreduce, Ranks: 1 + random.IntN(64), PerNode: 1 + random.IntN(8),
				Bytes: int64(random.IntN(150)), Commutative: random.IntN(2) == 0,
			}
			if got, want := table.Choose(q), slowChoose(table, q); got != want {
				t.Fatalf("seed %d: %+v: %s, want %s\n%s", seed, q, got, want, text)
			}
		}
	}
	if accepted < 100 || refused < 100 {
		t.Errorf("%d tables were accepted, %d refused: the test says little", accepted, refused)
	}
}

// All faults of a file are reported at once, with file and line.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		section string // from line 3 on if it is the barrier's
		want    []string
	}{
		"a hole in ranks": {"barrier:\n  rows:\n    - {ranks: 2..15, algorithm: linear}\n    - {ranks: 17.., algorithm: linear}",
			[]string{"mine.yaml:6: barrier.rows[1]: the last row has conditions: a call of 1 rank, 1 on a node fits no row"}},
		"a hole where nothing commutes": {"allreduce:\n  rows:\n    - {commutative: true, algorithm: linear}",
			[]string{"the last row has conditions: a call of 1 rank, 1 on a node, with an operation that does not commute fits no row"}},
		"a hole in sizes":        {"bcast: {rows: [{sizes: {8: linear}}]}", []string{"mine.yaml:4: bcast.rows[0].sizes.8: no algorithm is given for less than 8 bytes"}},
		"a missing operation":    {"barier: {rows: [{algorithm: linear}]}", []string{`barier: is unknown: did you mean barrier?`}},
		"an unknown operation":   {"alltoallw: {rows: [{algorithm: linear}]}", []string{`alltoallw: is unknown: did you mean alltoall?`}},
		"an unknown algorithm":   {"bcast: {rows: [{algorithm: pipelin}]}", []string{`mine.yaml:4: bcast.rows[0].algorithm: bcast has no algorithm "pipelin"`}},
		"of another operation":   {"barrier: {rows: [{algorithm: rabenseifner}]}", []string{`mine.yaml:3: barrier.rows[0].algorithm: barrier has no algorithm "rabenseifner"`}},
		"a negative segment":     {"bcast: {rows: [{algorithm: 'binomial:-4'}]}", []string{`mine.yaml:4: bcast.rows[0].algorithm: bcast "binomial:-4": "-4" is not a size: it is negative`}},
		"a segment of nothing":   {"bcast: {rows: [{algorithm: 'binomial:0'}]}", []string{"a segment has 1 to"}},
		"a segment on none":      {"barrier: {rows: [{algorithm: 'linear:4KiB'}]}", []string{"is not cut into segments"}},
		"a fan-out on none":      {"barrier: {rows: [{algorithm: 'linear:fanout=4'}]}", []string{"takes no fan-out"}},
		"an unreachable row":     {"bcast:\n  rows:\n    - {ranks: ..8, algorithm: linear}\n    - {ranks: 2..7, algorithm: linear}\n    - {algorithm: linear}", []string{"mine.yaml:7: bcast.rows[1]: no call reaches the row"}},
		"a row after the last":   {"bcast:\n  rows:\n    - {algorithm: linear}\n    - {algorithm: linear}", []string{"mine.yaml:7: bcast.rows[1]: no call reaches the row"}},
		"an unreachable size":    {"bcast: {rows: [{sizes: {0: linear, 8Ki: linear, 8192: linear}}]}", []string{"bcast.rows[0].sizes.8192: is not above the size before it"}},
		"rank order":             {"allreduce: {rows: [{sizes: {0: linear, 8Ki: ring}}]}", []string{"ring does not keep the rank order"}},
		"rank order of fallback": {"allreduce: {fallbacks: {linear: {ranks: even, else: ring}}, rows: [{algorithm: linear}]}", []string{"ring does not keep the rank order"}},
		"hardware":               {"bcast: {rows: [{algorithm: offload}]}", []string{"offload needs hardware that some machines do not have"}},
		"an empty range":         {"bcast: {rows: [{ranks: 8..2, algorithm: linear}, {algorithm: linear}]}", []string{`bcast.rows[0].ranks: "8..2" is empty`}},
		"a range of all":         {"bcast: {rows: [{ranks: '1..', algorithm: linear}]}", []string{`"1.." has all numbers`}},
		"no number":              {"bcast: {rows: [{ranks: few, algorithm: linear}, {algorithm: linear}]}", []string{`"few" is not a number or range from 1 on`}},
		"no condition":           {"bcast: {rows: [{power_of_two: maybe, algorithm: linear}, {algorithm: linear}]}", []string{`is the value "maybe": write true or false`}},
		"no algorithm":           {"bcast: {rows: [{ranks: 2}]}", []string{"decides nothing"}},
		"two algorithms":         {"bcast: {rows: [{sizes: {0: linear}, algorithm: linear}]}", []string{"has both sizes and algorithm"}},
		"bytes of a barrier":     {"barrier: {rows: [{sizes: {0: linear, 8: linear}}]}", []string{"a barrier has no bytes"}},
		"the wrong bytes":        {"bcast: {bytes: blok, rows: [{algorithm: linear}]}", []string{`the sizes of bcast cannot count "blok"`}},
		"a fallback with one":    {"bcast: {fallbacks: {binomial: {ranks: even, else: ring}, ring: {ranks: even, else: linear}}, rows: [{sizes: {0: ring, 8: binomial}}]}", []string{"ring has a fallback itself"}},
		"a fallback without":     {"bcast: {fallbacks: {linear: {ranks: even}}, rows: [{algorithm: linear}]}", []string{"a fallback has one need and one algorithm"}},
		"a need":                 {"bcast: {fallbacks: {linear: {ranks: evn, else: ring}}, rows: [{algorithm: linear}]}", []string{`"evn" is unknown: did you mean even?`}},
		"a field":                {"bcast: {row: [{algorithm: linear}]}", []string{`bcast.row: is unknown: did you mean rows?`}},
		"no rows":                {"bcast: {}", []string{"bcast: has no rows"}},
		"twice":                  {"bcast: {rows: [{algorithm: linear, algorithm: ring}]}", []string{"is given again"}},
		"base":                   {"base: openmpi-41", []string{`base: there is no library "openmpi-41": did you mean openmpi-4.1?`}},
		"inferred":               {"inferred: [bcst]", []string{`inferred: there is no operation "bcst": did you mean bcast?`}},
		"two faults": {"bcast:\n  rows:\n    - {ranks: 0, algorithm: linear}\n    - {algorithm: pipelin}",
			[]string{"mine.yaml:6: bcast.rows[0].ranks", "mine.yaml:7: bcast.rows[1].algorithm"}},
	} {
		_, err := library.Parse("mine.yaml", []byte(whole(c.section)))
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nhas no %q", name, err, want)
			}
		}
	}
	for text, want := range map[string]string{
		"":                       "mine.yaml:1: the file is empty",
		"name: [":                "mine.yaml:1: not YAML",
		"- a":                    "mine.yaml:1: is a list, not a mapping",
		"name: a\n---\nname: b":  "a second document begins",
		"name: mine\nbcast: [1]": "mine.yaml:2: bcast: is a list, not a mapping",
		"source: a":              "mine.yaml:1: name: is missing",
	} {
		if _, err := library.Parse("mine.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nhas no %q", text, err, want)
		}
	}
}

// A file is named by its path, a library by its name, and a name that is neither is refused with what
// it may stand for.
func TestLoad(t *testing.T) {
	table, err := library.Load("dir/mine.yaml", func(path string) ([]byte, error) { return []byte(whole()), nil })
	if err != nil || table.Name() != "mine" {
		t.Errorf("a file: %v", err)
	}
	_, err = library.Load("openmpi-41", func(string) ([]byte, error) { return nil, fmt.Errorf("no such file") })
	if err == nil || !strings.Contains(err.Error(), `did you mean openmpi-4.1?`) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a misspelt name: %v", err)
	}
}

// The table in the documentation is one.
func TestDocumentedTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/libraries.md has no table")
	}
	table, err := library.Parse("libraries.md", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	base, _ := library.Named("mpich-4")
	q := collectives.Question{Operation: collectives.Alltoall, Ranks: 64, PerNode: 1, Bytes: 8, Commutative: true}
	if got, want := table.Choose(q), base.Choose(q); got != want {
		t.Errorf("%s, the base has %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole(allreduceRows)))
	f.Add([]byte("name: a\nbcast: {rows: [{ranks: 2..3, sizes: {0: linear}}, {algorithm: binomial}]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := library.Parse("mine.yaml", text)
		if err != nil {
			return
		}
		for _, op := range collectives.Operations() {
			for _, ranks := range []int{1, 2, 3, 1 << 30} {
				if a := table.Choose(collectives.Question{Operation: op, Ranks: ranks, PerNode: 2, Bytes: 1 << 20, Commutative: true}); a.Check(op) != nil {
					t.Errorf("%s among %d: %s", op, ranks, a)
				}
			}
		}
	})
}
