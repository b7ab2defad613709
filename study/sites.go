package study

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"gigarank/internal/result"
)

// LongestSites returns at most a number of the places of a program whose calls take most time, the longest first.
func LongestSites(sites []result.Site, most int) []result.Site {
	sorted := slices.DeleteFunc(slices.Clone(sites), func(s result.Site) bool { return s.Time.Sign() == 0 })
	slices.SortStableFunc(sorted, func(a, b result.Site) int { return b.Time.Cmp(a.Time) })
	return sorted[:min(len(sorted), most)]
}

// PlaceOf returns the function, file and line of a place of a program.
func PlaceOf(s *result.Site) string { return cmp.Or(s.Place, "a place that is not known") }

// LatePair is the time for which calls from one place of a program have waited for late senders whose sends come from another place.
type LatePair struct {
	Waits, Sends string // function, file and line
	Time         *big.Int
}

// LateSends returns at most a number of pairs of places that wait for late senders and of the places of their sends, the longest first. Functions at one place
// are taken together.
func LateSends(sites []result.Site, most int) (pairs []LatePair) {
	for i := range sites {
		of := &sites[i]
		for _, from := range of.Senders {
			p := LatePair{PlaceOf(of), PlaceOf(&result.Site{Place: from.Place}), from.Time}
			at := slices.IndexFunc(pairs, func(q LatePair) bool { return q.Waits == p.Waits && q.Sends == p.Sends })
			if at < 0 {
				pairs = append(pairs, p)
				continue
			}
			pairs[at].Time = new(big.Int).Add(pairs[at].Time, p.Time)
		}
	}
	slices.SortStableFunc(pairs, func(a, b LatePair) int { return b.Time.Cmp(a.Time) })
	return pairs[:min(len(pairs), most)]
}

// mostSites is the number of places of a program that a page shows.
const mostSites = 24

// sitesOfRun has the places of the program whose calls take most time.
func sitesOfRun(d *result.Document) (s section) {
	if d.Statistics == nil {
		return s
	}
	sites := LongestSites(d.Statistics.Sites, mostSites)
	if len(sites) == 0 {
		return s
	}
	s = section{Name: "sites", Title: "Time by place in the program", Text: "The function, file and line that call MPI."}
	t := tableOf{Columns: []string{"called from", "function", "calls", "bytes", "time of a rank", "waiting"}}
	shown := map[string]bool{}
	for i := range sites {
		for cause := range sites[i].Causes {
			shown[cause] = true
		}
	}
	legend := legendOf(shown)
	for _, e := range legend {
		t.Columns = append(t.Columns, e.Name)
	}
	for i := range sites {
		of := &sites[i]
		row := []string{PlaceOf(of), of.Function, fmt.Sprint(of.Count), formatBytes(float64(of.Bytes)), s.perRank(d, of.Time), s.perRank(d, of.Waiting)}
		for _, e := range legend {
			row = append(row, dashed(of.Causes[e.Name], float64(d.Ranks)))
		}
		t.Rows = append(t.Rows, row)
	}
	if more := len(d.Statistics.Sites) - len(sites); more > 0 {
		s.Text += fmt.Sprintf(" %d more are in result.json.", more)
	}
	s.Tables = []tableOf{t}
	if pairs := LateSends(d.Statistics.Sites, mostSites); len(pairs) > 0 {
		t := tableOf{Columns: []string{"waits for a late sender", "that sends from", "time of a rank"}}
		for _, p := range pairs {
			t.Rows = append(t.Rows, []string{p.Waits, p.Sends, s.perRank(d, p.Time)})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// mostAt names the place of the program with most of the time for a cause.
func mostAt(sites []result.Site, cause string) string {
	var most *result.Site
	for i := range sites {
		if d := sites[i].Causes[cause]; d != nil && (most == nil || d.Cmp(most.Causes[cause]) > 0) {
			most = &sites[i]
		}
	}
	if most == nil || most.Place == "" {
		return ""
	}
	text := ", called from " + most.Place
	if cause == "late sender" && len(most.Senders) > 0 && most.Senders[0].Place != "" {
		text += ", which waits for sends from " + most.Senders[0].Place
	}
	return text
}
