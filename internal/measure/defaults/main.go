package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	stdsync "sync"

	"gigarank/collectives"
	"gigarank/internal/quantity"
	"gigarank/internal/tuning"
	"gigarank/network"
	"gigarank/study"
)

// options are the points that are compared.
type options struct {
	machines, operations, ranks, payload string
	limit, most                          float64
	all                                  bool
}

func main() {
	var o options
	flag.StringVar(&o.machines, "machine", "", "`LIST` of machine files and presets (default all presets)")
	flag.StringVar(&o.operations, "operations", "", "`LIST` of operations (default all that have several algorithms)")
	flag.StringVar(&o.ranks, "ranks", "2..64Ki:x2,3,6,12,24,48,96,192,384,768,1536,3Ki,6Ki,12Ki,24Ki,48Ki", "`LIST` of numbers of ranks")
	flag.StringVar(&o.payload, "payload", "8..4Mi:x8,4Mi", "`LIST` of sizes")
	flag.Float64Var(&o.limit, "limit", 5, "leave out simulations that are expected to take more than so many `SECONDS` of CPU time")
	flag.Float64Var(&o.most, "most", 1.5, "the `RATIO` to the time of the fastest algorithm that no default may exceed")
	flag.BoolVar(&o.all, "v", false, "print all points")
	flag.Parse()
	worse, err := o.compare()
	if err != nil {
		fmt.Fprintln(os.Stderr, "defaults:", err)
		os.Exit(2)
	}
	if worse > 0 {
		os.Exit(1)
	}
}

// compare prints the points at which the default is slower than it may be, and returns their number.
func (o *options) compare() (worse int, err error) {
	var machines []string
	for _, preset := range network.Presets() {
		machines = append(machines, preset.Name)
	}
	if o.machines != "" {
		machines = strings.Split(o.machines, ",")
	}
	ranks, err := study.Counts(o.ranks, 2, 1<<31-2)
	if err != nil {
		return 0, err
	}
	sizes, err := study.Sizes(o.payload, 1, 1<<40)
	if err != nil {
		return 0, err
	}
	operations := collectives.Operations()
	if o.operations != "" {
		operations = slices.DeleteFunc(operations, func(op collectives.Operation) bool {
			return !slices.Contains(strings.Split(o.operations, ","), op.String())
		})
	}
	for _, name := range machines {
		m, err := network.Load(name, os.ReadFile)
		if err != nil {
			return worse, err
		}
		worse += o.on(m, operations, ranks, sizes)
	}
	return worse, nil
}

// on compares on a machine.
func (o *options) on(m *network.Machine, operations []collectives.Operation, ranks, sizes []int64) (worse int) {
	chooser := tuning.On(m)
	var points []tuning.Question
	for _, op := range operations {
		if !chooser.ByNodes(op) {
			continue
		}
		of := sizes
		if op == collectives.Barrier {
			of = []int64{0}
		}
		for _, n := range ranks {
			for _, bytes := range of {
				points = append(points, tuning.Question{Operation: op, Ranks: n, Bytes: bytes})
			}
		}
	}
	results := make([]tuning.Compared, len(points))
	var workers stdsync.WaitGroup
	next := make(chan int, len(points))
	for i := range points {
		next <- i
	}
	close(next)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i] = chooser.Compare(points[i], o.limit)
			}
		})
	}
	workers.Wait()
	most, left := 1.0, 0
	for _, c := range results {
		most = max(most, c.Loss)
		left += c.LeftOut
		slow := c.Loss > o.most
		if slow {
			worse++
		}
		if slow || o.all {
			fmt.Printf("%-16s %-14v %7d ranks %8s: %-28v %10.4g us, %5.2f of %-28v %10.4g us (chosen in %.3g s)\n", m.Name(), c.Operation, c.Ranks,
				quantity.FormatSize(c.Bytes), c.Chosen, 1e6*c.Seconds, c.Loss, c.Fastest, 1e6*c.Least, c.Wall)
		}
	}
	fmt.Printf("%s: %d points, at most %.3f of the fastest; %d simulations left out\n", m.Name(), len(results), most, left)
	return worse
}
