package mpivirt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// anyOfMany waits for any or some of many requests, or tests them, and returns the places of
// those that were complete and their tags. With short, it hands in the active ones only: they
// are so few that the kernel looks at all of them.
func anyOfMany(call string, requests []mpivirt.Request, short bool) (places, tags []int, err error) {
	list, origin := requests, []int(nil)
	if short {
		list = nil
		for i, q := range requests {
			if q != (mpivirt.Request{}) {
				list, origin = append(list, q), append(origin, i)
			}
		}
	}
	var statuses []mpivirt.Status
	switch call {
	case "any", "testany":
		place, status, found := 0, mpivirt.Status{}, true
		if call == "any" {
			place, status, err = mpivirt.Waitany(list)
		} else {
			place, status, found, err = mpivirt.Testany(list)
		}
		if found && place >= 0 {
			places, statuses = []int{place}, []mpivirt.Status{status}
		}
	case "some":
		places, statuses, err = mpivirt.Waitsome(list)
	default:
		places, statuses, err = mpivirt.Testsome(list)
	}
	for i := range places {
		if short {
			requests[origin[places[i]]] = list[places[i]]
			places[i] = origin[places[i]]
		}
		tags = append(tags, statuses[i].Tag)
	}
	return places, tags, err
}

// A long slice that a rank hands in again and again has the outcome of a short one with the
// same requests, though the rank begins others meanwhile, at places that were complete or not,
// takes some out, waits for them alone, and makes the slice shorter and longer.
func TestLongSlicesOfRequests(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		length, first := rapid.IntRange(256, 400).Draw(rt, "length"), rapid.IntRange(1, 150).Draw(rt, "first")
		total := first + rapid.IntRange(0, 60).Draw(rt, "later")
		calls := rapid.SliceOfN(rapid.SampledFrom([]string{"any", "some", "testany", "testsome"}), 1, 3).Draw(rt, "calls")
		what := rapid.SliceOfN(rapid.SampledFrom([]string{"refill", "begin", "take out", "wait", "send", "swap", "shrink", "grow", "clone"}), 0, 4).Draw(rt, "changes")
		machine := rapid.SampledFrom([]string{"flat", "gigabit-star", "loggops-default"}).Draw(rt, "machine")
		engines := rapid.IntRange(1, 2).Draw(rt, "engines")
		run := func(short bool, engines int) (log []string) {
			main := func(r *mpivirt.Rank) error {
				w, g := r.World(), rand.New(rand.NewPCG(seed, uint64(min(r.Rank(), 1))))
				if r.Rank() == 1 {
					for _, tag := range g.Perm(total) {
						r.Compute(vtime.Duration(g.IntN(3)) * vtime.Microsecond)
						if err := w.SendSize(8, 0, tag); err != nil {
							return err
						}
					}
					for { // the messages of rank 0, the last of which has tag 1
						if status, err := w.RecvSize(8, 0, mpivirt.AnyTag); err != nil || status.Tag == 1 {
							return err
						}
					}
				}
				requests, next := make([]mpivirt.Request, length, 2*length), 0
				begin := func(place int) error {
					if next == total || requests[place] != (mpivirt.Request{}) {
						return nil
					}
					source := 1
					if g.IntN(3) == 0 {
						source = mpivirt.AnySource
					}
					var err error
					requests[place], err = w.IrecvSize(8, source, next)
					next++
					return err
				}
				for _, place := range g.Perm(length)[:first] {
					if err := begin(place); err != nil {
						return err
					}
				}
				var out []mpivirt.Request
				for range 2 * total {
					places, tags, err := anyOfMany(calls[g.IntN(len(calls))], requests, short)
					if err != nil {
						return err
					}
					log = append(log, fmt.Sprint(places, tags, r.Now()))
					change := ""
					if len(what) > 0 {
						change = what[g.IntN(len(what))]
					}
					if len(requests) == 1 && (change == "swap" || change == "shrink") {
						change = ""
					}
					switch at := g.IntN(len(requests)); change {
					case "refill":
						for _, place := range places {
							if err := begin(place); err != nil {
								return err
							}
						}
					case "begin":
						err = begin(at)
					case "take out":
						if requests[at] != (mpivirt.Request{}) {
							out, requests[at] = append(out, requests[at]), mpivirt.Request{}
						}
					case "wait":
						if _, err = requests[at].Wait(); err == nil && len(out) > 0 {
							_, err = out[0].Wait()
							out = out[1:]
						}
					case "send":
						var q mpivirt.Request
						q, err = w.IsendSize(8, 1, 0)
						out = append(out, q)
					case "swap":
						last := len(requests) - 1
						requests[at], requests[last] = requests[last], requests[at]
						requests[last], out = mpivirt.Request{}, append(out, requests[last])
						requests = requests[:last]
					case "shrink":
						last := len(requests) - 1
						out, requests = append(out, requests[last]), requests[:last]
					case "grow":
						requests = append(requests, mpivirt.Request{})
						err = begin(len(requests) - 1)
					case "clone":
						requests = slices.Clone(requests)
					}
					if err != nil {
						return err
					}
				}
				if _, err := mpivirt.Waitall(append(requests, out...)); err != nil {
					return err
				}
				for ; next < total; next++ {
					if _, err := w.RecvSize(8, 1, next); err != nil {
						return err
					}
				}
				log = append(log, fmt.Sprint(r.Now()))
				return w.SendSize(8, 1, 1)
			}
			_, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines[machine], 2),
				Program: mpivirt.Program{Name: "long", Forms: []mpivirt.Form{mpivirt.Main(main)}}}, engines)
			if err != nil {
				rt.Fatal(err)
			}
			return log
		}
		got, want := run(false, engines), run(true, 1)
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				rt.Fatalf("call %d of %d, %d: the long slice gives %q, the short one %q", i, len(want), len(got), got[min(i, len(got)-1)], want[i])
			}
		}
	})
}

