package main

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"gigarank/mpivirt"
)

// floors are the bare loops. Each is measured in a process of its own: under Linux a
// process inherits the peak memory of its parent.
var floors = map[string]func() float64{
	"coroutines": func() float64 { return coroutineTrip(1e6) },
	"slab":       func() float64 { return slabTrip(1e7) },

	// an allreduce of 1,024 doubles, by ranks and iterations
	"allreduce-1024-410": func() float64 { return allreduceTrip(1024, 410) },
	"allreduce-16384-40": func() float64 { return allreduceTrip(16384, 40) },
	"allreduce-16384-10": func() float64 { return allreduceTrip(16384, 10) },
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

// allreduceTrip returns the time of allreduces of 1,024 doubles over a binomial tree of n ranks, n
// a power of two, in us a rank and time, with the making of the slices: loops that move and add the
// bytes that each rank's program and messages do, in the order in which most of them are in the cache.
func allreduceTrip(n, times int) float64 {
	const doubles = 1024
	first, add := slices.Repeat([]float64{1}, doubles), mpivirt.Sum[float64]()
	began := time.Now()
	vectors, sums := make([][]float64, n), make([][]float64, n)
	for r := range n {
		vectors[r], sums[r] = slices.Clone(first), slices.Clone(first)
	}
	wrong := 0
	var visit func(rank, end int)
	visit = func(rank, end int) { // the rank has its sum; its children are those at distances below end
		sum, vector := sums[rank], vectors[rank]
		for d := end / 2; d > 0; d /= 2 {
			copy(sums[rank+d], sum)
		}
		if content := bytesOf(sum); !bytes.Equal(content[64:], content[:len(content)-64]) {
			wrong++
		}
		copy(vector, first)
		for d := 1; d < end; d *= 2 {
			visit(rank+d, d)
			if err := mpivirt.ReduceLocal(vectors[rank+d], vector, add); err != nil {
				wrong++
			}
		}
	}
	for range times {
		visit(0, n)
		copy(sums[0], vectors[0])
	}
	if wrong > 0 || sums[0][0] != float64(n) {
		panic("a sum is wrong")
	}
	return time.Since(began).Seconds() * 1e6 / float64(n) / float64(times)
}

// bytesOf returns the memory of numbers.
func bytesOf(numbers []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), 8*len(numbers))
}
