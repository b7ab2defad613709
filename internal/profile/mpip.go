package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// section is a part of mpiP's report: lines between a heading and the next.
type mpiPSection uint8

const (
	otherSection mpiPSection = iota
	timeSection
	aggregateSection
	siteSection
)

// mpiP reads mpiP's report.
func (r *reader) mpiP() {
	var in mpiPSection
	var columns []string // of the section, nil before its heading
	var aggregate, sites []Function
	type site struct{ name, number string }
	ofRanks, summed := map[site]Function{}, map[site]bool{}
	var order []site
	headed, ended := false, 0
	number := 0
	for text := range strings.Lines(string(r.text)) {
		number++
		line := strings.TrimSpace(text)
		if strings.HasPrefix(line, "@---") {
			in, columns = r.mpiPHeading(line, number), nil
			headed = headed || in == timeSection
			continue
		}
		fields := strings.Fields(line)
		if in == otherSection || len(fields) == 0 || strings.Trim(line, "-") == "" {
			continue
		}
		if columns == nil {
			columns = fields
			continue
		}
		row := mpiPRow{r, number, columns, fields}
		ended = number
		switch in {
		case timeSection:
			r.mpiPTask(row)
		case aggregateSection:
			if !row.complete("Call", "Site", "Time") {
				break
			}
			aggregate = append(aggregate, Function{Name: row.text("Call"), Count: row.count("Count", true), Seconds: row.seconds("Time") / 1e3})
		case siteSection:
			if !row.complete("Name", "Site", "Rank", "Count", "Mean") {
				break
			}
			at := site{row.text("Name"), row.text("Site")}
			count, mean := row.count("Count", false), row.seconds("Mean")
			if _, known := ofRanks[at]; !known && !summed[at] {
				order = append(order, at)
			}
			if row.text("Rank") == "*" {
				summed[at] = true
				sites = append(sites, Function{at.name, count, float64(count) * mean / 1e3})
			} else {
				sum := ofRanks[at]
				ofRanks[at] = Function{at.name, sum.Count + count, sum.Seconds + float64(count)*mean/1e3}
			}
		}
	}
	if !headed {
		r.fault(max(number, 1), "the report has no section MPI Time (seconds)", "give the whole report of mpiP")
		return
	}
	for _, at := range order {
		if !summed[at] {
			sites = append(sites, ofRanks[at])
		}
	}
	if sites == nil {
		sites, r.Note = aggregate, "the report is concise: call sites beyond the top twenty are left out"
	}
	for _, f := range sites {
		r.add(f.Name, f.Count, f.Seconds)
	}
	r.settle(max(ended, 1))
}

// mpiPHeading returns the section that a heading begins.
func (r *reader) mpiPHeading(line string, number int) mpiPSection {
	for _, of := range []struct {
		words, unit string
		section     mpiPSection
	}{{"@--- MPI Time", "seconds", timeSection}, {"@--- Aggregate Time", "milliseconds", aggregateSection}, {"@--- Callsite Time statistics", "milliseconds", siteSection}} {
		if !strings.HasPrefix(line, of.words) {
			continue
		}
		inside, _, closed := strings.Cut(line[strings.IndexByte(line+"(", '(')+min(1, strings.Count(line, "(")):], ")")
		if !closed || !slices.Contains(strings.FieldsFunc(inside, func(c rune) bool { return c == ',' || c == ' ' }), of.unit) {
			r.fault(number, fmt.Sprintf("the heading names no %s", of.unit), "give a report whose times are in "+of.unit)
			return otherSection
		}
		return of.section
	}
	return otherSection
}

// mpiPTask reads a row of MPI Time.
func (r *reader) mpiPTask(row mpiPRow) {
	if !row.complete("Task", "AppTime", "MPITime") {
		return
	}
	app, inMPI := row.seconds("AppTime"), row.seconds("MPITime")
	if row.text("Task") == "*" {
		r.InMPI = inMPI
		return
	}
	rank, err := strconv.Atoi(row.text("Task"))
	switch {
	case err != nil || rank < 0 || rank >= mostTasks:
		r.fault(row.line, fmt.Sprintf("%q is no task", row.text("Task")), "give a rank of MPI_COMM_WORLD, or * for all")
	case rank < len(r.ByTask) && r.ByTask[rank] >= 0:
		r.fault(row.line, fmt.Sprintf("task %d has a time already", rank), "give the report of one run")
	default:
		r.task(rank, inMPI)
		r.Run = max(r.Run, app)
	}
}

// mpiPRow is a row of a table under names of columns.
type mpiPRow struct {
	r       *reader
	line    int
	columns []string
	fields  []string
}

// complete reports whether a row has as many fields as there are columns, and the columns that are needed.
func (w mpiPRow) complete(needed ...string) bool {
	for _, name := range needed {
		if !slices.Contains(w.columns, name) {
			w.r.fault(w.line, fmt.Sprintf("the table has no column %s", name), "give the report as mpiP writes it")
			return false
		}
	}
	if len(w.fields) != len(w.columns) {
		w.r.fault(w.line, fmt.Sprintf("%d fields under %d columns", len(w.fields), len(w.columns)), "give the report as mpiP writes it")
		return false
	}
	return true
}

func (w mpiPRow) text(column string) string { return w.fields[slices.Index(w.columns, column)] }

// seconds returns a number that is not negative.
func (w mpiPRow) seconds(column string) float64 {
	v, err := strconv.ParseFloat(w.text(column), 64)
	if err != nil || v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		w.r.fault(w.line, fmt.Sprintf("%s %q is no time", column, w.text(column)), "give a number of at least 0")
		return 0
	}
	return v
}

// count returns a number of calls, 0 if the column may be missing, and is.
func (w mpiPRow) count(column string, optional bool) uint64 {
	if optional && !slices.Contains(w.columns, column) {
		return 0
	}
	n, err := strconv.ParseUint(w.text(column), 10, 64)
	if err != nil {
		w.r.fault(w.line, fmt.Sprintf("%s %q is no number of calls", column, w.text(column)), "give a whole number")
	}
	return n
}
