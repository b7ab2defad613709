package terminal

import (
	"fmt"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"gigarank/bench"
	"gigarank/mpivirt"
)

// ProgressMode is how a run reports its progress.
type ProgressMode uint8

const (
	ProgressAuto  ProgressMode = iota // one line kept up to date on a terminal, else plain
	progressPlain                     // a line every few seconds
	ProgressNone
)

var ProgressModes = []ProgressMode{ProgressAuto, progressPlain, ProgressNone}

func (m ProgressMode) String() string { return [...]string{"auto", "plain", "none"}[m] }

// The intervals at which progress is shown.
const (
	terminalInterval = 200 * time.Millisecond
	plainInterval    = 10 * time.Second
)

// meter turns snapshots of a simulation into lines of progress.
type meter struct {
	console    *Console
	simulation bench.Simulation
	iterations int
	memory     func() int64 // bytes that the process has resident
	began      time.Time
	last       time.Time
	events     uint64
}

// WatchProgress reports the progress of a simulation until end is called. memory returns the bytes that
// the process has resident.
func WatchProgress(c *Console, mode ProgressMode, s bench.Simulation, iterations int, memory func() int64) (end func()) {
	now := c.Now()
	m := &meter{console: c, simulation: s, iterations: iterations, memory: memory, began: now, last: now}
	switch {
	case mode == ProgressNone:
		return func() {}
	case mode == ProgressAuto && c.Stderr.IsTerminal():
		return m.onTerminal()
	default:
		return Every(plainInterval, func() { _, _ = fmt.Fprintf(c.Stderr, "gigarank: %s\n", m.line()) })
	}
}

// Later calls begin after a while, unless end is called before. Nothing is under way
// when end returns.
func Later(wait time.Duration, begin func() (end func())) (end func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-quit:
			return
		case <-time.After(wait):
		}
		defer begin()()
		<-quit
	}()
	return func() {
		close(quit)
		<-done
	}
}

// IsTerminal reports whether a writer leads to a terminal of known width, where lines can be
// kept up to date.
func (w *Writer) IsTerminal() bool {
	f, ok := w.to.(*os.File)
	if !ok {
		return false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return err == nil && width > 0
}

// Every calls f at an interval, in a goroutine of its own, until end is called. No call
// is under way when end returns.
func Every(interval time.Duration, f func()) (end func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				f()
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// onTerminal keeps a bar and a line up to date at the bottom of the terminal. Other
// output to the console appears above it.
func (m *meter) onTerminal() (end func()) {
	container := mpb.New(mpb.WithOutput(m.console.Stderr.to), mpb.WithRefreshRate(terminalInterval), mpb.WithWidth(80))
	text := make(chan string, 1)
	shown := ""
	bar := container.New(int64(m.iterations), mpb.BarStyle(), mpb.BarRemoveOnComplete(), mpb.BarWidth(24),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			select {
			case shown = <-text:
			default:
			}
			return " " + shown
		})))
	restoreErrors := m.console.Stderr.divert(container)
	restoreOutput := func() {}
	if m.console.Stdout.IsTerminal() {
		restoreOutput = m.console.Stdout.divert(container)
	}
	update := func() {
		p := m.simulation.Progress()
		bar.SetCurrent(int64(min(p.Iteration, m.iterations-1)))
		select {
		case <-text:
		default:
		}
		text <- m.describe(p)
	}
	stop := Every(terminalInterval, update)
	return func() {
		stop()
		bar.Abort(true)
		container.Wait()
		restoreErrors()
		restoreOutput()
	}
}

func (m *meter) line() string { return m.describe(m.simulation.Progress()) }

// longComputing is the time in seconds from which on the line names a rank that runs without a call.
const longComputing = 2

// describe returns a line on the progress of a simulation. The rate of events is that
// since the previous call.
func (m *meter) describe(p mpivirt.Progress) string {
	now := m.console.Now()
	memory := Bytes(m.memory())
	if p.SetUp < p.Ranks {
		return fmt.Sprintf("setting up: %s of %s ranks, %s",
			Count(float64(p.SetUp)), Count(float64(p.Ranks)), memory)
	}
	rate := ""
	if took := now.Sub(m.last).Seconds(); took > 0 && p.Events >= m.events {
		rate = Count(float64(p.Events-m.events)/took) + " events/s, "
	}
	m.last, m.events = now, p.Events
	if p.ComputingFor >= longComputing {
		rate = fmt.Sprintf("rank %d has computed for %s, ", p.Computing, Seconds(p.ComputingFor))
	}
	return fmt.Sprintf("iteration %d/%d, virtual time %v, %s%s%s",
		min(p.Iteration, m.iterations), m.iterations, p.Time, rate, memory, m.left(p.Iteration, now))
}

// left estimates the wall time until the end from the iterations so far.
func (m *meter) left(done int, now time.Time) string {
	if done <= 0 || done >= m.iterations {
		return ""
	}
	each := now.Sub(m.began).Seconds() / float64(done)
	return fmt.Sprintf(", %s left", Seconds(each*float64(m.iterations-done)))
}
