package fit

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"gigarank/internal/measurements"
	"gigarank/internal/spelling"
)

// WriteText writes the determined fields, the missing fields, and the residual of each point.
func (r *Result) WriteText(w io.Writer) {
	_, _ = fmt.Fprintf(w, "machine %s\n\nDetermined\n", r.Machine.Name())
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, f := range r.Facts {
		from := f.From
		if f.Estimate {
			from = "estimate: " + from
		}
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\n", f.Field, f.Value, from)
	}
	_ = table.Flush()
	if len(r.Missing) > 0 {
		_, _ = fmt.Fprint(w, "\nNot determined\n")
		for _, m := range r.Missing {
			_, _ = fmt.Fprintf(w, "  %s: %s; give %s\n", m.Field, m.Effect, m.Remedy)
		}
	}
	_, _ = fmt.Fprint(w, "\nResiduals\n")
	table = tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprint(table, "  benchmark\tnodes x ranks\tbytes\tmeasured\tsimulated\tratio\tas\tline\n")
	for i := range r.Residuals {
		o, s := &r.Residuals[i], r.Series[i]
		simulated, ratio, as := "", "", o.Reason
		if o.Simulated > 0 {
			simulated, ratio, as = duration(o.Simulated).String(), strconv.FormatFloat(o.Ratio(), 'f', 3, 64), o.Chosen
		}
		_, _ = fmt.Fprintf(table, "  %s\t%v\t%d\t%v\t%s\t%s\t%s\t%s:%d\n", s.Benchmark, s.Layout, o.Bytes, duration(o.Measured), simulated, ratio, as, s.File, o.Line)
	}
	_ = table.Flush()
	r.writeSummary(w)
}

// writeSummary writes the errors of the points by benchmark.
func (r *Result) writeSummary(w io.Writer) {
	var names []string
	of := map[string][]*measurements.Outcome{}
	for i := range r.Residuals {
		if o := &r.Residuals[i]; o.Simulated > 0 {
			name := r.Series[i].Benchmark
			if of[name] == nil {
				names = append(names, name)
			}
			of[name] = append(of[name], o)
		}
	}
	_, _ = fmt.Fprintln(w)
	for _, name := range names {
		some := of[name]
		slices.SortFunc(some, func(a, b *measurements.Outcome) int { return cmp.Compare(a.Error(), b.Error()) })
		worst := slices.MaxFunc(some, func(a, b *measurements.Outcome) int { return cmp.Compare(a.Factor(), b.Factor()) })
		_, _ = fmt.Fprintf(w, "%s: %s, median of the error %.1f %%, worst ratio %.3g (%d bytes, %dx%d)\n", name, spelling.Count(len(some), "point"),
			100*median(some), worst.Ratio(), worst.Bytes, worst.Nodes, worst.PerNode)
	}
}

// median returns the median error of points by ascending error.
func median(some []*measurements.Outcome) float64 {
	return (some[(len(some)-1)/2].Error() + some[len(some)/2].Error()) / 2
}
