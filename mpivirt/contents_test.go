package mpivirt_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/steps"
)

// Without contents a program sees the times and statuses of the same program with contents, and counts are the same: of point
// to point messages, neighbourhoods, collectives and what makes communicators, blocking and not, on machines of
// each sort, however the simulation is hosted.
func TestRandomProgramsWithoutContents(t *testing.T) {
	machines := map[string]*rapid.Generator[program]{
		"plain": programs(24, 24), "processors": programsOn(randomLogGOPS, 24, 24), "interfaces": programsOn(shares(randomNode), 24, 24),
	}
	for name, of := range machines {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := of.Draw(t, "program")
				counted := rapid.Bool().Draw(t, "counted")
				want, first := p.simulate(t, hosting{engines: 1, activities: counted})
				for range 3 {
					h := hosts(len(p.ops)).Draw(t, "host")
					h.noContents, h.activities = true, counted
					got, result := p.simulate(t, h)
					for rank := range want {
						if !slices.EqualFunc(got[rank], want[rank], sameWithoutData) {
							t.Fatalf("%v: rank %d sees\n%v\nwith contents\n%v", h, rank, got[rank], want[rank])
						}
					}
					compareCounts(t, h.String(), result, first)
				}
			})
		})
	}
}

// sameWithoutData reports whether two entries are the same but for data.
func sameWithoutData(a, b entry) bool {
	a.hash, b.hash = 0, 0
	return a == b
}

// compareCounts compares what does not depend on hosting in the results of runs with and without contents.
func compareCounts(t rapid.TB, host string, got, want *mpivirt.Result) {
	t.Helper()
	if got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages ||
		!reflect.DeepEqual(got.Sent, want.Sent) || !reflect.DeepEqual(got.Handed, want.Handed) {
		t.Fatalf("%s: fingerprint %s, %d messages, sizes %v and %v; with contents %s, %d, %v and %v", host, got.Fingerprint, got.Statistics.Messages, got.Sent, got.Handed,
			want.Fingerprint, want.Statistics.Messages, want.Sent, want.Handed)
	}
}

// All collectives, by all algorithms with their arguments, take the same times without contents, in each interpreter, with joins,
// segments, nonblocking forms and on parts of WORLD.
func TestInterpretersWithoutContents(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		tgt := target(t, s.Machine, s.Ranks)
		want, first, err := s.run(t, tgt, host{Engines: 1, Collectives: mpivirt.Message})
		if err != nil {
			rt.Fatal(err)
		}
		for _, h := range []host{{Engines: 1}, {Engines: 2}, drawHost.Draw(rt, "host"), drawHost.Draw(rt, "another")} {
			h.Strict = h.Strict && s.Ranks <= 16
			h.NoContents = true
			got, result, err := s.run(t, tgt, h)
			if err != nil {
				rt.Fatalf("%+v: %v", h, err)
			}
			for rank := range want {
				if d := difference(got[rank], withoutValues(want[rank])); d != "" {
					rt.Fatalf("%+v: rank %d: %s", h, rank, d)
				}
			}
			compareCounts(rt, fmt.Sprintf("%+v", h), result, first)
		}
	})
}

// withoutValues returns observations of times alone.
func withoutValues(seen []observation) []observation {
	return slices.DeleteFunc(slices.Clone(seen), func(o observation) bool { return o.what == "value" })
}

// The arrays of interfaces that a program's only collective takes in layers do not depend on contents: of each algorithm of
// each operation, repeated by event ranks and by goroutine ranks, on nodes with interfaces.
func TestRepeatedCollectivesWithoutContents(t *testing.T) {
	const machine = `name: four
ranks_per_node: 4
node: {interfaces: 2, bandwidth: 1GB/s, message_gap: 45ns}
network: {model: twolevel, intra: {latency: 300ns, bandwidth: 20GB/s}, inter: {latency: 2us, bandwidth: 12GB/s}, overhead: {send: 200ns, receive: 200ns}, eager_limit: 1KiB, reduce: {bandwidth: 3GB/s}}
`
	const ranks, times, elements = 16, 2, 40
	tgt := target(t, machine, ranks)
	sum := mpivirt.Sum[int32]()
	for _, a := range collectives.Algorithms(collectives.Allreduce) {
		if a == collectives.Offload {
			continue
		}
		vector := make([]int32, elements)
		program := mpivirt.Program{Name: "repeated", Repeats: &mpivirt.Repeated{Operation: collectives.Allreduce, Bytes: 4 * elements, Element: 4, Data: true}, Forms: []mpivirt.Form{
			mpivirt.Main(func(r *mpivirt.Rank) error {
				for range times {
					if err := mpivirt.Allreduce(r.World(), vector, make([]int32, elements), sum); err != nil {
						return err
					}
				}
				return nil
			}),
			steps.Main(func() steps.Program {
				return steps.New(func(r *steps.Rank, calls *int) steps.Outcome {
					if *calls++; *calls > times {
						return r.Finish()
					}
					return steps.Allreduce(r, vector, sum)
				})
			})}}
		sized := program
		sized.Forms = []mpivirt.Form{
			mpivirt.Main(func(r *mpivirt.Rank) error {
				for range times {
					if err := mpivirt.AllreduceSize(r.World(), elements, sum); err != nil {
						return err
					}
				}
				return nil
			}),
			steps.Main(func() steps.Program {
				return steps.New(func(r *steps.Rank, calls *int) steps.Outcome {
					if *calls++; *calls > times {
						return r.Finish()
					}
					return steps.AllreduceSize(r, elements, sum)
				})
			})}
		var first *mpivirt.Result
		for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
			for _, engines := range []int{1, 2} {
				for i, p := range []mpivirt.Program{program, program, sized} {
					c := mpivirt.Config{Target: tgt, Kind: kind, Program: p, NoContents: i == 1, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}}
					result, err := simulate(t, c, engines)
					if err != nil {
						t.Fatalf("%v: %v", a, err)
					}
					if first == nil {
						first = result
					}
					compareCounts(t, fmt.Sprintf("%v, %v ranks, %d engines, program %d", a, kind, engines, i), result, first)
				}
			}
		}
	}
}

