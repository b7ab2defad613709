package main

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gigarank/internal/spelling"
)

// oddProgram is the native program of the odd workloads; its first argument names the workload.
//
//go:embed testdata/odd.c
var oddProgram []byte

// oddity is a workload whose cost on the host has stood out. It is measured at two sizes: a cost that grows with the size
// shows in their ratio.
type oddity struct {
	name string
	// line is a command line of gigarank, in which RANKS, TIMES and PROGRAM stand for the ranks, the repetitions and the native
	// program.
	line         string
	small, large int // ranks
	times        int // repetitions at the large size, at the small one as many as have as many operations; the cost is the difference to a run with a single one
	unit         string
	operations   func(ranks float64) float64 // in a repetition; nil for the memory of a rank
	growth       float64                     // bound of the ratio, 0 for none
}

func perRankOf(n float64) func(float64) float64 {
	return func(ranks float64) float64 { return n * ranks }
}
func perPair(ranks float64) float64 { return ranks * (ranks - 1) }
func perRound(ranks float64) float64 {
	return ranks * math.Ceil(math.Log2(ranks))
}

const (
	onNative    = "run PROGRAM %s TIMES --ranks RANKS --engines 1"
	disseminate = "run barriertest --machine loggops-default --barrier dissemination --lp event --ranks RANKS --iterations TIMES --engines 1 --collectives "
)

// oddities returns all odd workloads, by the words that choose one.
func oddities() []oddity {
	native := func(workload string) string { return fmt.Sprintf(onNative, workload) }
	return []oddity{
		{"loggops-bulk", disseminate + "bulk", 1 << 16, 1 << 18, 2, "message", perRound, 1.5},
		{"loggops-message", disseminate + "message", 1 << 16, 1 << 18, 2, "message", perRound, 1.5},
		{"iprobe", native("iprobe"), 1000, 10_000, 20, "message", perRankOf(1), 1.3},
		{"test", native("test"), 1000, 10_000, 20, "message", perRankOf(1), 1.3},
		{"alltoall", native("alltoall"), 1 << 10, 1 << 12, 2, "pair", perPair, 1.3},
		{"alltoallv", native("alltoallv"), 1 << 10, 1 << 12, 2, "pair", perPair, 1.3},
		{"alltoallv-two-engines", "run PROGRAM alltoallv TIMES --ranks RANKS --engines 2", 1 << 10, 1 << 12, 2, "pair", perPair, 1.3},
		{"alltoallv-sparse", native("sparse"), 1 << 10, 1 << 13, 2, "pair", perPair, 1},
		{"ring", native("ring"), 1000, 100_000, 50, "message", perRankOf(1), 1.3},
		{"ring-copied", native("ring") + " --stacks copied", 1000, 100_000, 50, "message", perRankOf(1), 1.3},
		{"ring-goroutine", "run ring --lp goroutine --ranks RANKS --iterations TIMES --engines 1", 1000, 100_000, 50, "message", perRankOf(1), 1.3},
		{"ring-event", "run ring --lp event --ranks RANKS --iterations TIMES --engines 1", 1000, 100_000, 50, "message", perRankOf(1), 1.3},
		{"allreduce-8k", native("allreduce"), 1000, 10_000, 20, "rank", perRankOf(1), 1.3},
		{"allreduce-8k-goroutine", "run allreducetest --payload 8KiB --lp goroutine --ranks RANKS --iterations TIMES --engines 1", 1000, 10_000, 20, "rank", perRankOf(1), 1.3},
		{"neighbours", native("neighbours"), 10_000, 100_000, 3, "message", perRankOf(20), 1.2},
		{"gather-memory", native("gather"), 100_000, 1_000_000, 1, "B", nil, 1.2},
		{"barrier-event", "run barriertest --lp event --ranks RANKS --iterations TIMES --engines 1", 1_000_000, 100_000_000, 5, "rank", perRankOf(1), 1.3},
		{"barrier-event-small", "run barriertest --lp event --ranks RANKS --iterations TIMES --engines 1", 10_000, 1_000_000, 100, "rank", perRankOf(1), 1.3},
	}
}

