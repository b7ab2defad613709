package measurements

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gigarank/internal/input"
	"gigarank/internal/spelling"
)

// Row is one measured figure.
type Row struct {
	Line      int // in its file, counted from 1
	Machine   string
	Nodes     int
	PerNode   int    // ranks a node
	Operation string // as the file has it
	Bytes     int64
	Measured  float64 // seconds
	Source    string
	Library   string
	Algorithm string // as the file has it
	Statistic string // as the file has it
	Fallback  bool   // the library seems to have used another algorithm
	SetAside  string // the reason for which it does not count; empty if it does
}

// Ranks returns the ranks of the row.
func (r *Row) Ranks() int64 { return int64(r.Nodes) * int64(r.PerNode) }

// most bounds nodes, and ranks of a node.
const most = 1 << 31

// field reads a column into a row.
type field struct {
	name     string
	required bool
	read     func(r *Row, cell string) error
}

var fields = []field{
	{"machine", true, func(r *Row, cell string) error {
		if r.Machine = cell; cell == "" {
			return errors.New("the name of the machine is empty")
		}
		return nil
	}},
	{"nodes", true, func(r *Row, cell string) (err error) {
		r.Nodes, err = natural(cell)
		return err
	}},
	{"ppn", true, func(r *Row, cell string) (err error) {
		r.PerNode, err = natural(cell)
		return err
	}},
	{"op", true, func(r *Row, cell string) error {
		if r.Operation = cell; cell == "" {
			return errors.New("the name of the operation is empty")
		}
		return nil
	}},
	{"bytes", true, func(r *Row, cell string) (err error) {
		if r.Bytes, err = strconv.ParseInt(cell, 10, 64); err != nil || r.Bytes < 0 || r.Bytes > mostBytes {
			return fmt.Errorf("%q is no number of bytes: write a whole number from 0 to 2^50", cell)
		}
		return nil
	}},
	{"measured_us", true, func(r *Row, cell string) error {
		us, err := strconv.ParseFloat(cell, 64)
		if err != nil || !(us > 0) || math.IsInf(us, 0) {
			return fmt.Errorf("%q is no time: write microseconds above 0", cell)
		}
		r.Measured = us * 1e-6
		return nil
	}},
	{"source", false, func(r *Row, cell string) error { r.Source = cell; return nil }},
	{"mpi", false, func(r *Row, cell string) error { r.Library = cell; return nil }},
	{"algorithm", false, func(r *Row, cell string) error { r.Algorithm = cell; return nil }},
	{"statistic", false, func(r *Row, cell string) error { r.Statistic = cell; return nil }},
	{"fallback_suspected", false, func(r *Row, cell string) error {
		switch cell {
		case "", "0":
		case "1":
			r.Fallback = true
		default:
			return fmt.Errorf("%q is neither 0 nor 1", cell)
		}
		return nil
	}},
	{"set_aside", false, func(r *Row, cell string) error { r.SetAside = cell; return nil }},
}

// mostBytes is the most bytes of a vector or a block.
const mostBytes = 1 << 50

func natural(cell string) (int, error) {
	n, err := strconv.Atoi(cell)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is no count: write a whole number from 1 to 2^31", cell)
	}
	return n, nil
}

// Read returns the rows of a file, and the columns of it that nothing reads. The error has all faults
// of the file, by line.
func Read(file string, text []byte) (rows []Row, unread []string, err error) {
	var faults input.Faults
	fault := func(line int, field, what, remedy string) {
		faults = append(faults, input.Fault{File: file, Line: line, Field: field, What: what, Remedy: remedy})
	}
	table := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	table.FieldsPerRecord = -1
	var columns []*field
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			fault(wrong.Line, "", wrong.Err.Error(), "write commas between cells and quotes around cells that hold commas")
			break // the rest may be one cell
		} else if err != nil {
			return nil, nil, err
		}
		line, _ := table.FieldPos(0)
		if columns == nil {
			if twice := slices.IndexFunc(cells, func(cell string) bool { return repeated(cells, cell) }); twice >= 0 {
				fault(line, strings.TrimSpace(cells[twice]), "is a column twice", "keep one")
				break
			}
			var missing []string
			if columns, unread, missing = header(cells); len(missing) > 0 {
				fault(line, "", "no column "+strings.Join(missing, ", "), "give the columns "+strings.Join(required(), ","))
				break
			}
			continue
		}
		if len(cells) != len(columns) {
			fault(line, "", fmt.Sprintf("%d cells under %d columns", len(cells), len(columns)), "give each column one")
			continue
		}
		r := Row{Line: line}
		for i, f := range columns {
			if f == nil {
				continue
			}
			if err := f.read(&r, strings.TrimSpace(cells[i])); err != nil {
				fault(line, f.name, err.Error(), "")
			}
		}
		rows = append(rows, r)
	}
	if len(faults) == 0 && len(rows) == 0 {
		fault(1, "", "no measurement", "give a line of column names and a line for each figure")
	}
	if len(faults) > 0 {
		return nil, nil, faults
	}
	return rows, unread, nil
}

