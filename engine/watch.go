package engine

import "gigarank/watchdog"

// Watch watches engines of this process until stop is called. It calls blocked(i,
// where) when engine i has stood still for the seconds or longer because the code that
// it runs is blocked at where. It watches the engine on only if blocked returns false.
// outside(i) returns where the engine's code that is not Go's waits, "" if it does not.
func Watch(engines []*Engine, seconds float64, outside func(i int) string, blocked func(i int, where string) bool) (stop func()) {
	subjects := make([]watchdog.Subject, len(engines))
	for i, e := range engines {
		subjects[i] = watched{e, func() string { return outside(i) }}
	}
	return watchdog.Watch(subjects, seconds, blocked)
}

// AwaitEnd waits until ended is closed. The calling goroutine has started the engine's goroutine,
// which starts those of the LPs: that is what the watchdog asks for meanwhile, if it does.
func (e *Engine) AwaitEnd(ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case answer := <-e.snapshot.asked:
			answer <- watchdog.Goroutine()
		}
	}
}

// watched is an engine as the watchdog sees it.
type watched struct {
	e       *Engine
	outside func() string
}

func (w watched) Progress() (count uint64, atWork bool) {
	return uint64(w.e.snapshot.events.Load()), w.e.snapshot.atWork.Load()
}

func (w watched) Outside() string { return w.outside() }

// Home returns 0 if no goroutine awaits the end of the engine's.
func (w watched) Home() uint64 {
	answer := make(chan uint64, 1)
	select {
	case w.e.snapshot.asked <- answer:
		return <-answer
	default:
		return 0
	}
}