// odd measures the odd workload of a name, or all of them for none.
func (m *meter) odd(name string) ([]row, error) {
	dir, err := os.MkdirTemp("", "gigarank")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	source, program := filepath.Join(dir, "odd.c"), filepath.Join(dir, "odd")
	if err := os.WriteFile(source, oddProgram, 0o666); err != nil {
		return nil, err
	}
	if output, err := exec.Command(m.binary, "cc", "-O2", "-o", program, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gigarank cc: %w\n%s", err, output)
	}
	var rows []row
	for _, o := range oddities() {
		if name != "" && name != o.name {
			continue
		}
		r, err := m.growth(&o, program)
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	if name == "" || name == twoEngines {
		more, err := m.secondEngine(program)
		return append(rows, more...), err
	}
	return rows, nil
}

// twoEngines names the workloads that compare two engines with one.
const twoEngines = "two-engines"

// knowsOdd returns an error unless a name is that of an odd workload, or empty.
func knowsOdd(name string) error {
	names := []string{"", twoEngines}
	for _, o := range oddities() {
		names = append(names, o.name)
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("there is no odd workload %q: %s", name, spelling.Choices(name, names[1:]))
	}
	return nil
}

// command returns the command line of a workload at a size.
func (o *oddity) command(program string, ranks, times int) string {
	return strings.NewReplacer("RANKS", strconv.Itoa(ranks), "TIMES", strconv.Itoa(times), "PROGRAM", program).Replace(o.line)
}

// growth measures a workload at both sizes.
func (m *meter) growth(o *oddity, program string) (row, error) {
	small, err := m.costOf(o, program, o.small)
	if err != nil {
		return row{}, err
	}
	large, err := m.costOf(o, program, o.large)
	if err != nil {
		return row{}, err
	}
	unit := "ns of CPU a " + o.unit
	if o.operations == nil {
		unit = o.unit + " a rank"
	}
	return row{fmt.Sprintf("%s, %d ranks", o.name, o.large), large, unit, small, fmt.Sprintf("%d ranks", o.small), o.growth, true}, nil
}

// costOf returns the CPU time of an operation in ns, without set-up and the first repetition, or the memory of a rank.
func (m *meter) costOf(o *oddity, program string, ranks int) (float64, error) {
	times := o.times
	if o.operations != nil {
		times = int(math.Round(float64(o.times) * o.operations(float64(o.large)) / o.operations(float64(ranks))))
	}
	long, err := m.take(1, o.command(program, ranks, 1+times))
	if err != nil {
		return 0, err
	}
	if o.operations == nil {
		return median(long, func(s *sample) float64 { return s.BytesPerRank }), nil
	}
	short, err := m.take(1, o.command(program, ranks, 1))
	if err != nil {
		return 0, err
	}
	cpu := func(s *sample) float64 { return s.cpu }
	return (median(long, cpu) - median(short, cpu)) * 1e9 / float64(times) / o.operations(float64(ranks)), nil
}

// secondEngine measures how much faster two engines are than one.
func (m *meter) secondEngine(program string) ([]row, error) {
	var rows []row
	for _, c := range []struct{ name, line string }{
		{"barrier, native", "run PROGRAM barrier 100 --ranks 20000"},
		{"ring, native", "run PROGRAM ring 100 --ranks 20000"},
		{"halo, native", "run PROGRAM halo 50 --ranks 20000"},
		{"halo, goroutine", "run ring_nonblocking --iterations 50 --ranks 20000"},
	} {
		line := strings.ReplaceAll(c.line, "PROGRAM", program)
		one, err := m.take(1, line+" --engines 1")
		if err != nil {
			return rows, err
		}
		two, err := m.take(1, line+" --engines 2")
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{c.name + ", 20,000 ranks, wall time with one engine", median(one, (*sample).run), "s", median(two, (*sample).run), "two engines", 1.6, false})
	}
	return rows, nil
}
