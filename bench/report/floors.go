package main

import (
	"iter"
	"runtime"
	"sync"
)

// coroutineTrip measures a round trip to each of n bare coroutines in turn, in ns.
func (m *meter) coroutineTrip(n int) float64 {
	next := make([]func() (struct{}, bool), n)
	stop := make([]func(), n)
	for i := range n {
		next[i], stop[i] = iter.Pull(func(yield func(struct{}) bool) {
			for yield(struct{}{}) {
			}
		})
		next[i]()
	}
	seconds := m.clock(func() {
		for _, resume := range next {
			resume()
		}
	})
	for _, end := range stop {
		end()
	}
	next, stop = nil, nil
	runtime.GC()
	return seconds / float64(n) * 1e9
}

// slot is what an event rank of a barrier needs at the least: its clock and where
// it is.
type slot struct {
	clock int64
	at    int64
}

// slabTrip measures a join and a release of n ranks as a bare loop over a slab on
// all cores, in ns of wall time a rank.
func (m *meter) slabTrip(n int) float64 {
	slab := make([]slot, n)
	cores := runtime.NumCPU()
	latest := make([]int64, cores)
	each := func(f func(core int, part []slot)) {
		var group sync.WaitGroup
		for core := range cores {
			group.Go(func() { f(core, slab[core*n/cores:(core+1)*n/cores]) })
		}
		group.Wait()
	}
	trip := func() {
		each(func(core int, part []slot) {
			last := int64(0)
			for i := range part {
				part[i].clock += 1000
				part[i].at++
				last = max(last, part[i].clock)
			}
			latest[core] = last
		})
		exit := int64(0)
		for _, last := range latest {
			exit = max(exit, last)
		}
		each(func(_ int, part []slot) {
			for i := range part {
				part[i].clock = exit
			}
		})
	}
	trip() // the memory is there from here on
	return m.clock(trip) / float64(n) * 1e9
}