// A request that a rank moves to a lower place of a long slice, which it then hands in shorter and as long
// again, is the first of those that are complete.
func TestMoveInALongSliceThatGetsShorter(t *testing.T) {
	const n, from, to, between = 256, 255, 195, 199
	simulated := func(name string, kind *mpivirt.Kind, form mpivirt.Form) {
		if _, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines["flat"], 1), Kind: kind,
			Program: mpivirt.Program{Name: "move", Forms: []mpivirt.Form{form}}}, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	simulated("goroutine", mpivirt.Goroutine, mpivirt.Main(func(r *mpivirt.Rank) error {
		w, requests := r.World(), make([]mpivirt.Request, n)
		for tag, place := range []int{0, between, from} {
			requests[place] = must(w.IrecvSize(8, 0, tag))
		}
		if err := w.SendSize(8, 0, 0); err != nil {
			return err
		}
		if place, _, err := mpivirt.Waitany(requests); err != nil || place != 0 {
			return fmt.Errorf("place %d is complete, want 0, error %v", place, err)
		}
		requests[to], requests[from] = requests[from], mpivirt.Request{}
		if _, _, found, err := mpivirt.Testany(requests[:from]); found || err != nil {
			return fmt.Errorf("a request is complete before its message: %v, error %v", found, err)
		}
		for tag := 1; tag <= 2; tag++ {
			if err := w.SendSize(8, 0, tag); err != nil {
				return err
			}
		}
		r.Compute(vtime.Second)
		for _, want := range []int{to, between} {
			if place, _, err := mpivirt.Waitany(requests); err != nil || place != want {
				return fmt.Errorf("place %d is complete first, want %d, error %v", place, want, err)
			}
		}
		return nil
	}))
	type state struct {
		at   int
		list []steps.Request
	}
	simulated("event", steps.Kind, steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, s *state) steps.Outcome {
			switch s.at++; s.at {
			case 1:
				s.list = make([]steps.Request, n)
				for tag, place := range []int{0, between, from} {
					s.list[place] = r.Irecv(0, tag)
				}
				return r.SendSize(8, 0, 0)
			case 2:
				return r.Waitany(s.list...)
			case 3:
				s.list[0], s.list[to], s.list[from] = 0, s.list[from], 0
				return r.Testany(s.list[:from]...)
			case 4, 5:
				if s.at == 4 && r.Found() {
					return r.Fail(errors.New("a request is complete before its message"))
				}
				return r.SendSize(8, 0, s.at-3)
			case 6:
				r.Compute(vtime.Second)
				return r.Waitany(s.list...)
			case 7:
				if r.Index() != to {
					return r.Fail(fmt.Errorf("place %d is complete first, want %d", r.Index(), to))
				}
				return r.Wait(s.list[between])
			}
			return r.Finish()
		})
	}))
}

