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
	"gigarank/mpivirt/internal/kernel"
	"gigarank/vtime"
)

// causesOf prints the times of a rank by cause, without those that are 0.
func causesOf(times *mpivirt.Causes) string {
	var all []string
	for c, d := range times {
		if d != 0 {
			all = append(all, fmt.Sprintf("%v %v", mpivirt.Cause(c), d))
		}
	}
	return strings.Join(all, ", ")
}

// Each rank's time by cause, worked out by hand. A message costs its sender 3 us and its receiver 2 us, and is under way for 5 us and
// 0.1 ns a byte.
func TestCausesByHand(t *testing.T) {
	const flat = "name: m\nnetwork: {model: flat, latency: 5us, bandwidth: 10GB/s, eager_limit: 64KiB, overhead: {send: 3us, receive: 2us}}\n"
	// 10,000 B take 5 us and 10 us, and keep an interface, a bus, a link or a memory busy for 10 us, which
	// reads and writes them.
	const shared = "name: m\nranks_per_node: %d\n%s\nnetwork: {model: flat, latency: 5us, bandwidth: 1GB/s}\n"
	const logp = "name: m\nnetwork: {model: loggops, L: 2500ns, o: 0ns, g: 1000ns, G: 6ns, O: 0ns, S: 65535}\n"
	pairs := func(r *mpivirt.Rank, w *mpivirt.Comm) error {
		if n := r.Rank(); n%2 == 0 {
			return w.SendSize(10_000, n+1, 0)
		}
		_, err := w.RecvSize(10_000, r.Rank()-1, 0)
		return err
	}
	across := func(r *mpivirt.Rank, w *mpivirt.Comm) error {
		if n := r.Rank(); n < 2 {
			return w.SendSize(10_000, n+2, 0)
		}
		_, err := w.RecvSize(10_000, r.Rank()-2, 0)
		return err
	}
	late := func(rank int, d vtime.Duration, call func(w *mpivirt.Comm, rank int) error) func(*mpivirt.Rank, *mpivirt.Comm) error {
		return func(r *mpivirt.Rank, w *mpivirt.Comm) error {
			if r.Rank() == rank {
				r.Compute(d)
			}
			return call(w, r.Rank())
		}
	}
	send := func(call func(w *mpivirt.Comm) error, room int64) func(w *mpivirt.Comm, rank int) error {
		return func(w *mpivirt.Comm, rank int) error {
			if rank == 0 {
				return call(w)
			}
			_, err := w.RecvSize(room, 0, 0)
			return err
		}
	}
	collective := func(op collectives.Operation, bytes int64) func(w *mpivirt.Comm, rank int) error {
		return func(w *mpivirt.Comm, _ int) error { return w.CollectiveSize(op, bytes, 0) }
	}
	const us = vtime.Microsecond
	for _, c := range []struct {
		name, machine string
		engines       int
		main          func(r *mpivirt.Rank, w *mpivirt.Comm) error
		want          []string // by rank
	}{
		// Sent from 10 us on, away at 13 us, there at 18.1 us, received at 20.1 us.
		{"late sender", flat, 2, late(0, 10*us, send(func(w *mpivirt.Comm) error { return w.SendSize(1000, 1, 0) }, 1000)),
			[]string{"computing 10us, processor 3us", "late sender 10us, network 5.1us, processor 5us"}},
		// REQ leaves at 3 us. The receive is posted at 20 us, ACK is back at 25 us, and DATA have left at 125 us and are there at 130 us.
		{"late receiver, rendezvous", flat, 2, late(1, 20*us, send(func(w *mpivirt.Comm) error { return w.SendSize(megabyte, 1, 0) }, megabyte)),
			[]string{"late receiver 17us, network 105us, processor 3us", "computing 20us, network 110us, processor 2us"}},
		{"late receiver, synchronous", flat, 2, late(1, 20*us, send(func(w *mpivirt.Comm) error { return w.SsendSize(8, 1, 0) }, 8)),
			[]string{"late receiver 17us, network 5us, processor 3us", "computing 20us, processor 2us"}},
		// Rank 1 sends until 3 us and waits for the message of rank 0, which begins at 10 us, is away at 13 us and there at 18 us.
		{"wait at barrier", flat, 2, late(0, 10*us, func(w *mpivirt.Comm, _ int) error { return w.Barrier() }),
			[]string{"computing 10us, processor 5us", "wait at barrier 10us, network 8us, processor 2us"}},
		{"wait at n-to-n", flat, 2, late(0, 10*us, collective(collectives.Allreduce, 1000)),
			[]string{"computing 10us, processor 5us", "wait at n-to-n 10us, network 8.1us, processor 2us"}},
		{"late root", flat, 2, late(0, 10*us, collective(collectives.Bcast, 1000)),
			[]string{"computing 10us, processor 3us", "late root 10us, network 8.1us, processor 2us"}},
		{"late member", flat, 2, late(1, 10*us, collective(collectives.Reduce, 1000)),
			[]string{"late member 10us, network 8.1us, processor 2us", "computing 10us, processor 3us"}},
		// Root 0 sends to rank 2, and once its interface is free, 1 us and 7 times 6 ns later, to rank 1. Rank 2 sends to rank 3. A message is under way
		// for 2.5 us, and its receiver takes 42 ns.
		{"broadcast under LogGOPS", logp, 2, func(_ *mpivirt.Rank, w *mpivirt.Comm) error { return mpivirt.Bcast(w, make([]byte, 8), 0) },
			[]string{"network 1.042us", "network 3.542us, processor 42ns", "network 2.5us, processor 42ns", "network 5.042us, processor 42ns"}},
		{"nonblocking broadcast under LogGOPS", logp, 2, func(_ *mpivirt.Rank, w *mpivirt.Comm) error {
			request, err := mpivirt.Ibcast(w, make([]byte, 8), 0)
			if err != nil {
				return err
			}
			_, err = request.Wait()
			return err
		},
			[]string{"network 1.042us", "network 3.542us, processor 42ns", "network 2.5us, processor 42ns", "network 5.042us, processor 42ns"}},
		// The second message begins 10 us after the first.
		{"interface", fmt.Sprintf(shared, 2, "node: {interfaces: 1, bandwidth: 1GB/s}"), 2, across,
			[]string{"", "", "network 15us", "network 15us, interface 10us"}},
		{"bus", fmt.Sprintf(shared, 2, "contention: {model: links, busses: 1}"), 1, across, []string{"", "", "network 15us", "network 15us, bus 10us"}},
		{"link", fmt.Sprintf(shared, 2, "contention: {model: links, out: 1}"), 1, across, []string{"", "", "network 15us", "network 15us, link 10us"}},
		{"memory", fmt.Sprintf(shared, 4, "node: {memory: 2GB/s}"), 1, pairs, []string{"", "network 15us", "", "network 15us, memory 10us"}},
	} {
		for engines := 1; engines <= c.engines; engines++ {
			result, err := simulate(t, mpivirt.Config{
				Target: target(t, c.machine, len(c.want)), Activities: true,
				Algorithms: map[collectives.Operation]collectives.Algorithm{
					collectives.Barrier: collectives.Dissemination, collectives.Allreduce: collectives.RecursiveDoubling,
					collectives.Bcast: collectives.Binomial, collectives.Reduce: collectives.Binomial,
				},
				Program: mpivirt.Program{Name: "causes", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return c.main(r, r.World()) })}},
			}, engines)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for rank, want := range c.want {
				if got := causesOf(&result.Calls.Tasks[rank].Times); got != want {
					t.Errorf("%s, %d engines, rank %d: %s; want %s", c.name, engines, rank, got, want)
				}
			}
		}
	}
}

