package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"gigarank/internal/result"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// pathOf returns a critical path in the form of a document, nil for none.
func pathOf(p *mpivirt.CriticalPath) *result.CriticalPath {
	if p == nil {
		return nil
	}
	of := &result.CriticalPath{Share: shareOf(&p.Times), Rank: p.Rank, Changes: p.Changes, Functions: []result.FunctionShare{}, Ranks: []result.RankShare{}}
	for i := range p.Functions {
		of.Functions = append(of.Functions, result.FunctionShare{Function: p.Functions[i].Function, Share: shareOf(&p.Functions[i].Times)})
	}
	for i := range p.Ranks {
		of.Ranks = append(of.Ranks, result.RankShare{Rank: p.Ranks[i].Rank, Share: shareOf(&p.Ranks[i].Times)})
	}
	return of
}

// shareOf returns times by cause in the form of a document.
func shareOf(times *mpivirt.Causes) result.Share {
	of := result.Share{Time: int64(times.Total()), Causes: map[string]int64{}}
	for i, d := range times {
		if d != 0 {
			of.Causes[mpivirt.Cause(i).String()] = int64(d)
		}
	}
	return of
}

// shownShares is the number of ranks whose shares in the critical path are printed.
const shownShares = 16

// tabulatePath prints the critical path, if it was followed.
func (d *document) tabulatePath(w io.Writer) {
	p := d.CriticalPath
	if p == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "critical path: %v, ends on rank %d, passes %s from rank to rank\n\n", vtime.Duration(p.Time), p.Rank, spelling.Count(p.Changes, "time"))
	var shown []string
	for _, name := range causes() {
		if p.Causes[name] > 0 {
			shown = append(shown, name)
		}
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(name string, s *result.Share) {
		_, _ = fmt.Fprintf(table, "%s\t%v\t%s", name, vtime.Duration(s.Time), percent(s.Time, p.Time))
		for _, cause := range shown {
			_, _ = fmt.Fprintf(table, "\t%v", vtime.Duration(s.Causes[cause]))
		}
		_, _ = fmt.Fprintln(table)
	}
	heading := func(name string) {
		_, _ = fmt.Fprintln(table, strings.Join(append([]string{name, "time on the path", "share"}, shown...), "\t"))
	}
	heading("function")
	for i := range p.Functions {
		row(p.Functions[i].Function, &p.Functions[i].Share)
	}
	row("all", &p.Share)
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
	ranks := slices.Clone(p.Ranks)
	slices.SortStableFunc(ranks, func(a, b result.RankShare) int { return int(min(max(b.Time-a.Time, -1), 1)) })
	heading("rank")
	for i := range ranks[:min(len(ranks), shownShares)] {
		row(fmt.Sprint(ranks[i].Rank), &ranks[i].Share)
	}
	_ = table.Flush()
	if len(ranks) > shownShares {
		_, _ = fmt.Fprintf(w, "%d more ranks have shares; --json FILE has them\n", len(ranks)-shownShares)
	}
	_, _ = fmt.Fprintln(w)
}

// percent returns a part of a time in per cent.
func percent(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return perCent(float64(part) / float64(whole))
}
