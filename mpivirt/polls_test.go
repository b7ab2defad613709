package mpivirt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

const pollTime = vtime.Duration(100 * vtime.Nanosecond) // of a machine that gives none

// A program may poll between steps of its own work, as HPCC's RandomAccess does, and send only after many
// polls that find nothing. Each of them takes its time, however many make a long loop.
func TestPollsBetweenWork(t *testing.T) {
	t.Parallel()
	const most = 1400
	polls := func(r *mpivirt.Rank) error {
		in, other := []byte{0}, 1-r.Rank()
		q, err := mpivirt.Irecv(r.World(), in, other, 1)
		if err != nil {
			return err
		}
		for range most {
			if _, found, err := q.Test(); err != nil || found {
				return fmt.Errorf("a message is there before it is sent: %v", err)
			}
		}
		if now, want := r.Now(), vtime.Time(0).Add(pollTime.Times(most)); now != want {
			return fmt.Errorf("%d polls end at %v, want %v", most, now, want)
		}
		if err := mpivirt.Send(r.World(), []byte{7}, other, 1); err != nil {
			return err
		}
		_, err = q.Wait()
		return err
	}
	for name, machine := range growthMachines {
		var first *mpivirt.Result
		for _, h := range pollHostings {
			for _, allowed := range []int32{0, 1, most - 1, most, 1 << 30} {
				result, err := simulate(t, h.config(target(t, machine, 2), polls, allowed), h.engines)
				if err != nil {
					t.Errorf("%s, %+v, %d polls allowed: %v", name, h, allowed, err)
					continue
				}
				if first == nil {
					first = result
				}
				if result.Fingerprint != first.Fingerprint {
					t.Errorf("%s, %+v, %d polls allowed: finish %v, want %v", name, h, allowed, result.VirtualTime, first.VirtualTime)
				}
			}
		}
	}
}

// pollHosting is how a run is hosted.
type pollHosting struct {
	engines  int
	protocol sync.Protocol
	strict   bool
}

var pollHostings = []pollHosting{
	{1, sync.Hybrid, false}, {2, sync.Hybrid, false}, {2, sync.Null, true}, {2, sync.Conditional, false}, {3, sync.Hybrid, true}, {3, sync.Null, false},
}

func (h pollHosting) config(tgt *network.Target, main func(*mpivirt.Rank) error, polls int32) mpivirt.Config {
	return mpivirt.Config{
		Target: tgt, Polls: polls, Protocol: h.protocol, Strict: h.strict,
		Program: mpivirt.Program{Name: "polls", Forms: []mpivirt.Form{mpivirt.Main(main)}},
	}
}

// A poll at an instant finds a message exactly if it has arrived by then, also after more polls than make a long
// loop: rank 0 polls 5,000 times and sends, rank 1 polls 20,000 times at most.
func TestBoundedLoopFindsWhatHasArrived(t *testing.T) {
	const first, most = 5000, 20000
	const arrival = first*100*1000 + 1_001_000 // ps: polls, latency and a byte
	for _, h := range pollHostings {
		tries, found := 0, vtime.Time(0)
		_, err := simulate(t, h.config(target(t, growthMachines["flat"], 2), func(r *mpivirt.Rank) error {
			w := r.World()
			if r.Rank() == 0 {
				for range first {
					if _, yes, err := w.Iprobe(mpivirt.AnySource, mpivirt.AnyTag); yes || err != nil {
						return fmt.Errorf("found %v, %v", yes, err)
					}
				}
				return mpivirt.Send(w, []byte{1}, 1, 0)
			}
			for yes := false; !yes && tries < most; tries++ {
				var err error
				if _, yes, err = w.Iprobe(mpivirt.AnySource, mpivirt.AnyTag); err != nil {
					return err
				}
			}
			found = r.Now()
			_, err := mpivirt.Recv(w, make([]byte, 1), 0, 0)
			return err
		}, 0), h.engines)
		inVain := (arrival + int(pollTime) - 1) / int(pollTime)
		if want := vtime.Time(0).Add(pollTime.Times(inVain)); err != nil || tries != inVain+1 || found != want {
			t.Errorf("%+v: found at %v by poll %d, want %v by poll %d: %v", h, found, tries, want, inVain+1, err)
		}
	}
}

