package coll

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
)

// Of random runs in which some ranks make another call than the others, or one call less, all variants give the same, whether they go on
// or fail. A call of another operation, or with another root, is never carried out as if it matched (MPI 4.1, 6.1).
func TestRandomMismatches(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"flat", "twolevel", "loggops"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) { checkMismatch(r, model) })
		})
	}
}

// checkMismatch makes a random run with a call that does not match, in some of its variants.
func checkMismatch(r *rapid.T, model string) {
	ranks := rapid.IntRange(2, 7).Draw(r, "ranks")
	machine := drawMachine(r, model)
	m, err := network.Parse("machine", []byte("name: m\n"+machine), nil)
	if err != nil {
		r.Fatal(err)
	}
	target, err := m.Target(int64(ranks))
	if err != nil {
		r.Fatal(err)
	}
	programs, seen := drawMismatch(r, ranks)
	variants := slices.DeleteFunc(variantsOf(min(ranks, 5), false), func(v variant) bool { return v.data && rapid.Bool().Draw(r, "without data") })
	want, first := "", variant{}
	sums := !target.ReceiverState() && rapid.IntRange(0, 2).Draw(r, "sums") == 0
	for i, v := range rapid.Permutation(variants).Draw(r, "variants")[:4] {
		v.script.differ, v.script.sites, v.script.sums = true, true, sums
		v.summed = sums && v.wanted != Message && rapid.Bool().Draw(r, "summed")
		switch got := play(r, v, target, programs); {
		case i == 0:
			want, first = got, v
		case got != want:
			r.Fatalf("%s%s\nwith %+v:\n%s\nelse, with %+v:\n%s", machine, listing(programs), v, got, first, want)
		}
	}
	if seen && !strings.Contains(want, "fails") && !strings.Contains(want, "MPI_ERR") && !strings.Contains(want, "deadlock") {
		r.Fatalf("%s%s\n%s\nNo rank hears of the call that does not match.", machine, listing(programs), want)
	}
}

// site returns the place of the call that a rank makes: the rank and the number of the call, from 1 on.
func (p *scriptPlayer) site(lp int32) stats.Site {
	return stats.Site(p.k.partition.Global(lp))<<16 | stats.Site(p.ranks[lp].next+1)
}

// places says where the calls are with which a run fails since they do not match, as far as that is known, and checks that the ranks have
// made these calls there.
func (o *scriptOptions) places(t reporter, players []*scriptPlayer, programs [][]string, least *world.RankError) (text string) {
	of := least.Against()
	if !o.sites || of == nil {
		return ""
	}
	theirs := stats.Site(of.Site)
	for _, p := range players { // as the kernel of the other rank does
		if _, here := p.k.partition.Local(int(of.Rank)); here && theirs == 0 {
			theirs = p.k.SiteOfRoot(of.Context, of.Number, of.Rank)
		}
	}
	for _, c := range []struct {
		rank int32
		call world.Procedure
		site stats.Site
	}{{int32(least.Rank), world.NoProcedure, stats.Site(of.Own)}, {of.Rank, of.Call, theirs}} {
		if c.site == 0 {
			continue
		}
		rank, call := int32(c.site>>16), programs[c.site>>16][c.site&(1<<16-1)-1]
		if text += fmt.Sprintf("rank %d: %s\n", rank, call); rank != c.rank || c.call != world.NoProcedure && c.call.Plain() != procedureIn(call) {
			t.Errorf("%v: the call of rank %d is said to be %q of rank %d", least, c.rank, call, rank)
		}
	}
	return text
}

// procedureIn returns the procedure of a collective in a script.
func procedureIn(call string) world.Procedure {
	word := strings.Fields(call)[0]
	if _, of, named := strings.Cut(word, "="); named {
		word = of
	}
	for _, op := range collectives.Operations() {
		if op.String() == word {
			return world.ProcedureOf(op)
		}
	}
	return world.NoProcedure
}

// listing has the programs of ranks as lines of a script.
func listing(programs [][]string) (text string) {
	for rank, calls := range programs {
		text += fmt.Sprintf("%d: %s\n", rank, strings.Join(calls, "; "))
	}
	return text
}

// drawMismatch draws the programs of ranks that make some collectives, one of which differs. seen says that some rank must have an error,
// or wait for ever.
func drawMismatch(r *rapid.T, ranks int) (programs [][]string, seen bool) {
	programs = make([][]string, ranks)
	for rank := range programs {
		if rapid.IntRange(0, 2).Draw(r, "errors") == 0 {
			programs[rank] = append(programs[rank], "errors return")
		}
	}
	by := map[collectives.Operation]collectives.Algorithm{} // which all ranks choose alike
	calls := rapid.IntRange(1, 4).Draw(r, "calls")
	wrong, odd := rapid.IntRange(0, calls-1).Draw(r, "wrong"), rapid.IntRange(1, 1<<ranks-2).Draw(r, "odd ranks")
	for i := range calls {
		call := drawCall(r, ranks, by)
		other := call
		if i == wrong {
			switch kind := rapid.SampledFrom([]string{"call", "call", "bytes", "root", "none"}).Draw(r, "kind"); kind {
			case "call":
				other = drawCall(r, ranks, by)
				seen = strings.Fields(call)[0] != strings.Fields(other)[0]
			case "bytes":
				other = strings.Replace(call, " 16", " 24", 1)
			case "root":
				other = strings.Replace(call, "root=0", "root=1", 1)
				seen = other != call
			case "none":
				other = ""
			}
		}
		times := 1
		if i != wrong && rapid.IntRange(0, 29).Draw(r, "far ahead") == 0 {
			times = 14
		}
		for rank := range programs {
			if rapid.IntRange(0, 3).Draw(r, "late") == 0 {
				programs[rank] = append(programs[rank], "compute "+rapid.SampledFrom([]string{"1us", "500ns", "17us", "1ps"}).Draw(r, "time"))
			}
			if own := map[bool]string{true: other, false: call}[odd>>rank&1 != 0]; own != "" {
				programs[rank] = append(programs[rank], slices.Repeat([]string{own}, times)...)
			}
		}
	}
	return programs, seen
}

// drawCall draws a collective, and the algorithm of its operation if it has none yet.
func drawCall(r *rapid.T, ranks int, by map[collectives.Operation]collectives.Algorithm) string {
	op := rapid.SampledFrom(collectives.Operations()).Draw(r, "operation")
	if _, drawn := by[op]; !drawn {
		by[op] = drawAlgorithm(r, op)
	}
	call := fmt.Sprintf("%v %v", op, by[op])
	if op != collectives.Barrier {
		call += fmt.Sprintf(" %d", rapid.SampledFrom([]int{16, 80}).Draw(r, "bytes"))
	}
	if op.Rooted() {
		call += fmt.Sprintf(" root=%d", rapid.IntRange(0, ranks-1).Draw(r, "root"))
	}
	return call
}
