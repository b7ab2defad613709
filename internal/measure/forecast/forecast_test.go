//go:build !race && !invariants

// The race detector and the checks of invariants multiply the memory and the time of a
// run.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/sync"
)

// pointVariable is the environment variable with the point that a process is to run, as JSON.
const pointVariable = "GIGARANK_FORECAST_POINT"

func TestMain(m *testing.M) {
	text := os.Getenv(pointVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var p point
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(err)
	}
	t, err := p.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(t); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// taken is what a run took.
type taken struct {
	Allocated float64 // bytes of the heap, while nothing is collected
	Resident  float64 // bytes by which the resident set grew
}

// run runs the point in this process.
func (p point) run() (taken, error) {
	c, err := p.config()
	if err != nil {
		return taken{}, err
	}
	c.Transports = sync.NewInProcess(p.Engines)
	c.Watchdog = -1 // of a run that the host holds up it reads the stacks, into a megabyte
	debug.FreeOSMemory()
	debug.SetGCPercent(-1)
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	var before, after runtime.MemStats
	resident, files := inStatus("VmHWM"), inStatus("RssFile")
	runtime.ReadMemStats(&before)
	s, err := bench.New(p.Program, c)
	if err != nil {
		return taken{}, err
	}
	if _, err := s.Run(); err != nil && p.Program != "deadlock" {
		return taken{}, err
	}
	runtime.ReadMemStats(&after)
	// Code of this process becomes resident as it runs, the more of it the busier the machine: it is no memory of ranks.
	code := max(inStatus("RssFile")-files, 0)
	return taken{float64(after.TotalAlloc - before.TotalAlloc), inStatus("VmHWM") - resident - code}, nil
}

// inStatus returns a size in the status of this process in bytes: VmHWM is its greatest resident set, RssFile the part of the present
// one that is mapped from files.
func inStatus(name string) float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		var kib int64
		if _, err := fmt.Sscanf(line, name+": %d kB", &kib); err == nil {
			return float64(kib << 10)
		}
	}
	return 0
}

// measure runs the point in a process of its own, on so many processors; 0 are those of the host.
func (p point) measure(t *testing.T, processors int) (v taken) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	// A collection in a process of few goroutines has the runtime begin later stacks with 4 KB.
	cmd.Env = append(os.Environ(), pointVariable+"="+string(text), "GODEBUG=adaptivestackstart=0")
	if processors > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", processors))
	}
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", p, err, &failure)
	}
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// quick are the axes of the test: of programs that time no collective two sizes, so that the
// memory of a rank is seen not to grow. scripts/forecast takes two sizes of all.
var quick = axes{
	machines: []string{"xt5", "loggops-default"}, payloads: []int64{8 << 10}, iterations: []int{1, 10},
	engines: []int{1, 2}, modes: []mpivirt.Interpreter{mpivirt.Auto},
	ranks: func(e bench.Entry, p point) []int64 {
		switch {
		case p.manyMessages():
			return []int64{200}
		case e.Name == "mpiping":
			return []int64{500, 1500}
		case p.Timed:
			return []int64{4000}
		}
		return []int64{1000, 6000}
	},
}

// sampled reports whether the test runs an algorithm at a point. Of the eight combinations of machine, iterations and engines an
// algorithm of event ranks runs two, which differ in all three. The four such pairs are those of successive algorithms, so that any
// two values come together. scripts/forecast runs all.
func (p point) sampled() bool {
	if !p.Timed || !p.isEvent() {
		return true
	}
	pair := int(p.Operation) + slices.Index(collectives.Algorithms(p.Operation), p.Algorithm)
	onStateful := p.Machine == stateful
	return (p.Iterations > 1) == (onStateful != (pair&1 > 0)) && (p.Engines > 1) == (onStateful != (pair&2 > 0))
}

// messagesTake returns about the time in ns of what no forecast of time counts: the messages of a
// program that times no collective, many of them in the case of mpiping.
func (p point) messagesTake() float64 {
	if p.Timed {
		return 0
	}
	each := 10e3
	if p.Program == "mpiping" {
		each = 200e3
	}
	if p.Machine == "loggops-default" {
		each *= 6
	}
	return each * float64(p.Ranks) * float64(p.Iterations)
}