// repeated reports whether a column that is read stands more than once in a header.
func repeated(header []string, column string) bool {
	column = strings.TrimSpace(column)
	n := 0
	for _, cell := range header {
		if strings.TrimSpace(cell) == column {
			n++
		}
	}
	return n > 1 && slices.ContainsFunc(fields, func(f field) bool { return f.name == column })
}

// header returns the field of each column, nil for a column that nothing reads.
func header(cells []string) (columns []*field, unread, missing []string) {
	columns = make([]*field, len(cells))
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == cell })
		if at < 0 {
			unread = append(unread, cell)
			continue
		}
		columns[i] = &fields[at]
	}
	for i := range fields {
		if fields[i].required && !slices.Contains(columns, &fields[i]) {
			missing = append(missing, fields[i].name)
		}
	}
	return columns, unread, missing
}

func required() (names []string) {
	for _, f := range fields {
		if f.required {
			names = append(names, f.name)
		}
	}
	return names
}

// Where selects rows: all conditions hold.
type Where []condition

type condition struct {
	column   string
	relation string // =, <= or >=
	pattern  string
	number   int64
}

// texts and numbers return the words and numbers of a row to which conditions refer, by column.
var texts = map[string]func(r *Row) string{
	"machine":   func(r *Row) string { return r.Machine },
	"op":        func(r *Row) string { return r.Operation },
	"source":    func(r *Row) string { return r.Source },
	"mpi":       func(r *Row) string { return r.Library },
	"algorithm": func(r *Row) string { return r.Algorithm },
	"statistic": func(r *Row) string { return r.Statistic },
}

var numbers = map[string]func(r *Row) int64{
	"line":  func(r *Row) int64 { return int64(r.Line) },
	"nodes": func(r *Row) int64 { return int64(r.Nodes) },
	"ppn":   func(r *Row) int64 { return int64(r.PerNode) },
	"ranks": (*Row).Ranks,
	"bytes": func(r *Row) int64 { return r.Bytes },
	"named": func(r *Row) int64 {
		if r.names() {
			return 1
		}
		return 0
	},
	"fallback_suspected": func(r *Row) int64 {
		if r.Fallback {
			return 1
		}
		return 0
	},
}

// ParseWhere reads conditions with commas between them: machine=lumi,bytes<=4096,source=*2025_04*. In
// a word * stands for anything. named=1 selects rows that name their algorithm.
func ParseWhere(text string) (Where, error) {
	var w Where
	for part := range strings.SplitSeq(text, ",") {
		at := strings.IndexAny(part, "<>=")
		if at < 0 {
			return nil, fmt.Errorf("%q is no condition: write COLUMN=VALUE, COLUMN<=NUMBER or COLUMN>=NUMBER", part)
		}
		c := condition{column: strings.TrimSpace(part[:at]), relation: "="}
		rest := part[at+1:]
		if part[at] != '=' {
			c.relation = part[at:min(at+2, len(part))]
			if c.relation != "<=" && c.relation != ">=" {
				return nil, fmt.Errorf("%q: use =, <= or >=", part)
			}
			rest = part[at+2:]
		}
		c.pattern = strings.TrimSpace(rest)
		switch {
		case numbers[c.column] != nil:
			n, err := strconv.ParseInt(c.pattern, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %s is a number", part, c.column)
			}
			c.number = n
		case texts[c.column] == nil:
			return nil, fmt.Errorf("unknown column %q: %s", c.column, spelling.Choices(c.column, selectable()))
		case c.relation != "=":
			return nil, fmt.Errorf("%q: %s is a word, use =", part, c.column)
		}
		w = append(w, c)
	}
	return w, nil
}

func selectable() (names []string) {
	for name := range texts {
		names = append(names, name)
	}
	for name := range numbers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Matches reports whether all conditions hold for a row.
func (w Where) Matches(r *Row) bool {
	return !slices.ContainsFunc(w, func(c condition) bool { return !c.holds(r) })
}

func (c condition) holds(r *Row) bool {
	if of := texts[c.column]; of != nil {
		return like(c.pattern, of(r))
	}
	switch n := numbers[c.column](r); c.relation {
	case "<=":
		return n <= c.number
	case ">=":
		return n >= c.number
	default:
		return n == c.number
	}
}

// like reports whether a word has the form of a pattern, in which * stands for anything.
func like(pattern, word string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == word
	}
	word, found := strings.CutPrefix(word, parts[0])
	if !found {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, word, found = strings.Cut(word, part); !found {
			return false
		}
	}
	return strings.HasSuffix(word, parts[len(parts)-1])
}
