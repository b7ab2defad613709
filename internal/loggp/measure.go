package loggp

import (
	"fmt"
	"slices"
)

// Link measures the messages of this process. Package sync/mpi implements it and documents each
// method.
type Link interface {
	Rank() int
	Nodes() []int
	Cold() bool
	PingPong(partner int, begins bool, bytes, times int) (float64, error)
	SendTime(partner int, begins bool, bytes, times int) (float64, error)
	ReceiveTime(partner int, begins bool, bytes int, wait float64, times int) (float64, error)
	Gap(partner int, begins bool, bytes, times int) (float64, error)
	// Waits reports to both processes whether the sender of a message waits for its receiver, which
	// is late by some seconds: it polls and then posts the receive, or posts the receive and then
	// computes.
	Waits(partner int, begins bool, bytes int, posted bool, late float64, times int) (bool, error)
	// WaitsForWait reports to both processes whether the sender of a message waits for the wait of its receiver, who
	// computes some seconds while the message comes, then posts the receive, computes as long again and waits.
	WaitsForWait(partner int, begins bool, bytes int, late float64, times int) (bool, error)
	Collective(operation string, near bool, bytes, times int) (float64, error)
	Bcast(bytes, times int) (float64, error)
	Reduce(bytes, times int) (float64, error)
	// LocalCopy returns the time of a message of a process to itself, while the other processes of
	// its node send themselves a message, too. All processes call it.
	LocalCopy(bytes, times int) (float64, error)
	Most(number int) (int, error)
	Pause()
}

// Point is the time of messages of a size in seconds: the least of all runs of a job (see [figure.least]), or their
// median for uncached memory (see Cold), and the median of jobs.
type Point struct {
	Bytes   int64     `json:"bytes"`
	Seconds float64   `json:"seconds"`
	Runs    []float64 `json:"runs_s"`
}

// Most returns the greatest time of the runs.
func (p Point) Most() float64 { return slices.Max(p.Runs) }

// Pair holds the measurements between process 0 and another process.
type Pair struct {
	Partner      int     `json:"partner"`
	Delays       []Point `json:"delays"`        // half of the two-way time
	SendTimes    []Point `json:"send_times"`    // os
	ReceiveTimes []Point `json:"receive_times"` // or
	Gaps         []Point `json:"gaps"`          // g
	// Rendezvous is null where no sender waits for its receiver.
	Rendezvous *Rendezvous `json:"rendezvous,omitempty"`
}

// Rendezvous describes the messages that wait for their receiver.
type Rendezvous struct {
	EagerLimit int64 `json:"eager_limit"` // bytes of the longest message that does not wait
	// InCalls is true where a message waits for a receiver that has posted the receive and computes.
	InCalls bool `json:"in_calls"`
	// InWaits is true where it also waits for a receiver that has posted the receive since it came, and computes on: the call
	// that posts a receive answers nothing that no other call has found.
	InWaits bool `json:"in_waits"`
	// Edge are the delays at the limit and of a byte more.
	Edge []Point `json:"edge"`
}

// Collective is the time of a collective operation, from an entry of all to the last exit.
type Collective struct {
	Operation string `json:"operation"`
	Point
}

// Measurements holds the measured times of a job. They are complete on process 0.
type Measurements struct {
	Schema       int          `json:"schema"`
	Library      string       `json:"library"` // name and version of the MPI library
	Processes    int          `json:"processes"`
	Nodes        int          `json:"nodes"`
	RanksPerNode int          `json:"ranks_per_node"`       // the greatest number on a node
	Processors   int          `json:"processors,omitempty"` // of the node of process 0; 0 if they are not known
	Intra        *Pair        `json:"intra"`                // within a node; null where no node has two processes
	Inter        *Pair        `json:"inter"`                // between nodes; null for a single node
	Reduce       Point        `json:"reduce"`
	LocalCopies  []Point      `json:"local_copies"`
	Collectives  []Collective `json:"collectives"` // of all processes
	// Near contains barriers and allreduces of the NearProcesses on the node of process 0; none if
	// process 0 is alone there.
	Near          []Collective `json:"near,omitempty"`
	NearProcesses int          `json:"near_processes,omitempty"`
	// Cold is true where ping-pongs of 1 MiB or more, and copies, used memory that exceeds the
	// caches. The medians of the runs of a job then count.
	Cold bool  `json:"cold,omitempty"`
	Jobs *Jobs `json:"jobs,omitempty"` // null for the measurements of one job
}

// Schema is the version of the fields of measurements.
const Schema = 2

const (
	leastBytes  = 8
	longestPing = 16 << 20 // bytes of the longest message of mpiping
	// LongestMessage is the greatest size of a message, in bytes. Caches hold no two such messages.
	LongestMessage = 64 << 20

	reducedBytes = 1 << 20
)

