package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"text/tabwriter"
)

func main() {
	m := &meter{}
	quick := flag.Bool("quick", false, "measure once instead of the median of five")
	flag.StringVar(&m.binary, "gigarank", "bin/gigarank", "the `BINARY` to measure")
	flag.StringVar(&m.launcher, "mpirun", "", "MPI launcher `COMMAND`; empty leaves the measurements over MPI out")
	floor := flag.String("floor", "", "measure the bare loop with this `NAME` and print its figure")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "report: unknown argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	m.repetitions = 5
	if *quick {
		m.repetitions = 1
	}
	if *floor != "" {
		// A loop holds as much as the ranks that it stands for, and no garbage.
		debug.SetGCPercent(-1)
		fmt.Println(floors[*floor]())
		return
	}
	rows, err := m.measure()
	print(rows)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.missed() }) {
		os.Exit(1)
	}
}

// row is a line of the table.
type row struct {
	what      string
	got       float64
	unit      string
	reference float64 // what got is compared with
	source    string  // of the reference
	// bound is the ratio got/reference that must be reached or, if less is
	// better, kept; 0 for a comparison only.
	bound float64
	less  bool
}

// missed tells whether the bound is not kept.
func (r row) missed() bool {
	return r.bound != 0 && (r.less && r.ratio() > r.bound || !r.less && r.ratio() < r.bound)
}

func (r row) ratio() float64 {
	if r.reference == 0 {
		return r.got
	}
	return r.got / r.reference
}

func print(rows []row) {
	table := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	line := func(what, got, reference, ratio string) {
		_, _ = fmt.Fprintf(table, "| %s\t| %s\t| %s\t| %s\t|\n", what, got, reference, ratio)
	}
	line("what", "gigarank", "floor or reference", "ratio")
	line("---", "---", "---", "---")
	for _, r := range rows {
		note := ""
		if r.missed() {
			note = " MISSED"
		}
		line(r.what, quantity(r.got, r.unit), quantity(r.reference, r.unit)+" "+r.source, fmt.Sprintf("%.3g%s", r.ratio(), note))
	}
	_ = table.Flush()
}

// quantity prints a value in its unit with a suffix for thousands.
func quantity(v float64, unit string) string {
	for _, s := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= s.size {
			return fmt.Sprintf("%.3g%s %s", v/s.size, s.name, unit)
		}
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}