// statisticsText returns the statistics of calls as lines.
func statisticsText(c *mpivirt.CallStatistics) []string {
	var all []string
	for _, row := range c.Calls {
		var times mpivirt.Causes
		for i, sum := range row.Times {
			times[i] = sum.Over(1)
		}
		all = append(all, fmt.Sprintf("%s on %s: %d calls, %d bytes, %s", row.Procedure, row.Communicator, row.Count, row.Bytes, causesOf(&times)))
	}
	for rank, task := range c.Tasks {
		all = append(all, fmt.Sprintf("rank %d: %d calls, %d bytes, %s", rank, task.Count, task.Bytes, causesOf(&task.Times)))
	}
	for _, of := range c.ByTask {
		all = append(all, fmt.Sprintf("%s %v", of.Procedure, of.Tasks))
	}
	for i := range c.Sites {
		all = append(all, fmt.Sprintf("%+v", c.Sites[i]))
	}
	for i, bin := range c.Course.Bins {
		all = append(all, fmt.Sprintf("bin %d of %v: %v", i, c.Course.Width, bin))
	}
	return append(all, fmt.Sprintf("%v %v %v %v, waits for ranks %v", c.Phases, c.Balance, c.Matrix, c.Block, c.Blamed))
}

// statisticsOn returns the statistics of a program on a host.
func statisticsOn(t rapid.TB, p *program, h hosting) []string {
	t.Helper()
	_, result := p.simulate(t, h)
	return statisticsText(result.Calls)
}

