package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings are the flags of the command line.
type settings struct {
	gigarank string
	launcher []string // of MPI; none without it
	tree     string
	work     string // a directory for builds
	classes  []string
	only     []string // benchmarks; all if empty
	ranks    []int    // rank counts; all if empty
	runs     int
	machine  string // file of this machine, for traces; empty to calibrate it
	bursts   string // the time of bursts in replays of traces
	limit    time.Duration
	results  string        // file that keeps the runs of verify; empty for none
	span     time.Duration // after which verify begins no run; 0 for none
	began    time.Time
	commands commands
}

// wants reports whether a run is among those selected.
func (s *settings) wants(benchmark, class string, ranks int) bool {
	return (len(s.only) == 0 || slices.Contains(s.only, benchmark) || slices.Contains(s.only, benchmark+"."+class)) && slices.Contains(s.classes, class) &&
		(len(s.ranks) == 0 || slices.Contains(s.ranks, ranks))
}

var tables = map[string]func(s *settings) error{"verify": verify, "smpi": smpi, "star": star, "traces": traces, "ways": threeWays}

func main() {
	if err := endWithParent(); err != nil {
		fmt.Fprintln(os.Stderr, "npb: it may outlive the process that has started it:", err)
	}
	if err := execute(os.Args[1:], endings()); err != nil {
		fmt.Fprintln(os.Stderr, "npb:", err)
		os.Exit(1)
	}
}

// endings are the signals that end the command.
func endings() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	return signals
}

func execute(arguments []string, endings <-chan os.Signal) error {
	s := settings{began: time.Now()}
	flags := flag.NewFlagSet("npb", flag.ContinueOnError)
	flags.StringVar(&s.gigarank, "gigarank", "gigarank", "the `BINARY`")
	launcher := flags.String("mpirun", "", "MPI launcher `COMMAND`; empty leaves out the runs that need it")
	classes := flags.String("classes", "S,W,A,B", "`CLASSES` to run")
	only := flags.String("benchmarks", "", "`NAMES` of benchmarks to run, as CG,EP, or CG.A,LU.W with their classes; all by default")
	ranks := flags.String("ranks", "", "`NUMBERS` of ranks to run; all by default")
	flags.IntVar(&s.runs, "runs", 3, "`NUMBER` of runs of which smpi and star take the median, and of the rounds of traces")
	flags.StringVar(&s.machine, "machine", "", "machine `FILE` of this machine for traces, by default calibrated; for ways the machine of the predictions, by default gigabit-star and frontier")
	flags.StringVar(&s.bursts, "cpu", "thread", "`TIME` of bursts in replays of traces: thread, or wall, as on a machine that others load")
	flags.StringVar(&s.work, "work", "", "`DIRECTORY` that keeps the builds; by default they are removed")
	flags.StringVar(&s.results, "results", "", "`FILE` that keeps each run of verify; those of the same gigarank are not made again")
	flags.DurationVar(&s.span, "for", 0, "`TIME` after which verify begins no further run; 0 for none")
	flags.DurationVar(&s.limit, "limit", 2*time.Minute, "`TIME` after which a run is given up")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() != 2 || tables[flags.Arg(1)] == nil {
		return fmt.Errorf("%q: give the directory NPB3.4-MPI, then verify, smpi, star, traces or ways", flags.Args())
	}
	s.tree, s.launcher, s.classes, s.only = flags.Arg(0), strings.Fields(*launcher), split(*classes), split(*only)
	for _, number := range split(*ranks) {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return fmt.Errorf("-ranks: %q is no number of ranks", number)
		}
		s.ranks = append(s.ranks, n)
	}
	if s.work == "" {
		var err error
		if s.work, err = os.MkdirTemp("", "npb"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(s.work) }()
	}
	if err := s.absolute(); err != nil {
		return err
	}
	table := make(chan error, 1)
	go func() { table <- tables[flags.Arg(1)](&s) }()
	select {
	case err := <-table:
		return err
	case by := <-endings:
		s.commands.end()
		return fmt.Errorf("ended by signal: %v", by)
	}
}

// absolute makes the paths absolute: make works in other directories.
func (s *settings) absolute() (err error) {
	if strings.ContainsRune(s.gigarank, filepath.Separator) {
		if s.gigarank, err = filepath.Abs(s.gigarank); err != nil {
			return err
		}
	}
	if s.tree, err = filepath.Abs(s.tree); err != nil {
		return err
	}
	s.work, err = filepath.Abs(s.work)
	return err
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' })
}
