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
	Collective(operation string, near bool, bytes, times int) (float64, error)
	Bcast(other, bytes, times int) (float64, error)
	Reduce(bytes, times int) (float64, error)
	// LocalCopy returns the time of a message of a process to itself, while the others of its
	// node send themselves one, too. All processes call it.
	LocalCopy(bytes, times int) (float64, error)
	Most(number int) (int, error)
	Pause()
}

// Point is the time of messages of a size in seconds: the least of all runs of a job, and the
// median of jobs.
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

// Collective is the time of a collective operation, from an entry of all to the last exit.
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
	LocalCopy    Point        `json:"local_copy"`
	Collectives  []Collective `json:"collectives"` // of all processes
	// Near are barriers and allreduces of the NearProcesses on the node of process 0; none
	// where it is alone there.
	Near          []Collective `json:"near,omitempty"`
	NearProcesses int          `json:"near_processes,omitempty"`
	Jobs          *Jobs        `json:"jobs,omitempty"` // null for those of one job
}

// Schema is the version of the fields of measurements.
const Schema = 1

const (
	leastBytes = 8
	// LongestMessage is the greatest size of a message, in bytes.
	LongestMessage = 16 << 20

	reducedBytes = 1 << 20
	copiedBytes  = LongestMessage / 2
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
var collectiveSizes = []int64{8, 1 << 10, 8 << 10, 64 << 10, 1 << 20}

// mostAnswers bounds the processes whose exits from a bcast are measured.
const mostAnswers = 32

// times returns how often a message of a size is sent in a run. A run is short beside the
// time slices of a system, so that some runs are not disturbed.
func times(bytes int64) int { return int(min(max(1<<20/bytes, 1), 100)) }

// longBytes is the size from which a run is one exchange. There are longRuns times as many.
const (
	longBytes = 1 << 20
	longRuns  = 3
)

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
	sweep := []figure{{&m.Reduce, reducedBytes, l.Reduce}, {&m.LocalCopy, copiedBytes, l.LocalCopy}}
	m.Collectives = make([]Collective, 1+2*len(collectiveSizes))
	sweep = append(sweep, r.inARow("barrier", false, 0, &m.Collectives[0]))
	for i, n := range collectiveSizes {
		sweep = append(sweep, r.inARow("allreduce", false, n, &m.Collectives[1+len(collectiveSizes)+i]))
	}
	r.sweep(sweep)
	r.bcasts(m.Collectives[1 : 1+len(collectiveSizes)])
	if m.NearProcesses = perNode[nodes[0]]; m.NearProcesses > 1 {
		m.Near = r.near(m.Collectives, m.NearProcesses == m.Processes)
	} else {
		m.NearProcesses = 0
	}
	return m, r.err
}

// reader keeps the first error.
type reader struct {
	link Link
	runs int
	err  error
}

// figure is what a run measures once, and where its point goes.
type figure struct {
	point   *Point
	bytes   int64
	measure func(bytes, times int) (float64, error)
}

// sweep measures all figures in each run, one after the other: what disturbs the machine
// for a while hits one run of many figures, and not all runs of one. For the same reason
// there is a pause between runs.
func (r *reader) sweep(figures []figure) {
	for run := range r.runs {
		if run > 0 {
			r.link.Pause()
		}
		for _, f := range figures {
			again := 1
			if f.bytes >= longBytes {
				again = longRuns
			}
			for range again {
				if r.err != nil {
					return
				}
				var seconds float64
				seconds, r.err = f.measure(int(f.bytes), times(max(f.bytes, leastBytes)))
				f.point.Bytes, f.point.Runs = f.bytes, append(f.point.Runs, seconds)
			}
		}
	}
	for _, f := range figures {
		f.point.Seconds = slices.Min(f.point.Runs)
	}
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
	r.wait()
	return v
}

// wait waits for all processes.
func (r *reader) wait() {
	if r.err == nil {
		_, r.err = r.link.Most(0)
	}
}