// Waiting for any of many requests takes the same times for event ranks, which hand in a slice
// at each step, as for goroutine ranks, and on each number of engines.
func TestLongSlicesOfAllKinds(t *testing.T) {
	for _, g := range anyGrowths {
		for machine := range growthMachines {
			want := ""
			for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
				for _, engines := range []int{1, 2} {
					const n = 300
					result, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines[machine], 2), Program: g.program(n, kind), Kind: kind}, engines)
					if err != nil {
						t.Fatal(err)
					}
					if want == "" {
						want = result.Fingerprint
					}
					if result.Fingerprint != want {
						t.Errorf("%s on %s: %s ranks on %d engines have fingerprint %s, want %s", g.name, machine, kind.Name, engines, result.Fingerprint, want)
					}
				}
			}
		}
	}
}

// A request that has been waited for through a copy is an error in a long slice, too.
func TestStaleRequestInALongSlice(t *testing.T) {
	for _, again := range []bool{false, true} {
		_, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines["flat"], 1), Program: mpivirt.Program{Name: "stale", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			requests := make([]mpivirt.Request, 300)
			for i := range requests {
				requests[i] = must(r.World().IrecvSize(8, 0, i))
			}
			for i := range requests {
				if err := r.World().SendSize(8, 0, i); err != nil {
					return err
				}
			}
			if again {
				if _, _, err := mpivirt.Waitany(requests); err != nil {
					return err
				}
			}
			q := requests[100]
			if _, err := q.Wait(); err != nil {
				return err
			}
			r.SetErrorsReturn(true)
			if _, _, err := mpivirt.Waitany(requests); !errors.Is(err, mpivirt.ErrRequest) {
				return fmt.Errorf("the error is %v", err)
			}
			requests[100] = mpivirt.Request{}
			_, err := mpivirt.Waitall(requests)
			return err
		})}}}, 1)
		if err != nil {
			t.Error(err)
		}
	}
}

