package mpivirt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// pathText returns a critical path as lines.
func pathText(p *mpivirt.CriticalPath) []string {
	all := []string{fmt.Sprintf("%v, ends on rank %d, %d changes: %s", p.Length, p.Rank, p.Changes, causesOf(&p.Times))}
	for _, f := range p.Functions {
		all = append(all, fmt.Sprintf("%s: %s", f.Function, causesOf(&f.Times)))
	}
	for _, r := range p.Ranks {
		all = append(all, fmt.Sprintf("rank %d: %s", r.Rank, causesOf(&r.Times)))
	}
	for _, s := range p.Segments {
		all = append(all, fmt.Sprintf("%+v", s))
	}
	return all
}

// pathOn returns what the ranks of a program see on a host, and its critical path.
func pathOn(t rapid.TB, p *program, h hosting) ([][]entry, *mpivirt.Result) {
	t.Helper()
	h.activities, h.path = true, true
	return p.simulate(t, h)
}

// The critical path of examples, worked out by hand on the machine of TestCausesByHand.
func TestCriticalPathByHand(t *testing.T) {
	const flat = "name: m\nnetwork: {model: flat, latency: 5us, bandwidth: 10GB/s, eager_limit: 64KiB, overhead: {send: 3us, receive: 2us}}\n"
	const us = vtime.Microsecond
	for _, c := range []struct {
		name string
		main func(r *mpivirt.Rank, w *mpivirt.Comm) error
		want []string // but for the segments
	}{
		// The message leaves at 13 us, is there at 18.1 us, and received at 20.1 us.
		{"late sender", func(r *mpivirt.Rank, w *mpivirt.Comm) error {
			if r.Rank() == 0 {
				r.Compute(10 * us)
				return w.SendSize(1000, 1, 0)
			}
			_, err := w.RecvSize(1000, 0, 0)
			return err
		}, []string{
			"20.1us, ends on rank 1, 1 changes: computing 10us, network 5.1us, processor 5us", "computing: computing 10us",
			"Recv: network 5.1us, processor 2us", "Send: processor 3us", "rank 0: computing 10us, processor 3us", "rank 1: network 5.1us, processor 2us",
		}},
		// Rank 1 ends by its own computing: the message was there before.
		{"early sender", func(r *mpivirt.Rank, w *mpivirt.Comm) error {
			if r.Rank() == 0 {
				return w.SendSize(1000, 1, 0)
			}
			r.Compute(10 * us)
			_, err := w.RecvSize(1000, 0, 0)
			return err
		}, []string{"12us, ends on rank 1, 0 changes: computing 10us, processor 2us", "computing: computing 10us", "Recv: processor 2us", "rank 1: computing 10us, processor 2us"}},
		// The receive is posted at 20 us, ACK is back at 25 us, and DATA are there at 130 us: REQ, of 3 us, does not matter.
		{"late receiver", func(r *mpivirt.Rank, w *mpivirt.Comm) error {
			if r.Rank() == 0 {
				return w.SendSize(megabyte, 1, 0)
			}
			r.Compute(20 * us)
			_, err := w.RecvSize(megabyte, 0, 0)
			return err
		}, []string{"132us, ends on rank 1, 0 changes: computing 20us, network 110us, processor 2us", "Recv: network 110us, processor 2us", "computing: computing 20us",
			"rank 1: computing 20us, network 110us, processor 2us"}},
		// Rank 2 enters last, at 10 us. Its message to rank 3 leaves at 13 us and is received at 20 us, the message of rank 3 to rank 1 at 30 us.
		{"barrier", func(r *mpivirt.Rank, w *mpivirt.Comm) error {
			if r.Rank() == 2 {
				r.Compute(10 * us)
			}
			return w.Barrier()
		}, []string{
			"30us, ends on rank 1, 1 changes: computing 10us, network 10us, processor 10us", "Barrier: network 10us, processor 10us", "computing: computing 10us",
			"rank 1: network 10us, processor 10us", "rank 2: computing 10us",
		}},
	} {
		ranks := 2
		if c.name == "barrier" {
			ranks = 4
		}
		for engines := 1; engines <= 2; engines++ {
			result, err := simulate(t, mpivirt.Config{
				Target: target(t, flat, ranks), Activities: true, Path: true,
				Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.Dissemination},
				Program:    mpivirt.Program{Name: "path", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return c.main(r, r.World()) })}},
			}, engines)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			got := pathText(result.Path)
			if diff := cmp.Diff(c.want, got[:len(got)-len(result.Path.Segments)]); diff != "" {
				t.Errorf("%s, %d engines (-want +got):\n%s\n%s", c.name, engines, diff, strings.Join(got, "\n"))
			}
		}
	}
}

