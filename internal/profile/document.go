package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"gigarank/internal/fit"
	"gigarank/internal/quantity"
	"gigarank/internal/result"
)

// seconds returns a time in picoseconds in seconds.
func seconds(ps *big.Int) float64 {
	if ps == nil {
		return 0
	}
	v, _ := new(big.Rat).SetFrac(ps, big.NewInt(1e12)).Float64()
	return v
}

// inMPI returns the part of a time that is not computing.
func inMPI(t *result.Times) float64 {
	if t.Time == nil {
		return 0
	}
	rest := new(big.Int).Set(t.Time)
	if computing := t.Causes["computing"]; computing != nil {
		rest.Sub(rest, computing)
	}
	return seconds(rest)
}

// lineAt returns the line of an offset.
func lineAt(text []byte, offset int64) int {
	return 1 + strings.Count(string(text[:min(max(offset, 0), int64(len(text)))]), "\n")
}

// document reads the result of a run of gigarank.
func (r *reader) document() {
	r.Measured = false
	var d result.Document
	if err := json.Unmarshal(r.text, &d); err != nil {
		line := 1
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			line = lineAt(r.text, syntax.Offset)
		case errors.As(err, &kind):
			line = lineAt(r.text, kind.Offset)
		}
		r.fault(line, fmt.Sprintf("no result of a run: %v", err), "give a file of gigarank run --json")
		return
	}
	switch {
	case d.Schema != result.Schema || d.Ranks < 1:
		r.fault(1, fmt.Sprintf("schema %d of %d ranks is no result of a run", d.Schema, d.Ranks), "give a file of gigarank run --json")
		return
	case !d.Complete:
		r.fault(1, "the run has not come to its end", "simulate it again")
		return
	}
	r.Tasks, r.Run = int(d.Ranks), float64(d.VirtualTime)/1e12
	r.iterations(&d)
	s := d.Statistics
	if s == nil {
		return
	}
	r.InMPI = inMPI(&s.Times)
	for _, c := range s.Calls {
		r.add(c.Function, c.Count, seconds(c.Time))
	}
	for _, t := range s.Tasks {
		if t.Rank < 0 || t.Rank >= r.Tasks {
			r.fault(1, fmt.Sprintf("rank %d of %d", t.Rank, r.Tasks), "give the file as gigarank writes it")
			return
		}
		r.task(t.Rank, inMPI(&t.Times))
	}
	r.settle(1)
}

// iterations takes the mean of each timed operation of a program as the time of a call, of its payload where the program times that operation alone. Those of mpiping, two-way times between
// pairs, stand for osu_latency if all pairs are alike.
func (r *reader) iterations(d *result.Document) {
	type sum struct {
		time float64
		n    int
	}
	sums := map[Benchmark]sum{}
	var keys []Benchmark
	places := map[string]bool{}
	for _, it := range d.Iterations {
		key, time := Benchmark{Name: it.Operation, Bytes: UnknownBytes}, float64(it.Mean)/1e12
		if d.Program == strings.ReplaceAll(it.Operation, "_", "")+"test" { // the payload is that of its operation
			key.Bytes = d.Payload
		}
		if found := pairsOfRanks.FindStringSubmatch(it.Operation); found != nil && d.Program == "mpiping" {
			if n, err := quantity.ParseSize(strings.ReplaceAll(found[1], " ", "")); err == nil {
				key, time = Benchmark{Name: oneWay + ", " + found[2], Bytes: n}, time/2
				places[found[2]] = true
			}
		}
		if it.Operation == reduceScatter && key.Bytes > 0 {
			key.Bytes *= d.Ranks // as benchmarks have it: the blocks of all ranks
		}
		if sums[key].n == 0 {
			keys = append(keys, key)
		}
		sums[key] = sum{sums[key].time + time, sums[key].n + 1}
	}
	for _, key := range keys {
		b := key
		b.Value = sums[key].time / float64(sums[key].n)
		if len(places) == 1 && strings.HasPrefix(b.Name, oneWay+", ") {
			b.Name = oneWay
		}
		r.Benchmarks = append(r.Benchmarks, b)
	}
}

// pairsOfRanks matches the operations of mpiping: "8 B within a node".
var pairsOfRanks = regexp.MustCompile(`^(\d+ [KMG]?i?B) (within a node|between nodes)$`)

// oneWay is the benchmark of a message from one rank to another, and reduceScatter the operation whose size is that of all blocks.
const (
	oneWay        = "osu_latency"
	reduceScatter = "reduce_scatter"
)

// benchmarks reads tables of the OSU micro-benchmarks and of IMB.
func (r *reader) benchmarks() {
	// Without the layout of the job, a guess does: no value depends on it.
	series, notes, err := fit.Read(fit.Source{Name: r.File, Text: r.text, Default: fit.Layout{Nodes: 2, PerNode: 1}})
	if err != nil {
		if !errors.As(err, &r.faults) {
			r.fault(1, err.Error(), "give the output of a run that came to its end")
		}
		return
	}
	lines := map[Benchmark]int{}
	for _, s := range series {
		for _, sample := range s.Samples {
			key := Benchmark{Name: s.Benchmark, Bytes: sample.Bytes, Rate: s.Kind == fit.Bandwidth || s.Kind == fit.MessageRate}
			if s.Kind == fit.Collective {
				if key.Name = s.Operation.String(); key.Name == reduceScatter {
					key.Bytes *= int64(s.Layout.Ranks())
				}
			}
			if before := lines[key]; before > 0 {
				r.fault(sample.Line, fmt.Sprintf("%s of %d bytes is there already, in line %d", key.Name, key.Bytes, before), "give the output of one run")
				continue
			}
			lines[key] = sample.Line
			b := key
			if b.Value = sample.Seconds; key.Rate {
				b.Value = sample.Rate
			}
			r.Benchmarks = append(r.Benchmarks, b)
		}
	}
	if len(notes) > 0 {
		r.Note = notes[0].String()
	}
	if len(r.Benchmarks) == 0 && len(r.faults) == 0 {
		r.fault(1, "no table that can be compared", "give tables of latencies, bandwidths or collectives")
	}
}
