package study

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A column is one of a table of records.
type column[R any] struct {
	name  string
	value func(R) string
}

// columns are the columns of results.csv.
var columns = []column[Record]{
	{"operation", func(r Record) string { return r.Point.Operation }},
	{"program", func(r Record) string { return r.Point.Program }},
	{"arguments", func(r Record) string { return r.Point.Arguments }},
	{"varied", func(r Record) string { return r.Point.Varied }},
	{"cpu", func(r Record) string { return r.Point.CPU }},
	{"algorithm", func(r Record) string { return r.Point.Algorithm }},
	{"library", func(r Record) string { return r.Point.Library }},
	{"chosen_algorithm", func(r Record) string { return r.Chosen }},
	{"ranks", func(r Record) string { return whole(r.Point.Ranks) }},
	{"payload_bytes", func(r Record) string { return whole(r.Point.Payload) }},
	{"machine", func(r Record) string { return r.Point.Machine }},
	{"ranks_per_node", func(r Record) string { return whole(int64(r.Point.RanksPerNode)) }},
	{"mapping", func(r Record) string { return r.Point.Mapping }},
	{"noise", func(r Record) string { return r.Point.Noise }},
	{"compute_ps", func(r Record) string { return whole(int64(r.Point.Compute)) }},
	{"iterations", func(r Record) string { return strconv.Itoa(r.Point.Iterations) }},
	{"seed", func(r Record) string { return strconv.FormatUint(r.Point.Seed, 10) }},
	{"time_ps", func(r Record) string { return known(r, int64(r.Time)) }},
	{"closed_form_ps", func(r Record) string {
		if r.ClosedForm == 0 {
			return ""
		}
		return whole(int64(r.ClosedForm))
	}},
	{"time_over_closed_form", Record.ratio},
	{"bus_bandwidth_bytes_per_s", func(r Record) string {
		if v := r.busBandwidth(); v > 0 {
			return decimal(math.Round(v))
		}
		return ""
	}},
	{"energy_j", func(r Record) string {
		if r.Result.Energy == nil {
			return ""
		}
		return decimal(r.Result.Energy.Joules)
	}},
	{"min_ps", func(r Record) string { return known(r, summary(r.Result.Iterations).Min) }},
	{"mean_ps", func(r Record) string { return known(r, summary(r.Result.Iterations).Mean) }},
	{"max_ps", func(r Record) string { return known(r, summary(r.Result.Iterations).Max) }},
	{"fingerprint", func(r Record) string { return r.Result.Fingerprint }},
	{"error", func(r Record) string { return r.Error }},
	{"hosts", func(r Record) string { return strconv.Itoa(r.Result.Hosts) }},
	{"engines", func(r Record) string { return strconv.Itoa(r.Result.Engines) }},
	{"lambda", func(r Record) string { return decimal(r.Result.Lambda) }},
	{"lp", func(r Record) string { return r.Result.LP }},
	{"wall_s", func(r Record) string { return decimal(r.Result.Wall) }},
	{"setup_s", func(r Record) string { return decimal(r.Result.SetUp) }},
	{"events", func(r Record) string { return strconv.FormatUint(r.Result.Events, 10) }},
	{"messages", func(r Record) string { return strconv.FormatUint(r.Result.Messages, 10) }},
	{"remote_messages", func(r Record) string { return strconv.FormatUint(r.Result.RemoteMessages, 10) }},
	{"sync_messages", func(r Record) string { return strconv.FormatUint(r.Result.SyncMessages, 10) }},
	{"transport_messages", func(r Record) string { return strconv.FormatUint(r.Result.TransportMessages, 10) }},
	{"peak_rss_bytes", func(r Record) string { return whole(r.Result.PeakRSS) }},
	{"bytes_per_rank", func(r Record) string { return decimal(r.Result.BytesPerRank) }},
	{"version", func(r Record) string { return r.Version }},
}

func whole(n int64) string     { return strconv.FormatInt(n, 10) }
func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// known returns "" if the point has failed.
func known(r Record, n int64) string {
	if r.Error != "" {
		return ""
	}
	return whole(n)
}

// Printable returns a text whose control characters, but for new lines and tabs, are written as
// Go does in quotes: none reaches a terminal. It returns the text itself if it has none.
func Printable(text []byte) []byte {
	escaped := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if bytes.IndexFunc(text, escaped) < 0 {
		return text
	}
	var safe []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if escaped(r) {
			safe = fmt.Appendf(safe, "\\x%02x", r)
		} else {
			safe = append(safe, text[:size]...)
		}
		text = text[size:]
	}
	return safe
}

// inert returns a cell that no spreadsheet takes for a formula, and without control characters.
// A name from a file may look like a formula: then an apostrophe comes first, as for text that
// is typed in.
func inert(cell string) string {
	cell = string(Printable([]byte(cell)))
	if cell != "" && strings.ContainsRune("=+-@\t", rune(cell[0])) {
		if _, err := strconv.ParseFloat(cell, 64); err != nil {
			return "'" + cell
		}
	}
	return cell
}

// WriteCSV writes the records as a table with a line of column names (RFC 4180). Times
// are in picoseconds where the name ends so; an unknown value is empty.
func WriteCSV(w io.Writer, records []Record) error { return writeCSV(w, columns, records) }

func writeCSV[R any](w io.Writer, columns []column[R], records []R) error {
	table := csv.NewWriter(w)
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.name
	}
	err := table.Write(row)
	for _, r := range records {
		for i, c := range columns {
			row[i] = inert(c.value(r))
		}
		if err == nil {
			err = table.Write(row)
		}
	}
	table.Flush()
	if err == nil {
		err = table.Error()
	}
	return err
}
