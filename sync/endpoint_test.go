package sync_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	stdsync "sync"
	"testing"
	"time"

	"gigarank/sync"
	"gigarank/vtime"
)

// TestMain lets the model test look at more runs than rapid does by default:
// some faults show in one of thousands.
func TestMain(m *testing.M) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if !set {
		checks := "1000"
		if testing.Short() { // nothing runs beside anything in a model
			checks = "200"
		}
		if err := flag.Set("rapid.checks", checks); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

var protocols = []sync.Protocol{sync.Hybrid, sync.Null, sync.Conditional}

// play runs a program to its end and returns the sum of the statistics.
func play(t *testing.T, p *program, c sync.Config) (total sync.Statistics) {
	t.Helper()
	k := len(p.lookahead)
	f := newFabric(k, 1)
	workers := make([]*worker, k)
	for rank := range workers {
		workers[rank] = newWorker(p, f, rank, c)
	}
	if !f.run(1_000_000, func(rank int) { workers[rank].run() }) {
		t.Fatalf("%v does not come to an end", c.Protocol)
	}
	for rank, w := range workers {
		if w.err != nil || w.outcome != sync.Finished || !slices.Equal(w.log, p.expected()[rank]) {
			t.Fatalf("%v: engine %d ended with %v, %v after %v", c.Protocol, rank, w.outcome, w.err, w.log)
		}
		s := w.Statistics()
		total.RemoteRecords += s.RemoteRecords
		total.SyncMessages += s.SyncMessages
		total.TransportMessages += s.TransportMessages
	}
	return total
}

func uniform(k int, lookahead vtime.Duration) [][]vtime.Duration {
	rows := make([][]vtime.Duration, k)
	for i := range rows {
		rows[i] = slices.Repeat([]vtime.Duration{lookahead}, k)
	}
	return rows
}

// A program that does not depend on timing runs without synchronisation
// messages, however it ends.
func TestDeterministicProgramSendsNoSyncMessages(t *testing.T) {
	const k = 6
	p := &program{lookahead: uniform(k, 10)}
	for c := range 2 * k {
		ch := chain{finishes: true}
		for hop := range 20 {
			ch.visits = append(ch.visits, visit{engine: (c + hop*(c+1)) % k, time: vtime.Time(100 * hop), bytes: 16})
		}
		p.chains = append(p.chains, ch)
	}
	for _, protocol := range protocols {
		if s := play(t, p, sync.Config{Protocol: protocol}); s.SyncMessages != 0 || s.RemoteRecords == 0 {
			t.Errorf("%v: %d synchronisation messages for %d records", protocol, s.SyncMessages, s.RemoteRecords)
		}
	}
}

// alternating returns two engines whose timed visits lie gap apart, in turn.
func alternating(lookahead, gap vtime.Duration, visits int) *program {
	p := &program{lookahead: uniform(2, lookahead), chains: []chain{{finishes: true}, {finishes: true}}}
	for i := range visits {
		c := &p.chains[i%2]
		c.visits = append(c.visits, visit{engine: i % 2, time: vtime.Time(0).Add(vtime.Duration(i+1) * gap), timed: true})
	}
	return p
}

// Compute phases of a million lookaheads cost a constant number of messages: a
// want, a start, a contribution and a result for each engine's turn, and the
// like again when the round was wanted too early.
func TestLongComputePhases(t *testing.T) {
	const visits = 50
	p := alternating(vtime.Microsecond, vtime.Second, visits)
	for _, protocol := range []sync.Protocol{sync.Hybrid, sync.Conditional} {
		if s := play(t, p, sync.Config{Protocol: protocol}); s.SyncMessages > 8*visits {
			t.Errorf("%v: %d synchronisation messages for %d visits", protocol, s.SyncMessages, visits)
		}
	}
	// Null messages alone creep: that is why Hybrid is the default.
	creeping := alternating(vtime.Microsecond, 100*vtime.Microsecond, 4)
	if s := play(t, creeping, sync.Config{Protocol: sync.Null}); s.SyncMessages < 100 {
		t.Errorf("null: %d synchronisation messages over 400 lookaheads", s.SyncMessages)
	}
}

// Many engines that starve together do not ask all pairs.
func TestManyEngines(t *testing.T) {
	const k = 64
	p := &program{lookahead: uniform(k, 1000)}
	for i := range k {
		p.chains = append(p.chains, chain{finishes: true, visits: []visit{{engine: i, time: vtime.Time(1500 + i), timed: true}}})
	}
	for _, protocol := range []sync.Protocol{sync.Hybrid, sync.Conditional} {
		if s := play(t, p, sync.Config{Protocol: protocol}); s.SyncMessages > 12*k {
			t.Errorf("%v: %d synchronisation messages for one window of %d engines", protocol, s.SyncMessages, k)
		}
	}
	if s := play(t, p, sync.Config{Protocol: sync.Null}); s.SyncMessages < k*(k-1) {
		t.Errorf("null: %d synchronisation messages, less than one for each pair", s.SyncMessages)
	}
}

// In a phase in which all engines starve in each window, a window costs each engine a
// contribution and a result. Where records go to and fro, engines that get one after
// their contribution amend it.
func TestWindowsOfManyEngines(t *testing.T) {
	const k, windows = 64, 40
	for _, moves := range []int{0, 1} {
		p := &program{lookahead: uniform(k, 1000)}
		for i := range k {
			c := chain{finishes: true}
			for w := range windows {
				c.visits = append(c.visits, visit{engine: (i + moves*w*7) % k, time: vtime.Time(1000*(w+2) + i), timed: true, bytes: 8})
			}
			p.chains = append(p.chains, c)
		}
		limit := 2*k*windows + 12*k // besides, the first and the last rounds
		if moves > 0 {
			limit *= 2
		}
		for _, protocol := range []sync.Protocol{sync.Hybrid, sync.Conditional} {
			if s := play(t, p, sync.Config{Protocol: protocol}); s.SyncMessages > uint64(limit) {
				t.Errorf("%v: %d synchronisation messages in %d windows of %d engines; want at most %d", protocol, s.SyncMessages, windows, k, limit)
			}
		}
	}
}

func TestOneEngine(t *testing.T) {
	e := sync.NewEndpoint(sync.NewInProcess(1)[0], sync.Config{})
	if e.EIT() != vtime.Forever {
		t.Errorf("EIT is %v", e.EIT())
	}
	for _, c := range []struct {
		next       vtime.Time
		unfinished int
		want       sync.Outcome
	}{{5, 1, sync.Continue}, {vtime.Forever, 1, sync.Deadlock}, {vtime.Forever, 0, sync.Finished}} {
		if outcome, err := e.Wait(c.next, c.unfinished); err != nil || outcome != c.want {
			t.Errorf("Wait(%v, %d) = %v, %v; want %v", c.next, c.unfinished, outcome, err, c.want)
		}
	}
	e.Stop([]byte("done"))
	var stopped *sync.Stopped
	if _, err := e.Poll(nil); !errors.As(err, &stopped) || stopped.From != 0 || string(stopped.Reason) != "done" {
		t.Errorf("after a stop: %v", err)
	}
	if payloads, err := e.Gather([]byte{7}); err != nil || len(payloads) != 1 || payloads[0][0] != 7 {
		t.Errorf("Gather = %v, %v", payloads, err)
	}
}

// pair returns two endpoints that one goroutine may use in turn.
func pair(c sync.Config) [2]*sync.Endpoint {
	ends := sync.NewInProcess(2)
	c.Lookahead = func(int) vtime.Duration { return 10 }
	return [2]*sync.Endpoint{sync.NewEndpoint(ends[0], c), sync.NewEndpoint(ends[1], c)}
}

// An engine that has run for a lookahead sends what it has, though its EIT lets it run on:
// another may wait for the promise.
func TestPacketsLeaveAfterALookahead(t *testing.T) {
	e := pair(sync.Config{LookaheadFrom: func(int) vtime.Duration { return 10 }})
	got := func() int {
		n, err := e[1].Poll(func(src int, record []byte) { e[1].Credit(src, len(record)) })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	e[1].Advance(9)
	e[1].Reserve(0, 1)[0] = 1
	if err := errors.Join(e[1].Flush(), flushed(e[0].Poll(func(int, []byte) {}))); err != nil {
		t.Fatal(err)
	}
	if e[0].EIT() != 19 {
		t.Fatalf("EIT is %v", e[0].EIT())
	}
	e[0].Advance(2)
	e[0].Reserve(1, 1)[0] = 1
	if err := e[0].Flush(); err != nil || got() != 1 {
		t.Fatal("no record", err)
	}
	for _, step := range []struct {
		next vtime.Time
		sent int // records
		eit  vtime.Time
	}{
		{3, 0, 12},
		{11, 0, 12},
		{12, 2, 22},
		{18, 0, 22},
		{19, 0, 22}, // the engine is about to wait, which sends
	} {
		e[0].Advance(step.next)
		if n := got(); n != step.sent || e[1].EIT() != step.eit {
			t.Errorf("at %v %d records are sent, and EIT is %v: want %d and %v", step.next, n, e[1].EIT(), step.sent, step.eit)
		}
		e[0].Reserve(1, 1)[0] = 1
	}
}

// A packet carries the promise min(next, EIT) + lookahead.
func TestPromiseTravelsWithData(t *testing.T) {
	e := pair(sync.Config{LookaheadFrom: func(int) vtime.Duration { return 10 }})
	send := func(from int, next vtime.Time) {
		e[from].Advance(next)
		e[from].Reserve(1-from, 1)[0] = 1
		if err := e[from].Flush(); err != nil {
			t.Fatal(err)
		}
		if n, err := e[1-from].Poll(func(int, []byte) {}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	for i, step := range []struct {
		from int
		next vtime.Time
		eit  vtime.Time // of the receiver
	}{
		{0, 7, 17},             // its next event
		{1, vtime.Forever, 27}, // its EIT of 17
		{0, 3, 17},             // neither the promise nor EIT falls
		{1, 20, 27},            // nor here: 17 + 10 was promised
		{0, 1000, 37},          // its EIT of 27
		{1, vtime.Forever, 47},
	} {
		send(step.from, step.next)
		if eit := e[1-step.from].EIT(); eit != step.eit {
			t.Errorf("step %d: EIT is %v; want %v", i, eit, step.eit)
		}
	}
}

// Room says no past the window and yes again once the receiver has consumed.
func TestWindow(t *testing.T) {
	e := pair(sync.Config{Window: 1000})
	var lengths []int
	deliver := func(_ int, record []byte) { lengths = append(lengths, len(record)) }
	sent := 0
	for e[0].Room(1) {
		e[0].Reserve(1, 90) // 104 bytes with header and padding
		sent++
	}
	if sent != 10 {
		t.Errorf("%d records of 104 bytes fill a window of 1000 bytes", sent)
	}
	if err := errors.Join(e[0].Flush(), flushed(e[1].Poll(deliver))); err != nil {
		t.Fatal(err)
	}
	for i, n := range lengths {
		if err := flushed(e[0].Poll(nil)); err != nil {
			t.Fatal(err)
		}
		// Half a window is five records.
		if want := i >= 5; e[0].Room(1) != want {
			t.Errorf("after %d records consumed, Room is %v", i, !want)
		}
		e[1].Credit(0, n)
	}
}

func flushed(_ int, err error) error { return err }

// A fast producer holds no more than the window in a slow consumer, and a
// consumer that waits without consuming gets all that is sent.
func TestSlowConsumer(t *testing.T) {
	const records, size, window = 400, 56, 1024
	for _, consumes := range []bool{true, false} {
		f := newFabric(2, 3)
		c := sync.Config{Window: window, Lookahead: func(int) vtime.Duration { return 1 }}
		e := []*sync.Endpoint{f.endpoint(0, c), f.endpoint(1, c)}
		var held []int
		most, came := 0, 0
		produce := func() (sync.Outcome, error) {
			for sent := 0; ; {
				for sent < records && e[0].Room(1) {
					e[0].Reserve(1, size)
					sent++
				}
				unfinished := 0
				if sent < records {
					unfinished = 1
				}
				if outcome, err := e[0].Wait(vtime.Forever, unfinished); outcome != sync.Continue || err != nil {
					return outcome, err
				}
				if _, err := e[0].Poll(nil); err != nil {
					return sync.Continue, err
				}
			}
		}
		consume := func() (sync.Outcome, error) {
			for {
				if _, err := e[1].Poll(func(_ int, record []byte) { held, came = append(held, len(record)), came+1 }); err != nil {
					return sync.Continue, err
				}
				most = max(most, len(held))
				if consumes && len(held) > 0 {
					e[1].Credit(0, held[0])
					held = held[1:]
					f.ends[1].pause(0)
					continue
				}
				unfinished := 0
				if came < records {
					unfinished = 1
				}
				if outcome, err := e[1].Wait(vtime.Forever, unfinished); outcome != sync.Continue || err != nil {
					return outcome, err
				}
			}
		}
		if !f.run(10_000, func(rank int) {
			if outcome, err := []func() (sync.Outcome, error){produce, consume}[rank](); outcome != sync.Finished || err != nil {
				t.Errorf("engine %d ends with %v, %v", rank, outcome, err)
			}
		}) {
			t.Error("no end")
		}
		if limit := window/(size+8) + 1; came != records || consumes && most > limit {
			t.Errorf("%d records came, at most %d of them were held; want %d and %d", came, most, records, limit)
		}
	}
}

// Room for a record of any length, also many packets long.
func TestLongRecords(t *testing.T) {
	e := pair(sync.Config{})
	lengths := []int{0, 1, 40_000, 3, 5 << 20, 65 << 20, 2, 0}
	for _, n := range lengths {
		record := e[0].Reserve(1, n)
		if len(record) != n {
			t.Fatalf("Reserve(1, %d) has length %d", n, len(record))
		}
		for i := range record {
			record[i] = byte(n + i)
		}
	}
	if err := e[0].Flush(); err != nil {
		t.Fatal(err)
	}
	n, err := e[1].Poll(func(_ int, record []byte) {
		for i, b := range record {
			if b != byte(lengths[0]+i) {
				t.Fatalf("byte %d of a record of %d bytes is %d", i, lengths[0], b)
			}
		}
		if len(record) != lengths[0] {
			t.Fatalf("a record of %d bytes comes with %d", lengths[0], len(record))
		}
		lengths = lengths[1:]
	})
	if n != 8 || err != nil {
		t.Errorf("Poll = %d, %v", n, err)
	}
}

func TestInvariantsPanic(t *testing.T) {
	e := pair(sync.Config{})
	for name, f := range map[string]func(){
		"a record to itself": func() { e[0].Reserve(0, 1) },
		"a record too short": func() { e[0].Reserve(1, -1) },
		"credit for nothing": func() { e[0].Credit(1, 8) },
		"no lookahead":       func() { sync.NewEndpoint(sync.NewInProcess(2)[0], sync.Config{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			f()
		}()
	}
}

// All faults of a configuration are reported at once.
func TestValidate(t *testing.T) {
	c := sync.Config{
		Protocol: 9, Window: -1, Patience: -1, GatherLimit: -1,
		Lookahead:     func(dst int) vtime.Duration { return vtime.Duration(dst) },
		LookaheadFrom: func(int) vtime.Duration { return 0 },
	}
	err := c.Validate(1, 3)
	for _, part := range []string{"Protocol(9)", "window", "patience", "gather limit", "from engine 1 to 0", "from engine 0 to 1", "from engine 2 to 1"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not reported in: %v", part, err)
		}
	}
	c = sync.Config{Lookahead: func(int) vtime.Duration { return 1 }, LeastLookahead: -1}
	if err := c.Validate(0, 2); err == nil || !strings.Contains(err.Error(), "least lookahead of engine 0") {
		t.Errorf("a negative least lookahead: %v", err)
	}
	if err := (&sync.Config{}).Validate(0, 1); err != nil {
		t.Errorf("the default for one engine: %v", err)
	}
}

// An endpoint keeps little for engines without traffic, and does not go over them.
func TestManyEnginesCostLittle(t *testing.T) {
	const k, rank = 10_000, 5000
	ends := sync.NewInProcess(k)
	asked := 0
	c := sync.Config{LeastLookahead: 1, Lookahead: func(int) vtime.Duration { asked++; return 1 }}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := sync.NewEndpoint(ends[rank], c)
	spoken := 0
	for distance := 1; distance < k/2; distance *= 2 {
		for _, dst := range []int{rank - distance, rank + distance} {
			e.Reserve(dst, 1)
			spoken++
		}
	}
	runtime.ReadMemStats(&after)
	// A packet that is begun takes 1 KiB.
	if bytes := int(after.TotalAlloc-before.TotalAlloc) - 1024*spoken; bytes > 6*k || asked > 4*spoken {
		t.Errorf("%d bytes and %d lookaheads for %d engines, %d of them sent to", bytes, asked, k, spoken)
	}
}

func TestProtocolNames(t *testing.T) {
	for _, p := range protocols {
		if got, err := sync.ParseProtocol(p.String()); got != p || err != nil {
			t.Errorf("ParseProtocol(%q) = %v, %v", p, got, err)
		}
	}
	if _, err := sync.ParseProtocol("optimistic"); err == nil {
		t.Error("optimistic is a protocol")
	}
	if new(sync.Config).Protocol != sync.Hybrid {
		t.Error("hybrid is not the default")
	}
}

// After a stop engine 0 gives up on engines that do not answer, and names them.
func TestGatherAfterStop(t *testing.T) {
	f := newFabric(3, 5)
	c := sync.Config{Lookahead: func(int) vtime.Duration { return 1 }, GatherLimit: time.Second}
	e := []*sync.Endpoint{f.endpoint(0, c), f.endpoint(1, c), f.endpoint(2, c)}
	f.run(100, func(rank int) {
		if rank == 2 {
			return // it is lost
		}
		if rank == 1 {
			e[1].Stop([]byte("why"))
		}
		_, err := e[rank].Wait(vtime.Forever, 1)
		if want := (&sync.Stopped{From: 1, Reason: []byte("why")}).Error(); err == nil || err.Error() != want {
			t.Errorf("engine %d: %v; want %v", rank, err, want)
		}
		payloads, err := e[rank].Gather([]byte{byte(rank)})
		if rank == 1 && (payloads != nil || err != nil) {
			t.Errorf("engine 1 gathers %v, %v", payloads, err)
		}
		if rank == 0 && (fmt.Sprint(payloads) != "[[0] [1] []]" || err == nil || !strings.Contains(err.Error(), "[2]")) {
			t.Errorf("engine 0 gathers %v, %v", payloads, err)
		}
	})
	if f.clock != time.Second {
		t.Errorf("the gathering took %v; want the limit", f.clock)
	}
}

// Poll and Wait return the error of a transport, and garbage is an error.
func TestTransportFails(t *testing.T) {
	ends := sync.NewInProcess(2)
	e := sync.NewEndpoint(ends[0], sync.Config{Lookahead: func(int) vtime.Duration { return 1 }})
	if err := ends[1].Send(0, append(ends[1].Alloc(100)[:0], strings.Repeat("garbage ", 12)...)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := e.Poll(nil); err == nil || !strings.Contains(err.Error(), "engine 1") {
			t.Errorf("garbage gives %v", err)
		}
		if _, err := e.Wait(vtime.Forever, 1); err == nil {
			t.Error("the failure is forgotten")
		}
	}
	lost := &sync.Lost{Engine: 1, Host: "node7", Silent: 9 * time.Second}
	e = sync.NewEndpoint(failing{sync.NewInProcess(2)[0], lost}, sync.Config{Lookahead: func(int) vtime.Duration { return 1 }})
	var got *sync.Lost
	if _, err := e.Wait(vtime.Forever, 1); !errors.As(err, &got) || got != lost || !strings.Contains(err.Error(), "node7") {
		t.Errorf("the loss of an engine gives %v", err)
	}
}

type failing struct {
	sync.Transport
	err error
}

func (f failing) Receive() (int, []byte, error) { return 0, nil, f.err }

// Records travel without allocation once buffers are there.
func TestNoAllocation(t *testing.T) {
	e := pair(sync.Config{})
	src, n := 0, 0
	deliver := func(_ int, record []byte) { n += len(record) }
	round := func() {
		for range 100 {
			e[src].Reserve(1-src, 48)[0] = 1
			e[src].Advance(vtime.Forever)
		}
		if err := errors.Join(e[src].Flush(), flushed(e[1-src].Poll(deliver))); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			e[1-src].Credit(src, 48)
		}
		src = 1 - src
	}
	for range 10 {
		round()
	}
	if allocations := testing.AllocsPerRun(100, round); allocations > 0 {
		t.Errorf("100 records cost %v allocations", allocations)
	}
}

func BenchmarkRecords(b *testing.B) {
	e := pair(sync.Config{})
	deliver := func(src int, record []byte) { e[1].Credit(src, len(record)) }
	for i := 0; b.Loop(); i++ {
		e[0].Reserve(1, 48)[0] = 1
		if i%512 == 0 {
			if err := errors.Join(e[0].Flush(), flushed(e[1].Poll(deliver))); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkPollNothing(b *testing.B) {
	e := pair(sync.Config{})
	for b.Loop() {
		if _, err := e[0].Poll(nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWindow measures a window of one lookahead, in which each of two engines has an event
// and sends the other a record.
func BenchmarkWindow(b *testing.B) {
	for _, protocol := range []sync.Protocol{sync.Null, sync.Conditional, sync.Hybrid} {
		b.Run(protocol.String(), func(b *testing.B) {
			var engines stdsync.WaitGroup
			for _, transport := range sync.NewInProcess(2) {
				engines.Go(func() {
					e := sync.NewEndpoint(transport, sync.Config{
						Protocol:  protocol,
						Lookahead: func(int) vtime.Duration { return vtime.Nanosecond },
					})
					other := 1 - transport.Rank()
					deliver := func(src int, record []byte) { e.Credit(src, len(record)) }
					next := vtime.Time(0)
					for n := b.N; ; {
						if _, err := e.Poll(deliver); err != nil {
							b.Error(err)
							return
						}
						e.Advance(next)
						if n > 0 && next < e.EIT() {
							e.Reserve(other, 32)[0] = 1
							next = next.Add(vtime.Nanosecond)
							if n--; n == 0 {
								next = vtime.Forever
							}
							continue
						}
						outcome, err := e.Wait(next, n)
						if err != nil || outcome != sync.Continue {
							return
						}
					}
				})
			}
			engines.Wait()
		})
	}
}

// The end of a run costs each engine but one a contribution and a result. A record that is on its
// way then costs an amendment on each step of its receiver's path to the root.
func TestMessagesOfTheEnd(t *testing.T) {
	for _, late := range []bool{false, true} {
		for seed := range uint64(50) {
			const engines = 21 // three levels
			f := newFabric(engines, seed)
			endpoints, received := make([]*sync.Endpoint, engines), 0
			for rank := range engines {
				endpoints[rank] = f.endpoint(rank, sync.Config{Lookahead: func(int) vtime.Duration { return 10 }, LeastLookahead: 10})
			}
			if !f.run(10_000, func(rank int) {
				e := endpoints[rank]
				if late && rank == 20 {
					e.Reserve(19, 8)
				}
				for outcome := sync.Continue; outcome == sync.Continue; {
					n, err := e.Poll(func(src int, record []byte) { e.Credit(src, len(record)) })
					received += n
					if err == nil {
						outcome, err = e.Wait(vtime.Forever, 0)
					}
					if err != nil || outcome == sync.Deadlock {
						t.Fatalf("seed %d: engine %d ends with %v, %v", seed, rank, outcome, err)
					}
				}
			}) {
				t.Fatalf("seed %d: no end", seed)
			}
			sent := 0
			for _, e := range endpoints {
				sent += int(e.Statistics().TransportMessages)
			}
			switch {
			case !late && sent != 2*(engines-1):
				t.Errorf("seed %d: %d messages for the end, want %d", seed, sent, 2*(engines-1))
			case late && (received != 1 || sent < 1+2*(engines-1) || sent > 1+2*(engines-1)+2):
				t.Errorf("seed %d: %d messages for a record and the end, of which %d have been received, want %d to %d",
					seed, sent, received, 1+2*(engines-1), 1+2*(engines-1)+2)
			}
		}
	}
}
