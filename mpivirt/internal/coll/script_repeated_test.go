package coll

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
)

// Random runs whose ranks call one collective again and again, on nodes with interfaces and memory that their ranks share, give the same in all
// variants: by messages as over arrays and round by round, with the causes for which time passes or the sums of calls. There the messages
// of a round take interfaces in layers.
func TestRandomRepetitions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		ranks := rapid.IntRange(2, 12).Draw(r, "ranks")
		machine := drawNodes(r)
		o := scriptOptions{repeats: true, bytes: rapid.SampledFrom([]int64{0, 8, 80, 240}).Draw(r, "bytes")}
		o.repeated = rapid.SampledFrom([]collectives.Operation{collectives.Barrier, collectives.Allreduce, collectives.Allreduce, collectives.Allgather, collectives.Alltoall}).Draw(r, "operation")
		o.by = drawAlgorithm(r, o.repeated)
		call := fmt.Sprintf("%v %v %d", o.repeated, o.by, o.bytes)
		if o.repeated == collectives.Barrier {
			call, o.bytes = fmt.Sprintf("%v %v", o.repeated, o.by), 0
		}
		var lines []string
		for range rapid.IntRange(1, 3).Draw(r, "calls") {
			for range rapid.IntRange(0, 2).Draw(r, "late") {
				lines = append(lines, fmt.Sprintf("%d: compute %s", rapid.IntRange(0, ranks-1).Draw(r, "rank"), rapid.SampledFrom([]string{"1us", "500ns", "7us", "1ps"}).Draw(r, "time")))
			}
			lines = append(lines, "all: "+call)
		}
		switch rapid.IntRange(0, 3).Draw(r, "statistics") {
		case 0:
			o.causes = true
		case 1:
			o.sums, o.byRank = true, rapid.Bool().Draw(r, "by rank")
		}
		target, programs := drawnRun(r, ranks, machine, lines)
		data := rapid.Bool().Draw(r, "data")
		variants := slices.DeleteFunc(variantsOf(min(ranks, 4), false), func(v variant) bool { return v.data != data })
		want, first := "", variant{}
		for i, v := range rapid.Permutation(variants).Draw(r, "variants")[:4] {
			v.script = o
			v.summed = o.sums && v.wanted != Message && rapid.Bool().Draw(r, "summed")
			switch got := play(r, v, target, programs); {
			case i == 0:
				want, first = got, v
			case got != want || r.Failed():
				r.Fatalf("%s%s\nwith %+v:\n%s\nelse, with %+v:\n%s", machine, strings.Join(lines, "\n"), v, got, first, want)
			}
		}
	})
}

// drawNodes draws the fields of a machine whose ranks share interfaces and memory of their node.
func drawNodes(r *rapid.T) string {
	draw := func(of string, values ...string) string { return rapid.SampledFrom(values).Draw(r, of) }
	fields := fmt.Sprintf("model: twolevel, intra: {latency: %s, bandwidth: 10GB/s}, inter: {latency: %s, bandwidth: %s}", draw("within", "200ns", "1us"), draw("between", "1us", "333ns"), draw("bandwidth", "1GB/s", "7.77GB/s"))
	for _, field := range []string{"eager_limit: 40", "overhead: {send: 77ns, receive: 450ns}", "reduce: {bandwidth: 500MB/s}", "local_copy: {bandwidth: 3GB/s}"} {
		if draw("further fields", "no", "yes") == "yes" {
			fields += ", " + field
		}
	}
	node := "bandwidth: " + draw("of an interface", "1GB/s", "100MB/s")
	for _, field := range []string{"message_gap: 300ns", "memory: 4GB/s", "interfaces: 2", "rail: shared"} {
		if draw("of the node", "no", "yes") == "yes" {
			node += ", " + field
		}
	}
	return "ranks_per_node: " + draw("ranks per node", "1", "2", "3", "4") + "\nnode: {" + node + "}\nnetwork: {" + fields + "}\n"
}
