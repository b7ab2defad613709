package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
)

func main() {
	m := &meter{}
	quick := flag.Bool("quick", false, "measure once instead of the median of five")
	large := flag.Bool("large", false, "measure 10^8 ranks and more, once, and nothing else")
	part := flag.String("part", "", "of the large ones, or of the odd ones, measure the part with this `NAME` alone")
	odd := flag.Bool("odd", false, "measure workloads whose costs have stood out at two sizes, and nothing else")
	engines := flag.Bool("hosts", false, "measure once how cost grows with the number of engines, and nothing else")
	payloads := flag.Bool("payloads", false, "measure what operations on large slices take beside bare copies, and nothing else")
	flag.StringVar(&m.binary, "gigarank", "bin/gigarank", "the `BINARY` to measure")
	flag.StringVar(&m.launcher, "mpirun", "", "MPI launcher `COMMAND`; empty leaves the measurements over MPI out")
	floor := flag.String("floor", "", "measure the bare loop with this `NAME` and print its figure")
	exchange := flag.String("exchange", "", "measure the exchange with this `NAME` and print its figures")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "report: unknown argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	m.repetitions = 5
	if *quick || *large || *engines || *odd {
		m.repetitions = 1
	}
	if *floor != "" {
		// A loop holds as much memory as the ranks that it stands for, and no garbage.
		debug.SetGCPercent(-1)
		fmt.Println(floors[*floor]())
		return
	}
	if *exchange != "" {
		debug.SetGCPercent(-1)
		if err := printExchange(*exchange); err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
			os.Exit(1)
		}
		return
	}
	measure := m.measure
	switch {
	case *odd:
		if err := knowsOdd(*part); err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
			os.Exit(2)
		}
		measure = func() ([]row, error) { return m.odd(*part) }
	case *large:
		chosen, err := m.chosen(*part)
		if err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
			os.Exit(2)
		}
		measure = chosen
	case *engines:
		measure = m.engines
	case *payloads:
		measure = m.payloads
	}
	rows, err := measure()
	_, _ = fmt.Print(table(rows), drawing(m.chart))
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
	}
	os.Exit(exitCode(rows, err))
}
