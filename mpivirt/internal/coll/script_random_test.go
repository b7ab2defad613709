package coll

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/network"
)

// Random runs, in the language of the scripts, give the same in all variants: on any number of engines, by each interpreter, with content
// and without. The content is checked by the definitions.
func TestRandomScripts(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"flat", "twolevel", "factors", "hops", "loggops", "shared node"} {
		t.Run(model, func(t *testing.T) { rapid.Check(t, func(r *rapid.T) { checkRandomScript(r, model) }) })
	}
}

// checkRandomScript makes a random run on a random machine in some of its variants.
func checkRandomScript(r *rapid.T, model string) {
	ranks := rapid.IntRange(2, 9).Draw(r, "ranks")
	machine := drawMachine(r, model)
	compareVariants(r, ranks, machine, drawScript(r, ranks), rapid.Bool().Draw(r, "causes"), true)
}

// Random collectives on an intercommunicator, and on its duplicate, give the same in all variants.
func TestRandomIntercommunicators(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"flat", "twolevel", "loggops"} {
		t.Run(model, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				ranks := rapid.IntRange(2, 7).Draw(r, "ranks")
				machine := drawMachine(r, model)
				compareVariants(r, ranks, machine, drawInterScript(r, ranks), false, false) // their parts make the forms and the causes
			})
		})
	}
}

// drawInterScript draws the lines of a run whose ranks call collectives of two groups.
func drawInterScript(r *rapid.T, ranks int) (lines []string) {
	cut := rapid.IntRange(1, ranks-1).Draw(r, "cut")
	lines = append(lines, fmt.Sprintf("all: inter 0-%d %d-%d", cut-1, cut, ranks-1))
	for i := range rapid.IntRange(1, 4).Draw(r, "calls") {
		for range rapid.IntRange(0, 2).Draw(r, "late") {
			lines = append(lines, fmt.Sprintf("%d: compute %s", rapid.IntRange(0, ranks-1).Draw(r, "rank"), rapid.SampledFrom([]string{"1us", "500ns", "7us", "1ps"}).Draw(r, "time")))
		}
		op := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(collectives.Operations()), func(op collectives.Operation) bool {
			return op == collectives.Scan || op == collectives.Exscan // not defined for two groups (MPI 4.1, 6.2.3)
		})).Draw(r, "operation")
		call := op.String()
		if op != collectives.Barrier {
			call += fmt.Sprintf(" %d", rapid.SampledFrom([]int{8, 24, 80, 0}).Draw(r, "bytes"))
		}
		if op.Rooted() {
			call += fmt.Sprintf(" root=%d", rapid.IntRange(0, ranks-1).Draw(r, "root"))
		}
		switch rapid.IntRange(0, 3).Draw(r, "form") {
		case 0:
			lines = append(lines, fmt.Sprintf("all: c%d=%s", i, call), fmt.Sprintf("all: wait c%d", i))
		case 1:
			lines = append(lines, fmt.Sprintf("all: twin %d", 5+i), "all: "+call)
		default:
			lines = append(lines, "all: "+call)
		}
	}
	if rapid.Bool().Draw(r, "merges") {
		high := rapid.IntRange(0, 1).Draw(r, "high")
		lines = append(lines, fmt.Sprintf("0-%d: merge 90 %s", cut-1, []string{"low", "high"}[high]), fmt.Sprintf("%d-%d: merge 90 %s", cut, ranks-1, []string{"high", "low"}[high]), "all: allgather ring 8")
	}
	return lines
}

// compareVariants makes a run in some of its variants: with the causes for which time passes, and with blocking calls as nonblocking ones.
func compareVariants(r *rapid.T, ranks int, machine string, lines []string, causes, forms bool) {
	target, programs := drawnRun(r, ranks, machine, lines)
	explained := scriptOptions{causes: causes}
	switch {
	case explained.causes:
		explained.phases, explained.counts = rapid.Bool().Draw(r, "phases"), rapid.Bool().Draw(r, "activities")
	case forms && !target.ReceiverState():
		explained.sums, explained.byRank = rapid.IntRange(0, 2).Draw(r, "sums") == 0, rapid.Bool().Draw(r, "by rank")
	}
	forms = forms && !target.ReceiverState() && !explained.phases && !explained.sums // processors that serve other messages meanwhile go on at another instant after a Wait
	want := ""
	for i, v := range rapid.Permutation(variantsOf(min(ranks, 5), forms)).Draw(r, "variants")[:4] {
		v.script = explained
		v.summed = explained.sums && v.wanted != Message && rapid.Bool().Draw(r, "summed")
		switch got := play(r, v, target, programs); {
		case i == 0:
			want = got
		case got != want:
			r.Fatalf("%s%s\nwith %+v:\n%s\nelse:\n%s", machine, strings.Join(lines, "\n"), v, got, want)
		case r.Failed():
			r.Fatalf("%s%s\nwith %+v", machine, strings.Join(lines, "\n"), v)
		}
	}
}

