package main

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"gigarank/bench"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
)

// measure measures all figures, in the order of the table.
func (m *meter) measure() ([]row, error) {
	var rows []row
	for _, part := range []func() ([]row, error){
		m.goroutineBarrier, m.eventBarrier, m.ring, m.dissemination, m.phold, m.hosts, m.allocations,
	} {
		more, err := part()
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// perRank returns the processor time for a rank and an iteration, in ns.
func perRank(s *sample) float64 { return s.cpu / float64(s.Ranks*len(s.Iterations)) * 1e9 }

func (m *meter) goroutineBarrier() ([]row, error) {
	small, err := m.take(1, "run barriertest --ranks 16384 --engines 1 --iterations 50")
	if err != nil {
		return nil, err
	}
	large, err := m.take(1, "run barriertest --ranks 1M --engines 1 --iterations 5")
	if err != nil {
		return nil, err
	}
	bare, err := m.floor("coroutines")
	if err != nil {
		return nil, err
	}
	trip := median(large, func(s *sample) float64 { return s.iteration() / float64(s.Ranks) * 1e9 })
	memory := median(large, func(s *sample) float64 { return s.BytesPerRank })
	const name = "goroutine ranks, barriertest, "
	return []row{
		{name + "1M ranks, time of a rank and barrier", trip, "ns", bare, "bare coroutine", 1.5, true},
		{name + "1M ranks, peak memory of a rank", memory, "B", 3300, "floor", 1, true},
		{name + "1M ranks, memory", memory, "B", 12.7e3, "SMPI", 0, true},
		{name + "1M ranks, CPU time of a rank and barrier", median(large, perRank), "ns", 57e3, "SMPI", 0, true},
		{name + "16,384 ranks, CPU time of a rank and barrier", median(small, perRank), "ns", 27e3, "SMPI", 0, true},
	}, nil
}

func (m *meter) eventBarrier() ([]row, error) {
	samples, err := m.take(1, "run barriertest --ranks 10M --lp event --iterations 10")
	if err != nil {
		return nil, err
	}
	bare, err := m.floor("slab")
	if err != nil {
		return nil, err
	}
	trip := median(samples, func(s *sample) float64 { return s.iteration() / float64(s.Ranks) * 1e9 })
	name := fmt.Sprintf("event ranks, barriertest, 10M ranks, %d engines, ", samples[0].Engines)
	return []row{
		{name + "wall time of a rank and barrier", trip, "ns", 15, "floor", 1, true},
		{name + "the same", trip, "ns", bare, "bare slab of 16 B", 0, true},
		{name + "peak memory of a rank", median(samples, func(s *sample) float64 { return s.BytesPerRank }), "B", 24, "floor", 1, true},
	}, nil
}

func perCPUSecond(s *sample) float64 { return s.Messages / s.cpu }

func (m *meter) ring() ([]row, error) {
	const line = "run ring --ranks 65536 --engines 1 --iterations 20 --lp "
	event, err := m.take(1, line+"event")
	if err != nil {
		return nil, err
	}
	goroutine, err := m.take(1, line+"goroutine")
	if err != nil {
		return nil, err
	}
	const name, unit = "ring of 8-byte messages, 65,536 ranks, ", "messages/CPU s"
	return []row{
		{name + "event ranks", median(event, perCPUSecond), unit, 5e6, "floor", 1, false},
		{name + "goroutine ranks", median(goroutine, perCPUSecond), unit, 1.5e6, "floor", 1, false},
		{name + "goroutine ranks", median(goroutine, perCPUSecond), unit, 48e3, "SMPI", 0, false},
	}, nil
}

func (m *meter) dissemination() ([]row, error) {
	const line = "run barriertest --ranks 1M --lp event --barrier dissemination --iterations "
	message, err := m.take(1, line+"1 --engines 1 --collectives message")
	if err != nil {
		return nil, err
	}
	bulk, err := m.take(1, line+"20 --collectives bulk")
	if err != nil {
		return nil, err
	}
	// Every rank sends one message in each of ⌈log2 P⌉ rounds.
	messages := func(s *sample) float64 { return float64(s.Ranks) * math.Ceil(math.Log2(float64(s.Ranks))) }
	const name = "dissemination barrier, 1M ranks, "
	one := median(message, func(s *sample) float64 { return messages(s) / s.cpu })
	return []row{
		{name + "message interpreter", one, "messages/CPU s", 2e6, "floor", 1, false},
		{name + "one barrier by messages", median(message, func(s *sample) float64 { return s.cpu }), "CPU s", 84, "LogGOPSim", 0, true},
		{name + "memory of a rank", median(message, func(s *sample) float64 { return s.BytesPerRank }), "B", 7.5e3, "LogGOPSim", 0, true},
		{name + "bulk interpreter", median(bulk, func(s *sample) float64 { return messages(s) / s.iteration() }), "messages/s", 300e6, "floor", 1, false},
	}, nil
}

// handled returns the number of events that phold has handled: an LP is resumed for
// each, and to begin and to end.
func handled(s *sample) float64 { return s.Switches - 2*float64(s.Ranks) }

func (m *meter) phold() ([]row, error) {
	var rows []row
	for _, c := range []struct {
		lps, iterations int
		floor, ross     float64
	}{{1024, 4000, 3.3e6, 2.2e6}, {65536, 60, 1.2e6, 0.5e6}} {
		samples, err := m.take(1, fmt.Sprintf("run phold --ranks %d --lp event --engines 1 --iterations %d", c.lps, c.iterations))
		if err != nil {
			return rows, err
		}
		rate := median(samples, func(s *sample) float64 { return handled(s) / s.run() })
		name := fmt.Sprintf("phold, %d LPs, one core", c.lps)
		rows = append(rows, row{name, rate, "events/s", c.floor, "floor", 1, false}, row{name, rate, "events/s", c.ross, "ROSS", 0, false})
	}
	return rows, nil
}

// hosts compares two host processes with one.
func (m *meter) hosts() ([]row, error) {
	if m.launcher == "" {
		fmt.Fprintln(os.Stderr, "report: no MPI: the measurements over host processes are left out")
		return nil, nil
	}
	var rows []row
	for _, line := range []string{
		"run barriertest --ranks 1M --lp event --iterations 20",
		"run phold --ranks 65536 --lp event --iterations 20",
	} {
		one, err := m.take(1, line+" --engines 1")
		if err != nil {
			return rows, err
		}
		two, err := m.take(2, line)
		if err != nil {
			return rows, err
		}
		share := median(two, func(s *sample) float64 { return s.RemoteMessages / max(s.Events, 1) })
		packed := median(two, func(s *sample) float64 { return s.TransportMessages / max(s.Events, 1) })
		rows = append(rows, row{
			name:  fmt.Sprintf("MPI, %s, 2 processes, %.2g remote messages and %.2g transport messages per event", line[len("run "):], share, packed),
			value: median(two, (*sample).run), unit: "s", reference: median(one, (*sample).run), source: "1 process", less: true,
		})
	}
	return rows, nil
}

// allocations counts the heap allocations of a message and of a switch: the additional
// allocations of a run over one half as long, divided by its additional messages or
// switches.
func (m *meter) allocations() ([]row, error) {
	var rows []row
	for _, c := range []struct {
		program string
		kind    *mpivirt.Kind
		per     string
		count   func(r *mpivirt.Result) uint64
	}{
		{"ring", steps.Kind, "message", func(r *mpivirt.Result) uint64 { return r.Statistics.Messages }},
		{"ring", mpivirt.Goroutine, "message", func(r *mpivirt.Result) uint64 { return r.Statistics.Messages }},
		{"barriertest", steps.Kind, "switch", func(r *mpivirt.Result) uint64 { return r.Statistics.Switches }},
		{"barriertest", mpivirt.Goroutine, "switch", func(r *mpivirt.Result) uint64 { return r.Statistics.Switches }},
		{"phold", steps.Kind, "event", func(r *mpivirt.Result) uint64 { return r.Statistics.Switches }},
	} {
		short, less, err := allocate(c.program, c.kind, 100)
		if err != nil {
			return rows, err
		}
		long, more, err := allocate(c.program, c.kind, 200)
		if err != nil {
			return rows, err
		}
		each := max(float64(more)-float64(less), 0) / float64(c.count(long)-c.count(short))
		// A barrier as a whole allocates its arrays: less than one in a hundred.
		rows = append(rows, row{
			fmt.Sprintf("hot path, %s as %v ranks, heap allocations per %s", c.program, c.kind, c.per), each, "", 0.01, "at most", 1, true,
		})
	}
	return rows, nil
}

// allocate runs a program in this process and counts its heap allocations.
func allocate(program string, kind *mpivirt.Kind, iterations int) (*mpivirt.Result, uint64, error) {
	machine, err := free()
	if err != nil {
		return nil, 0, err
	}
	c := bench.Config{Options: bench.Options{Iterations: iterations}}
	c.Kind, c.Seed, c.Transports = kind, 1, sync.NewInProcess(1)
	if c.Target, err = machine.Target(4096); err != nil {
		return nil, 0, err
	}
	s, err := bench.New(program, c)
	if err != nil {
		return nil, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result, err := s.Run()
	runtime.ReadMemStats(&after)
	return result, after.Mallocs - before.Mallocs, err
}