// A long list that an event rank hands in again and again has the outcome of a short one with the same
// requests, though the rank begins others meanwhile, takes some out, swaps them, and hands in the list
// as other memory or longer.
func TestLongListsOfEventRanks(t *testing.T) {
	type state struct {
		g        *rand.Rand
		at, next int // steps, and receives begun
		list     []steps.Request
		out      []steps.Request // taken out of the list
		from     []int           // their places there
		short    []steps.Request // handed in
		origin   []int           // of those in the list
		call     string
	}
	const length = 300
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		first, calls := rapid.IntRange(1, 150).Draw(rt, "first"), rapid.IntRange(1, 200).Draw(rt, "calls")
		total := first + rapid.IntRange(0, 60).Draw(rt, "later")
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"any", "some", "testany", "testsome"}), 1, 3).Draw(rt, "kinds")
		what := rapid.SliceOfN(rapid.SampledFrom([]string{"refill", "begin", "take out", "swap", "clone", "grow", "put back"}), 0, 4).Draw(rt, "changes")
		machine := rapid.SampledFrom([]string{"flat", "gigabit-star", "loggops-default"}).Draw(rt, "machine")
		strict := rapid.Bool().Draw(rt, "strict")
		run := func(short bool, engines int) (log []string) {
			step := func(r *steps.Rank, s *state) steps.Outcome {
				s.at++
				if s.g == nil {
					s.g = rand.New(rand.NewPCG(seed, uint64(r.Rank())))
				}
				if r.Rank() == 1 {
					if s.at > total {
						return r.Finish()
					}
					if s.at == 1 {
						s.origin = s.g.Perm(total)
					}
					r.Compute(vtime.Duration(s.g.IntN(3)) * vtime.Microsecond)
					return r.SendSize(8, 0, s.origin[s.at-1])
				}
				begin := func(place int) {
					if s.next == total || s.list[place] != 0 {
						return
					}
					source := 1
					if s.g.IntN(3) == 0 {
						source = mpivirt.AnySource
					}
					s.list[place] = r.Irecv(source, s.next)
					s.next++
				}
				if s.at == 1 {
					s.list = make([]steps.Request, length)
					for _, place := range s.g.Perm(length)[:first] {
						begin(place)
					}
				} else if s.at <= calls+1 {
					var places []int
					if r.Found() {
						switch s.call {
						case "any", "testany":
							if i := r.Index(); i >= 0 {
								places = []int{i}
							}
						default:
							places = slices.Clone(r.Indices())
						}
					}
					for i, place := range places {
						tag := 0
						if short {
							tag = r.StatusOf(s.short[place]).Tag
							places[i] = s.origin[place]
						} else {
							tag = r.StatusOf(s.list[place]).Tag
						}
						s.list[places[i]] = 0
						log = append(log, fmt.Sprint(s.at, places[i], tag))
					}
					change := ""
					if len(what) > 0 {
						change = what[s.g.IntN(len(what))]
					}
					switch at, other := s.g.IntN(len(s.list)), s.g.IntN(len(s.list)); change {
					case "refill":
						for _, place := range places {
							begin(place)
						}
					case "begin":
						begin(at)
					case "take out":
						if s.list[at] != 0 {
							s.out, s.from, s.list[at] = append(s.out, s.list[at]), append(s.from, at), 0
						}
					case "put back":
						if n := len(s.out); n > 0 && s.list[at] == 0 {
							if place := s.from[n-1]; s.list[place] == 0 && at%2 == 0 {
								at = place
							} else {
								s.list = slices.Clone(s.list) // a call may take another one of several if one moves in the same memory
							}
							s.list[at], s.out, s.from = s.out[n-1], s.out[:n-1], s.from[:n-1]
						}
					case "swap":
						if s.list[at] == 0 { // requests at other places keep their order
							s.list[at], s.list[other] = s.list[other], 0
							s.list = slices.Clone(s.list)
						}
					case "clone":
						s.list = slices.Clone(s.list)
					case "grow":
						s.list = append(s.list, 0)
						begin(len(s.list) - 1)
					}
				}
				if s.at > calls {
					s.at = max(s.at, calls+2)
					for place := range s.list {
						begin(place)
					}
					switch {
					case s.at == calls+2:
						return r.Waitall(append(s.list, s.out...)...)
					case s.next < total:
						s.next++
						return r.Recv(1, s.next-1)
					}
					log = append(log, "end")
					return r.Finish()
				}
				s.call = kinds[s.g.IntN(len(kinds))]
				s.short, s.origin = s.list, nil
				if short {
					s.short = nil
					for i, q := range s.list {
						if q != 0 {
							s.short, s.origin = append(s.short, q), append(s.origin, i)
						}
					}
				}
				switch s.call {
				case "any":
					return r.Waitany(s.short...)
				case "some":
					return r.Waitsome(s.short...)
				case "testany":
					return r.Testany(s.short...)
				default:
					return r.Testsome(s.short...)
				}
			}
			result, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines[machine], 2), Kind: steps.Kind, Strict: strict,
				Program: mpivirt.Program{Name: "long", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return steps.New(step) })}}}, engines)
			if err != nil {
				rt.Fatal(err)
			}
			return append(log, fmt.Sprint(result.VirtualTime))
		}
		want := run(true, 1)
		for _, engines := range []int{1, 2} {
			if got := run(false, engines); !slices.Equal(got, want) {
				rt.Fatalf("on %d engines the long list gives\n%q\nthe short one\n%q", engines, got, want)
			}
		}
	})
}

