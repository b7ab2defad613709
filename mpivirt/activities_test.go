package mpivirt_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// activityLines prints activities: a line each with count, least, mean, greatest, and the time of
// a rank.
func activityLines(r *mpivirt.Result) string {
	var b strings.Builder
	for _, a := range r.Activities {
		fmt.Fprintf(&b, "%v: %d, %v %v %v, %v\n", a.Activity, a.Count, a.Min, a.Mean, a.Max, a.PerRank)
	}
	return b.String()
}

// The activities of short programs, worked out by hand.
func TestActivities(t *testing.T) {
	for _, c := range []struct {
		name, machine string
		ranks         int
		main          func(r *mpivirt.Rank, w *mpivirt.Comm) error
		want          string
	}{
		// 1,000 B take 5 us and 0.1 us. Of 1 MB, REQ and ACK take 5 us each, DATA 5 us and 100 us.
		// 8 B take 5 us and 0.8 ns, and ACK of the synchronous send goes back. Each message costs
		// the sender 3 us and the receiver 2 us. Two phases of 10 and 20 us are 15 us for a rank.
		{"eager, rendezvous, synchronous",
			"name: m\nnetwork: {model: flat, latency: 5us, bandwidth: 10GB/s, eager_limit: 64KiB, overhead: {send: 3us, receive: 2us}}", 2,
			func(r *mpivirt.Rank, w *mpivirt.Comm) error {
				if r.Rank() == 1 {
					for range 3 {
						if _, err := w.RecvSize(megabyte, 0, 0); err != nil {
							return err
						}
					}
					return nil
				}
				r.Compute(10 * vtime.Microsecond)
				r.Compute(0)
				if err := w.SendSize(1000, 1, 0); err != nil {
					return err
				}
				if err := w.SendSize(megabyte, 1, 0); err != nil {
					return err
				}
				r.Compute(20 * vtime.Microsecond)
				return w.SsendSize(8, 1, 0)
			},
			"computation: 2, 10us 15us 20us, 15us\n" +
				"copy at sender: 3, 3us 3us 3us, 4.5us\n" +
				"REQ: 1, 5us 5us 5us, 2.5us\n" +
				"ACK: 2, 5us 5us 5us, 5us\n" +
				"DATA: 3, 5.0008us 38.366933us 105us, 57.5504us\n" +
				"copy at receiver: 3, 2us 2us 2us, 3us\n"},
		// As in TestHopsKeepsBothEndsBusy: 1 MiB is copied in 164.353605 us at each end, and is under
		// way for 18 us and both 164.353605 us and 252.061538 us.
		{"copies over the memory", `
name: boards
ranks_per_node: 1
topology: {kind: hierarchy, levels: [{size: 1, hops: 3}, {hops: 5}]}
network: {model: hops, latency: 15us, latency_per_hop: 0.6us, bandwidth: 4.16GB/s, memory_bandwidth: 6.38GB/s}`, 2,
			func(r *mpivirt.Rank, w *mpivirt.Comm) error {
				if r.Rank() == 0 {
					return w.SendSize(1<<20, 1, 0)
				}
				_, err := w.RecvSize(1<<20, 0, 0)
				return err
			},
			"computation: 0, 0s 0s 0s, 0s\n" +
				"copy at sender: 1, 164.353605us 164.353605us 164.353605us, 82.176802us\n" +
				"REQ: 0, 0s 0s 0s, 0s\n" +
				"ACK: 0, 0s 0s 0s, 0s\n" +
				"DATA: 1, 434.415143us 434.415143us 434.415143us, 217.207571us\n" +
				"copy at receiver: 1, 164.353605us 164.353605us 164.353605us, 82.176802us\n"},
		// "both compute" of TestProgressInCalls: REQ and ACK are under way for 5 us, DATA for 105 us,
		// however long they wait to be handled. Phases of 70 and 40 us.
		{"progress in calls", inCalls, 2,
			func(r *mpivirt.Rank, w *mpivirt.Comm) error {
				if r.Rank() == 0 {
					return isend(phases(70))(r, w)
				}
				return irecv(phases(40))(r, w)
			},
			"computation: 2, 40us 55us 70us, 55us\n" +
				"copy at sender: 1, 0s 0s 0s, 0s\n" +
				"REQ: 1, 5us 5us 5us, 2.5us\n" +
				"ACK: 1, 5us 5us 5us, 2.5us\n" +
				"DATA: 1, 105us 105us 105us, 52.5us\n" +
				"copy at receiver: 1, 0s 0s 0s, 0s\n"},
		// Of 101 B the sender's processor has o + 100 O, the wire L, the receiver's processor
		// o + 100 G, since G is more than O.
		{"LogGOPS", "name: m\nnetwork: {model: loggops, L: 2500ns, o: 1500ns, g: 1000ns, G: 6ns, O: 1ns, S: 65535}", 2,
			func(r *mpivirt.Rank, w *mpivirt.Comm) error {
				if r.Rank() == 0 {
					r.Compute(vtime.Microsecond)
					return w.SendSize(101, 1, 0)
				}
				_, err := w.RecvSize(101, 0, 0)
				return err
			},
			"computation: 1, 1us 1us 1us, 500ns\n" +
				"copy at sender: 1, 1.6us 1.6us 1.6us, 800ns\n" +
				"REQ: 0, 0s 0s 0s, 0s\n" +
				"ACK: 0, 0s 0s 0s, 0s\n" +
				"DATA: 1, 2.5us 2.5us 2.5us, 1.25us\n" +
				"copy at receiver: 1, 2.1us 2.1us 2.1us, 1.05us\n"},
		// Recursive doubling of four ranks: two rounds, each rank sends and combines 1,000 B in both,
		// by rendezvous. 5 us and 0.5 us under way, 0.25 us combining.
		{"a collective", "name: m\nnetwork: {model: flat, latency: 5us, bandwidth: 2GB/s, eager_limit: 100, reduce: {bandwidth: 4GB/s}}", 4,
			func(r *mpivirt.Rank, w *mpivirt.Comm) error {
				return w.CollectiveSize(collectives.Allreduce, 1000, 0)
			},
			"computation: 8, 250ns 250ns 250ns, 500ns\n" +
				"copy at sender: 8, 0s 0s 0s, 0s\n" +
				"REQ: 8, 5us 5us 5us, 10us\n" +
				"ACK: 8, 5us 5us 5us, 10us\n" +
				"DATA: 8, 5.5us 5.5us 5.5us, 11us\n" +
				"copy at receiver: 8, 0s 0s 0s, 0s\n"},
	} {
		for engines := 1; engines <= 2; engines++ {
			result, err := simulate(t, mpivirt.Config{
				Target: target(t, c.machine, c.ranks), Activities: true,
				Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: collectives.RecursiveDoubling},
				Program:    mpivirt.Program{Name: "activities", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return c.main(r, r.World()) })}},
			}, engines)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := activityLines(result); got != c.want {
				t.Errorf("%s, %d engines:\n%s\nwant\n%s", c.name, engines, got, c.want)
			}
		}
	}
}