// checkPath holds a critical path to what every critical path is: segments one after the other from 0 to the end of the run, to the
// picosecond, without waiting for another rank, whose times are those of functions and ranks.
func checkPath(t rapid.TB, result *mpivirt.Result) {
	t.Helper()
	p := result.Path
	at := vtime.Time(0)
	for _, s := range p.Segments {
		if s.From != at || s.To <= s.From {
			t.Fatalf("a segment from %v to %v follows on %v", s.From, s.To, at)
		}
		at = s.To
	}
	if at != result.VirtualTime || at != vtime.Time(0).Add(p.Length) || p.Times.Total() != p.Length {
		t.Fatalf("the run takes %v, the path %v, its segments end at %v, its causes take %v", result.VirtualTime, p.Length, at, p.Times.Total())
	}
	var functions, ranks mpivirt.Causes
	for i := range p.Functions {
		functions.Add(&p.Functions[i].Times)
	}
	for i := range p.Ranks {
		ranks.Add(&p.Ranks[i].Times)
	}
	if functions != p.Times || ranks != p.Times {
		t.Fatalf("functions take %s, ranks %s, the path %s", causesOf(&functions), causesOf(&ranks), causesOf(&p.Times))
	}
	for c, d := range p.Times {
		switch name := mpivirt.Cause(c).String(); name {
		case "computing", "network", "interface", "bus", "link", "memory", "processor":
		default:
			if d != 0 {
				t.Fatalf("%v of the path are %s", d, name)
			}
		}
	}
}

// The critical path of every valid program on every machine takes as long as the run, to the picosecond. It is the same however the
// simulation is hosted, and following it changes no time.
func TestCriticalPathsOfRandomPrograms(t *testing.T) {
	fewer(t, 40)
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(anyMachine, 16, 24).Draw(t, "program")
		ends := watch(t, &p, hosting{engines: 1})
		log, first := pathOn(t, &p, hosting{engines: 1})
		if fmt.Sprint(log) != fmt.Sprint(ends) {
			t.Fatalf("following the path changes the program's times:\n%v\nwithout\n%v", log, ends)
		}
		checkPath(t, first)
		for range 3 {
			h := hosts(len(p.ops)).Draw(t, "host")
			_, want := pathOn(t, &p, hosting{kind: h.kind, engines: 1}) // kinds play some operations by other calls
			_, got := pathOn(t, &p, h)
			checkPath(t, got)
			if diff := cmp.Diff(pathText(want.Path), pathText(got.Path)); diff != "" {
				t.Fatalf("%v (-one engine +there):\n%s", h, diff)
			}
		}
	})
}