// A list that another event rank writes to while its own waits for it is told, not taken for what it was.
func TestListThatChangesDuringItsWait(t *testing.T) {
	const n = 300
	scratch := make([]steps.Request, n)
	for _, machine := range growthMachines {
		for _, strict := range []bool{false, true} {
			for _, how := range []string{"any", "some", "emptied", "own"} {
				type state struct {
					at, done int
					own      []steps.Request
				}
				step := func(r *steps.Rank, s *state) steps.Outcome {
					s.at++
					if r.Rank() == 2 { // sends to both ranks in turn
						if r.Compute(vtime.Microsecond); s.at > 2*n {
							return r.Finish()
						}
						return r.SendSize(8, s.at%2, (s.at-1)/2)
					}
					if s.at == 1 {
						for i := range n {
							s.own = append(s.own, r.Irecv(2, i))
						}
					} else {
						for _, i := range r.Indices() {
							if tag := r.StatusOf(s.own[i]).Tag; tag != i {
								return r.Fail(fmt.Errorf("place %d has the message with tag %d", i, tag))
							}
							s.own[i] = 0
							s.done++
						}
					}
					if s.done == n {
						return r.Finish()
					}
					list := s.own
					switch {
					case how == "emptied" && r.Rank() == 1:
						clear(scratch)
					case how != "own":
						list = scratch
						copy(list, s.own)
					}
					if how == "some" {
						return r.Waitsome(list...)
					}
					return r.Waitany(list...)
				}
				_, err := simulate(t, mpivirt.Config{Target: target(t, machine, 3), Kind: steps.Kind, Strict: strict,
					Program: mpivirt.Program{Name: "changes", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return steps.New(step) })}}}, 1)
				switch {
				case how == "own" && err != nil:
					t.Errorf("strict %v: %v", strict, err)
				case how != "own" && (!errors.Is(err, mpivirt.ErrRequest) || !strings.Contains(err.Error(), "has changed since the call")):
					t.Errorf("%s, strict %v: the error is %v", how, strict, err)
				}
			}
		}
	}
}

// An event rank that has taken all requests out of a long list waits for none of them.
func TestLongListThatIsEmptied(t *testing.T) {
	const n = 300
	type state struct {
		at         int
		list, left []steps.Request
	}
	step := func(r *steps.Rank, s *state) steps.Outcome {
		switch s.at++; s.at {
		case 1:
			for i := range n {
				s.list = append(s.list, r.Irecv(0, i))
				r.IsendSize(8, 0, i)
			}
			return r.Waitany(s.list...)
		case 2:
			s.list[r.Index()] = 0
			s.left = slices.Clone(s.list)
			clear(s.list)
			return r.Waitany(s.list...)
		case 3:
			if r.Index() != mpivirt.Undefined || !r.Found() {
				return r.Fail(fmt.Errorf("the index is %d in an empty list", r.Index()))
			}
			return r.Waitall(s.left...)
		}
		return r.Finish()
	}
	if _, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines["flat"], 1), Kind: steps.Kind,
		Program: mpivirt.Program{Name: "emptied", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return steps.New(step) })}}}, 1); err != nil {
		t.Error(err)
	}
}

// An event rank finds sends that were complete in their calls in whatever place of a long list it has put them: in that of
// a send that it has waited for, in one that was empty, in one from which it has moved a receive.
func TestSendsOfALongListAreFound(t *testing.T) {
	const n = 300
	type state struct {
		at   int
		list []steps.Request
	}
	places := []int{5, 5, 7, 7, 290, 0}
	step := func(r *steps.Rank, s *state) steps.Outcome {
		switch at := s.at; {
		case at == 0:
			s.list = make([]steps.Request, n)
			for i := 290; i < 298; i++ {
				s.list[i] = r.Irecv(0, i)
			}
		case at <= len(places):
			if r.Index() != places[at-1] {
				return r.Fail(fmt.Errorf("call %d ends with place %d, want %d", at, r.Index(), places[at-1]))
			}
			s.list[places[at-1]] = 0
		}
		if s.at++; s.at <= len(places) {
			place := places[s.at-1]
			if s.list[place] != 0 { // a receive moves to the place of another send
				s.list[5], s.list[place] = s.list[place], 0
			}
			s.list[place] = r.IsendSize(8, 0, 1000)
			return r.Waitany(s.list...)
		}
		return r.Finish()
	}
	if _, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines["flat"], 1), Kind: steps.Kind,
		Program: mpivirt.Program{Name: "found", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return steps.New(step) })}}}, 1); err != nil && !strings.Contains(err.Error(), "received") {
		t.Error(err)
	}
}