// drawnRun returns the target and the programs of ranks of a run.
func drawnRun(r *rapid.T, ranks int, machine string, lines []string) (target *network.Target, programs [][]string) {
	m, err := network.Parse("machine", []byte("name: m\n"+machine), nil)
	if err != nil {
		r.Fatal(err)
	}
	if target, err = m.Target(int64(ranks)); err != nil {
		r.Fatal(err)
	}
	programs = make([][]string, ranks)
	for _, line := range lines {
		who, calls, _ := strings.Cut(line, ": ")
		lo, hi := rangeOf(r, who, ranks)
		for rank := lo; rank <= hi; rank++ {
			programs[rank] = append(programs[rank], calls)
		}
	}
	return target, programs
}

// drawMachine draws the fields of a machine with a delay model, or of one whose ranks share interfaces and memory of their node.
func drawMachine(r *rapid.T, model string) string {
	draw := func(of string, values ...string) string { return rapid.SampledFrom(values).Draw(r, of) }
	latency := func() string { return draw("latency", "1us", "5us", "333ns", "1ps") }
	bandwidth := func() string { return draw("bandwidth", "1GB/s", "100MB/s", "7.77GB/s") }
	head := "ranks_per_node: " + draw("ranks per node", "1", "2", "3", "4") + "\n"
	if draw("mapping", "block", "block", "cyclic") == "cyclic" {
		head += "mapping: cyclic\n"
	}
	fields := ""
	switch model {
	case "flat":
		fields = fmt.Sprintf("model: flat, latency: %s, bandwidth: %s", latency(), bandwidth())
	case "twolevel", "shared node":
		fields = fmt.Sprintf("model: twolevel, intra: {latency: %s, bandwidth: %s}, inter: {latency: %s, bandwidth: %s}", latency(), bandwidth(), latency(), bandwidth())
		if model == "shared node" {
			head += "node: {bandwidth: " + bandwidth() + draw("of the node", "", ", message_gap: 300ns", ", memory: 4GB/s", ", interfaces: 2") + "}\n"
		}
	case "factors":
		fields = fmt.Sprintf("model: factors, intra: {latency: %s, latency_factors: [{size: 100, factor: 0.3}]}, inter: {latency: %s, bandwidth: %s, latency_factors: [{size: 0, factor: 1.5}, {size: 30, factor: 0.01}]}", latency(), latency(), bandwidth())
	case "hops":
		head += "topology: {kind: ring}\n"
		fields = fmt.Sprintf("model: hops, latency: %s, bandwidth: %s, latency_per_hop: 123ns, memory_latency: %s, memory_bandwidth: %s", latency(), bandwidth(), latency(), bandwidth())
	case "loggops":
		fields = fmt.Sprintf("model: loggops, L: %s, o: %s, g: 1us, G: 1ns, S: %s", latency(), draw("o", "0s", "1us", "700ns"), draw("S", "20", "65535"))
		return head + "network: {" + fields + "}\n"
	default:
		r.Fatalf("drawMachine has no case for %q", model)
	}
	if limit := draw("eager limit", "", "0", "16", "40"); limit != "" {
		fields += ", eager_limit: " + limit
	}
	if draw("overheads", "no", "yes") == "yes" {
		fields += fmt.Sprintf(", overhead: {send: %s, receive: %s}", draw("send", "1us", "77ns"), draw("receive", "1us", "450ns"))
		if draw("gap", "no", "yes") == "yes" {
			fields += ", gap: 2us"
		}
	}
	if progress := draw("progress", "", "", "calls", "waits"); progress != "" {
		fields += ", progress: " + progress
	}
	for _, field := range []string{
		"reduce: {bandwidth: 500MB/s}", "local_copy: {bandwidth: 3GB/s}", "datatype: {time: 70ns, block: 3ns}", "launch: 300ns", "jitter: {distribution: uniform, most: 3us}", "interruptions: {interval: 30us, duration: 4us}",
		"join: [{size: 0, delay: 2.5us}, {size: 1000, delay: 3us}]", "partners: {most: 2, above: 8B, overhead: 100ns}",
	} {
		if draw("further fields", "no", "no", "yes") == "yes" {
			fields += ", " + field
		}
	}
	return head + "network: {" + fields + "}\n"
}

