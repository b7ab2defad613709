package loggp

import (
	"fmt"
	"slices"
)

// Link measures the messages of this process. Package sync/mpi implements it and says what
// each method does.
type Link interface {
	Rank() int
	Nodes() []int
	PingPong(partner int, begins bool, bytes, times int) (float64, error)
	SendTime(partner int, begins bool, bytes, times int) (float64, error)
	ReceiveTime(partner int, begins bool, bytes int, wait float64, times int) (float64, error)
	Gap(partner int, begins bool, bytes, times int) (float64, error)
	Collective(operation string, bytes, times int) (float64, error)
	Reduce(bytes, times int) (float64, error)
	Most(number int) (int, error)
}

// Point is the time of messages of a size: the least of all runs, in seconds.
type Point struct {
	Bytes   int64     `json:"bytes"`
	Seconds float64   `json:"seconds"`
	Runs    []float64 `json:"runs_s"`
}

// Most returns the greatest time of the runs.
func (p Point) Most() float64 { return slices.Max(p.Runs) }

// Pair is what was measured between process 0 and another one.
type Pair struct {
	Partner      int     `json:"partner"`
	Delays       []Point `json:"delays"`        // half of the two-way time
	SendTimes    []Point `json:"send_times"`    // os
	ReceiveTimes []Point `json:"receive_times"` // or
	Gaps         []Point `json:"gaps"`          // g
}

// Collective is the time of a collective operation over all processes, the greatest of
// any process.
type Collective struct {
	Operation string `json:"operation"`
	Point
}

// Measurements are those of a job. They are complete on process 0.
type Measurements struct {
	Schema       int          `json:"schema"`
	Library      string       `json:"library"` // name and version of the MPI library
	Processes    int          `json:"processes"`
	Nodes        int          `json:"nodes"`
	RanksPerNode int          `json:"ranks_per_node"` // the most on a node
	Intra        *Pair        `json:"intra"`          // within a node; null where no node has two processes
	Inter        *Pair        `json:"inter"`          // between nodes; null where there is one
	Reduce       Point        `json:"reduce"`
	Collectives  []Collective `json:"collectives"`
}

// Schema is the version of the fields of measurements.
const Schema = 1

const (
	leastBytes = 8
	// LongestMessage is the greatest size of a message, in bytes.
	LongestMessage = 16 << 20

	reducedBytes = 1 << 20
)

// Sizes are the sizes of messages in a ping-pong: those of mpiping.
func Sizes() []int64 {
	var sizes []int64
	for n := int64(leastBytes); n <= LongestMessage; n *= 2 {
		sizes = append(sizes, n)
	}
	return sizes
}

// overheadSizes are those at which overheads and gaps are measured.
var overheadSizes = []int64{8, 128, 2 << 10, 32 << 10}

// collectiveSizes are the bytes of each process in a bcast or an allreduce.
var collectiveSizes = []int64{8, 1 << 10, 64 << 10, 1 << 20}

// times returns how often a message of a size is sent in a run. A run is short beside the
// time slices of a system, so that some runs are not disturbed.
func times(bytes int64) int { return int(min(max(1<<20/bytes, 1), 100)) }

// longBytes is the size from which a run is one exchange. There are longRuns times as many.
const (
	longBytes = 1 << 20
	longRuns  = 3
)

// repetitions returns the number of runs of messages of a size.
func (r *reader) repetitions(bytes int64) int {
	if bytes >= longBytes {
		return r.runs * longRuns
	}
	return r.runs
}

// partners returns the least process on the node of process 0 besides it, and the least on
// another node; 0 for none.
func partners(nodes []int) (intra, inter int) {
	for other := len(nodes) - 1; other > 0; other-- {
		if nodes[other] == nodes[0] {
			intra = other
		} else {
			inter = other
		}
	}
	return intra, inter
}

// Measure measures all there is, in a number of runs. All processes call it with the same
// number. say is told what is measured.
func Measure(l Link, runs int, say func(what string)) (Measurements, error) {
	nodes := l.Nodes()
	m := Measurements{Schema: Schema, Processes: len(nodes)}
	perNode := map[int]int{}
	for _, first := range nodes {
		perNode[first]++
		m.RanksPerNode = max(m.RanksPerNode, perNode[first])
	}
	m.Nodes = len(perNode)
	intra, inter := partners(nodes)
	if intra == 0 && inter == 0 {
		return m, fmt.Errorf("one process has nobody to send to: start two or more, mpirun -n 2 gigarank machine calibrate")
	}
	r := &reader{link: l, runs: runs}
	if intra > 0 {
		say("messages within a node")
		m.Intra = r.pair(intra)
	}
	if inter > 0 {
		say("messages between nodes")
		m.Inter = r.pair(inter)
	}
	say(fmt.Sprintf("collectives of %d processes", m.Processes))
	m.Reduce = r.point(reducedBytes, func(n, times int) (float64, error) { return l.Reduce(n, times) })
	m.Collectives = r.collectives()
	return m, r.err
}

// reader keeps the first error.
type reader struct {
	link Link
	runs int
	err  error
}

// point returns a figure in all runs, and the least.
func (r *reader) point(bytes int64, measure func(bytes, times int) (float64, error)) Point {
	p := Point{Bytes: bytes}
	for range r.repetitions(bytes) {
		if r.err != nil {
			break
		}
		var seconds float64
		seconds, r.err = measure(int(bytes), times(bytes))
		p.Runs = append(p.Runs, seconds)
	}
	if r.err == nil {
		p.Seconds = slices.Min(p.Runs)
	}
	return p
}

// pair measures process 0 and a partner. The other processes wait.
func (r *reader) pair(partner int) *Pair {
	v := &Pair{Partner: partner}
	if begins := r.link.Rank() == 0; begins || r.link.Rank() == partner {
		other := partner
		if !begins {
			other = 0
		}
		r.exchange(v, other, begins)
	}
	if r.err == nil {
		_, r.err = r.link.Most(0) // the others have waited there
	}
	return v
}

func (r *reader) exchange(v *Pair, partner int, begins bool) {
	l := r.link
	for _, n := range Sizes() {
		v.Delays = append(v.Delays, r.point(n, func(n, times int) (float64, error) { return l.PingPong(partner, begins, n, times) }))
	}
	for _, n := range overheadSizes {
		// Long enough for the message to have come.
		wait := 10e-6
		for _, p := range v.Delays {
			if p.Bytes == n && r.err == nil {
				wait += 5 * p.Seconds
			}
		}
		v.SendTimes = append(v.SendTimes, r.point(n, func(n, times int) (float64, error) { return l.SendTime(partner, begins, n, times) }))
		v.ReceiveTimes = append(v.ReceiveTimes, r.point(n, func(n, times int) (float64, error) { return l.ReceiveTime(partner, begins, n, wait, times) }))
		v.Gaps = append(v.Gaps, r.point(n, func(n, times int) (float64, error) { return l.Gap(partner, begins, n, times) }))
	}
}

func (r *reader) collectives() []Collective {
	var all []Collective
	add := func(operation string, bytes int64) {
		p := Point{Bytes: bytes}
		for range r.repetitions(bytes) {
			if r.err != nil {
				return
			}
			var seconds float64
			seconds, r.err = r.link.Collective(operation, int(bytes), times(max(bytes, leastBytes)))
			p.Runs = append(p.Runs, seconds)
		}
		p.Seconds = slices.Min(p.Runs)
		all = append(all, Collective{operation, p})
	}
	add("barrier", 0)
	for _, operation := range []string{"bcast", "allreduce"} {
		for _, n := range collectiveSizes {
			add(operation, n)
		}
	}
	return all
}
