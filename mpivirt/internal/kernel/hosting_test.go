package kernel

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// outside is the body of an engine whose first rank waits in the operating system, after a barrier, until it may go on or is
// interrupted. It implements [Outsider].
type outside struct {
	*listedRanks
	in        chan bool // told when the rank waits
	goOn      chan bool // lets it go on
	interrupt chan bool // nil if it cannot be interrupted
	flushed   *bool
	waits     atomic.Bool
	been      bool // it has waited and gone on
}

func (b *outside) Resume(i int) bool {
	if i > 0 || b.made[0] != 1 || b.been {
		return b.listedRanks.Resume(i)
	}
	b.waits.Store(true)
	defer b.waits.Store(false)
	b.in <- true
	select {
	case <-b.goOn:
		b.been = true
		return b.listedRanks.Resume(i)
	case <-b.interrupt:
		b.k.SetAside(0)
		return true
	}
}

func (b *outside) Outside() (lp int32, where string) {
	if b.waits.Load() {
		return 0, "read of a pipe"
	}
	return world.None, ""
}

func (b *outside) Interrupt() bool {
	if b.interrupt == nil {
		return false
	}
	select {
	case b.interrupt <- true:
	default:
	}
	return true
}

func (b *outside) Flush() { *b.flushed = true }

func (b *outside) Weighed() int64 { return 0 }

func (b *outside) Uncharged() world.Uncharged { return world.Uncharged{Code: 1e9, Timeless: 7} }

// A kind of rank is named once. CPU times are for kinds that tell where bursts of computing are, and a program has a form for
// the kind that is asked for. All faults of a configuration are told at once.
func TestConfigurationsAreChecked(t *testing.T) {
	quick := RegisterKind(Kind{Name: "quick", Measurable: true})
	slow := RegisterKind(Kind{Name: "slow"})
	if !slices.Contains(Kinds(), quick) || !slices.Contains(Kinds(), slow) || quick.String() != "quick" || quick.Unmeasurable() != nil {
		t.Errorf("the kinds are %v", Kinds())
	}
	func() {
		defer func() {
			if _, broken := recover().(*invariant.Violation); !broken {
				t.Error("two kinds have a name")
			}
		}()
		RegisterKind(Kind{Name: "quick"})
	}()
	target := targetOf(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 2)
	form := &script{t: t, kind: slow, programs: [][]string{{}, {}}, lines: make([][]string, 2)}
	for _, c := range []struct {
		change func(c *Config)
		want   []string
	}{
		{func(c *Config) { c.Target, c.Transports = nil, nil }, []string{"target", "transport"}},
		{func(c *Config) { c.Transports = []engine.Transport{nil} }, []string{"transport 0 of 1 is nil"}},
		{func(c *Config) { c.Program.Forms = nil }, []string{`program "p" has no form`}},
		{func(c *Config) { c.Program.Forms = []Form{nil} }, []string{"nil form"}},
		{func(c *Config) { c.Kind = quick }, []string{"no form for quick ranks", "--lp slow"}},
		{func(c *Config) { c.Bursts = func(int, int) Bursts { return nil } }, []string{"CPU time of slow ranks", "quick"}},
	} {
		config := Config{Target: target, Transports: engine.NewInProcess(1), Program: Program{Name: "p", Forms: []Form{form}}}
		c.change(&config)
		_, err := New(config)
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%v does not have %q", err, part)
			}
		}
	}
	if _, err := Simulate(nil, 2, Config{}); err == nil {
		t.Error("a simulation without a machine")
	}
}

// A simulation runs once. It may be ended from outside, with a reason that Run tells.
func TestSimulationsRunOnceAndStop(t *testing.T) {
	target := targetOf(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 2)
	s, err := New(Config{Target: target, Transports: engine.NewInProcess(2), Program: Program{Name: "p", Forms: []Form{listed{enterBarrier}}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(); err != nil || r.Finished != 2 || r.VirtualTime != vtime.Time(vtime.Microsecond) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.Run(); err == nil {
		t.Error("a simulation runs twice")
	}
	s, err = New(Config{Target: target, Transports: engine.NewInProcess(2), Program: Program{Name: "p", Forms: []Form{listed{enterBarrier}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop("the batch system's time is up")
	var stopped *engine.Stopped
	if _, err := s.Run(); err != nil && (!errors.As(err, &stopped) || !strings.Contains(err.Error(), "time is up")) {
		t.Errorf("%v", err)
	}
}

// outsideForm is the form of a program whose ranks run outside.
type outsideForm struct {
	listed
	body *outside
}

func (f *outsideForm) Body(k *Kernel, n int) Body {
	f.body.listedRanks = f.listed.Body(k, n).(*listedRanks)
	return f.body
}

// A rank that is blocked outside MPI is found by the watchdog and named, with where it waits; one that can be interrupted
// gives way, and the run comes to its end when it goes on.
func TestRanksOutside(t *testing.T) {
	target := targetOf(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 2)
	for _, interruptible := range []bool{false, true} {
		flushed := false
		body := &outside{in: make(chan bool, 1000), goOn: make(chan bool), flushed: &flushed}
		if interruptible {
			body.interrupt = make(chan bool)
		}
		form := &outsideForm{listed{enterBarrier, enterBarrier, enterBarrier}, body}
		s, err := New(Config{Target: target, Transports: engine.NewInProcess(1), Watchdog: 0.05, Program: Program{Name: "p", Forms: []Form{form}}})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := s.Run()
			done <- err
		}()
		<-body.in
		if interruptible {
			<-body.in // again, after an interruption
			body.goOn <- true
			if err := <-done; err != nil || !flushed {
				t.Errorf("%v, flushed: %t", err, flushed)
			}
			continue
		}
		select {
		case err = <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("a rank that is blocked outside MPI is not found")
		}
		var failure *world.RankError
		if !errors.As(err, &failure) || failure.Rank != 0 || !strings.Contains(err.Error(), "read of a pipe") {
			t.Errorf("%v", err)
		}
		close(body.goOn)
	}
}

// The mean of a sample is that of what was added, for each name and rank by itself.
func TestSamples(t *testing.T) {
	var k Kernel
	for _, d := range []vtime.Duration{3, 8} {
		k.SampleOf(1, "solve").Add(d)
	}
	k.SampleOf(2, "solve").Add(100)
	if s := k.SampleOf(1, "solve"); s.Times != 2 || s.Mean() != 5 || k.SampleOf(1, "other").Times != 0 {
		t.Errorf("%d samples, %v in the mean", s.Times, s.Mean())
	}
}