// A run takes the memory that was foreseen, within 10 %, but linear algorithms on two engines, where it is
// within what runs of one point differ by: all programs, with all kinds of rank, algorithms, a sample of both kinds of model, of one
// iteration and ten, and of one engine and two. Longer runs are left to scripts/forecast.
func TestForecastsOfPrograms(t *testing.T) {
	const mostBytes, mostTime = 150e6, 1e8
	compared := 0
	for _, p := range quick.points() {
		switch {
		case !p.sampled() || p.messagesTake() > mostTime:
			continue
		case p.Timed && !p.isEvent() && p.Algorithm != collectives.Algorithms(p.Operation)[0]:
			continue // goroutine ranks differ from event ranks in what they hold themselves
		case p.Timed && !p.isEvent() && p.Machine == "loggops-default" && p.Iterations > 1:
			continue // nor in what later iterations hold
		case p.Engines > 1 && !p.isEvent():
			continue // nor in what is between engines
		}
		cost, want, err := p.foresee()
		if err != nil {
			t.Fatal(err)
		}
		if want > mostBytes || cost.Time*float64(p.Iterations) > mostTime {
			continue
		}
		own := 600e3
		switch {
		case !p.isEvent():
			own = 1800e3
		case p.Engines > 1: // packets of all sizes between them
			own = 3e6
		case !p.Timed: // slabs of all values of point-to-point messages, and of those that wait for interfaces
			own = 1200e3
		}
		// Engines take turns on one processor. On several, an engine may stand still for other work on the machine while those
		// beside it fill their windows, and each processor keeps memory of its own for goroutine ranks.
		compared++
		p.compare(t, want, own, 1)
	}
	t.Logf("%d points compared", compared)
}

// Further iterations leave nothing to the collector, which no forecast counts: a rank may
// allocate what grows once, not with each iteration.
func TestIterationsLeaveNoGarbage(t *testing.T) {
	const most = 60 // bytes of a rank in an iteration
	for _, e := range bench.Programs() {
		if e.Name == "deadlock" || e.Name == "ring_blocking" {
			continue // it ends; its iterations go round the ring one after the other
		}
		p := point{
			Program: e.Name, Kind: mpivirt.Goroutine.Name, Machine: "xt5", Engines: 1, Ranks: 1000, Iterations: 24,
			Operation: collectives.Allreduce, Algorithm: collectives.RecursiveDoubling,
		}
		if e.Name == "reducetest" || e.Name == "gathertest" {
			p.Machine = "vaced-sim" // ranks that only send get calls ahead of those whose messages wait for interfaces, and their messages take memory
		}
		many := p
		many.Iterations = 44
		if got := (many.measure(t, 0).Allocated - p.measure(t, 0).Allocated) / float64(p.Ranks) / float64(many.Iterations-p.Iterations); got > most {
			t.Errorf("%s: %.0f B of a rank are left in each iteration, at most %d B wanted", e.Name, got, most)
		} else {
			t.Logf("%s: %.1f B", e.Name, got)
		}
	}
}

// Memory that grows as messages come has been counted as it grows: the root of a linear algorithm
// has one from each other rank, so a rank has as much of it with many ranks as with few.
func TestForecastsOfManyMessages(t *testing.T) {
	for _, p := range []point{
		{Program: "allgathertest", Machine: "loggops-default", Operation: collectives.Allgather, Iterations: 2, Ranks: 8 << 10}, // a block for each pair
		{Program: "reducetest", Machine: "loggops-default", Operation: collectives.Reduce, Iterations: 10, Ranks: 32 << 10},
		{Program: "gathertest", Machine: "gigabit-star", Operation: collectives.Gather, Iterations: 2, Ranks: 32 << 10},
		{Program: "alltoalltest", Machine: "frontier", Operation: collectives.Alltoall, Iterations: 1, Ranks: 400}, // all ask for interfaces, or for the memory of a node
		{Program: "alltoalltest", Machine: "fugaku", Operation: collectives.Alltoall, Iterations: 1, Ranks: 400},
	} {
		p.Kind, p.Engines, p.Payload, p.Algorithm, p.Timed = "event", 1, 8, collectives.Linear, true
		_, want, err := p.foresee()
		if err != nil {
			t.Fatal(err)
		}
		if got := p.measure(t, 0).Allocated; want < 0.9*got || want > 1.1*got {
			t.Errorf("%v: %.0f B a rank foreseen, %.0f B taken: %.2f", p, want/float64(p.Ranks), got/float64(p.Ranks), want/got)
		}
	}
}