// anyMachine writes the file of a machine of any sort.
func anyMachine(r *rand.Rand, ranks int) string {
	switch r.IntN(6) {
	case 0:
		return randomLogGOPS(r, ranks)
	case 1:
		return shares(randomNode)(r, ranks)
	case 2:
		return shares(randomContention)(r, ranks)
	case 3:
		return randomMachine(r, ranks) + randomProgress(r) + []string{"", "  jitter: {distribution: uniform, most: 3us}\n", "  interruptions: {interval: 30us, duration: 4us}\n"}[r.IntN(3)]
	}
	return randomMachine(r, ranks)
}

// The times of each rank by cause add up to its time, to the picosecond, in every valid program on every machine. They are the
// same however the simulation is hosted, and the sums over ranks are those over procedures.
func TestTimesOfRandomProgramsAddUp(t *testing.T) {
	fewer(t, 40) // each is simulated six times
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(anyMachine, 16, 24).Draw(t, "program")
		ends := watch(t, &p, hosting{engines: 1})
		log, first := p.simulate(t, hosting{engines: 1, activities: true})
		if fmt.Sprint(log) != fmt.Sprint(ends) {
			t.Fatalf("the statistics change the program's times:\n%v\nwithout\n%v", log, ends)
		}
		var ofTasks, ofCalls mpivirt.Causes
		for rank, task := range first.Calls.Tasks {
			entries := log[rank]
			if end := entries[len(entries)-1].at; vtime.Time(0).Add(task.Times.Total()) != end {
				t.Errorf("rank %d ends at %v, and its times add up to %v: %s", rank, end, task.Times.Total(), causesOf(&task.Times))
			}
			ofTasks.Add(&task.Times)
		}
		for _, row := range first.Calls.Calls {
			for i, sum := range row.Times {
				ofCalls[i] += sum.Over(1)
			}
		}
		ofCalls[0] += first.Calls.Balance.Computing.Over(1)
		if ofCalls != ofTasks {
			t.Errorf("the times of procedures are %s, of ranks %s", causesOf(&ofCalls), causesOf(&ofTasks))
		}
		checkBlame(t, first.Calls, &ofTasks)
		checkFunctions(t, first.Calls)
		checkCourse(t, first.Calls, &ofTasks)
		phases := vtime.Duration(0)
		for _, phase := range first.Calls.Phases {
			phases += phase.Time.Over(1)
		}
		if phases != ofTasks.Total() {
			t.Errorf("the activities of processes take %v, their causes %v", phases, ofTasks.Total())
		}
		for range 3 {
			h := hosts(len(p.ops)).Draw(t, "host")
			h.activities = true
			want := statisticsOn(t, &p, hosting{kind: h.kind, engines: 1, activities: true}) // kinds play some operations by other calls
			if diff := cmp.Diff(want, statisticsOn(t, &p, h)); diff != "" {
				t.Fatalf("%v (-one engine +there):\n%s", h, diff)
			}
		}
	})
}

// idle is an observer: calls that it hears are made in full.
type idle struct{}

func (idle) Begins(*mpivirt.CallBegin) {}

func (idle) Ends(*mpivirt.CallEnd) {}

func (idle) Note(kernel.Activity, vtime.Duration) {}

// The times of all bins of the course of a run add up to those of all ranks.
func checkCourse(t rapid.TB, c *mpivirt.CallStatistics, times *mpivirt.Causes) {
	t.Helper()
	var sums mpivirt.Causes
	for _, bin := range c.Course.Bins {
		for cause := range sums {
			sums[cause] += bin[cause].Over(1)
		}
	}
	if sums != *times {
		t.Errorf("the course of the run has %s, its ranks %s", causesOf(&sums), causesOf(times))
	}
}

