package loggp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gigarank/internal/spelling"
	"gigarank/network"
	"gigarank/vtime"
)

// Hockney is the line α + βm of a delay: seconds, and seconds for each byte.
type Hockney struct{ Alpha, Beta float64 }

// Fit returns the line through the points with the least sum of squares of the relative errors, so
// that small messages count as much as large messages. α and β are not negative.
func Fit(points []Point) Hockney {
	var w, wx, wy, wxx, wxy float64
	for _, p := range points {
		x, y := float64(p.Bytes), p.Seconds
		weight := 1 / (y * y)
		w, wx, wy, wxx, wxy = w+weight, wx+weight*x, wy+weight*y, wxx+weight*x*x, wxy+weight*x*y
	}
	d := w*wxx - wx*wx
	if d <= 0 {
		return Hockney{Alpha: max(wy/w, 0)}
	}
	h := Hockney{Alpha: (wy*wxx - wx*wxy) / d, Beta: (w*wxy - wx*wy) / d}
	switch {
	case h.Beta < 0:
		return Hockney{Alpha: wy / w}
	case h.Alpha < 0:
		return Hockney{Beta: wxy / wxx}
	}
	return h
}

// Worst returns the greatest relative error of the line over the points.
func (h Hockney) Worst(points []Point) (worst float64) {
	for _, p := range points {
		e := (h.Alpha+h.Beta*float64(p.Bytes))/p.Seconds - 1
		worst = max(worst, e, -e)
	}
	return worst
}

// fewestRuns returns the number of runs of the point that has the fewest.
func fewestRuns(points []Point) int {
	fewest := math.MaxInt
	for _, p := range points {
		fewest = min(fewest, len(p.Runs))
	}
	return fewest
}

// LogGP are the parameters of a pair, in seconds: half of a two-way time is os + L + or for
// the least message, and each further byte adds G.
type LogGP struct{ L, SendOverhead, ReceiveOverhead, Gap, GapPerByte float64 }

// LogGP returns the parameters that follow from the measurements.
func (v *Pair) LogGP() LogGP {
	half := v.Delays[0].Seconds
	p := LogGP{SendOverhead: v.SendTimes[0].Seconds, ReceiveOverhead: v.ReceiveTimes[0].Seconds, Gap: v.Gaps[0].Seconds, GapPerByte: Fit(v.Delays).Beta}
	// The two calls of a fast network overlap: a part of the delay stays for the network.
	if both := p.SendOverhead + p.ReceiveOverhead; both > mostOverhead*half {
		p.SendOverhead *= mostOverhead * half / both
		p.ReceiveOverhead *= mostOverhead * half / both
	}
	p.L = half - p.SendOverhead - p.ReceiveOverhead
	return p
}

// mostOverhead is the greatest share of a delay that overheads may take.
const mostOverhead = 0.9

// Models are the delay models that a machine file can have.
var Models = []string{"table", "hockney"}

// Machine returns a machine file with the measurements.
func (m Measurements) Machine(name, model string) ([]byte, error) {
	m = m.clone()
	for _, pair := range []*Pair{m.Intra, m.Inter} {
		if pair != nil {
			Lower(pair.Delays)
		}
	}
	Lower(m.LocalCopies)
	intra, inter := m.Intra, m.Inter
	missing := ""
	switch {
	case inter == nil:
		inter, missing = intra, "# All processes were on one node: the figures between nodes are those within it.\n"
	case intra == nil:
		intra, missing = inter, "# No node had two processes: the figures within a node are those between nodes.\n"
	}
	// A machine has one overhead and one gap: the figures of the longer path, limited so that the
	// shorter path keeps a delay.
	p := inter.LogGP()
	if limit := mostOverhead * intra.Delays[0].Seconds; p.SendOverhead+p.ReceiveOverhead > limit {
		scale := limit / (p.SendOverhead + p.ReceiveOverhead)
		p.SendOverhead, p.ReceiveOverhead = p.SendOverhead*scale, p.ReceiveOverhead*scale
	}
	send, receive := duration(p.SendOverhead), duration(p.ReceiveOverhead)
	var text strings.Builder
	line := func(format string, arguments ...any) { _, _ = fmt.Fprintf(&text, format+"\n", arguments...) }
	line("name: %q", name)
	line("description: measured over MPI by gigarank machine calibrate")
	line("source: %q", fmt.Sprintf("%s; processes: %d, nodes: %d; the least of %d runs or more", m.Library, m.Processes, m.Nodes, fewestRuns(inter.Delays)))
	line("ranks_per_node: %d", m.RanksPerNode)
	line("network:")
	switch {
	case model == "table":
		line("  model: table")
		limit, progress := inter.limit()
		line("  intra: %s", intra.Table(send+receive, limit))
		line("  inter: %s", inter.Table(send+receive, limit))
		if limit < math.MaxInt64 {
			line("  eager_limit: %d", limit)
		}
		if progress != "" {
			line("  progress: %s", progress)
		}
	case m.Intra == nil || m.Inter == nil:
		line("  model: flat")
		line("  %s", level(inter.Delays, send+receive, "\n  "))
	default:
		line("  model: twolevel")
		line("  intra: {%s}", level(intra.Delays, send+receive, ", "))
		line("  inter: {%s}", level(inter.Delays, send+receive, ", "))
	}
	line("  overhead: {send: %v, receive: %v}", send, receive)
	line("  gap: %v", duration(p.Gap))
	line("  reduce: {bandwidth: %.0fB/s}", float64(m.Reduce.Bytes)/m.Reduce.Seconds)
	line("  local_copy: %s", table(m.LocalCopies, 0))
	if len(m.Near) > 0 {
		line("  join: %s", m.joins())
	}
	if bcasts := m.bcasts(); len(bcasts) > 0 {
		line("  node_bcast: %s", table(bcasts, 0))
	}
	machine, err := network.Parse(name, []byte(text.String()), nil)
	if err != nil {
		return nil, fmt.Errorf("the measurements make no machine: %w", err)
	}
	return append([]byte(m.remarks()+missing), machine.YAML()...), nil
}

