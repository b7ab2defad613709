package network

import (
	"fmt"
	"math/big"
	"slices"

	"gigarank/internal/quantity"
	"gigarank/vtime"
)

// factors is twolevel with factors by message size, as in SimGrid's SMPI (Clauss et al., 2011):
// latency·factor + bytes/(bandwidth·factor).
type factors struct{ intra, inter factoredLink }

// factoredLink is a link whose latency and bandwidth depend on the size of the message.
type factoredLink struct {
	link                  link
	latencies, bandwidths []sizeFactor
}

// sizeFactor is the factor of messages from a size on.
type sizeFactor struct {
	size   int64
	factor ratio
}

var factorsKind = modelKind{
	name:          "factors",
	summary:       "latency and bandwidth times factors by size, within a node and between nodes",
	fields:        []string{"intra", "inter"},
	charged:       true,
	symmetric:     true,
	latencyBySize: true,
	examples: []string{
		"{intra: {latency: 0.5us, bandwidth: 6GB/s, bandwidth_factors: [{size: 64, factor: 0.5}]}, " +
			"inter: {latency: 24us, bandwidth: 125MB/s, latency_factors: [{size: 0, factor: 2.01467}, {size: 257, factor: 1.95341}, {size: 1426, factor: 0.61075}], " +
			"bandwidth_factors: [{size: 0, factor: 0.812084}, {size: 257, factor: 0.338112}, {size: 1KiB, factor: 1.08739}]}}",
		"{intra: {latency: 3us, latency_factors: [{size: 100, factor: 0.001}, {size: 2000, factor: 7}]}, inter: {latency: 1us}}",
	},
	parse: func(o *object) model { return &factors{parseFactoredLink(o, "intra"), parseFactoredLink(o, "inter")} },
}

func parseFactoredLink(o *object, key string) (l factoredLink) {
	inner := o.object(key, true, "write "+key+": {latency: 1us, bandwidth: 10GB/s, latency_factors: [{size: 1KiB, factor: 1.5}]}")
	faults := len(o.doc.Faults)
	l.link = parseLink(inner)
	known := inner != nil && len(o.doc.Faults) == faults
	l.latencies = parseFactors(inner, "latency_factors", func(factor ratio) string {
		if longest := scaled(l.link.latency, factor); longest > longestFigure {
			return fmt.Sprintf("makes the latency %s, which is too long: a day at most", longest)
		}
		return ""
	})
	l.bandwidths = parseFactors(inner, "bandwidth_factors", nil)
	if known && l.link.latency == 0 && inner.has("latency_factors") {
		inner.fault("latency_factors", "makes no difference: the latency is 0", "give a latency, or remove it")
	}
	if known && l.link.bandwidth == 0 && inner.has("bandwidth_factors") {
		inner.fault("bandwidth_factors", "makes no difference: the bandwidth is infinite", "give a bandwidth, or remove it")
	}
	inner.close("", nil)
	return l
}

// parseFactors reads an optional list of factors by size. refuse, which may be nil, says what is
// wrong with a factor.
func parseFactors(o *object, key string, refuse func(factor ratio) string) []sizeFactor {
	if !o.has(key) {
		o.skip(key)
		return nil
	}
	var rows []sizeFactor
	for _, row := range o.objects(key, "write a list such as [{size: 0, factor: 2.01467}, {size: 1KiB, factor: 1.61075}]") {
		faults := len(o.doc.Faults)
		next := sizeFactor{row.size("size", true, 0), row.ratio("factor", true)}
		row.close("", nil)
		if row == nil || len(o.doc.Faults) > faults {
			continue
		}
		if last := len(rows) - 1; last >= 0 && next.size <= rows[last].size {
			row.fault("size", "is not larger than the one before", "sort the list by size, each size once")
		}
		if refuse != nil {
			if what := refuse(next.factor); what != "" {
				row.fault("factor", what, "write a smaller factor")
			}
		}
		rows = append(rows, next)
	}
	return rows
}

func (m *factors) kind() *modelKind { return &factorsKind }

func (m *factors) write(o *objectWriter) {
	m.intra.write(o, "intra")
	m.inter.write(o, "inter")
}

func (l factoredLink) write(o *objectWriter, key string) {
	inner := o.object(o.within(key))
	l.link.write(inner)
	writeFactors(inner, "latency_factors", l.latencies)
	writeFactors(inner, "bandwidth_factors", l.bandwidths)
	o.put(key, inner.node)
}

func writeFactors(o *objectWriter, key string, rows []sizeFactor) {
	if rows == nil {
		return
	}
	putObjects(o, key, rows, func(entry *objectWriter, row sizeFactor) {
		entry.text("size", quantity.FormatSize(row.size))
		entry.put("factor", row.factor.node())
	})
}

func (m *factors) over(p placement) delays {
	return pathsByNode(p, m.intra.path(), m.inter.path())
}

// path returns the path of a link. Latency and transfer time are each rounded once.
func (l factoredLink) path() path {
	if l.latencies == nil && l.bandwidths == nil {
		return newPath(l.link.latency, l.link.bandwidth)
	}
	sizes := []int64{0}
	for _, row := range slices.Concat(l.latencies, l.bandwidths) {
		sizes = append(sizes, row.size)
	}
	slices.Sort(sizes)
	var steps []step
	for _, size := range slices.Compact(sizes) {
		perByte, factor := l.link.bandwidth.perByte(), factorOf(l.bandwidths, size)
		if factor.text != "" {
			perByte.Quo(perByte, new(big.Rat).SetFrac(new(big.Int).SetUint64(factor.rate.num), new(big.Int).SetUint64(factor.rate.den)))
		}
		latency := scaled(l.link.latency, factorOf(l.latencies, size))
		steps = append(steps, step{size, max(latency, vtime.Picosecond), nearestRate(perByte)})
	}
	return steppedPath(steps)
}

// factorOf returns the factor of messages of a size, the zero value for 1.
func factorOf(rows []sizeFactor, size int64) (factor ratio) {
	for _, row := range rows {
		if row.size <= size {
			factor = row.factor
		}
	}
	return factor
}

// scaled returns a time by a factor, to the nearest picosecond, ties to even, at most Endless.
func scaled(d vtime.Duration, factor ratio) vtime.Duration {
	if factor.text == "" {
		return d
	}
	return factor.rate.time(int64(d))
}