// Counting activities is optional.
func TestActivitiesAreAskedFor(t *testing.T) {
	result, err := simulate(t, mpivirt.Config{Target: target(t, inCalls, 1),
		Program: mpivirt.Program{Name: "none", Forms: []mpivirt.Form{mpivirt.Main(func(*mpivirt.Rank) error { return nil })}}}, 1)
	if err != nil || result.Activities != nil {
		t.Errorf("%v, %v", result.Activities, err)
	}
}

// The activities of random programs are the same however they are hosted. Each message has its
// copies and DATA, and each REQ is answered.
func TestActivitiesOfRandomPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p program
		if rapid.Bool().Draw(t, "with receiver state") {
			p = programsOn(randomLogGOPS, 16, 24).Draw(t, "program")
		} else {
			p = programs(16, 24).Draw(t, "program")
		}
		_, first := p.simulate(t, hosting{engines: 1, activities: true})
		n := map[string]uint64{}
		for _, a := range first.Activities {
			n[a.Activity.String()] = a.Count
		}
		if m := first.Statistics.Messages; n["copy at sender"] != m || n["DATA"] != m || n["copy at receiver"] != m || n["REQ"] > n["ACK"] {
			t.Errorf("of %d messages\n%s", m, activityLines(first))
		}
		for range 2 {
			h := hosts(len(p.ops)).Draw(t, "host")
			h.activities = true
			if _, other := p.simulate(t, h); activityLines(other) != activityLines(first) {
				t.Errorf("%v:\n%s\nwant\n%s", h, activityLines(other), activityLines(first))
			}
		}
	})
}
