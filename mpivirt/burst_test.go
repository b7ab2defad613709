package mpivirt_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gigarank/internal/cputime"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// metronome is a source of bursts that all take the same time, and counts them.
type metronome struct {
	beat           vtime.Duration
	started, ended int
	given          []vtime.Duration
}

func (m *metronome) Start()                           { m.started++ }
func (m *metronome) Stop(int) (vtime.Duration, error) { m.ended++; return m.beat, nil }
func (*metronome) Kept() bool                         { return true }
func (m *metronome) Declared(_ int, d vtime.Duration) (vtime.Duration, error) {
	m.given = append(m.given, d)
	return d, nil
}

// burstMachine has nodes of one rank. The cores of node 1 take half the host's time.
func burstMachine(t *testing.T, ranks int64, model string) *network.Target {
	t.Helper()
	if model == "" {
		model = "{model: flat, latency: 100us}"
	}
	m, err := network.Parse("m.yaml", []byte("name: m\ncpu_ratios: [{from: 1, to: 1, ratio: 0.5}]\nnetwork: "+model+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(ranks)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// runBursts simulates a program of two ranks on one engine.
func runBursts(t *testing.T, source mpivirt.Bursts, model string, main func(r *mpivirt.Rank) error) error {
	t.Helper()
	s, err := mpivirt.New(mpivirt.Config{
		Target: burstMachine(t, 2, model), Program: mpivirt.Program{Name: "p", Forms: []mpivirt.Form{mpivirt.Main(main)}},
		Transports: sync.NewInProcess(1), Protocol: sync.Hybrid, Bursts: func(int, int) mpivirt.Bursts { return source },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Run()
	return err
}

// Each burst is charged where it ends: before a call, before a look at the clock, and
// before declared computing. What follows the last call is charged as well.
func TestBurstsAreCharged(t *testing.T) {
	const beat = 10 * vtime.Microsecond
	for _, model := range []string{"", "{model: loggops, L: 100us, o: 0, g: 0, G: 0, O: 0, S: 1GiB}"} {
		m := &metronome{beat: beat}
		err := runBursts(t, m, model, func(r *mpivirt.Rank) error {
			own := beat
			if r.Rank() == 1 {
				own /= 2
			}
			at := func(want vtime.Duration) {
				if got := r.Now(); got != vtime.Time(want) {
					t.Errorf("%s: rank %d is at %v, want %v", model, r.Rank(), got, want)
				}
			}
			at(own)
			at(2 * own)
			r.Compute(vtime.Microsecond)
			at(4*own + vtime.Microsecond)
			if err := r.World().Barrier(); err != nil {
				return err
			}
			// Both send, and leave when the other's message has come.
			leaves := 15*beat/2 - 5*own + vtime.Microsecond + 100*vtime.Microsecond
			at(leaves + own)
			r.ChargeCPU(false)
			r.ChargeCPU(false)
			at(leaves + 2*own)
			at(leaves + 2*own)
			r.ChargeCPU(true)
			at(leaves + 3*own)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if m.ended != 2*9 { // 8 above and the end of the program
			t.Errorf("%s: %d bursts have ended, want 18", model, m.ended)
		}
	}
}

func TestSampledFunctionsRunSomeTimes(t *testing.T) {
	m := &metronome{beat: 10 * vtime.Microsecond}
	runs := [2]int{}
	err := runBursts(t, m, "", func(r *mpivirt.Rank) error {
		for range 7 {
			r.Sample("kernel", 3, func() { runs[r.Rank()]++ })
		}
		want := vtime.Time(0).Add(m.beat.Times(7 + 7 + 1)) // between the samples as well
		if r.Rank() == 1 {
			want /= 2
		}
		if got := r.Now(); got != want {
			return fmt.Errorf("rank %d is at %v, want %v", r.Rank(), got, want)
		}
		return nil
	})
	if err != nil || runs != [2]int{3, 3} || len(m.given) != 2*4 {
		t.Errorf("error %v; the function has run %v times, want 3 on each rank; %d times were given, want 8", err, runs, len(m.given))
	}
}

func TestCallsWithinSampleAreErrors(t *testing.T) {
	err := runBursts(t, &metronome{}, "", func(r *mpivirt.Rank) error {
		r.Sample("barrier", 1, func() { _ = r.World().Barrier() })
		return nil
	})
	var failure *mpivirt.RankError
	if !errors.As(err, &failure) || failure.Call != "Barrier" || !strings.Contains(err.Error(), "only compute") {
		t.Errorf("error %v, want one of Barrier that says what to do", err)
	}
}

func TestWithoutBurstsSampleRunsAlways(t *testing.T) {
	runs := 0
	_, err := mpivirt.Simulate(burstMachine(t, 1, "").Machine(), 1, func(r *mpivirt.Rank) error {
		r.ChargeCPU(true)
		for range 5 {
			r.Sample("kernel", 1, func() { runs++ })
		}
		if r.Now() != 0 {
			return fmt.Errorf("the clock stands at %v", r.Now())
		}
		return nil
	})
	if err != nil || runs != 5 {
		t.Errorf("error %v, %d runs, want 5", err, runs)
	}
}

func TestEventRanksHaveNoBursts(t *testing.T) {
	_, err := mpivirt.New(mpivirt.Config{
		Target: burstMachine(t, 2, ""),
		Program: mpivirt.Program{Name: "p", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
			return steps.New(func(r *steps.Rank, _ *int) steps.Outcome { return r.Finish() })
		})}},
		Transports: sync.NewInProcess(1), Bursts: func(int, int) mpivirt.Bursts { return &metronome{} },
	})
	if err == nil || !strings.Contains(err.Error(), "use ranks of kind goroutine") {
		t.Errorf("error %v", err)
	}
}

// burstsOfRanks computes, sends round a ring, meets in barriers and reduces.
func burstsOfRanks(r *mpivirt.Rank) error {
	sum, x := r.World(), 1.5
	for i := range 6 {
		for range 1000 * (1 + (r.Rank()+i)%5) {
			x = x*1.0000001 + 1e-9
		}
		to, from := (r.Rank()+1)%r.Size(), (r.Rank()+r.Size()-1)%r.Size()
		in := []float64{0}
		if _, err := mpivirt.Sendrecv(sum, []float64{x}, to, 0, in, from, 0); err != nil {
			return err
		}
		if i%2 == 0 {
			if err := sum.Barrier(); err != nil {
				return err
			}
		}
		r.Sample("smooth", 2, func() {
			for range 3000 {
				x = x*0.999999 + in[0]*1e-6
			}
		})
	}
	return mpivirt.Allreduce(sum, []float64{x}, []float64{0}, mpivirt.Sum[float64]())
}

// Bursts that were recorded on one engine give the same virtual times on any hosting.
func TestRecordedBurstsAreHostedAnyhow(t *testing.T) {
	const ranks = 24
	run := func(engines int, protocol sync.Protocol, strict bool, source func(first, n int) mpivirt.Bursts) *mpivirt.Result {
		t.Helper()
		s, err := mpivirt.New(mpivirt.Config{
			Target: burstMachine(t, ranks, ""), Program: mpivirt.Program{Name: "p", Forms: []mpivirt.Form{mpivirt.Main(burstsOfRanks)}},
			Transports: sync.NewInProcess(engines), Protocol: protocol, Strict: strict, Bursts: source,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		result, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	var log *cputime.Log
	recorded := run(1, sync.Hybrid, false, func(first, n int) mpivirt.Bursts {
		log = cputime.NewLog(first, n)
		return cputime.NewRecorded(cputime.HostClock(), log)
	})
	var file bytes.Buffer
	if err := cputime.Write(&file, cputime.Header{Program: "p", Ranks: ranks, Processes: 1}, []*cputime.Log{log}); err != nil {
		t.Fatal(err)
	}
	if recorded.VirtualTime < vtime.Time(700*vtime.Microsecond) {
		t.Errorf("the run takes %v, of which six messages and the allreduce take more", recorded.VirtualTime)
	}
	for _, engines := range []int{1, 2, 3, 4} {
		for _, protocol := range []sync.Protocol{sync.Null, sync.Conditional, sync.Hybrid} {
			for _, strict := range []bool{false, true} {
				again := run(engines, protocol, strict, func(first, n int) mpivirt.Bursts {
					own := cputime.NewLog(first, n)
					if _, err := cputime.Read(bytes.NewReader(file.Bytes()), []*cputime.Log{own}); err != nil {
						t.Error(err)
					}
					return cputime.NewReplayed(own)
				})
				if again.Fingerprint != recorded.Fingerprint {
					t.Errorf("%d engines, %v, strict %t: fingerprint %s at %v, recorded %s at %v", engines, protocol, strict,
						again.Fingerprint, again.VirtualTime, recorded.Fingerprint, recorded.VirtualTime)
				}
			}
		}
	}
}

func TestRecordingThatEndsTooEarly(t *testing.T) {
	err := runBursts(t, cputime.NewReplayed(cputime.NewLog(0, 2)), "", func(r *mpivirt.Rank) error { return r.World().Barrier() })
	var failure *mpivirt.RankError
	if !errors.As(err, &failure) || !strings.Contains(err.Error(), "record it again") {
		t.Errorf("error %v, want that of a rank with the remedy", err)
	}
}
