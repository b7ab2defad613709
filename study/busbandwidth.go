package study

import (
	"slices"

	"gigarank/collectives"
	"gigarank/vtime"
)

// busBandwidth returns the bus bandwidth of an operation in bytes a second, as nccl-tests counts it (PERFORMANCE.md): the bytes that each
// rank must at least send or receive by the usual algorithms, over the time. It does not depend on the number of ranks where links set the limit.
// The payload is the vector for allreduce, bcast and reduce, else a rank's block. It returns 0 for operations
// that nccl-tests does not have, a single rank, and no bytes or time.
func busBandwidth(op collectives.Operation, ranks, payload int64, time vtime.Duration) float64 {
	if ranks < 2 || payload <= 0 || time <= 0 {
		return 0
	}
	n, bytes := float64(ranks), float64(payload)
	switch op {
	case collectives.Allreduce:
		bytes *= 2 * (n - 1) / n
	case collectives.Bcast, collectives.Reduce:
	case collectives.Allgather, collectives.ReduceScatter, collectives.Alltoall, collectives.Gather, collectives.Scatter:
		bytes *= n - 1 // of n blocks
	default:
		return 0
	}
	return bytes / time.Seconds()
}

// busBandwidth returns the bus bandwidth of a record, 0 where there is none.
func (r Record) busBandwidth() float64 {
	all := collectives.Operations()
	at := slices.IndexFunc(all, func(op collectives.Operation) bool { return op.String() == r.Point.Operation })
	if at < 0 || r.Error != "" {
		return 0
	}
	return busBandwidth(all[at], r.Point.Ranks, r.Point.Payload, r.Time)
}

const aboutBusBandwidth = "Bus bandwidth as nccl-tests counts it: 2 (n − 1) / n of the vector over the time for an allreduce of n ranks, " +
	"n − 1 blocks over the time for an allgather, a reduce_scatter, an alltoall, a gather and a scatter, the vector over the time for a bcast and a reduce. " +
	"Where links set the limit it is their bandwidth, whatever the number of ranks."

var bandwidthAxis = axis{"bus bandwidth", formatBandwidth, 10}

var bandwidthScales = []scale{{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}

func formatBandwidth(v float64) string { return scaled(v, bandwidthScales, " ") }

// Bandwidth returns a number of bytes a second for people.
func Bandwidth(bytes int64) string { return formatBandwidth(float64(bytes)) }

// bandwidthCharts draws bus bandwidth against payload for each machine and noise, at up to three of the numbers of ranks.
func (p *Plan) bandwidthCharts(all []sample) []*chart {
	if len(p.Payloads) < 2 {
		return nil
	}
	return p.eachRanks(func(title string, keep func(Point) bool) *chart {
		var curves []data
		for style, choice := range p.Choices {
			d := data{name: choice, style: style}
			for _, s := range samplesOf(all, func(q Point) bool { return q.Choice() == choice && keep(q) }, byPayload) {
				of := func(time float64) float64 {
					return busBandwidth(p.Operation, s.point.Ranks, s.point.Payload, vtime.Duration(time))
				}
				if v := of(s.time); v > 0 {
					d.at = append(d.at, xy{x: float64(s.point.Payload), y: v, low: of(s.high), high: of(s.low), title: choice + ", " + formatBytes(float64(s.point.Payload)) + ": " + formatBandwidth(v)})
				}
			}
			curves = append(curves, d)
		}
		return newChart(title, "Bus bandwidth against payload: "+title, payloadAxis, bandwidthAxis, curves)
	})
}