// A loop that nothing ends is a deadlock, which says that a rank polls and how often it has.
func TestEndlessLoopIsADeadlock(t *testing.T) {
	if testing.Short() {
		t.Skip("a million polls of one rank have nothing for the race detector")
	}
	const text = " for a message from rank 0 of WORLD with tag 5: 1000000 in a row have found nothing by "
	for _, machine := range []string{"flat", "loggops-default"} {
		var first error
		hostings := pollHostings[:3]
		if machine != "flat" { // another model has the same loop
			hostings = hostings[:1]
		}
		for _, h := range hostings {
			polls := 0
			_, err := simulate(t, h.config(target(t, growthMachines[machine], 2), func(r *mpivirt.Rank) error {
				if r.Rank() == 0 {
					_, err := mpivirt.Recv(r.World(), make([]byte, 1), 1, 3)
					return err
				}
				for {
					if _, yes, err := r.World().Iprobe(0, 5); yes || err != nil {
						return fmt.Errorf("found %v, %v", yes, err)
					}
					polls++
				}
			}, 0), h.engines)
			var deadlock *mpivirt.DeadlockError
			if !errors.As(err, &deadlock) || deadlock.Waiting != 2 || polls != 1_000_000 || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "--polls") {
				t.Errorf("%s, %+v: %d polls: %v, want a deadlock with %q", machine, h, polls, err, text)
			}
			if first == nil {
				first = err
			}
			if err.Error() != first.Error() {
				t.Errorf("%s, %+v: %v\nwant %v", machine, h, err, first)
			}
		}
	}
}

const pollingRanks = 36

// pollsAndSends is the program of an event rank that probes a number of times, of which most find nothing, and
// passes a byte on to the next.
type pollsAndSends struct{ polls, stage int }

func (p *pollsAndSends) step(r *steps.Rank) steps.Outcome {
	next := (r.Rank() + 1) % pollingRanks
	switch p.stage {
	case 0:
		if p.polls++; p.polls <= 1200+17*r.Rank() {
			return r.Iprobe(mpivirt.AnySource, 0)
		}
		p.stage = 1
		return r.SendSize(1, next, 0)
	case 1:
		p.stage = 2
		return r.Recv(mpivirt.AnySource, 0)
	}
	return r.Finish()
}

// Ranks of both kinds poll on alike, also where engines take turns because they are many, and on a machine with
// progress in calls.
func TestKindsPollOnAlike(t *testing.T) {
	const ranks = pollingRanks
	forms := []mpivirt.Form{
		mpivirt.Main(func(r *mpivirt.Rank) error {
			for range 1200 + 17*r.Rank() {
				if _, _, err := r.World().Iprobe(mpivirt.AnySource, 0); err != nil {
					return err
				}
			}
			if err := mpivirt.Send(r.World(), []byte{1}, (r.Rank()+1)%ranks, 0); err != nil {
				return err
			}
			_, err := mpivirt.Recv(r.World(), make([]byte, 1), mpivirt.AnySource, 0)
			return err
		}),
		steps.Main(func() steps.Program {
			return steps.New(func(r *steps.Rank, p *pollsAndSends) steps.Outcome { return p.step(r) })
		}),
	}
	machines := map[string]string{"calls": inCalls, "xt5": "xt5", "loggops": "loggops-default"}
	for name, machine := range machines {
		first := ""
		for _, h := range append(pollHostings, pollHosting{engines: ranks}) {
			for i, form := range forms {
				c := h.config(target(t, machine, ranks), nil, 0)
				c.Program.Forms = []mpivirt.Form{form}
				result, err := simulate(t, c, h.engines)
				if err != nil {
					t.Fatalf("%s, %+v, form %d: %v", name, h, i, err)
				}
				if first == "" {
					first = result.Fingerprint
				}
				if result.Fingerprint != first {
					t.Errorf("%s, %+v, form %d: fingerprint %s, want %s", name, h, i, result.Fingerprint, first)
				}
			}
		}
	}
}