// drawScript draws the lines of a run.
func drawScript(r *rapid.T, ranks int) (lines []string) {
	names := []string{}
	members := ranks // of the smallest communicator of the present calls
	for i := range rapid.IntRange(1, 6).Draw(r, "calls") {
		switch rapid.IntRange(0, 9).Draw(r, "communicator") {
		case 0: // of two parts, in the order of the ranks or the other way round
			cut, key := rapid.IntRange(1, ranks-1).Draw(r, "cut"), rapid.SampledFrom([]int{0, 1, -1}).Draw(r, "key")
			lines = append(lines, "all: world")
			for rank := range ranks {
				lines = append(lines, fmt.Sprintf("%d: split %d %d", rank, map[bool]int{true: 3, false: 1}[rank < cut], rank*key))
			}
			members = min(cut, ranks-cut)
		case 1:
			lines = append(lines, "all: dup")
		case 2:
			lines, members = append(lines, "all: world"), ranks
		}
		for range rapid.IntRange(0, 2).Draw(r, "late") {
			lines = append(lines, fmt.Sprintf("%d: compute %s", rapid.IntRange(0, ranks-1).Draw(r, "rank"), rapid.SampledFrom([]string{"1us", "500ns", "7us", "1ps"}).Draw(r, "time")))
		}
		op := rapid.SampledFrom(collectives.Operations()).Draw(r, "operation")
		call := fmt.Sprintf("%v %v", op, drawAlgorithm(r, op))
		if op != collectives.Barrier {
			call += fmt.Sprintf(" %d", rapid.SampledFrom([]int{8, 16, 24, 80, 0}).Draw(r, "bytes"))
		}
		if op.Rooted() {
			call += fmt.Sprintf(" root=%d", rapid.IntRange(0, members-1).Draw(r, "root"))
		}
		if rapid.Bool().Draw(r, "uneven") && blocksDiffer(op) {
			call += " uneven"
		}
		if rapid.IntRange(0, 3).Draw(r, "nonblocking") == 0 {
			names = append(names, fmt.Sprintf("c%d", i))
			call = names[len(names)-1] + "=" + call
		}
		lines = append(lines, "all: "+call)
		if nonblocking := strings.Contains(call, "="+op.String()); !nonblocking && rapid.IntRange(0, 29).Draw(r, "far ahead") == 0 {
			lines = append(append(lines, fmt.Sprintf("%d: compute 90us", rapid.IntRange(0, members-1).Draw(r, "behind"))), slices.Repeat([]string{"all: " + call}, 14)...)
		}
		if len(names) > 0 && rapid.Bool().Draw(r, "wait") {
			lines = append(lines, "all: wait "+names[0])
			names = names[1:]
		}
	}
	for _, name := range names {
		lines = append(lines, "all: wait "+name)
	}
	return lines
}

// drawAlgorithm draws an algorithm of an operation that any machine can carry out.
func drawAlgorithm(r *rapid.T, op collectives.Operation) collectives.Algorithm {
	all := slices.DeleteFunc(collectives.AllAlgorithms(op), func(a collectives.Algorithm) bool {
		return a == collectives.GivenTime || a == collectives.Offload || a.AlongTorus()
	})
	a := rapid.SampledFrom(all).Draw(r, "algorithm")
	if n := rapid.SampledFrom([]int{0, 0, 3, 5}).Draw(r, "fan-out"); n > 0 && collectives.FanoutOf(op, a) > 0 {
		a = a.WithFanout(n)
	}
	return a
}

// blocksDiffer reports whether the blocks of an operation may differ in length.
func blocksDiffer(op collectives.Operation) bool {
	switch op {
	case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv, collectives.ReduceScatter:
		return true
	}
	return false
}
