package main

import (
	"io"
	stdsync "sync"

	"gigarank/bench"
)

// outletLimit is how many bytes wait for a slow reader before ranks that print
// wait, too.
const outletLimit = 1 << 20

// outlet writes what ranks print in a goroutine of its own: the reader of standard
// output may stand still (mpirun does for a second before it passes a signal on),
// and a run that is stopped must be reported nevertheless.
type outlet struct {
	to      io.Writer
	lock    stdsync.Mutex
	changed stdsync.Cond // with lock: waiting got shorter, writing ended, or loose was set
	waiting []byte       // printed and not yet being written
	writing bool         // the goroutine is there
	loose   bool         // whoever prints waits no more
}

func newOutlet(to io.Writer) *outlet {
	o := &outlet{to: to}
	o.changed.L = &o.lock
	return o
}

// print takes in what ranks print.
func (o *outlet) print(text string) {
	o.lock.Lock()
	defer o.lock.Unlock()
	for len(o.waiting) >= outletLimit && !o.loose {
		o.changed.Wait()
	}
	o.waiting = append(o.waiting, text...)
	if !o.writing {
		o.writing = true
		go o.write()
	}
}

func (o *outlet) write() {
	o.lock.Lock()
	defer o.lock.Unlock()
	for len(o.waiting) > 0 {
		text := o.waiting
		o.waiting = nil
		o.changed.Broadcast()
		o.lock.Unlock()
		_, _ = o.to.Write(text)
		o.lock.Lock()
	}
	o.writing = false
	o.changed.Broadcast()
}

// flush returns when everything is written.
func (o *outlet) flush() {
	o.lock.Lock()
	defer o.lock.Unlock()
	for o.writing {
		o.changed.Wait()
	}
}

// loosen makes print wait no more.
func (o *outlet) loosen() {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.loose = true
	o.changed.Broadcast()
}

// printing is a simulation that can be stopped while its ranks print.
type printing struct {
	bench.Simulation
	outlet *outlet
}

func (p printing) Stop(reason string) {
	p.outlet.loosen()
	p.Simulation.Stop(reason)
}
