package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/result"
	"gigarank/mpivirt"
	"gigarank/mpivirt/replay"
)

// document is the result of a run.
type document struct {
	result.Document
	Uncharged bool     `json:"-"` // see mpivirt.Result
	Spread    []spread `json:"-"` // of the ranks' times, by cause; nil if they were not kept
}

// newDocument describes the outcome of a run on all hosts; peak is their memory.
func newDocument(r *request, h *host.Processes, o host.Outcome, peak int64) *document {
	simulated := o.Result
	if simulated == nil {
		simulated = &mpivirt.Result{}
	}
	s, machine := simulated.Statistics, r.config.Target.Machine()
	d := &document{Uncharged: simulated.Uncharged, Document: result.Document{
		Schema: result.Schema, Program: r.entry.Name, Ranks: r.ranks, Hosts: h.Size, Engines: h.Size * r.engines,
		Lambda: lambda(r.ranks, h.Size*r.engines),
		LP:     r.config.Kind.String(), Sync: r.config.Protocol.String(), Strict: r.config.Strict,
		Collectives: interpreter(r.config.Collectives).String(),
		Machine:     r.machine, MachineDigest: machine.Digest(), RanksPerNode: machine.RanksPerNode(), Mapping: machine.Mapping(),
		Algorithms: r.algorithms(), Noise: r.noise, CPU: r.cpu.String(), Skeleton: r.skeleton, Polls: r.config.Polls,
		Compute: int64(r.options.Compute), Payload: r.options.Payload, TimedIterations: r.options.Iterations,
		Datatype: r.options.Datatype.String(),
		Seed:     r.config.Seed,
		Complete: o.Err == nil && simulated.Complete, FinishedRanks: simulated.Finished,
		VirtualTime: int64(simulated.VirtualTime), Fingerprint: simulated.Fingerprint,
		Wall: round(o.Wall), SetUp: simulated.SetupWall,
		Events: s.Events, Messages: s.Messages, RemoteMessages: s.RemoteMessages,
		SyncMessages: s.SyncMessages, TransportMessages: s.TransportMessages, Switches: s.Switches,
		Late: simulated.Late.String(), SkippedPolls: simulated.Late.Skipped, PeakRSS: peak, BytesPerRank: float64(peak*100/r.ranks) / 100,
		Iterations: []result.Iteration{}, Operations: []result.Operation{},
		Finish: result.Distribution{
			Min: int64(simulated.Finish.Min), Mean: int64(simulated.Finish.Mean), Max: int64(simulated.Finish.Max),
			Histogram: histogram(simulated.Finish.Histogram),
		},
	}}
	if f := &r.form; f.of != nil {
		d.Directives, d.Failures, d.UncountedTasks = f.of.Directives, f.of.Failures, f.uncounted()
		if f.weights != nil {
			share := 0.0
			if all := simulated.Finish.Mean.Seconds() * float64(simulated.Finished); all > 0 {
				share = math.Round(simulated.Weighed/all*1e4) / 1e4
			}
			d.TaskShare = &share
			if f.weights.Other {
				d.WeightsOf = f.weights.File
			}
		}
	}
	if r.config.Kind == replay.Kind {
		departures := result.Departures(simulated.Departures)
		d.Departures = &departures
	}
	if r.options.NoContents {
		d.Contents = noContents.String()
	}
	if r.config.Library != nil && r.config.Library.Name() != noLibrary {
		d.Library = r.config.Library.Name()
	}
	for _, o := range simulated.Operations {
		d.Operations = append(d.Operations, result.Operation{Operation: o.Operation, Histogram: histogram(o.Histogram)})
	}
	for _, a := range simulated.Activities {
		d.Activities = append(d.Activities, result.Activity{Activity: a.Activity.String(), Count: a.Count,
			Min: int64(a.Min), Mean: int64(a.Mean), Max: int64(a.Max), PerRank: int64(a.PerRank)})
	}
	d.Sent, d.Handed = sizeClasses(simulated.Sent), sizeClasses(simulated.Handed)
	d.Statistics = statisticsOf(simulated.Calls, r.ranks, simulated.VirtualTime)
	if calls := simulated.Calls; calls != nil {
		d.Spread = spreadOf(calls.Tasks)
		if r.json != "" || r.report != "" || len(calls.Tasks) <= shownTasks {
			d.Statistics.Tasks = tasksOf(calls)
		}
	}
	d.Energy = energyOf(r.config.Target, d.Statistics, simulated)
	if r.untold {
		d.Activities, d.Sent, d.Handed, d.Statistics = nil, nil, nil, nil
	}
	d.CriticalPath = pathOf(simulated.Path)
	if o.Err != nil {
		d.Reason = o.Err.Error()
	}
	finished := finishedIterations(simulated, d.Complete, uint64(r.ranks))
	d.Iterations = slices.Grow(d.Iterations, len(finished))
	for _, it := range finished {
		d.Iterations = append(d.Iterations, result.Iteration{
			Index: it.Index, Operation: it.Operation, Min: int64(it.Min), Mean: int64(it.Mean), Max: int64(it.Max), Wall: toNanoseconds(it.Wall),
		})
	}
	if r.entry.Figures != nil {
		for _, f := range r.entry.Figures(r.options, r.ranks, finished) {
			d.Figures = append(d.Figures, result.Figure(f))
		}
	}
	return d
}