// What happens before the first failure counts, also what comes of polls. Rank 0 fails at 1 s, rank 1 at the
// end of 1,500 polls.
func TestPollsBeforeAFailure(t *testing.T) {
	for _, h := range pollHostings {
		_, err := simulate(t, h.config(target(t, growthMachines["flat"], 3), func(r *mpivirt.Rank) error {
			switch r.Rank() {
			case 0:
				r.Compute(vtime.Duration(vtime.Second))
				return errors.New("late")
			case 1:
				for range 1500 {
					if _, _, err := r.World().Iprobe(0, 0); err != nil {
						return err
					}
				}
				return errors.New("early")
			}
			return r.World().Barrier()
		}, 0), h.engines)
		if failed := rankError(t, err); failed.Rank != 1 || failed.Time != vtime.Time(0).Add(pollTime.Times(1500)) {
			t.Errorf("%+v: %v, want the failure of rank 1", h, err)
		}
	}
}

// pollStep is a step of a rank's program: a loop of polls that goes on until a number of them have found nothing
// or one something, computing, or a message to another rank.
type pollStep struct {
	kind    string // a procedure that polls, compute or send
	most    int
	length  vtime.Duration
	to, tag int
}

// drawPolls draws the programs of all ranks. With aligned loops, each rank begins with more polls than make a
// long loop, at the same time.
func drawPolls(t *rapid.T, aligned bool) [][]pollStep {
	n := rapid.IntRange(2, 5).Draw(t, "ranks")
	s := make([][]pollStep, n)
	kinds := []string{"Iprobe", "Improbe", "Test", "Testany", "Testall", "Testsome", "compute", "send", "send"}
	for rank := range s {
		if aligned {
			s[rank] = append(s[rank], pollStep{kind: "Iprobe", most: rapid.IntRange(1001, 1600).Draw(t, "first")})
		}
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			st := pollStep{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
			switch st.kind {
			case "compute":
				st.length = vtime.Duration(rapid.IntRange(1, 300).Draw(t, "us")) * vtime.Microsecond
			case "send":
				st.to, st.tag = (rank+rapid.IntRange(1, n-1).Draw(t, "to"))%n, rapid.IntRange(0, 1).Draw(t, "tag")
			default:
				st.most = rapid.SampledFrom([]int{1, 7, 300, 999, 1000, 1001, 1500, 4000}).Draw(t, "most")
			}
			s[rank] = append(s[rank], st)
		}
	}
	return s
}