// Calls by the places of the program that make them are all calls of each procedure, at the same times as without, and the same on any number of engines.
func TestSitesOfRandomProgramsAddUp(t *testing.T) {
	fewer(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(anyMachine, 16, 24).Draw(t, "program")
		plain, without := p.simulate(t, hosting{engines: 1, activities: true})
		log, first := p.simulate(t, hosting{engines: 1, activities: true, sites: true})
		if fmt.Sprint(log) != fmt.Sprint(plain) {
			t.Fatalf("the places of calls change the program's times:\n%v\nwithout\n%v", log, plain)
		}
		type sums struct {
			count, bytes uint64
			times        mpivirt.Causes
		}
		left := map[string]sums{}
		add := func(procedure string, sign int64, count, bytes uint64, times *[mpivirt.NumberOfCauses]mpivirt.Total) {
			of := left[procedure]
			of.count, of.bytes = of.count+uint64(sign)*count, of.bytes+uint64(sign)*bytes
			for i := range times {
				of.times[i] += vtime.Duration(sign) * times[i].Over(1)
			}
			left[procedure] = of
		}
		for i := range first.Calls.Calls {
			row := &first.Calls.Calls[i]
			add(row.Procedure, 1, row.Count, row.Bytes, &row.Times)
		}
		for i := range first.Calls.Sites {
			row := &first.Calls.Sites[i]
			if !strings.Contains(row.Place, "_test.go:") {
				t.Errorf("%s is called from %q", row.Procedure, row.Place)
			}
			var late mpivirt.Total
			for _, from := range row.Senders {
				if late.Merge(from.Time); !strings.Contains(from.Place, "_test.go:") {
					t.Errorf("%s at %s waits for sends from %q", row.Procedure, row.Place, from.Place)
				}
			}
			if want := row.Times[mpivirt.LateSender]; late != want {
				t.Errorf("%s at %s waits %v for late senders, %v of it for sends from places", row.Procedure, row.Place, want, late)
			}
			add(row.Procedure, -1, row.Count, row.Bytes, &row.Times)
		}
		for name, of := range left {
			if none := new(sums); of != *none {
				t.Errorf("%s has %+v more than from all places", name, of)
			}
		}
		engines := rapid.IntRange(2, 4).Draw(t, "engines")
		_, there := p.simulate(t, hosting{engines: engines, activities: true, sites: true})
		if diff := cmp.Diff(statisticsText(first.Calls), statisticsText(there.Calls)); diff != "" {
			t.Fatalf("%d engines (-one engine +there):\n%s", engines, diff)
		}
		first.Calls.Sites = nil
		if diff := cmp.Diff(statisticsText(without.Calls), statisticsText(first.Calls)); diff != "" {
			t.Fatalf("(-without places +with):\n%s", diff)
		}
	})
}

// What statistics say of calls in short forms is what they say of calls that are made in full for an observer.
func TestShortFormsHaveTheSameStatistics(t *testing.T) {
	fewer(t, 60)
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(anyMachine, 16, 24).Draw(t, "program")
		h := hosts(len(p.ops)).Draw(t, "host")
		told := func(h hosting) []string {
			h.activities, h.matrix = true, true
			_, r := p.simulate(t, h)
			return append(statisticsText(r.Calls), activityLines(r), fmt.Sprint(r.Sent, r.Handed, r.Calls.Speeds))
		}
		short := told(h)
		h.observer = func(int, int) mpivirt.Observer { return idle{} }
		if diff := cmp.Diff(told(h), short); diff != "" {
			t.Fatalf("%v (-in full +in short forms):\n%s", h, diff)
		}
	})
}

// checkBlame checks that the times for which ranks wait for others, by the rank that they wait for, are those by the rank that waits.
func checkBlame(t rapid.TB, c *mpivirt.CallStatistics, times *mpivirt.Causes) {
	t.Helper()
	var sums mpivirt.Causes
	for _, b := range c.Blamed {
		for cause, sum := range b.Times {
			sums[int(mpivirt.LateSender)+cause] += sum.Over(1)
		}
		if all := b.All(); b.Held.Over(1) > all.Over(1) {
			t.Errorf("ranks wait for rank %d for %v, and while other messages delay it for %v", b.Rank, all.Over(1), b.Held.Over(1))
		}
		if times[causeNamed("interface")]+times[causeNamed("bus")]+times[causeNamed("link")]+times[causeNamed("memory")] == 0 && b.Held != (mpivirt.Total{}) {
			t.Errorf("other messages delay rank %d for %v, and nobody", b.Rank, b.Held.Over(1))
		}
	}
	for cause := range (mpivirt.RankBlame{}).Times {
		if at := int(mpivirt.LateSender) + cause; sums[at] != times[at] {
			t.Errorf("ranks wait for %v as %v, and for the ranks that they blame for %v", times[at], mpivirt.Cause(at), sums[at])
		}
	}
}