// algorithms returns the algorithms of the collectives that the program is known to call,
// and of those that were chosen, by operation.
func (r *request) algorithms() map[string]string {
	names := map[string]string{}
	if r.entry.Collectives != nil {
		for _, use := range r.entry.Collectives(r.options) {
			op, a := use.Operation.String(), r.config.AlgorithmFor(use.Operation, use.Bytes, use.Element).String()
			switch known := names[op]; {
			case known == "":
				names[op] = a
			case !slices.Contains(strings.Split(known, ", "), a): // sizes go by different algorithms
				names[op] += ", " + a
			}
		}
	}
	for op, a := range r.config.Algorithms {
		names[op.String()] = a.String()
	}
	return names
}

// lambda returns λ, the ranks for each engine, to two digits after the point.
func lambda(ranks int64, engines int) float64 {
	return math.Round(float64(ranks)/float64(engines)*100) / 100
}

// histogram converts a histogram to the form of a document.
func histogram(h mpivirt.Histogram) result.Histogram {
	return result.Histogram{Low: int64(h.Low), Width: int64(h.Width), Counts: append([]uint64{}, h.Counts...)}
}

// sizeClasses converts classes of sizes to the form of a document, nil to nil.
func sizeClasses(classes []mpivirt.SizeClass) []result.SizeClass {
	if classes == nil {
		return nil
	}
	of := make([]result.SizeClass, 0, len(classes))
	for _, c := range classes {
		of = append(of, result.SizeClass(c))
	}
	return of
}

// round rounds a wall time to microseconds and returns it in seconds.
func round(d time.Duration) float64 { return d.Round(time.Microsecond).Seconds() }

// toNanoseconds rounds seconds.
func toNanoseconds(s float64) float64 { return math.Round(s*1e9) / 1e9 }

// finishedIterations returns the iterations of a run that were finished. Of an
// incomplete run it leaves out those that fewer ranks have recorded than the
// operation's first. The first itself counts if another one follows or all ranks have
// recorded it.
func finishedIterations(r *mpivirt.Result, complete bool, ranks uint64) []mpivirt.Iteration {
	if complete {
		return r.Iterations
	}
	first := map[string]mpivirt.Iteration{}
	followed := map[string]bool{}
	for _, it := range r.Iterations {
		if _, known := first[it.Operation]; known {
			followed[it.Operation] = true
		} else {
			first[it.Operation] = it
		}
	}
	var finished []mpivirt.Iteration
	for _, it := range r.Iterations {
		if it.Count == ranks || it.Count >= first[it.Operation].Count && followed[it.Operation] {
			finished = append(finished, it)
		}
	}
	return finished
}

// encode returns the JSON text.
func (d *document) encode() []byte {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("gigarank: a document that is no JSON: %v", err))
	}
	text = numberLists.ReplaceAllFunc(text, func(list []byte) []byte {
		return []byte(strings.Join(strings.Fields(string(list)), ""))
	})
	return append(text, '\n')
}

// numberLists matches lists of whole numbers, which are easier to read on one line. A text of JSON has no raw line breaks, so none matches.
var numberLists = regexp.MustCompile(`\[\n[\s\d,]*]`)

// write writes the document to the destination of --json: none, standard output, or a
// file. It calls waits before it writes to what may wait for a reader.
func (d *document) write(c *terminal.Console, name string, waits func()) error {
	switch name {
	case "":
		return nil
	case terminal.StandardOutput:
		waits()
		_, err := c.Stdout.Write(d.encode())
		return err
	}
	to, err := terminal.NewDestination(name)
	if err != nil {
		return err
	}
	if !to.Replaces {
		waits()
	}
	return to.Write(d.encode())
}