func (r *reader) exchange(v *Pair, partner int, begins bool) {
	l := r.link
	between := func(measure func(partner int, begins bool, bytes, times int) (float64, error)) func(bytes, times int) (float64, error) {
		return func(bytes, times int) (float64, error) { return measure(partner, begins, bytes, times) }
	}
	var delays []figure
	v.Delays = make([]Point, len(Sizes()))
	for i, n := range Sizes() {
		delays = append(delays, figure{&v.Delays[i], n, between(l.PingPong)})
	}
	if r.sweep(delays); r.err != nil {
		return
	}
	var overheads []figure
	v.SendTimes, v.ReceiveTimes, v.Gaps = make([]Point, len(overheadSizes)), make([]Point, len(overheadSizes)), make([]Point, len(overheadSizes))
	for i, n := range overheadSizes {
		at := slices.IndexFunc(v.Delays, func(p Point) bool { return p.Bytes == n })
		wait := 10e-6 + 5*v.Delays[at].Seconds // long enough for the message to have come
		overheads = append(overheads, figure{&v.SendTimes[i], n, between(l.SendTime)},
			figure{&v.ReceiveTimes[i], n, func(bytes, times int) (float64, error) {
				return l.ReceiveTime(partner, begins, bytes, wait, times)
			}},
			figure{&v.Gaps[i], n, between(l.Gap)})
	}
	r.sweep(overheads)
}

// inARow is the figure of a collective that is called in a row.
func (r *reader) inARow(operation string, near bool, bytes int64, to *Collective) figure {
	to.Operation = operation
	return figure{&to.Point, bytes, func(bytes, times int) (float64, error) {
		return r.link.Collective(operation, near, bytes, times)
	}}
}

// bcasts measures bcasts from the call of process 0 to the last end on another one, or on
// some where there are many. Each answers by an empty message, whose time is subtracted: de
// Supinski and Karonis, "Accurately Measuring MPI Broadcasts in a Computational Grid", 1999.
func (r *reader) bcasts(to []Collective) {
	others := len(r.link.Nodes()) - 1
	asked := min(others, mostAnswers)
	answers := make([]Point, asked)
	answered := make([]Point, asked*len(to)) // by process, then by size
	var sweep []figure
	for i := range asked {
		other := others - i*others/asked
		sweep = append(sweep, figure{&answers[i], 0, func(_, times int) (float64, error) { return r.answer(other, times) }})
		for j := range to {
			sweep = append(sweep, figure{&answered[i*len(to)+j], collectiveSizes[j], func(bytes, times int) (float64, error) {
				return r.link.Bcast(other, bytes, times)
			}})
		}
	}
	if r.sweep(sweep); r.err != nil {
		return
	}
	for j := range to {
		to[j].Operation, to[j].Bytes = "bcast", collectiveSizes[j]
		to[j].Runs = make([]float64, len(answered[j].Runs))
		for i, answer := range answers {
			p := answered[i*len(to)+j]
			to[j].Seconds = max(to[j].Seconds, p.Seconds-answer.Seconds)
			for k, seconds := range p.Runs {
				to[j].Runs[k] = max(to[j].Runs[k], seconds-answer.Seconds)
			}
		}
		to[j].Seconds = max(to[j].Seconds, leastSeconds)
	}
}

// leastSeconds is the least time of a bcast, which a disturbed answer may hide.
const leastSeconds = 1e-9

// answer returns the time of the empty message of another process to process 0.
func (r *reader) answer(other, times int) (float64, error) {
	switch r.link.Rank() {
	case 0:
		return r.link.PingPong(other, true, 0, times)
	case other:
		return r.link.PingPong(0, false, 0, times)
	}
	return 0, nil
}

// near measures the collectives of the node of process 0, unless they are those of all.
func (r *reader) near(all []Collective, same bool) (near []Collective) {
	for _, c := range all {
		if c.Operation != "bcast" {
			near = append(near, c)
		}
	}
	if same {
		return near
	}
	var sweep []figure
	for i := range near {
		bytes := near[i].Bytes
		near[i].Point = Point{}
		sweep = append(sweep, r.inARow(near[i].Operation, true, bytes, &near[i]))
	}
	if nodes := r.link.Nodes(); nodes[r.link.Rank()] == nodes[0] {
		r.sweep(sweep)
	}
	r.wait()
	return near
}
