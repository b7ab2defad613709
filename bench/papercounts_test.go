package bench_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
)

// paperRuns are the runs of docs/paper-counts.md. With an engine for each node,
// messages between engines are messages between nodes.
var paperRuns = []bench.BarrierRun{
	{6291456, 12288, 1, collectives.NodeLeader, mpivirt.Message},
	{6291456, 12288, 1, collectives.NodeLeader, mpivirt.Bulk},
	{1024, 16, 64, collectives.NodeLeader, mpivirt.Message},
	{1024, 16, 64, collectives.RecursiveDoubling, mpivirt.Message},
	{768, 12, 64, collectives.NodeLeader, mpivirt.Message},
	{768, 12, 64, collectives.RecursiveDoubling, mpivirt.Message},
	{768, 12, 64, collectives.Dissemination, mpivirt.Message},
	{128, 16, 8, collectives.NodeLeader, mpivirt.Message},
	{128, 16, 8, collectives.RecursiveDoubling, mpivirt.Message},
	{128, 16, 8, collectives.Dissemination, mpivirt.Message},
}

// line is the run's line in the document.
func line(c bench.BarrierRun, s bench.BarrierCounts) string {
	events := ""
	if c.Engines == 1 {
		events = grouped(s.Events)
	}
	return fmt.Sprintf("| %s | %s | %d | %v | %s | %s | %s | %s | %s |", grouped(uint64(c.Ranks)), grouped(uint64(c.PerNode)), c.Engines,
		c.Algorithm, map[mpivirt.Interpreter]string{mpivirt.Message: "message", mpivirt.Bulk: "bulk"}[c.Collectives],
		grouped(s.Messages), grouped(s.RemoteMessages), grouped(s.Switches), events)
}

// grouped writes a number with a comma before each three digits.
func grouped(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// The figures of docs/paper-counts.md are those of the runs, and the paper's figures
// those of its formulas.
func TestPaperCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("6,291,456 ranks: counted without the race detector")
	}
	text, err := os.ReadFile("../docs/paper-counts.md")
	if err != nil {
		t.Fatal(err)
	}
	expect := func(line string) {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("docs/paper-counts.md has no line\n%s", line)
		}
	}
	got := map[bench.BarrierRun]bench.BarrierCounts{}
	for _, c := range paperRuns {
		var err error
		if got[c], err = c.Count(); err != nil {
			t.Fatal(err)
		}
		expect(line(c, got[c]))
	}
	const lambda, cores, nodes, rounds = 1024, 12, 512, 9
	formula := bench.PaperFormula(lambda, cores, nodes)
	if want := (bench.PaperCounts{Join: 6156, Leaders: 4608, Release: 6144, Wake: 12288, Saved: 110583}); formula != want || formula.All() != 29196 {
		t.Errorf("by the formulas %+v, want %+v", formula, want)
	}
	whole := got[paperRuns[0]]
	side := func(step, formula string, paper, gigarank uint64, what string) {
		expect(fmt.Sprintf("| %s | %s | %s | %s | %s |", step, formula, grouped(paper), grouped(gigarank), what))
	}
	side("join", "c + cn", cores+cores*nodes, 0, "nothing: a rank joins within its own step")
	side("leaders", "n log2 n", nodes*rounds, whole.Messages, "messages between nodes")
	side("release", "cn", cores*nodes, 0, "nothing: a node is released in the leader's last step")
	side("wake", "λc", lambda*cores, whole.Switches, "ranks resumed, λcn")
	side("all", "the sum", cores+cores*nodes+nodes*rounds+cores*nodes+lambda*cores, whole.Events,
		fmt.Sprintf("events: ranks resumed, and %s steps of the leaders", grouped(whole.Events-whole.Switches)))
	for _, c := range paperRuns[2:] {
		leader := c
		leader.Algorithm = collectives.NodeLeader
		if c == leader {
			continue
		}
		n := uint64(c.Ranks / c.PerNode)
		flat, led := got[c].RemoteMessages/n, got[leader].RemoteMessages/n
		expect(fmt.Sprintf("| %d | %d | %v | %d | %d | %d | %d |", c.PerNode, n, c.Algorithm, flat, led, flat-led, (uint64(c.PerNode)-1)*led))
	}
	// Only leaders send: their messages are all between nodes.
	expect(fmt.Sprintf("| 12288 | 512 | | | %d | | %s |", whole.Messages/nodes, grouped((cores*lambda-1)*rounds)))
}

// The machine file of the document is the machine of the runs.
func TestPaperMachine(t *testing.T) {
	machine, err := network.Load("../docs/paper-barrier.yaml", os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	c, err := paperRuns[0].Config()
	if err != nil {
		t.Fatal(err)
	}
	if machine.Digest() != c.Target.Machine().Digest() {
		t.Errorf("the document has\n%s\nthe runs have\n%s", machine, c.Target.Machine())
	}
}