// runPolls runs programs and returns what each rank has seen: after each step the instant, and how many polls it
// has made. Messages with tag 0 are received by requests that polls test, those with tag 1 at the end.
func runPolls(t rapid.TB, s [][]pollStep, machine string, h pollHosting, polls int32) (logs []string, late mpivirt.Late) {
	expected := make([][2]int, len(s))
	for _, steps := range s {
		for _, st := range steps {
			if st.kind == "send" {
				expected[st.to][st.tag]++
			}
		}
	}
	logs = make([]string, len(s))
	result, err := simulate(t, h.config(target(t, machine, len(s)), func(r *mpivirt.Rank) error {
		w, log := r.World(), &strings.Builder{}
		defer func() { logs[r.Rank()] = log.String() }()
		var requests []mpivirt.Request
		for range expected[r.Rank()][0] {
			q, err := mpivirt.Irecv(w, make([]byte, 1), mpivirt.AnySource, 0)
			if err != nil {
				return err
			}
			requests = append(requests, q)
		}
		taken := 0
		for _, st := range s[r.Rank()] {
			tries, found, err := 0, false, error(nil)
			switch st.kind {
			case "compute":
				r.Compute(st.length)
			case "send":
				err = mpivirt.Send(w, []byte{1}, st.to, st.tag)
			default:
				for ; tries < st.most && !found && err == nil; tries++ {
					found, err = pollOnce(w, st.kind, &requests, &taken)
				}
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(log, "%v %d %v; ", r.Now(), tries, found)
		}
		for ; taken < expected[r.Rank()][1]; taken++ {
			if _, err := mpivirt.Recv(w, make([]byte, 1), mpivirt.AnySource, 1); err != nil {
				return err
			}
		}
		_, err := mpivirt.Waitall(requests)
		fmt.Fprint(log, r.Now())
		return err
	}, polls), h.engines)
	if err != nil {
		t.Fatalf("%+v, %d polls: %v", h, polls, err)
	}
	return logs, result.Late
}

// pollOnce polls once, and reports whether the poll has found something. What it completes leaves the requests.
func pollOnce(w *mpivirt.Comm, kind string, requests *[]mpivirt.Request, taken *int) (found bool, err error) {
	if all := *requests; len(all) > 0 {
		switch kind {
		case "Test":
			_, found, err = all[0].Test()
			if found {
				*requests = all[1:]
			}
			return found, err
		case "Testany":
			i, _, found, err := mpivirt.Testany(all)
			if found {
				*requests = slices.Delete(all, i, i+1)
			}
			return found, err
		case "Testsome":
			which, _, err := mpivirt.Testsome(all)
			for _, i := range slices.Backward(which) {
				*requests = slices.Delete(*requests, i, i+1)
			}
			return len(which) > 0, err
		case "Testall":
			_, found, err = mpivirt.Testall(all)
			if found {
				*requests = nil
			}
			return found, err
		}
	}
	if kind == "Improbe" {
		m, err := w.Improbe(mpivirt.AnySource, 1)
		if m != nil {
			*taken++
			_, err = mpivirt.Mrecv(m, make([]byte, 1))
		}
		return m != nil, err
	}
	_, found, err = w.Iprobe(mpivirt.AnySource, 1)
	return found, err
}

// Random programs that poll end alike on any number of engines, under any protocol. They end as where no loop is
// long, if their first loops begin and become long at the same time. Else a rank may have polled beyond the
// instant at which another one goes on, or wait although it would have given up: the run says so, and what it says is the same on
// any number of engines.
func TestRandomPolls(t *testing.T) {
	t.Parallel()
	told, falselyTold, quiet, waited := 0, 0, 0, 0
	defer func() {
		t.Logf("%d programs end otherwise than where all polls are made, with late events, %d with skipped polls only; of the others %d have late events, and %d have none",
			told, waited, falselyTold, quiet)
	}()
	rapid.Check(t, func(t *rapid.T) {
		aligned := rapid.Bool().Draw(t, "aligned")
		s := drawPolls(t, aligned)
		machine := growthMachines[rapid.SampledFrom([]string{"flat", "gigabit-star", "loggops-default"}).Draw(t, "machine")]
		want, late := runPolls(t, s, machine, pollHosting{engines: 1}, 0)
		for _, h := range pollHostings {
			if got, said := runPolls(t, s, machine, h, 0); !slices.Equal(got, want) || said != late {
				t.Fatalf("%+v: %q and %v, want %q and %v", h, got, said, want, late)
			}
		}
		twin, never := runPolls(t, s, machine, pollHosting{engines: 1}, 1<<30)
		if never.Events > 0 {
			t.Fatalf("%v, with all polls made", never)
		}
		alike := slices.Equal(want, twin)
		if !alike && (aligned || late.Events == 0 && late.Skipped == 0) {
			t.Fatalf("%q and %v, with all polls made %q", want, late, twin)
		}
		switch {
		case !alike && late.Events == 0:
			waited++
		case !alike:
			told++
		case late.Events > 0:
			falselyTold++
		default:
			quiet++
		}
	})
}

// A rank that is put off may send a message to a rank that has decided without it. Rank 1 polls 1,500 times, which end
// at 150 us, and sends; rank 0 has taken the message that rank 2 sends at 1 ms, or has found none by then.
func TestLateMessageIsTold(t *testing.T) {
	decisions := map[string]func(r *mpivirt.Rank) error{
		"Recv": func(r *mpivirt.Rank) error {
			_, err := mpivirt.Recv(r.World(), make([]byte, 1), mpivirt.AnySource, 0)
			return err
		},
		"Probe": func(r *mpivirt.Rank) error {
			_, err := r.World().Probe(mpivirt.AnySource, 0)
			return err
		},
		"Iprobe": func(r *mpivirt.Rank) error {
			r.Compute(vtime.Duration(vtime.Millisecond))
			_, _, err := r.World().Iprobe(1, 0)
			return err
		},
		"Test": func(r *mpivirt.Rank) error {
			q, err := mpivirt.Irecv(r.World(), make([]byte, 1), 1, 0)
			if err != nil {
				return err
			}
			r.Compute(vtime.Duration(vtime.Millisecond))
			if _, found, err := q.Test(); err != nil || found {
				return err
			}
			_, err = q.Wait()
			return err
		},
	}
	for name, decide := range decisions {
		for _, machine := range []string{"flat", "loggops-default"} {
			var first mpivirt.Late
			for _, h := range pollHostings {
				for _, allowed := range []int32{0, 1500} {
					result, err := simulate(t, h.config(target(t, growthMachines[machine], 3), func(r *mpivirt.Rank) error {
						w := r.World()
						switch r.Rank() {
						case 0:
							if err := decide(r); err != nil {
								return err
							}
							return receiveAll(w, map[string]int{"Recv": 1, "Test": 1}[name])
						case 1:
							for range 1500 {
								if _, _, err := w.Iprobe(2, 5); err != nil {
									return err
								}
							}
						case 2:
							r.Compute(vtime.Duration(vtime.Millisecond))
						}
						return mpivirt.Send(w, []byte{1}, 0, 0)
					}, allowed), h.engines)
					if err != nil {
						t.Fatalf("%s, %s, %+v, %d polls: %v", name, machine, h, allowed, err)
					}
					late := result.Late
					if allowed > 0 {
						if late.Events > 0 {
							t.Errorf("%s, %s, %+v, %d polls allowed: %v", name, machine, h, allowed, &late)
						}
						continue
					}
					if late.Events == 0 || late.Rank != 0 || late.Time < vtime.Time(0).Add(pollTime.Times(1500)) || late.Polls != 1500 || !strings.Contains(late.String(), "--polls 1501 ") {
						t.Errorf("%s, %s, %+v: %v, want a late event of rank 0", name, machine, h, late)
					}
					if first == (mpivirt.Late{}) {
						first = late
					}
					if late != first {
						t.Errorf("%s, %s, %+v: %v, want %v", name, machine, h, late, first)
					}
				}
			}
		}
	}
}

// receiveAll receives what two ranks have sent with tag 0, but for a number of messages that are received.
func receiveAll(w *mpivirt.Comm, received int) error {
	for range 2 - received {
		if _, err := mpivirt.Recv(w, make([]byte, 1), mpivirt.AnySource, 0); err != nil {
			return err
		}
	}
	return nil
}

// A run of failing polls takes the host one event, whether the message is there but arrives later, or nothing that is pending
// can send one by then. Its outcome is that of a run in the order of virtual time.
func TestRunOfFailingPollsIsOneEvent(t *testing.T) {
	const computing = 50 * vtime.Microsecond
	for name, poll := range map[string]func(r *mpivirt.Rank) (bool, error){
		"Iprobe": func(r *mpivirt.Rank) (bool, error) { _, found, err := r.World().Iprobe(1, 1); return found, err },
		"Iprobe from any source": func(r *mpivirt.Rank) (bool, error) {
			_, found, err := r.World().Iprobe(mpivirt.AnySource, 1)
			return found, err
		},
	} {
		var ends []vtime.Time
		for _, strict := range []bool{true, false} {
			made := 0
			result, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 3), Strict: strict, Program: mpivirt.Program{Name: "polls", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				switch r.Rank() {
				case 1:
					r.Compute(computing)
					return mpivirt.Send(r.World(), []byte{7}, 0, 1)
				case 2: // keeps events pending
					for range 3 {
						if _, found, err := r.World().Iprobe(0, 9); found || err != nil {
							return fmt.Errorf("a message that nobody sends: %v", err)
						}
					}
					return nil
				}
				for found := false; !found; made++ {
					var err error
					if found, err = poll(r); err != nil {
						return err
					}
				}
				ends = append(ends, r.Now())
				_, err := mpivirt.Recv(r.World(), make([]byte, 1), 1, 1)
				return err
			})}}}, 1)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if events := result.Statistics.Events; made < 100 || strict != (events > uint64(made)) || !strict && events > 20 {
				t.Errorf("%s, strict %v: %d events for %d polls", name, strict, events, made)
			}
		}
		if ends[0] != ends[1] {
			t.Errorf("%s ends at %v, in the order of virtual time at %v", name, ends[1], ends[0])
		}
	}
}
