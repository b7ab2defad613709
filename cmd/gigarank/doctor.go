package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/cputime"
	"gigarank/lp"
	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
	"gigarank/sync/mpi"
)

func newDoctor(c *terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Show the capabilities of this build and this machine",
		Long: `Doctor shows the capabilities of this build and this machine: cores, memory and its
bounds, MPI, the number of ranks that fit, and the time of a switch between ranks.`,
		Args: arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			diagnose(c, c.Stdout)
			return nil
		},
	}
}

// switchTest is the wall time for which switches are measured.
const switchTest = 100 * time.Millisecond

func diagnose(c *terminal.Console, w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	p := func(name, format string, arguments ...any) {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, arguments...))
	}
	p("version", "%s, %s, %s/%s", host.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	p("cores", "%d used of %d", c.Cores, runtime.NumCPU())
	free := host.AvailableMemory(c.Root)
	p("memory", "%s available", terminal.Bytes(free.Bytes))
	for _, bound := range host.MemoryBounds(c.Root) {
		p("", "%s by %s", terminal.Bytes(bound.Bytes), bound.Bound)
	}
	for _, kind := range mpivirt.Kinds() {
		p(kind.String()+" ranks", "about %s fit in this memory", ranksThatFit(kind, free))
	}
	p("switch", "%.0f ns from the engine to a goroutine rank and back", switchTime(c.Now))
	if err := cputime.LetRun(); err == nil {
		p("--cpu measured", "threads of this process do not interrupt what ranks compute")
	} else {
		p("--cpu measured", "threads of this process may interrupt what ranks compute: %v", err)
	}
	if mpi.Available() {
		p("MPI", "%s", mpi.Version())
	} else {
		p("MPI", "not in this build: go build -tags mpi ./cmd/gigarank (wants a C compiler, pkg-config and Open MPI or MPICH)")
	}
	if err := native.Available(); err == nil {
		p("native ranks", "gigarank cc uses %s", toolchain.Compiler())
	} else {
		p("native ranks", "not available: %v", err)
	}
	switch all, c := skeleton.Missing(toolchain.Fortran), skeleton.Missing(toolchain.C); {
	case all == nil:
		p("skeletons", "gigarank cc %s uses %s, fc uses %s", skeleton.Flag, skeleton.Compiler(toolchain.C), skeleton.Compiler(toolchain.Fortran))
	case c == nil:
		p("skeletons", "gigarank cc %s uses %s; fc: %v", skeleton.Flag, skeleton.Compiler(toolchain.C), all)
	default:
		p("skeletons", "not available: %v", all)
	}
	if launcher, processes := mpi.Launched(c.Getenv); launcher != "" {
		p("launcher", "%s, processes: %d", launcher, processes)
	} else {
		p("launcher", "none: this process was started by itself")
	}
	for _, name := range []string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT"} {
		if value := c.Getenv(name); value != "" {
			p(name, "%s, set in the environment", value)
		}
	}
	progress := "a plain line now and then: standard error is no terminal"
	if c.Stderr.IsTerminal() {
		progress = "one line kept up to date on the terminal"
	}
	p("progress", "%s", progress)
	_ = table.Flush()
}

// ranksThatFit estimates how many ranks without state of their own fit in the memory of
// a process.
func ranksThatFit(kind *mpivirt.Kind, free host.Headroom) string {
	if free == host.Unbounded {
		return "any number of ranks"
	}
	const collective = 8 // bytes, about, of a collective and the rank's state
	n := max(free.Bytes-host.ProcessMemory, 0) / int64(mpivirt.CostOf(&mpivirt.Config{Kind: kind}, 1).BytesPerRank+collective)
	if n >= mostRanks {
		return "the most ranks that there can be, 2^31-2,"
	}
	return terminal.Count(float64(n))
}

// switchTime returns the time of a resumption of a goroutine LP until it waits again,
// in ns.
func switchTime(now func() time.Time) float64 {
	const ranks = 64
	body := lp.NewGoroutines(ranks, func(_ int, self lp.Coroutine) {
		for {
			self.Wait()
		}
	})
	defer body.Stop()
	resumeAll := func() {
		for i := range ranks {
			body.Resume(i)
		}
	}
	resumeAll() // starts them
	switches := 0
	began := now()
	for now().Sub(began) < switchTest {
		for range 16 {
			resumeAll()
		}
		switches += 16 * ranks
	}
	return float64(now().Sub(began).Nanoseconds()) / float64(switches)
}