// causeNamed returns the cause with a name.
func causeNamed(name string) (cause mpivirt.Cause) {
	for cause.String() != name {
		cause++
	}
	return cause
}

// checkFunctions checks that the calls of each rank by function add up to those of the rank, and over ranks to those of the function.
func checkFunctions(t rapid.TB, c *mpivirt.CallStatistics) {
	t.Helper()
	sums, names := make([]mpivirt.Task, len(c.Tasks)), map[string]uint64{}
	for _, of := range c.ByTask {
		for rank, task := range of.Tasks {
			sums[rank].Count += task.Count
			sums[rank].Bytes += task.Bytes
			sums[rank].Times.Add(&task.Times)
			names[of.Procedure] += task.Count
		}
	}
	for rank, task := range c.Tasks {
		task.Times[mpivirt.Computing] = sums[rank].Times[mpivirt.Computing] // computing is no call
		if sums[rank] != task {
			t.Errorf("rank %d: the calls of its functions add up to %v, not to %v", rank, sums[rank], task)
		}
	}
	for _, row := range c.Calls {
		names[row.Procedure] -= row.Count
	}
	for name, left := range names {
		if left != 0 {
			t.Errorf("ranks have %d calls of %s more than the function", int64(left), name)
		}
	}
}

// A bcast between two ranks above the eager limit is a rendezvous, also if it is nonblocking: for each rank other messages delay it as they delay
// the same messages point to point, whatever the ranks share.
func TestRendezvousOfCollectivesAreDelayedAsPointToPoint(t *testing.T) {
	const us = vtime.Microsecond
	shared := func(node, network string, perNode int) string {
		return fmt.Sprintf("name: m\nranks_per_node: %d\n%s\nnetwork: {model: flat, latency: 5us, bandwidth: 1GB/s, eager_limit: 1KiB}\n", perNode, node) + network
	}
	for _, c := range []struct{ name, machine string }{
		{"interface", shared("node: {interfaces: 1, bandwidth: 1GB/s}", "", 2)},
		{"bus", shared("contention: {model: links, busses: 1}", "", 2)},
		{"link", shared("contention: {model: links, out: 1}", "", 2)},
		{"memory", shared("node: {memory: 2GB/s}", "", 4)},
	} {
		var want []mpivirt.Causes
		for _, way := range []string{"point to point", "bcast", "ibcast"} {
			result, err := simulate(t, mpivirt.Config{
				Target: target(t, c.machine, 4), Activities: true, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Bcast: collectives.Binomial},
				Program: mpivirt.Program{Name: "delays", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					pair, err := r.World().Split(r.Rank()%2, r.Rank())
					if err != nil {
						return err
					}
					r.Compute(vtime.Millisecond - r.Now().Sub(0)) // all ranks begin at the same instant
					const bytes = 10_000
					switch way {
					case "bcast":
						return pair.CollectiveSize(collectives.Bcast, bytes, 0)
					case "ibcast":
						request, err := pair.IcollectiveSize(collectives.Bcast, bytes, 0)
						if err != nil {
							return err
						}
						r.Compute(2 * us)
						_, err = request.Wait()
						return err
					}
					if pair.Rank() == 0 {
						return pair.SendSize(bytes, 1, 0)
					}
					_, err = pair.RecvSize(bytes, 0, 0)
					return err
				})}},
			}, 1)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.name, way, err)
			}
			var got []mpivirt.Causes
			delays := vtime.Duration(0)
			for _, task := range result.Calls.Tasks {
				of := mpivirt.Causes{}
				for cause, d := range task.Times {
					if mpivirt.Cause(cause).String() == c.name {
						of[cause] = d
						delays += d
					}
				}
				got = append(got, of)
			}
			if want == nil {
				want = got
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || delays == 0 {
				t.Errorf("%s: %s is delayed for %v, messages point to point for %v", c.name, way, got, want)
			}
		}
	}
}