// latencies writes the file of a machine whose messages take the same time whatever their size, so that none keeps its place behind
// another.
func latencies(r *rand.Rand, ranks int) string {
	latency := func() string { return []string{"20ns", "333.333ns", "1us", "5us"}[r.IntN(4)] }
	text := fmt.Sprintf("name: m\nranks_per_node: %d\nmapping: %s\nnetwork:\n  model: twolevel\n  intra: {latency: %s, bandwidth: 1000000GB/s}\n  inter: {latency: %s, bandwidth: 1000000GB/s}\n",
		1+r.IntN(5), []string{"block", "cyclic"}[r.IntN(2)], latency(), latency())
	text += fmt.Sprintf("  eager_limit: %d\n", []int{0, 16, 1000, 20000}[r.IntN(4)])
	if r.IntN(2) == 0 {
		text += fmt.Sprintf("  overhead: {send: %s, receive: 0ps}\n", []string{"77ns", "450ns", "2us"}[r.IntN(3)])
	}
	return text + randomBarrier(r) + []string{"", "  join: [{size: 0, delay: 13ns}]\n"}[r.IntN(2)] + randomProgress(r)
}

// timeless reports whether what a program does does not depend on the times of messages.
func (p program) timeless() bool {
	for _, ops := range p.ops {
		for i := range ops {
			o := &ops[i]
			for _, word := range []string{"any", "some", "test", "probe", "cancel", "ready", "rsend"} {
				if strings.Contains(o.name, word) {
					return false
				}
			}
			if o.peer < 0 || o.from < 0 || o.tag < 0 || o.fromTag < 0 {
				return false
			}
		}
	}
	return true
}

// timelessPrograms generates programs for which timeless holds, on machines of latencies, with phases of computing between operations.
func timelessPrograms(maxRanks, maxSteps int) *rapid.Generator[program] {
	return rapid.Custom(func(t *rapid.T) program {
		ranks := rapid.IntRange(1, maxRanks).Draw(t, "ranks")
		machine := rapid.Uint64().Draw(t, "machine")
		var kept []uint64
		for _, step := range rapid.SliceOfN(rapid.Uint64(), 1, maxSteps).Draw(t, "steps") {
			if with := append(kept[:len(kept):len(kept)], step); generate(latencies, ranks, machine, with).timeless() {
				kept = with
			}
		}
		p := generate(latencies, ranks, machine, kept)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "computing"), 3))
		for rank, ops := range p.ops {
			p.ops[rank] = nil
			for _, o := range ops {
				if r.IntN(3) == 0 {
					p.ops[rank] = append(p.ops[rank], op{name: "compute", duration: vtime.Duration(r.IntN(10_000_000))})
				}
				p.ops[rank] = append(p.ops[rank], o)
			}
		}
		return p
	})
}

// A run takes longer by as much as a phase of computing on its critical path takes longer, if what its ranks do does not depend on
// times: no chain of computing and messages beside the path can hide it, since the path has no slack.
func TestCriticalPathHasNoSlack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := timelessPrograms(12, 24).Draw(t, "program")
		log, before := pathOn(t, &p, hosting{engines: 1})
		var lengthened [][2]int
		for _, s := range before.Path.Segments {
			if s.Function != "computing" {
				continue
			}
			ops := p.ops[s.Rank]
			for _, e := range append([]entry{{op: -1}}, log[s.Rank]...) { // an operation after an operation that is over at a known instant
				if c := e.op + 1; c < len(ops) && ops[c].name == "compute" && ops[c].duration > 0 && e.at >= s.From && e.at.Add(ops[c].duration) <= s.To {
					lengthened = append(lengthened, [2]int{s.Rank, c})
				}
			}
		}
		for i, at := range lengthened {
			if i >= 4 {
				break
			}
			const more = vtime.Picosecond
			o := &p.ops[at[0]][at[1]]
			o.duration += more
			_, after := p.simulate(t, hosting{engines: 1})
			o.duration -= more
			if after.VirtualTime < before.VirtualTime.Add(more) {
				t.Fatalf("%v more of %v in operation %d of rank %d, on the critical path, have the run take %v in the place of %v\n%s",
					more, o, at[1], at[0], after.VirtualTime, before.VirtualTime, strings.Join(pathText(before.Path), "\n"))
			}
		}
	})
}
