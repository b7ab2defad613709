package bench_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
)

// counted is a run whose counts docs/paper-counts.md has.
type counted struct {
	ranks, perNode, engines int
	algorithm               collectives.Algorithm
	collectives             mpivirt.Interpreter
}

// paperRuns are the runs of docs/paper-counts.md. With an engine for each node,
// messages between engines are messages between nodes.
var paperRuns = []counted{
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

// barrier returns the counts of one barrier: those of two less those of one.
func (c counted) barrier(t *testing.T, machine string) engine.Statistics {
	t.Helper()
	machine = regexp.MustCompile(`ranks_per_node: \d+`).ReplaceAllString(machine, fmt.Sprint("ranks_per_node: ", c.perNode))
	var counts [2]engine.Statistics
	for i := range counts {
		o := bench.Config{Options: bench.Options{Iterations: i + 1}}
		o.Kind, o.Collectives = steps.Kind, c.collectives
		o.Algorithms = map[collectives.Operation]collectives.Algorithm{collectives.Barrier: c.algorithm}
		counts[i] = run(t, "barriertest", machine, c.ranks, c.engines, o).Statistics
	}
	one, two := counts[0], counts[1]
	return engine.Statistics{Messages: two.Messages - one.Messages, RemoteMessages: two.RemoteMessages - one.RemoteMessages,
		Switches: two.Switches - one.Switches, Events: two.Events - one.Events}
}

// line is the run's line in the document.
func (c counted) line(s engine.Statistics) string {
	events := ""
	if c.engines == 1 {
		events = grouped(s.Events)
	}
	return fmt.Sprintf("| %s | %s | %d | %v | %s | %s | %s | %s | %s |", grouped(uint64(c.ranks)), grouped(uint64(c.perNode)), c.engines,
		c.algorithm, map[mpivirt.Interpreter]string{mpivirt.Message: "message", mpivirt.Bulk: "bulk"}[c.collectives],
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
	text, err := os.ReadFile("../docs/paper-counts.md")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := os.ReadFile("../docs/paper-barrier.yaml")
	if err != nil {
		t.Fatal(err)
	}
	expect := func(line string) {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("docs/paper-counts.md has no line\n%s", line)
		}
	}
	got := map[counted]engine.Statistics{}
	for _, c := range paperRuns {
		got[c] = c.barrier(t, string(machine))
		expect(c.line(got[c]))
	}
	const lambda, cores, nodes, rounds = 1024, 12, 512, 9
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
		leader.algorithm = collectives.NodeLeader
		if c == leader {
			continue
		}
		n := uint64(c.ranks / c.perNode)
		flat, led := got[c].RemoteMessages/n, got[leader].RemoteMessages/n
		expect(fmt.Sprintf("| %d | %d | %v | %d | %d | %d | %d |", c.perNode, n, c.algorithm, flat, led, flat-led, (uint64(c.perNode)-1)*led))
	}
	// Only leaders send: their messages are all between nodes.
	expect(fmt.Sprintf("| 12288 | 512 | | | %d | | %s |", whole.Messages/nodes, grouped((cores*lambda-1)*rounds)))
}
