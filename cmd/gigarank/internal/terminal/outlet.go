package terminal

import (
	"io"
	"os/signal"
	stdsync "sync"

	"golang.org/x/sys/unix"

	"gigarank/bench"
)

// outletLimit is the number of bytes that wait for a slow reader. Past it, ranks that
// print wait too.
const outletLimit = 1 << 20

// Outlet writes the ranks' output in a goroutine of its own. The reader of standard
// output may stand still: mpirun does for a second before it passes a signal on. A run
// that is stopped must be reported nevertheless.
type Outlet struct {
	to      io.Writer
	lock    stdsync.Mutex
	changed stdsync.Cond // with lock: pending got shorter, writing ended, or loose was set
	pending []byte       // printed and not yet being written
	writing bool         // the goroutine runs
	loose   bool         // print no longer waits
}

func NewOutlet(to io.Writer) *Outlet {
	o := &Outlet{to: to}
	o.changed.L = &o.lock
	return o
}

// Print takes the output of a rank.
func (o *Outlet) Print(text string) {
	o.lock.Lock()
	defer o.lock.Unlock()
	for len(o.pending) >= outletLimit && !o.loose {
		o.changed.Wait()
	}
	o.pending = append(o.pending, text...)
	if !o.writing {
		o.writing = true
		go o.write()
	}
}

func (o *Outlet) write() {
	o.lock.Lock()
	defer o.lock.Unlock()
	for len(o.pending) > 0 {
		text := o.pending
		o.pending = nil
		o.changed.Broadcast()
		o.lock.Unlock()
		_, _ = o.to.Write(text)
		o.lock.Lock()
	}
	o.writing = false
	o.changed.Broadcast()
}

// Flush returns when everything has been written.
func (o *Outlet) Flush() {
	o.lock.Lock()
	defer o.lock.Unlock()
	for o.writing {
		o.changed.Wait()
	}
}

// loosen makes print no longer wait.
func (o *Outlet) loosen() {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.loose = true
	o.changed.Broadcast()
}

// OutliveReader makes the process go on when the reader of its output ends, as head does.
// Without it SIGPIPE ends the process, as usual: nothing else is left of its work.
func OutliveReader() { signal.Ignore(unix.SIGPIPE) }

// Printing is a simulation that can be stopped while its ranks print.
type Printing struct {
	bench.Simulation
	Outlet *Outlet
}

func (p Printing) Stop(reason string) {
	p.Outlet.loosen()
	p.Simulation.Stop(reason)
}
