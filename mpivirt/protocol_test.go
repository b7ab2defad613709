package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// What messages cost, worked out by hand.

// instants runs a program, in which each rank notes instants, on 1 to 3 engines, with
// and without strict, and returns what the ranks noted, which is always the same.
func instants(t *testing.T, machine string, ranks int, c mpivirt.Config, main func(r *mpivirt.Rank, note func(what string)) error) []map[string]vtime.Time {
	t.Helper()
	var first []map[string]vtime.Time
	for engines := 1; engines <= 3; engines++ {
		for _, strict := range []bool{false, true} {
			seen := make([]map[string]vtime.Time, ranks)
			c.Target, c.Strict = target(t, machine, ranks), strict
			c.Program = mpivirt.Program{Name: "instants", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				mine := map[string]vtime.Time{}
				seen[r.Rank()] = mine
				return main(r, func(what string) { mine[what] = r.Now() })
			})}}
			if _, err := simulate(t, c, engines); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = seen
			}
			if got, want := fmt.Sprint(seen), fmt.Sprint(first); got != want {
				t.Fatalf("%d engines, strict %v: %s, want %s", engines, strict, got, want)
			}
		}
	}
	return first
}

func wantInstants(t *testing.T, got, want []map[string]vtime.Time) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

const psOfUs = vtime.Time(vtime.Microsecond)

// ps returns an instant given in picoseconds.
func ps(n int64) vtime.Time { return vtime.Time(n) }

// TestRendezvousHandshake (VACED-SIM, Fig. 2b): 1 MiB at 2 GB/s takes 524.288 us. The
// receive is posted at 1 ms, long after REQ came at 5 us. ACK is back at 1.005 ms; the
// data have left at 1.529288 ms and are there at 1.534288 ms.
func TestRendezvousHandshake(t *testing.T) {
	const machine = "name: handshake\nnetwork: {model: flat, latency: 5us, bandwidth: 2GB/s, eager_limit: 64KiB}"
	for name, send := range map[string]func(c *mpivirt.Comm) error{
		"Send": func(c *mpivirt.Comm) error { return c.SendSize(1<<20, 1, 0) },
		"Isend": func(c *mpivirt.Comm) error {
			q, err := c.IsendSize(1<<20, 1, 0)
			if err != nil {
				return err
			}
			_, err = q.Wait()
			return err
		},
		"Ssend": func(c *mpivirt.Comm) error { return c.SsendSize(1<<20, 1, 0) },
	} {
		got := instants(t, machine, 2, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
			if r.Rank() == 0 {
				defer note("free")
				return send(r.World())
			}
			r.Compute(vtime.Millisecond)
			defer note("received")
			_, err := r.World().RecvSize(1<<20, 0, 0)
			return err
		})
		t.Log(name)
		wantInstants(t, got, []map[string]vtime.Time{{"free": ps(1529288000)}, {"received": ps(1534288000)}})
	}
}

// TestRendezvousWaitsForTheRequest: a receive that is posted early answers when REQ
// comes, at 5 us: ACK is back at 10 us.
func TestRendezvousWaitsForTheRequest(t *testing.T) {
	const machine = "name: handshake\nnetwork: {model: flat, latency: 5us, bandwidth: 2GB/s, eager_limit: 64KiB}"
	got := instants(t, machine, 2, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		if r.Rank() == 0 {
			defer note("free")
			return r.World().SendSize(1<<20, 1, 0)
		}
		defer note("received")
		_, err := r.World().RecvSize(1<<20, mpivirt.AnySource, mpivirt.AnyTag)
		return err
	})
	wantInstants(t, got, []map[string]vtime.Time{{"free": ps(534288000)}, {"received": ps(539288000)}})
}

// TestProbeSeesTheRequest: a probe finds a message above the eager limit when REQ is
// there, before its data are.
func TestProbeSeesTheRequest(t *testing.T) {
	const machine = "name: handshake\nnetwork: {model: flat, latency: 5us, bandwidth: 1GB/s, eager_limit: 100}"
	got := instants(t, machine, 2, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		c := r.World()
		if r.Rank() == 0 {
			return mpivirt.Send(c, make([]byte, 1000), 1, 0)
		}
		m, err := c.Mprobe(0, 0)
		if err != nil {
			return err
		}
		note("probed")
		_, err = mpivirt.Mrecv(m, make([]byte, 1000))
		note("received")
		return err
	})
	wantInstants(t, got, []map[string]vtime.Time{{}, {"probed": 5 * psOfUs, "received": 16 * psOfUs}})
}

