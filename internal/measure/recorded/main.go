package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/internal/quantity"
)

// comparison is what is compared.
type comparison struct {
	table      *library.Table
	ranks      []int
	sizes      []int64
	operations []collectives.Operation
	recorder   *recorder
	report     report
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "recorded:", err)
		os.Exit(1)
	}
}

func run() error {
	name := flag.String("library", "openmpi-4.1", "`NAME` of the library, or a file with a table")
	ranks := flag.String("ranks", "2,3,4,7,8,12,16", "numbers of processes, `LIST`")
	sizes := flag.String("sizes", "8,16,32,64,128,256,512,1Ki,2Ki,4Ki,8Ki,16Ki,32Ki,64Ki,128Ki,256Ki,512Ki,1Mi,2Mi,4Mi", "bytes of vectors and blocks, `LIST`")
	only := flag.String("only", "", "operations, `LIST` (default all)")
	forced := flag.Bool("forced", false, "tell the library each of its algorithms in place of its own choice")
	flag.Parse()
	c := &comparison{report: newReport()}
	var faults []error
	fault := func(err error) { faults = append(faults, err) }
	var err error
	c.table, err = library.Load(*name, os.ReadFile)
	fault(err)
	for _, text := range strings.Split(*ranks, ",") {
		n, err := quantity.ParseCount(text)
		fault(err)
		c.ranks = append(c.ranks, int(n))
	}
	for _, text := range strings.Split(*sizes, ",") {
		n, err := quantity.ParseSize(text)
		fault(err)
		c.sizes = append(c.sizes, n)
	}
	names := strings.Split(*only, ",")
	for _, op := range collectives.Operations() {
		if *only == "" || slices.Contains(names, op.String()) {
			c.operations = append(c.operations, op)
		}
	}
	if len(c.operations) == 0 {
		fault(fmt.Errorf("-only %q has no operation", *only))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if c.recorder, err = newRecorder(); err != nil {
		return err
	}
	defer c.recorder.remove()
	if *forced {
		err = c.compareForced()
	} else {
		err = c.compareChosen()
	}
	if err != nil {
		return err
	}
	return c.report.finish(os.Stdout, *forced && flag.NFlag() == 1)
}

// calls returns calls of an operation among some ranks.
func (c *comparison) calls(op collectives.Operation, ranks int) (calls []call) {
	sizes, roots := c.sizes, []int{0}
	if op == collectives.Barrier {
		sizes = []int64{0}
	}
	if op.Rooted() {
		roots = append(roots, ranks/2)
	}
	for _, root := range roots {
		for _, bytes := range sizes {
			calls = append(calls, call{op, ranks, bytes, root})
		}
	}
	return calls
}

// compareChosen compares the library's own choices with those of the table.
func (c *comparison) compareChosen() error {
	for _, ranks := range c.ranks {
		var calls []call
		for _, op := range c.operations {
			calls = append(calls, c.calls(op, ranks)...)
		}
		if err := c.compare(calls, nil, func(k call) collectives.Algorithm { return c.table.Choose(k.question()) }); err != nil {
			return err
		}
	}
	return nil
}

// compareForced compares algorithms that the library is told.
func (c *comparison) compareForced() error {
	for _, f := range forcings {
		op, a, err := f.parse()
		if err != nil {
			c.report.missing = append(c.report.missing, err.Error())
			continue
		}
		if !slices.Contains(c.operations, op) {
			continue
		}
		for _, ranks := range c.ranks {
			if f.ranks != 0 && f.ranks != ranks {
				continue
			}
			err := c.compare(c.calls(op, ranks), f.parameters(), func(k call) collectives.Algorithm { return c.table.Runs(k.question(), a) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// compare records calls among the same number of ranks, and compares them with the schedules of algorithms.
func (c *comparison) compare(calls []call, parameters []string, algorithm func(call) collectives.Algorithm) error {
	recorded, err := c.recorder.record(calls, parameters)
	if err != nil {
		return err
	}
	for i, k := range calls {
		a := algorithm(k)
		scheduled, err := k.scheduled(a)
		if err != nil {
			return err
		}
		c.report.add(k, a, recorded[i], scheduled)
	}
	return nil
}