// Ratios are medians of the times of ping-pongs divided by the times of other ping-pongs, over
// sizes and pairs: for messages up to [ShortMost] and for longer messages. A disturbance may change
// one of them alone.
type Ratios struct{ Short, Long float64 }

// RatiosOf returns the medians of ratios, one ratio for each size in bytes. If all sizes are short,
// or all are long, the other median is 1.
func RatiosOf(sizes []int64, ratios []float64) Ratios {
	var short, long []float64
	for i, n := range sizes {
		if n <= ShortMost {
			short = append(short, ratios[i])
		} else {
			long = append(long, ratios[i])
		}
	}
	r := Ratios{1, 1}
	if len(short) > 0 {
		r.Short = median(short)
	}
	if len(long) > 0 {
		r.Long = median(long)
	}
	return r
}

// Differ reports whether ping-pongs differ by more than [Disturbed].
func (r Ratios) Differ() bool {
	differs := func(ratio float64) bool { return ratio > Disturbed || ratio < 1/Disturbed }
	return differs(r.Short) || differs(r.Long)
}

// Sentence returns a sentence that compares ping-pongs with other ping-pongs.
func (r Ratios) Sentence(others string) string {
	return fmt.Sprintf("Ping-pongs up to 4 KiB take %.2f times those of %s, longer ones %.2f times, by the medians.", r.Short, others, r.Long)
}

// Ratios returns the ratios of the times of messages on the machine now to those on the machine
// before.
func (m Measurements) Ratios(before, now *network.Target) Ratios {
	var sizes []int64
	var ratios []float64
	for _, pair := range []*Pair{m.Intra, m.Inter} {
		if pair == nil {
			continue
		}
		for _, p := range pair.Delays {
			took := func(t *network.Target) float64 {
				return float64(t.SendTime(p.Bytes) + t.Delay(0, pair.Partner, p.Bytes) + t.ReceiveTime(p.Bytes))
			}
			sizes, ratios = append(sizes, p.Bytes), append(ratios, took(now)/took(before))
		}
	}
	return RatiosOf(sizes, ratios)
}

// Lower limits the time of a message to the time of a longer message, since a disturbance adds to a
// measurement.
func Lower(points []Point) {
	for i := len(points) - 2; i >= 0; i-- {
		points[i].Seconds = min(points[i].Seconds, points[i+1].Seconds)
	}
}