// Sizes are the sizes of messages of mpiping.
func Sizes() []int64 { return powers(leastBytes, 2, longestPing) }

// DelaySizes are the sizes of messages in a ping-pong: the sizes of mpiping, then longer messages.
func DelaySizes() []int64 { return powers(leastBytes, 2, LongestMessage) }

// copySizes are the sizes of the messages of a process to itself. Two have room in a buffer.
var copySizes = powers(leastBytes, 4, LongestMessage/2)

// powers returns the sizes from least to most, each times the previous size, and most itself.
func powers(least, times, most int64) (sizes []int64) {
	for n := least; n < most; n *= times {
		sizes = append(sizes, n)
	}
	return append(sizes, most)
}

// overheadSizes are the sizes of messages at which overheads and gaps are measured.
var overheadSizes = []int64{8, 128, 2 << 10, 32 << 10}

// collectiveSizes are the bytes of each process in a bcast or an allreduce.
var collectiveSizes = []int64{8, 1 << 10, 8 << 10, 64 << 10, 1 << 20}

// times returns the number of messages of a size in a run. A run is short compared with the time
// slices of a system, so that some runs are undisturbed.
func times(bytes int64) int { return int(min(max(1<<20/bytes, 1), 100)) }

// longBytes is the size from which on a run is one exchange, with longRuns times as many runs. Up
// to shortBytes a run takes some 100 us, so that shortRuns times as many runs take little time.
const (
	longBytes  = 1 << 20
	longRuns   = 3
	shortBytes = 1 << 10
	shortRuns  = 5
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

// Measure measures all figures, in a number of runs. All processes call it with the same number. It
// passes the name of each measurement to say.
func Measure(l Link, runs int, say func(what string)) (Measurements, error) {
	nodes := l.Nodes()
	m := Measurements{Schema: Schema, Processes: len(nodes), Cold: l.Cold()}
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
	sweep := []figure{{point: &m.Reduce, bytes: reducedBytes, measure: l.Reduce}}
	m.LocalCopies = make([]Point, len(copySizes))
	for i, n := range copySizes {
		sweep = append(sweep, figure{point: &m.LocalCopies[i], bytes: n, measure: l.LocalCopy})
	}
	m.Collectives = make([]Collective, 1+2*len(collectiveSizes))
	sweep = append(sweep, r.inARow("barrier", false, 0, &m.Collectives[0]))
	for i, n := range collectiveSizes {
		sweep = append(sweep, r.inARow("allreduce", false, n, &m.Collectives[1+len(collectiveSizes)+i]))
	}
	r.sweep(sweep)
	r.outOfMemory(m.LocalCopies)
	r.bcasts(&m.Collectives[0], m.Collectives[1:1+len(collectiveSizes)])
	if m.NearProcesses = perNode[nodes[0]]; m.NearProcesses > 1 {
		m.Near = r.near(m.Collectives, m.NearProcesses == m.Processes)
	} else {
		m.NearProcesses = 0
	}
	return m, r.err
}

// reader measures, and stores the first error.
type reader struct {
	link Link
	runs int
	err  error
}

// figure is a time that each run measures once, and the place of its point.
type figure struct {
	point      *Point
	bytes      int64
	measure    func(bytes, times int) (float64, error)
	collective bool // of several processes, which may be more than processors
}

// least returns the figure of some runs: the least, but for one in twenty runs of a collective. Processes that take turns on a processor
// are lucky at times, and need a fraction of the usual time.
func (f *figure) least(runs []float64) float64 {
	if !f.collective {
		return slices.Min(runs)
	}
	return slices.Sorted(slices.Values(runs))[len(runs)/20]
}

// sweep measures all figures in each run, one after another: a temporary disturbance hits one run
// of many figures, and not all runs of one figure. For the same reason runs are separated by a
// pause.
func (r *reader) sweep(figures []figure) {
	for run := range r.runs {
		if run > 0 {
			r.link.Pause()
		}
		for _, f := range figures {
			again := 1
			switch {
			case f.bytes >= longBytes:
				again = longRuns
			case f.bytes <= shortBytes || f.collective:
				again = shortRuns
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
		f.point.Seconds = f.least(f.point.Runs)
	}
}

// outOfMemory takes the median of the runs for long points in uncached memory: no program gets the
// best of the memory each time.
func (r *reader) outOfMemory(points []Point) {
	if r.err != nil || !r.link.Cold() {
		return
	}
	for i := range points {
		if p := &points[i]; p.Bytes >= longBytes {
			p.Seconds = median(p.Runs)
		}
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
	v.Delays = make([]Point, len(DelaySizes()))
	for i, n := range DelaySizes() {
		delays = append(delays, figure{point: &v.Delays[i], bytes: n, measure: between(l.PingPong)})
	}
	if r.sweep(delays); r.err != nil {
		return
	}
	r.outOfMemory(v.Delays)
	var overheads []figure
	v.SendTimes, v.ReceiveTimes, v.Gaps = make([]Point, len(overheadSizes)), make([]Point, len(overheadSizes)), make([]Point, len(overheadSizes))
	for i, n := range overheadSizes {
		at := slices.IndexFunc(v.Delays, func(p Point) bool { return p.Bytes == n })
		wait := 10e-6 + 5*v.Delays[at].Seconds // long enough for the message to arrive
		overheads = append(overheads, figure{point: &v.SendTimes[i], bytes: n, measure: between(l.SendTime)},
			figure{point: &v.ReceiveTimes[i], bytes: n, measure: func(bytes, times int) (float64, error) {
				return l.ReceiveTime(partner, begins, bytes, wait, times)
			}},
			figure{point: &v.Gaps[i], bytes: n, measure: between(l.Gap)})
	}
	if v.Rendezvous = r.rendezvous(v.Delays, partner, begins); v.Rendezvous != nil {
		for i := range v.Rendezvous.Edge {
			p := &v.Rendezvous.Edge[i]
			overheads = append(overheads, figure{point: p, bytes: p.Bytes, measure: between(l.PingPong)})
		}
	}
	r.sweep(overheads)
}

// How late a receiver is, beyond some delays of the message, and how often: a sender that goes on
// once does not wait.
const (
	lateSeconds = 100e-6
	lateDelays  = 8
	lateTimes   = 5
)

// rendezvous returns the size from which on a sender waits for its receiver, searched first among
// the sizes of delays, then between two of them; nil for none.
func (r *reader) rendezvous(delays []Point, partner int, begins bool) *Rendezvous {
	waits := func(bytes int64, posted bool) (waits bool) {
		if r.err != nil {
			return false
		}
		at := min(slices.IndexFunc(delays, func(p Point) bool { return p.Bytes >= bytes }), len(delays)-1)
		late := lateSeconds + lateDelays*delays[at].Seconds
		waits, r.err = r.link.Waits(partner, begins, int(bytes), posted, late, lateTimes)
		return waits
	}
	first := slices.IndexFunc(delays, func(p Point) bool { return waits(p.Bytes, false) })
	if first < 0 {
		return nil
	}
	goesOn, stops := int64(0), delays[first].Bytes
	if first > 0 {
		goesOn = delays[first-1].Bytes
	}
	for stops-goesOn > 1 {
		if middle := goesOn + (stops-goesOn)/2; waits(middle, false) {
			stops = middle
		} else {
			goesOn = middle
		}
	}
	v := &Rendezvous{EagerLimit: goesOn, InCalls: waits(delays[first].Bytes, true), Edge: []Point{{Bytes: goesOn}, {Bytes: stops}}}
	if v.InCalls && r.err == nil {
		late := lateSeconds + lateDelays*delays[first].Seconds
		v.InWaits, r.err = r.link.WaitsForWait(partner, begins, int(delays[first].Bytes), late, lateTimes)
	}
	return v
}

// inARow returns the figure of a collective that is called in a row.
func (r *reader) inARow(operation string, near bool, bytes int64, to *Collective) figure {
	to.Operation = operation
	return figure{&to.Point, bytes, func(bytes, times int) (float64, error) {
		return r.link.Collective(operation, near, bytes, times)
	}, true}
}

// bcasts measures bcasts as the time that each adds to a barrier: process 0 may leave a bcast before the others have entered, and would
// run ahead in a row of bcasts. After the last exit from a bcast the barrier takes its own time.
// The barrier has been measured before, and is measured again beside the bcasts: the shorter time counts, since a disturbance adds to a barrier, and would be
// missing in the bcasts.
func (r *reader) bcasts(before *Collective, to []Collective) {
	var alone Collective
	sweep := []figure{r.inARow("barrier", false, 0, &alone)}
	for i := range to {
		to[i].Operation = "bcast"
		sweep = append(sweep, figure{&to[i].Point, collectiveSizes[i], r.link.Bcast, true})
	}
	if r.sweep(sweep); r.err != nil {
		return
	}
	barrier := min(before.Seconds, alone.Seconds)
	for i := range to {
		// Where every barrier was disturbed, the usual barrier stands beside the usual bcast.
		usual := median(to[i].Runs) - min(median(before.Runs), median(alone.Runs))
		for k := range to[i].Runs {
			to[i].Runs[k] -= barrier
		}
		if to[i].Seconds = sweep[1+i].least(to[i].Runs); to[i].Seconds <= 0 {
			to[i].Seconds = usual
		}
		if to[i].Seconds <= 0 {
			r.err = fmt.Errorf("a bcast of %d bytes with a barrier after it takes no longer than a barrier: other work holds these processes up; measure again when the machine is quieter", collectiveSizes[i])
			return
		}
	}
}

// near measures the collectives of the node of process 0, unless they are those of all processes.
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
