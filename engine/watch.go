package engine

import "gigarank/internal/watchdog"

// Glances is the number of times that an engine is told that it stands still in the time after which it is
// suspected.
const Glances = watchdog.Glances

// Watch watches engines of this process until stop is called. It calls blocked(i,
// where) when engine i has stood still for the seconds or longer because the code that
// it runs is blocked at where. It watches the engine on only if blocked returns false.
// outside(i) returns where the engine's code that is not Go's waits, "" if it does not. still(i, t) is told
// how long engine i has stood still, about, in seconds; see [watchdog.Subject].
func Watch(engines []*Engine, seconds float64, outside func(i int) string, still func(i int, t float64),
	blocked func(i int, where string) bool) (stop func()) {
	all, subjects := make([]watched, len(engines)), make([]watchdog.Subject, len(engines))
	for i, e := range engines {
		all[i] = watched{e, i, outside, still}
		subjects[i] = &all[i]
	}
	return watchdog.Watch(subjects, seconds, blocked)
}

// AtRest calls f, which the kernel waits for. The watchdog does not count that time.
func (e *Engine) AtRest(f func()) {
	atWork := e.snapshot.atWork.Swap(false)
	defer e.snapshot.atWork.Store(atWork)
	f()
}

// Home is a goroutine that starts goroutines in which engines run, one after another.
type Home struct {
	asked chan chan uint64 // for its number; nil ends AwaitEnd
}

// NewHome returns a home.
func NewHome() *Home { return &Home{make(chan chan uint64)} }

// AwaitEnd waits until a goroutine that the calling one has started calls Ended. Meanwhile it
// tells the watchdog, if that asks, the number of the calling goroutine.
func (h *Home) AwaitEnd() {
	for answer := <-h.asked; answer != nil; answer = <-h.asked {
		answer <- watchdog.Goroutine()
	}
}

// Ended ends an AwaitEnd.
func (h *Home) Ended() { h.asked <- nil }

// RunsFrom tells the watchdog that the engine is run by a goroutine that a home has started.
func (e *Engine) RunsFrom(h *Home) { e.snapshot.home.Store(h) }

// watched is an engine as the watchdog sees it.
type watched struct {
	e       *Engine
	index   int
	outside func(i int) string
	still   func(i int, t float64)
}

func (w *watched) Progress() (count uint64, atWork bool) {
	return uint64(w.e.snapshot.events.Load()), w.e.snapshot.atWork.Load()
}

func (w *watched) Outside() string { return w.outside(w.index) }

func (w *watched) Still(seconds float64) { w.still(w.index, seconds) }

// Home returns 0 if no goroutine awaits the end of the engine's.
func (w *watched) Home() uint64 {
	home := w.e.snapshot.home.Load()
	if home == nil {
		return 0
	}
	answer := make(chan uint64, 1)
	select {
	case home.asked <- answer:
		return <-answer
	default:
		return 0
	}
}