// remarks returns the comment at the beginning of a machine file.
func (m Measurements) remarks() string {
	var text strings.Builder
	for _, pair := range []struct {
		name string
		*Pair
	}{{"Within a node", m.Intra}, {"Between nodes", m.Inter}} {
		if pair.Pair == nil {
			continue
		}
		h, p := Fit(pair.Delays), pair.LogGP()
		_, _ = fmt.Fprintf(&text, "# %s, least squares of half of the two-way time: %v + bytes / %.4g GB/s, within %.0f %%.\n", pair.name,
			duration(h.Alpha), 1e-9/max(h.Beta, 1e-18), h.Worst(pair.Delays)*100)
		if limit, progress := pair.limit(); limit < math.MaxInt64 {
			late := "that posts its receive late"
			switch progress {
			case "calls":
				late += ", or computes"
			case "waits":
				late += ", or computes, until it waits, tests or probes"
			}
			_, _ = fmt.Fprintf(&text, "# %s, a message of more than %d bytes waits for a receiver %s.\n", pair.name, limit, late)
		}
		_, _ = fmt.Fprintf(&text, "# %s, LogGP: L %v, os %v, or %v, g %v, G %.4g ns a byte.\n", pair.name, duration(p.L),
			duration(p.SendOverhead), duration(p.ReceiveOverhead), duration(p.Gap), p.GapPerByte*1e9)
	}
	if m.Cold {
		text.WriteString("# Messages of 1 MiB or more went both ways at a time, to and from memory that caches did not hold; medians of the runs.\n")
	}
	if m.Jobs != nil {
		_, _ = fmt.Fprintf(&text, "# %v\n", m.Jobs)
	} else {
		text.WriteString("# One job, and jobs differ: without mpirun, gigarank machine calibrate takes several.\n")
	}
	if len(m.Near) > 0 {
		_, _ = fmt.Fprintf(&text, "# Joins: half of a barrier and of allreduces of %d processes on a node, without the sums.\n", m.NearProcesses)
	}
	if m.Processors > 0 && m.NearProcesses > m.Processors {
		_, _ = fmt.Fprintf(&text, "# The %d processes of a node shared %s: collectives contain the turns that they took, messages of two do not. Other numbers of ranks on a node take other times.\n",
			m.NearProcesses, spelling.Count(m.Processors, "processor"))
	}
	return text.String()
}

// duration rounds a time to picoseconds.
func duration(seconds float64) vtime.Duration { return vtime.FromSeconds(max(seconds, 0)) }

// limit returns the bytes above which a message waits for its receiver, and when ranks make progress, as a machine
// file says it: nothing where they do so by themselves.
func (v *Pair) limit() (bytes int64, progress string) {
	switch r := v.Rendezvous; {
	case r == nil:
		return math.MaxInt64, ""
	case r.InCalls && r.InWaits:
		return r.EagerLimit, "waits"
	case r.InCalls:
		return r.EagerLimit, "calls"
	default:
		return r.EagerLimit, ""
	}
}

// Table returns the delays as the rows of a machine file, without the overheads and, above an eager
// limit, without the request and the acknowledgement, which a target machine adds.
func (v *Pair) Table(overheads vtime.Duration, limit int64) string {
	rows := slices.Clone(v.Delays)
	if v.Rendezvous != nil {
		rows = append(rows, v.Rendezvous.Edge...)
	}
	slices.SortStableFunc(rows, func(a, b Point) int { return cmp.Compare(a.Bytes, b.Bytes) })
	rows = slices.CompactFunc(rows, func(a, b Point) bool { return a.Bytes == b.Bytes })
	handshake := 2 * max(duration(rows[0].Seconds)-overheads, vtime.Picosecond).Seconds()
	for i := range rows {
		if rows[i].Bytes > limit {
			rows[i].Seconds -= handshake
		}
	}
	return table(rows, overheads)
}

// table returns the delays without the overheads as the rows of a machine file. There a larger
// message is never faster.
func table(points []Point, overheads vtime.Duration) string {
	var rows []string
	last := vtime.Duration(0)
	for _, p := range points {
		last = max(last, duration(p.Seconds)-overheads)
		rows = append(rows, fmt.Sprintf("{size: %d, delay: %v}", p.Bytes, last))
	}
	return "[" + strings.Join(rows, ", ") + "]"
}

// joins returns the times of joins. Two joins make a barrier of a node or, with the sums of all
// vectors, an allreduce.
func (m Measurements) joins() string {
	return Joins(m.Near, m.NearProcesses, m.Reduce.Seconds/float64(m.Reduce.Bytes))
}

// bcasts returns the times of broadcasts if all processes were on one node.
func (m Measurements) bcasts() (points []Point) {
	if len(m.Near) == 0 || m.NearProcesses != m.Processes {
		return nil
	}
	for _, c := range m.Collectives {
		if c.Operation == "bcast" {
			points = append(points, c.Point)
		}
	}
	Lower(points)
	return points
}

// Joins returns the times of joins as the rows of a machine file, from a barrier and allreduces of
// the processes of a node, by ascending size. perByte is the time to sum a byte.
func Joins(near []Collective, processes int, perByte float64) string {
	var rows []Point
	for _, c := range near {
		sums := float64(processes-1) * perByte * float64(c.Bytes)
		rows = append(rows, Point{Bytes: c.Bytes, Seconds: max(c.Seconds-sums, 0) / 2})
	}
	return table(rows, 0)
}

// level returns the fitted line without the overheads.
func level(points []Point, overheads vtime.Duration, separator string) string {
	h := Fit(points)
	text := fmt.Sprintf("latency: %v", max(duration(h.Alpha)-overheads, vtime.Picosecond))
	if h.Beta > 0 {
		text += fmt.Sprintf("%sbandwidth: %.0fB/s", separator, 1/h.Beta)
	}
	return text
}