// TestHopsKeepsBothEndsBusy (VACED-SIM, Eq. 3 and sec. 4.2–4.3): 1 MiB between the
// user's buffer and that of the message takes 2^20 B / 6.38 GB/s = 164.353605 us at
// each end of an eager message. Between boards of vaced-sim the message itself is there
// 18 us + 2^20·(1/6.38 + 1/4.16) ns = 434.415143 us after the send.
func TestHopsKeepsBothEndsBusy(t *testing.T) {
	const machine = `
name: boards
ranks_per_node: 1
topology: {kind: hierarchy, levels: [{size: 1, hops: 3}, {hops: 5}]}
network: {model: hops, latency: 15us, latency_per_hop: 0.6us, bandwidth: 4.16GB/s, memory_bandwidth: 6.38GB/s}`
	got := instants(t, machine, 2, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		var err error
		if r.Rank() == 0 {
			err = r.World().SendSize(1<<20, 1, 0)
		} else {
			_, err = r.World().RecvSize(1<<20, 0, 0)
		}
		note("done")
		return err
	})
	// 1048576/6.38 = 164353605.0… ps; 1048576/4.16 = 252061538.5 ps.
	wantInstants(t, got, []map[string]vtime.Time{{"done": ps(164353605)}, {"done": ps(18000000 + 416415143 + 164353605)}})
}

// TestOverheads: the root of a linear gather takes a message each 2 us, that of a linear
// broadcast sends one each 3 us: P − 1 of them, and the last one is 1 us under way.
func TestOverheads(t *testing.T) {
	const machine = "name: overheads\nnetwork: {model: flat, latency: 1us, overhead: {send: 3us, receive: 2us}}"
	c := mpivirt.Config{Algorithms: map[collectives.Operation]collectives.Algorithm{
		collectives.Gather: collectives.Linear, collectives.Bcast: collectives.Linear}}
	for _, how := range []mpivirt.Interpreter{mpivirt.Message, mpivirt.Auto} {
		c.Collectives = how
		got := instants(t, machine, 5, c, func(r *mpivirt.Rank, note func(string)) error {
			w := r.World()
			if err := w.CollectiveSize(collectives.Gather, 1, 0); err != nil {
				return err
			}
			note("gathered")
			r.Compute(vtime.Duration(100*psOfUs - r.Now()))
			err := w.CollectiveSize(collectives.Bcast, 1, 0)
			note("told")
			return err
		})
		want := []map[string]vtime.Time{{"gathered": (3 + 1 + 4*2) * psOfUs, "told": (100 + 4*3) * psOfUs}}
		for rank := 1; rank < 5; rank++ {
			want = append(want, map[string]vtime.Time{"gathered": 3 * psOfUs, "told": vtime.Time(100+rank*3+1+2) * psOfUs})
		}
		wantInstants(t, got, want)
	}
}

// TestGap: a port gives and takes one message each 10 us, while the processor is free
// again after its overhead of 1 us.
func TestGap(t *testing.T) {
	const machine = "name: gap\nnetwork: {model: flat, latency: 5us, overhead: {send: 1us, receive: 1us}, gap: 10us}"
	got := instants(t, machine, 3, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		w := r.World()
		switch r.Rank() {
		case 0:
			for i := range 3 {
				if err := w.SendSize(1, 2, i); err != nil {
					return err
				}
				note(fmt.Sprint("sent ", i))
			}
		case 1:
			r.Compute(100 * vtime.Microsecond)
			for range 2 {
				if err := w.SendSize(1, 2, 9); err != nil {
					return err
				}
			}
		case 2:
			for i := range 3 {
				if _, err := w.RecvSize(1, 0, i); err != nil {
					return err
				}
				note(fmt.Sprint("received ", i))
			}
			r.Compute(200*vtime.Microsecond - vtime.Duration(r.Now()))
			for i := range 2 {
				if _, err := w.RecvSize(1, 1, 9); err != nil {
					return err
				}
				note(fmt.Sprint("late ", i))
			}
		}
		return nil
	})
	wantInstants(t, got, []map[string]vtime.Time{
		{"sent 0": 1 * psOfUs, "sent 1": 2 * psOfUs, "sent 2": 3 * psOfUs}, // they leave at 1, 11 and 21 us
		{},
		{"received 0": 7 * psOfUs, "received 1": 17 * psOfUs, "received 2": 27 * psOfUs, "late 0": 201 * psOfUs, "late 1": 211 * psOfUs},
	})
}

// TestWaitTakesInByArrival: a rank that waits for several messages takes them in as they
// arrive, at 1 and 11 us, each for 2 us; the order of the requests makes no difference.
func TestWaitTakesInByArrival(t *testing.T) {
	const machine = "name: waits\nnetwork: {model: flat, latency: 1us, overhead: {send: 0, receive: 2us}}"
	got := instants(t, machine, 3, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		w := r.World()
		if r.Rank() > 0 {
			r.Compute(vtime.Duration(2-r.Rank()) * 10 * vtime.Microsecond)
			return w.SendSize(1, 0, 0)
		}
		var requests []mpivirt.Request
		for source := 1; source < 3; source++ {
			q, err := w.IrecvSize(1, source, 0)
			if err != nil {
				return err
			}
			requests = append(requests, q)
		}
		_, err := mpivirt.Waitall(requests)
		note("all")
		return err
	})
	wantInstants(t, got, []map[string]vtime.Time{{"all": 13 * psOfUs}, {}, {}})
}
