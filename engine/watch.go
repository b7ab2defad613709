package engine

import "gigarank/watchdog"

// Watch watches engines of this process until stop is called. It calls blocked(i,
// where) when engine i has stood still for the seconds or longer because the code that
// it runs is blocked at where. It watches the engine on only if blocked returns false.
// outside(i) returns where the engine's code that is not Go's waits, "" if it does not.
func Watch(engines []*Engine, seconds float64, outside func(i int) string, blocked func(i int, where string) bool) (stop func()) {
	all, subjects := make([]watched, len(engines)), make([]watchdog.Subject, len(engines))
	for i, e := range engines {
		all[i] = watched{e, i, outside}
		subjects[i] = &all[i]
	}
	return watchdog.Watch(subjects, seconds, blocked)
}

// AwaitEnd waits until the engine's goroutine, which the calling one has started, calls Ended.
// Meanwhile it tells the watchdog, if that asks, the number of the calling goroutine.
func (e *Engine) AwaitEnd() {
	for answer := <-e.snapshot.asked; answer != nil; answer = <-e.snapshot.asked {
		answer <- watchdog.Goroutine()
	}
}

// Ended ends an AwaitEnd.
func (e *Engine) Ended() { e.snapshot.asked <- nil }

// watched is an engine as the watchdog sees it.
type watched struct {
	e       *Engine
	index   int
	outside func(i int) string
}

func (w *watched) Progress() (count uint64, atWork bool) {
	return uint64(w.e.snapshot.events.Load()), w.e.snapshot.atWork.Load()
}

func (w *watched) Outside() string { return w.outside(w.index) }

// Home returns 0 if no goroutine awaits the end of the engine's.
func (w *watched) Home() uint64 {
	answer := make(chan uint64, 1)
	select {
	case w.e.snapshot.asked <- answer:
		return <-answer
	default:
		return 0
	}
}