// An error of sizes is the same without contents: a message that is longer than its receive.
func TestTruncationWithoutContents(t *testing.T) {
	_, err := simulate(t, mpivirt.Config{NoContents: true, Target: target(t, "xt5", 2), Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		if r.Rank() == 0 {
			return mpivirt.Send(r.World(), make([]int32, 3), 1, 0)
		}
		_, err := mpivirt.Recv(r.World(), make([]int32, 2), 0, 0)
		return err
	})}}}, 1)
	if err == nil || !strings.Contains(err.Error(), "12 bytes, the receive has room for 8") {
		t.Errorf("%v", err)
	}
}

// Without contents buffers of receives and results stay as they are, and no operator is called.
func TestBuffersStayWithoutContents(t *testing.T) {
	_, err := simulate(t, mpivirt.Config{NoContents: true, Target: target(t, "xt5", 3), Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		mine, got := []int64{int64(r.Rank())}, []int64{-7}
		sum := mpivirt.NewOp(true, func(a, b int64) int64 { panic("an operator is called") })
		err := errors.Join(mpivirt.Allreduce(r.World(), mine, got, sum), mpivirt.Bcast(r.World(), got, 0), mpivirt.Scan(r.World(), mine, got, sum))
		q := must(mpivirt.Irecv(r.World(), got, (r.Rank()+1)%3, 0))
		err = errors.Join(err, mpivirt.Send(r.World(), mine, (r.Rank()+2)%3, 0))
		if status := must(q.Wait()); status.Bytes != 8 || got[0] != -7 {
			return fmt.Errorf("%v of %+v", got, status)
		}
		return err
	})}}}, 2)
	if err != nil {
		t.Error(err)
	}
}

// Ranks of a kind that reads what it receives are refused.
func TestKindsThatNeedContents(t *testing.T) {
	needy := *scripted
	needy.NeedsContents = true
	c := mpivirt.Config{NoContents: true, Target: target(t, "xt5", 2), Kind: &needy, Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(*mpivirt.Rank) error { return nil })}}}
	if _, err := mpivirt.New(c); err == nil || !strings.Contains(err.Error(), "simulate them with contents") {
		t.Errorf("%v", err)
	}
	if err := (*kernel.Kind)(mpivirt.Goroutine).Contentless(); err != nil {
		t.Error(err)
	}
}

// What the library itself tells ranks does not depend on contents: the neighbours of a graph whose edges any members name.
func TestGraphsWithoutContents(t *testing.T) {
	const ranks = 7
	_, err := simulate(t, mpivirt.Config{NoContents: true, Target: target(t, "xt5", ranks), Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		var sources, degrees, destinations []int
		if r.Rank() == 3 { // names the edges of all: each rank sends to the two before it
			for i := range ranks {
				sources, degrees, destinations = append(sources, i), append(degrees, 2), append(destinations, (i+ranks-1)%ranks, (i+ranks-2)%ranks)
			}
		}
		g, err := r.World().DistGraphCreate(sources, degrees, destinations, nil, false)
		if err != nil {
			return err
		}
		n := g.Neighbors()
		in, out := slices.Sorted(slices.Values(n.Sources)), slices.Sorted(slices.Values(n.Destinations))
		wantIn := slices.Sorted(slices.Values([]int{(r.Rank() + 1) % ranks, (r.Rank() + 2) % ranks}))
		wantOut := slices.Sorted(slices.Values([]int{(r.Rank() + ranks - 1) % ranks, (r.Rank() + ranks - 2) % ranks}))
		if !slices.Equal(in, wantIn) || !slices.Equal(out, wantOut) {
			return fmt.Errorf("rank %d: from %v to %v, want %v and %v", r.Rank(), in, out, wantIn, wantOut)
		}
		return nil
	})}}}, 2)
	if err != nil {
		t.Error(err)
	}
}
