package main

import (
	"fmt"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// floors are the bare loops. Each is measured in a process of its own: under Linux a
// process inherits the peak memory of its parent.
var floors = map[string]func() float64{
	"coroutines": func() float64 { return coroutineTrip(1e6) },
	"slab":       func() float64 { return slabTrip(1e7) },
}

// floor measures a bare loop in m.repetitions processes, and returns the median.
func (m *meter) floor(name string) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	var values []float64
	for range m.repetitions {
		output, err := exec.Command(self, "-floor", name).Output()
		if err != nil {
			return 0, fmt.Errorf("floor %s: %w", name, err)
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
		if err != nil {
			return 0, err
		}
		values = append(values, v)
	}
	return middle(values), nil
}

// trips is the number of repetitions of a bare loop.
const trips = 10

// clock returns the wall time of f, in seconds.
func clock(f func()) float64 {
	began := time.Now()
	for range trips {
		f()
	}
	return time.Since(began).Seconds() / trips
}

// coroutineTrip returns the time of a round trip to each of n bare coroutines in turn,
// in ns.
func coroutineTrip(n int) float64 {
	next := make([]func() (struct{}, bool), n)
	for i := range n {
		next[i], _ = iter.Pull(func(yield func(struct{}) bool) {
			for yield(struct{}{}) {
			}
		})
		next[i]()
	}
	return clock(func() {
		for _, resume := range next {
			resume()
		}
	}) / float64(n) * 1e9
}

// slot is the least state of an event rank in a barrier: its clock and its place.
type slot struct {
	clock int64
	at    int64
}

// slabTrip returns the wall time of a join and a release of n ranks, in ns a rank. It is a
// bare loop over a slab on all cores.
func slabTrip(n int) float64 {
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
	trip() // touches the memory for the first time
	return clock(trip) / float64(n) * 1e9
}
