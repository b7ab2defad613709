package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"gigarank/collectives"
	"gigarank/internal/spelling"
)

// report sums comparisons up.
type report struct {
	rows    map[subject]*tally
	order   []subject
	used    []bool // by difference
	missing []string
}

// subject is what a line of the report is about.
type subject struct {
	operation collectives.Operation
	algorithm string
}

// tally counts calls.
type tally struct {
	equal, reordered, other int // same messages; same messages in another order; other messages
	unlisted                int // not equal, without a reason
	ranks                   []int
	first                   string // the first call that is not equal, in words
	reason                  string
}

func newReport() report {
	return report{rows: map[subject]*tally{}, used: make([]bool, len(differences))}
}

func (r *report) add(k call, a collectives.Algorithm, recorded, scheduled [][]message) {
	s := subject{k.operation, a.String()}
	t := r.rows[s]
	if t == nil {
		t = &tally{}
		r.rows[s] = t
		r.order = append(r.order, s)
	}
	if !slices.Contains(t.ranks, k.ranks) {
		t.ranks = append(t.ranks, k.ranks)
	}
	rank := differing(recorded, scheduled)
	if rank < 0 {
		t.equal++
		return
	}
	if differing(sorted(recorded), sorted(scheduled)) >= 0 {
		t.other++
	} else {
		t.reordered++
	}
	i := slices.IndexFunc(differences, func(d difference) bool { return d.of(k, a) })
	if i >= 0 {
		r.used[i] = true
		t.reason = differences[i].reason
	} else {
		t.unlisted++
	}
	if t.first == "" || i < 0 && t.unlisted == 1 {
		t.first = fmt.Sprintf("%s of %d bytes among %d, root %d, rank %d:\n    library  %v\n    schedule %v",
			k.operation, k.bytes, k.ranks, k.root, rank, recorded[rank], scheduled[rank])
	}
}

// differing returns the first rank whose messages differ, or -1.
func differing(a, b [][]message) int {
	for rank := range a {
		if !slices.Equal(a[rank], b[rank]) {
			return rank
		}
	}
	return -1
}

func sorted(all [][]message) [][]message {
	out := make([][]message, len(all))
	for i, messages := range all {
		out[i] = slices.SortedFunc(slices.Values(messages), func(a, b message) int {
			return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.bytes, b.bytes))
		})
	}
	return out
}

// finish prints the report. Its error says that something differs without a reason, or that a reason is of no use;
// the latter only if everything was compared.
func (r *report) finish(w io.Writer, everything bool) error {
	slices.SortStableFunc(r.order, func(a, b subject) int { return cmp.Compare(a.operation, b.operation) })
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "operation\talgorithm\tcalls\tequal\tother order\tother messages\t")
	calls, equal, unlisted := 0, 0, 0
	for _, s := range r.order {
		t := r.rows[s]
		n := t.equal + t.reordered + t.other
		calls, equal, unlisted = calls+n, equal+t.equal, unlisted+t.unlisted
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", s.operation, s.algorithm, n, t.equal, t.reordered, t.other, t.reason)
	}
	_ = table.Flush()
	for _, s := range r.order {
		if t := r.rows[s]; t.unlisted > 0 {
			_, _ = fmt.Fprintf(w, "\n%s %s differs without a reason in %d calls, among %v ranks\n  %s\n", s.operation, s.algorithm, t.unlisted, t.ranks, t.first)
		}
	}
	for _, m := range r.missing {
		_, _ = fmt.Fprintln(w, "left out:", m)
	}
	_, _ = fmt.Fprintf(w, "\n%d of %d calls are equal, %d differ for reasons that are listed, %d without a reason\n", equal, calls, calls-equal-unlisted, unlisted)
	switch {
	case unlisted > 0:
		return fmt.Errorf("%d calls differ without a reason", unlisted)
	case len(r.missing) > 0:
		return fmt.Errorf("%s of the library left out", spelling.Count(len(r.missing), "algorithm"))
	case everything && slices.Contains(r.used, false):
		d := differences[slices.Index(r.used, false)]
		return fmt.Errorf("the reason for %s %s is of no use: remove it", d.operation, d.algorithm)
	}
	return nil
}
