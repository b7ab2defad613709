package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/replay"
	"gigarank/network"
	"gigarank/trace"
	"gigarank/vtime"
)

const replayHelp = `Replay simulates the program of a trace on a target machine: each rank makes the calls of its task
again, with sizes and without contents. FILE is a trace of run --trace, or a .dim file of Dimemas.

On the machine on which a simulated run was recorded, the replay has the same virtual times and the
same fingerprint. What the course of the program hung on is kept as it was recorded: a Waitany waits
for what it completed in the record, a test that found something waits if it would find nothing
now, a test that found nothing is a test again. Receives with wildcards match by virtual time, or by
--matching recorded the message that they took in the record.

Bursts of a simulated run are times on the machine that it was simulated on. Those of other traces count times the
cpu_ratio of the machine file. --cpu-ratio multiplies both.

A trace that does not fit together ends with an error that names task, operation, function and the
bytes of the file, or with the report of a deadlock (exit code 1). A damaged file is refused (exit code 2).

`

// replayedFlags are the flags of run that replay has, too.
var replayedFlags = []string{
	"seed", "noise", "polls", "barrier", "allreduce", "algorithm",
	"machine", "ranks-per-node", "mapping", "library", "allocation",
	"json", "stats", "matrix", "critical-path",
	"engines", "sync", "collectives", "lost-after", "progress",
	"watchdog", "strict", "verbose",
}

// replayFlags are the flags of replay alone, as they are written.
type replayFlags struct{ ratio, cpu, matching, from, to string }

func newReplay(c *terminal.Console) *cobra.Command {
	var f runFlags
	var own replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Simulate the program of a trace on a machine",
		Long:  replayHelp + terminal.ExitHelp,
		Example: `  gigarank run stencil --ranks 4096 --trace s.grt
  gigarank replay s.grt --machine frontier --cpu-ratio 0.5
  gigarank replay lulesh-8.dim --machine cluster.yaml --stats`,
		Args: arguments(1, "one FILE, a trace"),
		RunE: func(_ *cobra.Command, args []string) error { return runReplay(c, args[0], &f, &own) },
	}
	all := &cobra.Command{}
	f.define(all)
	for _, name := range replayedFlags {
		cmd.Flags().AddFlag(all.Flags().Lookup(name))
	}
	cmd.Flags().SortFlags = false
	terminal.Group(cmd.Flags(), groupResults, f.defineReport)
	terminal.Group(cmd.Flags(), groupResults, f.timeline.define)
	terminal.Group(cmd.Flags(), groupMachine, f.defineIdeal)
	terminal.Group(cmd.Flags(), groupSimulated, func(flags *pflag.FlagSet) {
		flags.StringVar(&own.ratio, "cpu-ratio", "1", "`RATIO` by which the times of bursts are multiplied")
		flags.StringVar(&own.cpu, "cpu", string(burstThread), "`TIME` of bursts: thread (CPU time), wall, or none")
		flags.StringVar(&own.matching, "matching", string(matchVirtual), "`MESSAGE` that a receive with wildcards takes: virtual (the first in virtual time), or recorded")
		flags.StringVar(&own.from, "from-mark", "", "time the window of each rank from the mark `NAME`#K on, where it begins phase NAME for the K-th time")
		flags.StringVar(&own.to, "to-mark", "", "time it up to the mark `NAME`#K; without a mark from the beginning, or to the end")
	})
	return cmd
}

// matching says which message a receive with wildcards takes.
type matching string

// The messages that such a receive may take.
const (
	matchVirtual  matching = "virtual"
	matchRecorded matching = "recorded"
)

// matchings are the values of --matching.
var matchings = []matching{matchVirtual, matchRecorded}

func (m matching) String() string { return string(m) }

// window returns the part of the tasks that is timed, nil for none.
func (own *replayFlags) window(faults *terminal.UsageError) *replay.Window {
	if own.from == "" && own.to == "" {
		return nil
	}
	from, err := readMark(own.from)
	faults.Add("--from-mark", err)
	to, err := readMark(own.to)
	faults.Add("--to-mark", err)
	return &replay.Window{From: from, To: to}
}

// readMark reads a mark: the name of a phase, and # with the number of its beginning, 1 if that is left out. The empty mark is the zero one.
func readMark(text string) (m replay.Mark, err error) {
	if text == "" {
		return m, nil
	}
	m = replay.Mark{Name: text, N: 1}
	if i := strings.LastIndexByte(text, '#'); i >= 0 {
		m.Name = text[:i]
		if m.N, err = strconv.Atoi(text[i+1:]); err != nil || m.N < 1 || m.N > math.MaxInt32 {
			return m, fmt.Errorf("%q is no mark: write the name of a phase and the number of its beginning, such as step#3", text)
		}
	}
	return m, nil
}

// burstTime is the time that a burst counts.
type burstTime string

// The times of bursts.
const (
	burstThread burstTime = "thread"
	burstWall   burstTime = "wall"
	burstNone   burstTime = "none"
)

// burstTimes are the values of --cpu.
var burstTimes = []burstTime{burstThread, burstWall, burstNone}

func (b burstTime) String() string { return string(b) }