// Runs that are large beside what a process takes anyway: ranks of programs that time no collective
// hold what was foreseen, and so do two engines with what is between them: side by side, and in turns on
// one processor, where each gets as far ahead of the other as clocks and windows let it.
func TestForecastsOfLargeRuns(t *testing.T) {
	two := func(program, machine string, op collectives.Operation, a collectives.Algorithm, payload, ranks int64, iterations int) point {
		return point{Program: program, Kind: "event", Machine: machine, Engines: 2, Payload: payload, Ranks: ranks, Iterations: iterations,
			Timed: true, Operation: op, Algorithm: a}
	}
	for _, p := range []point{
		// Messages delay none, those between nodes of a few ranks delay others, all do, and so do those in the memory of a node.
		{Program: "mpiping", Kind: "event", Machine: "vaced-sim", Engines: 1, Ranks: 20_000, Iterations: 1},
		{Program: "mpiping", Kind: "event", Machine: "xt5", Engines: 1, Ranks: 20_000, Iterations: 1},
		{Program: "ring", Kind: "event", Machine: "vaced-sim", Engines: 1, Payload: 8, Ranks: 500_000, Iterations: 2},
		{Program: "ring", Kind: "event", Machine: "xt5", Engines: 1, Payload: 8, Ranks: 100_000, Iterations: 2},
		{Program: "ring", Kind: "event", Machine: "gigabit-star", Engines: 1, Payload: 8, Ranks: 100_000, Iterations: 2},
		{Program: "ring", Kind: "event", Machine: "frontier", Engines: 1, Payload: 8, Ranks: 50_000, Iterations: 2},
		{Program: "stencil", Kind: "event", Machine: "vaced-sim", Engines: 1, Payload: 8, Ranks: 60_000, Iterations: 2},
		{Program: "stencil", Kind: "event", Machine: "xt5", Engines: 1, Payload: 8, Ranks: 30_000, Iterations: 2},
		{Program: "stencil", Kind: "goroutine", Machine: "vaced-sim", Mode: mpivirt.Message, Engines: 1, Payload: 8 << 10, Ranks: 6000, Iterations: 2},
		{Program: "stencil", Kind: "goroutine", Machine: "xt5", Mode: mpivirt.Message, Engines: 1, Payload: 8 << 10, Ranks: 6000, Iterations: 2},
		{Program: "stencil", Kind: "goroutine", Machine: "vaced-sim", Engines: 2, Payload: 8, Ranks: 20_000, Iterations: 3},
		{Program: "deadlock_fix", Kind: "goroutine", Machine: "xt5", Engines: 1, Payload: 8, Ranks: 30_000, Iterations: 1},
		{Program: "deadlock_fix", Kind: "goroutine", Machine: "gigabit-star", Engines: 1, Payload: 8, Ranks: 12_000, Iterations: 1},
		{Program: "ring_nonblocking", Kind: "goroutine", Machine: "frontier", Engines: 1, Payload: 8, Ranks: 12_000, Iterations: 1},
		{Program: "ring_blocking", Kind: "goroutine", Machine: "xt5", Engines: 1, Payload: 8, Ranks: 12_000, Iterations: 2},
		{Program: "matmul", Kind: "goroutine", Machine: "xt5", Engines: 1, Payload: 8, Ranks: 30_000, Iterations: 1},
		two("bcasttest", "xt5", collectives.Bcast, collectives.Linear, 8, 120_000, 10),
		two("scattertest", "xt5", collectives.Scatter, collectives.Linear, 8, 120_000, 10),
		two("bcasttest", "vaced-sim", collectives.Bcast, collectives.Linear, 8, 120_000, 30),
		two("reducetest", "xt5", collectives.Reduce, collectives.Linear, 8, 60_000, 10),
		two("gathertest", "gigabit-star", collectives.Gather, collectives.Linear, 8, 60_000, 10),
		two("allreducetest", "xt5", collectives.Allreduce, collectives.Linear, 8<<10, 8192, 1),
		two("allreducetest", "xt5", collectives.Allreduce, collectives.Rabenseifner, 8<<10, 15_000, 1),
		two("allreducetest", "xt5", collectives.Allreduce, collectives.Rabenseifner, 64<<10, 8192, 2),
		two("allreducetest", "loggops-default", collectives.Allreduce, collectives.RecursiveDoubling, 256<<10, 512, 1),
		two("allreducetest", "loggops-default", collectives.Allreduce, collectives.Binomial, 256<<10, 512, 1),
	} {
		own := 1e6 // bytes of an engine and of pages that a process takes besides
		if !p.isEvent() {
			own = 1800e3
		}
		_, want, err := p.foresee()
		if err != nil {
			t.Fatal(err)
		}
		p.compare(t, want, own*float64(p.Engines), 0)
		if p.Engines > 1 {
			p.compare(t, want, own*float64(p.Engines), 1)
		}
	}
}

// compare reports a fault if a run on so many processors does not take the memory that was foreseen, but
// for so many bytes. Other work on the machine has an engine stand still, to which the others then fill
// their windows, and has memory become resident that a run does not need: the least of a few runs counts.
func (p point) compare(t *testing.T, want, own float64, processors int) {
	least, most := bounds(p)
	taken := func() float64 {
		v := p.measure(t, processors)
		// Stacks are not on the heap. Of a process, more becomes resident than what is allocated.
		if !p.isEvent() {
			return v.Resident
		}
		return v.Allocated
	}
	got := taken()
	for i := 1; i < 5 && want+own < least*got; i++ {
		got = min(got, taken())
	}
	if want-own > most*got || want+own < least*got {
		t.Errorf("%v, processors %d: %.0f B a rank foreseen, %.0f B taken: %.2f, where %.2f to %.2f are right but for %.0f B",
			p, processors, want/float64(p.Ranks), got/float64(p.Ranks), want/got, least, most, own/float64(p.Ranks))
	}
}

// isEvent reports whether the point's ranks are event ranks.
func (p point) isEvent() bool { return p.Kind == "event" }