// runReplay replays a trace.
func runReplay(c *terminal.Console, name string, f *runFlags, own *replayFlags) error {
	var faults terminal.UsageError
	ratio, err := readRatio(own.ratio)
	faults.Add("--cpu-ratio", err)
	time, err := terminal.Choose("time", own.cpu, burstTimes)
	faults.Add("--cpu", err)
	matching, err := terminal.Choose("message", own.matching, matchings)
	faults.Add("--matching", err)
	window := own.window(&faults)
	file, err := openTrace(name)
	faults.AddFile("FILE", err)
	if window != nil && len(faults) == 0 {
		faults.Add("FILE", window.Check(file))
	}
	if err := faults.OrNil(); err != nil {
		return err
	}
	warnOfTrace(c, file)
	err = f.replay(name, file, bursts{ratio: ratio, time: time}, replay.Options{Recorded: matching == matchRecorded, Window: window})
	if err != nil {
		return terminal.UsageError{fmt.Errorf("FILE: %w", err)}
	}
	f.explains = func(err error) error { return misfits(file, err) }
	err = run(c, f.replays.Name, f)
	if damage := (*trace.Fault)(nil); errors.As(err, &damage) && damage.Damaged {
		err = terminal.UsageError{fmt.Errorf("FILE: %w", damage)}
	}
	return err
}

// toldMisfits is the most faults of a trace that the error of its replay tells.
const toldMisfits = 3

// misfits adds to the error of a replay the operations in which the tasks of the trace do not fit together. It adds nothing for a damaged file, or if
// the tasks fit: the error is that of the program, or of the machine.
func misfits(file *trace.File, err error) error {
	if damage := (*trace.Fault)(nil); errors.As(err, &damage) && damage.Damaged {
		return err
	}
	faults, n, failed := trace.Check(file, toldMisfits)
	if failed != nil || n == 0 {
		return err
	}
	text := fmt.Sprintf("the tasks of the trace do not fit together (gigarank trace check finds %s):", spelling.Count(n, "fault"))
	for _, fault := range faults {
		text += "\n  " + fault
	}
	return terminal.Ended{Cause: fmt.Errorf("%w\n%s", err, text), Code: terminal.ExitProgram}
}

// warnOfTrace says what a trace lacks.
func warnOfTrace(c *terminal.Console, file *trace.File) {
	for _, warning := range file.Warnings {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: warning: %s\n", warning)
	}
	tellUnrecorded(c, file.Summary.Unrecorded)
	for _, problem := range file.Summary.Problems {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: warning: %s\n", problem)
	}
}

// replay has a run replay a trace.
func (f *runFlags) replay(name string, file *trace.File, b bursts, o replay.Options) error {
	repeated, err := repeats(file.Header.Repeats)
	if err != nil {
		return err
	}
	b.simulated = file.Header.Origin == simulatedOrigin
	o.Burst = b.of
	form := replay.New(file, o)
	f.replays, f.ranks, f.contents = entryOf(name, form, repeated), strconv.Itoa(file.Header.Tasks), string(noContents)
	f.machineRead = func(t *network.Target) { b.target = t }
	return nil
}

// simulatedOrigin is the origin of traces that run --trace writes.
const simulatedOrigin = "simulated"

// bursts gives the virtual times of bursts.
type bursts struct {
	ratio     fraction
	time      burstTime
	simulated bool            // the recorded times are those of a machine, and no CPU times of a host
	target    *network.Target // the machine of the replay
}

// of returns the virtual time of a burst of a rank.
func (b *bursts) of(rank int, cpu, wall vtime.Duration) vtime.Duration {
	d := cpu
	switch b.time {
	case burstNone:
		return 0
	case burstWall:
		d = wall
	}
	if !b.simulated && b.target != nil {
		d = b.target.CPUTime(rank, d)
	}
	return b.ratio.times(d)
}

// fraction is a positive ratio.
type fraction struct{ num, den uint64 }

// readRatio reads a ratio of CPU times.
func readRatio(text string) (fraction, error) {
	r, is := new(big.Rat).SetString(text)
	switch {
	case !is || len(text) > 30:
		return fraction{}, fmt.Errorf("%q is no number: write a decimal number such as 0.8", text)
	case r.Cmp(big.NewRat(1, 1_000_000)) < 0 || r.Cmp(big.NewRat(1_000_000, 1)) > 0:
		return fraction{}, fmt.Errorf("%s is out of range: write a number from 0.000001 to 1000000", text)
	case r.Num().BitLen() > 63 || r.Denom().BitLen() > 62:
		return fraction{}, errors.New("the number has too many digits")
	}
	return fraction{r.Num().Uint64(), r.Denom().Uint64()}, nil
}

// times returns the product of a ratio and a time, rounded to the nearest picosecond, at most the greatest time.
func (f fraction) times(d vtime.Duration) vtime.Duration {
	if f.num == f.den || d < 0 {
		return d
	}
	high, low := bits.Mul64(uint64(d), f.num)
	low, carry := bits.Add64(low, f.den/2, 0)
	if high += carry; high >= f.den {
		return math.MaxInt64
	}
	q, _ := bits.Div64(high, low, f.den)
	return vtime.Duration(min(q, math.MaxInt64))
}
