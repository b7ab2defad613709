package fit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/internal/input"
	"gigarank/internal/measurements"
	"gigarank/mpivirt"
	"gigarank/network"
)

func read(t *testing.T, name, text string) []Series {
	t.Helper()
	series, notes, err := Read(Source{Name: name, Text: []byte(text)})
	if err != nil || len(notes) > 0 {
		t.Fatalf("%s: %v, %v", name, notes, err)
	}
	return series
}

// testdata holds outputs in the form of the programs, as they stand in issues of Open MPI, MPICH, nccl-tests and the
// Intel MPI Benchmarks, with the figures of measured.csv (c5n) or invented.
func TestReadPrograms(t *testing.T) {
	for _, c := range []struct {
		file string
		want []Series
	}{
		{"c5n-osu_latency.txt", []Series{{Line: 1, Benchmark: "osu_latency", Kind: Latency, Layout: Layout{2, 1}, Samples: make([]Sample, 23)}}},
		{"osu-7.3.txt", []Series{
			{Line: 5, Benchmark: "osu_latency", Kind: Latency, Layout: Layout{2, 1}, Samples: []Sample{{8, 1, 2.27e-6, 0}, {9, 2, 2.28e-6, 0}}},
			{Line: 13, Benchmark: "osu_barrier", Kind: Collective, Operation: collectives.Barrier, Layout: Layout{4, 48}, Samples: []Sample{{15, 0, 12.88e-6, 0}}},
			{Line: 18, Benchmark: "osu_reduce", Kind: Collective, Operation: collectives.Reduce, Layout: Layout{4, 48}, Samples: []Sample{{21, 1, 53.34e-6, 0}, {22, 2, 52.71e-6, 0}}},
			{Line: 25, Benchmark: "osu_mbw_mr", Kind: MessageRate, Layout: Layout{2, 48}, Pairs: 48, Window: 64, Samples: []Sample{{28, 1, 0, 58.09e6}, {29, 2, 0, 115e6}}},
			{Line: 32, Benchmark: "osu_reduce_scatter", Kind: Collective, Operation: collectives.ReduceScatter, Layout: Layout{1, 4}, Samples: []Sample{{34, 4, 3e-6, 0}, {35, 8, 4e-6, 0}}},
		}},
		{"imb.txt", []Series{
			{Line: 25, Benchmark: "IMB PingPong", Kind: Latency, Layout: Layout{1, 2}, Samples: []Sample{{26, 0, 0.42e-6, 0}, {27, 1, 0.43e-6, 0}}},
			{Line: 35, Benchmark: "IMB Allreduce", Kind: Collective, Operation: collectives.Allreduce, Layout: Layout{1, 4}, Samples: []Sample{{37, 4, 1.91e-6, 0}}},
			{Line: 43, Benchmark: "IMB Allreduce", Kind: Collective, Operation: collectives.Allreduce, Layout: Layout{2, 4}, Samples: []Sample{{45, 4, 5.87e-6, 0}, {46, 8, 5.93e-6, 0}}},
			{Line: 53, Benchmark: "IMB Barrier", Kind: Collective, Operation: collectives.Barrier, Layout: Layout{2, 4}, Samples: []Sample{{54, 0, 4.61e-6, 0}}},
		}},
		{"imb-uniband.txt", []Series{
			{Line: 6, Benchmark: "IMB Uniband", Kind: MessageRate, Layout: Layout{2, 48}, Pairs: 48, Window: 64, Samples: []Sample{{8, 1, 0, 58.09e6}, {9, 4194304, 0, 11893.5e6}}},
		}},
		{"all_reduce.txt", []Series{
			{Line: 1, Benchmark: "nccl-tests all_reduce", Kind: Collective, Operation: collectives.Allreduce, Layout: Layout{2, 2}, Samples: []Sample{{14, 8, 25.10e-6, 0}, {15, 1024, 26.44e-6, 0}, {16, 536870912, 4110e-6, 0}}},
		}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		source := Source{Name: c.file, Text: text}
		if c.file == "c5n-osu_latency.txt" {
			source.Given = Layout{2, 1}
		}
		got, _, err := Read(source)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: got %d tables, %+v; want %d", c.file, len(got), got, len(c.want))
			continue
		}
		for i, want := range c.want {
			s := got[i]
			s.File, s.Statistic = "", ""
			if want.Kind != MessageRate {
				s.Pairs, s.Window = 0, 0
			}
			if c.file == "c5n-osu_latency.txt" {
				if len(s.Samples) != 23 || s.Samples[22].Line != 25 || math.Abs(s.Samples[22].Seconds-1625.6e-6) > 1e-12 {
					t.Errorf("%s: got %+v", c.file, s.Samples)
				}
				s.Samples = want.Samples
			}
			for j := range s.Samples {
				if j < len(want.Samples) && math.Abs(s.Samples[j].Seconds-want.Samples[j].Seconds) < 1e-15 {
					s.Samples[j].Seconds = want.Samples[j].Seconds
				}
			}
			if !reflect.DeepEqual(s, want) {
				t.Errorf("%s: got %+v\nwant %+v", c.file, s, want)
			}
		}
	}
}

const latencyHeading = "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n"

// Each fault is named by file and line, all at once.
func TestReadFaults(t *testing.T) {
	const job = "# gigarank: nodes=2 ppn=1\n"
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "hello\nworld 1\n", "a.txt:1: no output of"},
		{"a.txt", "", "a.txt:1: no output of"},
		{"a.txt", job + latencyHeading, "a.txt:2: the table of osu_latency has no row"},
		{"a.txt", job + latencyHeading + "1 2.0\n2 x\n4 -1\n8\n16 nan\n", `a.txt:5: "x" is no time|a.txt:6: "-1" is no time|a.txt:7: the row has 1 figure|a.txt:8: "nan" is no time`},
		{"a.txt", job + latencyHeading + "1 2.0\n4 2\n2 2\n", "a.txt:6: the size 2 comes after 4"},
		{"a.txt", job + latencyHeading + "1 2.0\nnode7: link down\n2 2\n", "a.txt:6: a row of figures outside of a table"},
		{"a.txt", latencyHeading + "1 2.0\n", "a.txt:1: Latency: nothing says on how many nodes"},
		{"a.txt", "# gigarank: nodes=32 ppn=96\n" + latencyHeading + "1 2.0\n", "a.txt:2: Latency: it takes 2 ranks, and there are 3072 on 32 nodes"},
		{"a.txt", job + "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1 0\n", `a.txt:4: "0" is no bandwidth`},
		{"a.txt", "# nThread 1 nGpus 1\n", "a.txt:1: nothing says which program"},
		{"a.txt", "# gigarank: level=socket:x nodes=1 ppn=2\n" + latencyHeading + "1 2.0\n", `a.txt:1: "socket:x" is no level`},
		{"a.txt", "# gigarank: level=node:8 nodes=1 ppn=2\n" + latencyHeading + "1 2.0\n", "a.txt:1: level node has no size"},
		{"a.txt", "# gigarank: level=leaf:8 nodes=2 ppn=1\n# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1 1\n", "a.txt:2: osu_bw has no level"},
		{"all_reduce.txt", "# nThread 1 nGpus 1\n", "all_reduce.txt:1: the table of nccl-tests all_reduce has no row"},
	} {
		_, _, err := Read(Source{Name: c.name, Text: []byte(c.text)})
		var faults input.Faults
		if !errors.As(err, &faults) {
			t.Errorf("%q: got %v, want faults", c.text, err)
			continue
		}
		want := strings.Split(c.want, "|")
		if len(faults) != len(want) {
			t.Errorf("%q: got\n%v\nwant %q", c.text, err, want)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(faults[i].Error(), want[i]) {
				t.Errorf("%q: got %v, want %s…", c.text, faults[i], want[i])
			}
		}
	}
}

// IMB runs with 2, 4, 8 … processes and all. Runs whose last node is not full are passed over with a note.
func TestPartlyFilledNodesAreNotUsed(t *testing.T) {
	var text strings.Builder
	text.WriteString("# gigarank: nodes=2 ppn=48\n")
	for _, processes := range []int{2, 32, 64, 96} {
		fmt.Fprintf(&text, "# Benchmarking Uniband\n# #processes = %d\n#-----\n #bytes #repetitions Mbytes/sec Msg/sec\n 0 1000 0.00 100\n 1 1000 2.00 2000000\n\n", processes)
	}
	series, notes, err := Read(Source{Name: "a.txt", Text: []byte(text.String())})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0].String(), "a.txt:19: IMB Uniband of 64 processes is not used") {
		t.Fatalf("%v, %v", notes, err)
	}
	for i, want := range []Series{{Layout: Layout{1, 2}, Pairs: 1}, {Layout: Layout{1, 32}, Pairs: 16}, {Layout: Layout{2, 48}, Pairs: 48}} {
		if series[i].Layout != want.Layout || series[i].Pairs != want.Pairs || len(series[i].Samples) != 1 {
			t.Errorf("table %d: %+v", i, series[i])
		}
	}
}

// The words of jobs. -N means nodes to srun and ranks a node to mpirun; the last launch counts.
func TestLayouts(t *testing.T) {
	for text, want := range map[string]Layout{
		"+ srun -N 32 -n 3072 ./osu_allreduce":                                    {32, 96},
		"srun --nodes=2 --ntasks-per-node=48 osu":                                 {2, 48},
		"srun -N2 -n2 osu":                                                        {2, 1},
		"mpirun -np 192 -N 48 osu":                                                {4, 48},
		"mpirun -n 192 --map-by ppr:48:node osu":                                  {4, 48},
		"mpiexec -n 8 -ppn 4 osu":                                                 {2, 4},
		"mpirun -np 2 -npernode 48 osu":                                           {1, 2},
		"#SBATCH --nodes=32\n#SBATCH --ntasks-per-node=36\nmpirun -np 1152 osu":   {32, 36},
		"SLURM_NNODES=4\nSLURM_NTASKS=16":                                         {4, 4},
		"# gigarank: nodes=3 ppn=5":                                               {3, 5},
		"srun -N 32 -n 3072 a\nsrun -N 2 -n 2 b":                                  {2, 1},
		"#SBATCH --nodes=8\n#SBATCH --ntasks-per-node=16\nsrun -N 1 -n 16 ./osu":  {1, 16},
		"#SBATCH --nodes=8\n#SBATCH --ntasks-per-node=16\nsrun -n 2 -N 2 ./osu":   {2, 1},
		"#SBATCH --nodes=8\n#SBATCH --ntasks-per-node=16\nmpirun ./osu_allreduce": {8, 16},
		"mpirun -np 5 -N 2 osu":                                                   {}, "mpirun -np 4 osu": {}, "-N 3 -n 3": {}, "srun -N 3 -n 4 osu": {},
		"mpirun -np 16 --map-by ppr:4:socket osu": {}, "#SBATCH --nodes=4-8 --ntasks-per-node=2": {}, "srun -N4-8 -n 8 osu": {},
	} {
		var s shape
		for line := range strings.Lines(text) {
			s.read(strings.TrimSpace(line))
		}
		if got, known := s.layout(); known != (want != Layout{}) || known && got != want {
			t.Errorf("%q: got %v, %t; want %v", text, got, known, want)
		}
	}
}

// truth is a machine whose benchmarks are simulated, and whose parameters must come out of their output.
const truth = `name: truth
ranks_per_node: 8
network:
  model: table
  intra: [{size: 1, delay: 800ns}, {size: 1048576, delay: 100us}]
  inter: [{size: 1, delay: 2us}, {size: 1024, delay: 2.2us}, {size: 1048576, delay: 90us}]
  overhead: {send: 250ns, receive: 250ns}
  gap: 250ns
  eager_limit: 8192
  reduce: {bandwidth: 5GB/s}
  join: [{size: 0, delay: 300ns}, {size: 1048576, delay: 150us}]
`

// osuBW simulates osu_bw: a window of sends, an answer of 4 bytes. It returns the time of a message.
func osuBW(t *testing.T, m *network.Machine, bytes int64) float64 {
	const window, times = 64, 20
	r, err := mpivirt.Simulate(m, 2, func(r *mpivirt.Rank) error {
		w := r.World()
		for range times {
			var all []mpivirt.Request
			for range window {
				var one mpivirt.Request
				var err error
				if r.Rank() == 0 {
					one, err = w.IsendSize(bytes, 1, 0)
				} else {
					one, err = w.IrecvSize(bytes, 0, 0)
				}
				if err != nil {
					return err
				}
				all = append(all, one)
			}
			if _, err := mpivirt.Waitall(all); err != nil {
				return err
			}
			if r.Rank() == 1 {
				if err := w.SendSize(answerBytes, 0, 1); err != nil {
					return err
				}
			} else if _, err := w.RecvSize(answerBytes, 1, 1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(r.VirtualTime) * 1e-12 / (window * times)
}

// output prints the benchmarks of a machine as the OSU micro-benchmarks do.
func output(t *testing.T, m *network.Machine) string {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	simulate := func(p measurements.Point) float64 {
		seconds, err := p.Simulate(m)
		if err != nil {
			t.Fatal(err)
		}
		return seconds * 1e6
	}
	for _, l := range []Layout{{2, 1}, {1, 2}} {
		line("# gigarank: nodes=%d ppn=%d\n# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)", l.Nodes, l.PerNode)
		for n := int64(1); n <= 1<<20; n *= 2 {
			line("%-10d %.6f", n, simulate(measurements.Point{Operation: collectives.Bcast, Algorithm: collectives.Linear, Named: true, Nodes: l.Nodes, PerNode: l.PerNode, Bytes: n}))
		}
	}
	apart, err := m.WithRanksPerNode(1)
	if err != nil {
		t.Fatal(err)
	}
	line("# gigarank: nodes=2 ppn=1\n# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)")
	for _, n := range []int64{1, 64, 1024} {
		line("%-10d %.6f", n, float64(n)/osuBW(t, apart, n)*1e-6)
	}
	line("# gigarank: nodes=1 ppn=8\n# OSU MPI Barrier Latency Test v7.3\n# Avg Latency(us)")
	line("%.6f", simulate(measurements.Point{Operation: collectives.Barrier, Nodes: 1, PerNode: 8, Statistic: measurements.BackToBack}))
	line("# gigarank: nodes=4 ppn=1\n# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)")
	for _, n := range []int64{8, 65536, 1 << 20} {
		line("%-10d %.6f", n, simulate(measurements.Point{Operation: collectives.Allreduce, Nodes: 4, PerNode: 1, Bytes: n, Statistic: measurements.MeanExit}))
	}
	return text.String()
}

// The benchmarks of a machine give the machine back: its parameters, and its times within a percent.
func TestFitGivesTheMachineBack(t *testing.T) {
	m, err := network.Parse("truth", []byte(truth), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Machine(read(t, "osu.txt", output(t, m)), Options{Name: "back"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := network.Parse("back", r.YAML, nil); err != nil {
		t.Fatalf("the file is no machine: %v\n%s", err, r.YAML)
	}
	before, err := m.Target(16)
	if err != nil {
		t.Fatal(err)
	}
	after, err := r.Machine.Target(16)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want, share float64) {
		t.Helper()
		if math.Abs(got/want-1) > share {
			t.Errorf("%s is %v, want %v\n%s", what, got, want, r.YAML)
		}
	}
	near("gap", float64(after.Gap()), float64(before.Gap()), 0.02)
	near("overhead of sending", float64(after.Overhead().Send), float64(before.Overhead().Send), 0.02)
	near("eager limit", float64(after.EagerLimit()), float64(before.EagerLimit()), 0)
	near("time of a reduction", float64(after.ReduceTime(1<<20)), float64(before.ReduceTime(1<<20)), 0.02)
	near("join", float64(after.Join(0)), float64(before.Join(0)), 0.02)
	for _, bytes := range []int64{1, 1000, 8192, 65536, 1 << 20} {
		near(fmt.Sprintf("delay of %d bytes between nodes", bytes), float64(after.Delay(0, 8, bytes)), float64(before.Delay(0, 8, bytes)), 0.02)
		near(fmt.Sprintf("delay of %d bytes within a node", bytes), float64(after.Delay(0, 1, bytes)), float64(before.Delay(0, 1, bytes)), 0.04)
	}
	for i, o := range r.Residuals {
		if !o.Counts() || o.Error() > 0.01 {
			t.Errorf("%s of %d bytes on %v: measured %v, simulated %v, %s", r.Series[i].Benchmark, o.Bytes, r.Series[i].Layout, o.Measured, o.Simulated, o.Reason)
		}
	}
	if len(r.Residuals) != 2*21+3+1+3 {
		t.Errorf("there are %d residuals", len(r.Residuals))
	}
	for field, estimate := range map[string]bool{"network.gap": false, "network.overhead": true, "network.reduce": false, "network.eager_limit": false, "network.join": false} {
		if !slices.ContainsFunc(r.Facts, func(f Fact) bool { return f.Field == field && f.Estimate == estimate }) {
			t.Errorf("no fact %s, estimate %t, in %+v", field, estimate, r.Facts)
		}
	}
	if len(r.Missing) != 3 || r.Missing[0].Field != "node.bandwidth" || r.Missing[1].Field != "node.message_gap" || r.Missing[2].Field != "node.memory" {
		t.Errorf("missing is %+v", r.Missing)
	}
}

// full is a machine of four levels, whose ranks share two interfaces.
const full = `name: full
ranks_per_node: 8
node: {interfaces: 2, bandwidth: 12GB/s, message_gap: 120ns}
network:
  model: levels
  levels:
    - {name: socket, ranks: 4, delays: [{size: 1, delay: 300ns}, {size: 4096, delay: 900ns}, {size: 1048576, delay: 80us}]}
    - {name: node, delays: [{size: 1, delay: 600ns}, {size: 1048576, delay: 110us}]}
    - {name: leaf, nodes: 2, delays: [{size: 1, delay: 1.5us}, {size: 1048576, delay: 91us}]}
    - {name: machine, delays: [{size: 1, delay: 2.5us}, {size: 32, delay: 2.6us}, {size: 33, delay: 3.1us}, {size: 1048576, delay: 93us}]}
  overhead: {send: 100ns, receive: 100ns}
  gap: 100ns
`

// halfTrip is what osu_latency prints of rank 0 and another one, in microseconds.
func halfTrip(t *testing.T, m *network.Machine, other int, bytes int64) float64 {
	const trips = 10
	r, err := mpivirt.Simulate(m, other+1, func(r *mpivirt.Rank) error {
		if r.Rank() != 0 && r.Rank() != other {
			return nil
		}
		for range trips {
			if r.Rank() == 0 {
				if err := r.World().SendSize(bytes, other, 1); err != nil {
					return err
				}
			}
			if _, err := r.World().RecvSize(bytes, other-r.Rank(), 1); err != nil {
				return err
			}
			if r.Rank() == other {
				if err := r.World().SendSize(bytes, 0, 1); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(r.VirtualTime) * 1e-6 / (2 * trips)
}

// messageRate is what osu_mbw_mr prints of pairs between two nodes: bytes a second. Windows overlap those of other pairs.
func messageRate(t *testing.T, m *network.Machine, pairs int, bytes int64) float64 {
	const window, skip, times = 64, 10, 30
	took := make([]float64, pairs)
	m, err := m.WithRanksPerNode(pairs)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mpivirt.Simulate(m, 3*pairs, func(r *mpivirt.Rank) error { // the third node is on another leaf
		w, sends := r.World(), r.Rank() < pairs
		other := (r.Rank() + 2*pairs) % (4 * pairs)
		if r.Rank()/pairs == 1 {
			return nil
		}
		for i := range skip + times {
			if sends && i == skip {
				took[r.Rank()] = -float64(r.Now())
			}
			var all []mpivirt.Request
			for range window {
				one, err := w.IrecvSize(bytes, other, 100)
				if sends {
					one, err = w.IsendSize(bytes, other, 100)
				}
				if err != nil {
					return err
				}
				all = append(all, one)
			}
			if _, err := mpivirt.Waitall(all); err != nil {
				return err
			}
			if !sends {
				if err := w.SendSize(4, other, 101); err != nil {
					return err
				}
			} else if _, err := w.RecvSize(4, other, 101); err != nil {
				return err
			}
		}
		if sends {
			took[r.Rank()] += float64(r.Now())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(window*times*pairs) * float64(bytes) / (slices.Max(took) * 1e-12)
}

// outputOfLevels prints osu_latency of each level, osu_bw and osu_mbw_mr of a machine such as full.
func outputOfLevels(t *testing.T, m *network.Machine, pairs ...int) string {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	for _, l := range []struct {
		job   string
		other int
	}{{"nodes=1 ppn=2 level=socket:4", 1}, {"nodes=1 ppn=2", 4}, {"nodes=2 ppn=1 level=leaf:2", 8}, {"nodes=2 ppn=1", 16}} {
		line("# gigarank: %s\n# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)", l.job)
		for n := int64(1); n <= 1<<20; n *= 2 {
			line("%-10d %.6f", n, halfTrip(t, m, l.other, n))
		}
	}
	line("# gigarank: nodes=2 ppn=1\n# OSU MPI Bandwidth Test v7.3\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)")
	for n := int64(1); n <= 1<<20; n *= 8 {
		line("%-10d %.6f", n, messageRate(t, m, 1, n)*1e-6)
	}
	for _, p := range pairs {
		line("# gigarank: nodes=2 ppn=%d\n# OSU MPI Multiple Bandwidth / Message Rate Test v7.3\n# [ pairs: %d ] [ window size: 64 ]\n# Datatype: MPI_CHAR.\n# Size                  MB/s        Messages/s", p, p)
		for n := int64(1); n <= 1<<20; n *= 8 {
			rate := messageRate(t, m, p, n)
			line("%-10d %20.6f %17.2f", n, rate*1e-6, rate/float64(n))
		}
	}
	return text.String()
}

// Outputs of pairs in a socket, a node, a leaf and farther apart, and of full nodes, give the levels and the interfaces back.
func TestFitGivesLevelsAndInterfacesBack(t *testing.T) {
	m, err := network.Parse("full", []byte(full), nil)
	if err != nil {
		t.Fatal(err)
	}
	series := read(t, "osu.txt", outputOfLevels(t, m, 8))
	before, err := m.Target(32)
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range []int{0, 2} {
		r, err := Machine(slices.Clone(series), Options{Name: "back", Interfaces: given})
		if err != nil {
			t.Fatal(err)
		}
		back, err := network.Parse("back", r.YAML, nil)
		if err != nil {
			t.Fatalf("the file is no machine: %v\n%s", err, r.YAML)
		}
		after, err := back.Target(32)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want, share float64) {
			t.Helper()
			if math.Abs(got/want-1) > share {
				t.Errorf("%s is %v, want %v\n%s", what, got, want, r.YAML)
			}
		}
		for _, other := range []int{1, 3, 4, 7, 8, 15, 16, 31} {
			for _, bytes := range []int64{1, 32, 1000, 1 << 20} {
				whole := func(m *network.Target) float64 {
					return float64(m.SendTime(bytes) + m.Delay(0, other, bytes) + m.ReceiveTime(bytes))
				}
				near(fmt.Sprintf("time of %d bytes from 0 to %d", bytes, other), whole(after), whole(before), 0.03)
			}
		}
		interfaces, _, gap := after.Interfaces()
		if interfaces != max(given, 1) {
			t.Errorf("there are %d interfaces, %d were given", interfaces, given)
		}
		near("the gap of a node", float64(gap)/float64(interfaces), 60e3, 0.02)
		near("the time of a node for a MiB", float64(after.InterfaceTime(1<<20))/float64(interfaces), (1<<20)/24e9*1e12, 0.02)
		for i, o := range r.Residuals {
			most := 0.06
			if given == 0 && r.Series[i].Pairs == 1 && o.Bytes > 1 { // one interface for two has twice the rate of a rank's own
				most = 0.25
			}
			if !o.Counts() || o.Error() > most {
				t.Errorf("%d interfaces: %s of %d bytes on %v: measured %v, simulated %v, %s", given, r.Series[i].Benchmark, o.Bytes, r.Series[i].Layout, o.Measured, o.Simulated, o.Reason)
			}
		}
		for _, field := range []string{"node.bandwidth", "node.message_gap", "delays within a socket of 4 ranks", "delays within a leaf of 2 nodes"} {
			if !slices.ContainsFunc(r.Facts, func(f Fact) bool { return f.Field == field && !f.Estimate }) {
				t.Errorf("no fact %s in %+v", field, r.Facts)
			}
		}
	}
}

// What pairs show of interfaces that they do not fill is a lower bound, and so is that of fewer pairs than a full node has.
func TestInterfacesThatAreNotFull(t *testing.T) {
	m, err := network.Parse("full", []byte(full), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Machine(read(t, "osu.txt", outputOfLevels(t, m, 2)), Options{Name: "back", RanksPerNode: 8})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"node.bandwidth", "node.message_gap"} {
		if !slices.ContainsFunc(r.Facts, func(f Fact) bool { return f.Field == field && f.Estimate }) {
			t.Errorf("%s is no estimate in %+v", field, r.Facts)
		}
	}
	if !strings.Contains(string(r.YAML), "bandwidth: ") || !strings.Contains(string(r.YAML), "# estimate") {
		t.Errorf("the file does not mark the estimates:\n%s", r.YAML)
	}
}

// Pairs within a node give its memory, which reads and writes each byte: four pairs move 20 GB/s together, and one pair alone 12 GB/s. The
// simulation of the row then takes as long as measured. Fewer pairs than a node has, and pairs that do not hold each other up, give a lower bound.
func TestMemoryOfANode(t *testing.T) {
	const mebi = 1 << 20
	table := func(ranks int, rate float64) string {
		return fmt.Sprintf("# gigarank: nodes=1 ppn=%d\n# OSU MPI Multiple Bandwidth / Message Rate Test v7.3\n# [ pairs: %d ] [ window size: 64 ]\n# Size                  MB/s        Messages/s\n%d %.2f %.2f\n",
			ranks, ranks/2, mebi, rate/1e6, rate/mebi)
	}
	pingPong := fmt.Sprintf("# gigarank: nodes=1 ppn=2\n%s1 0.5\n%d 90\n", latencyHeading, mebi)
	for _, c := range []struct {
		output             string
		ranks, memory      int
		estimate, residual bool
	}{
		{table(2, 12e9) + table(8, 20e9), 8, 40e9, false, true},
		{table(2, 12e9) + table(8, 47e9), 8, 94e9, true, false},
		{table(2, 12e9) + table(4, 15e9), 8, 30e9, true, true},
		{table(8, 20e9), 8, 40e9, true, true},
	} {
		r, err := Machine(read(t, "a.txt", pingPong+c.output), Options{Name: "memory", RanksPerNode: c.ranks})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(r.YAML), fmt.Sprintf("memory: %dGB/s", c.memory/1e9)) {
			t.Errorf("memory of %d B/s is not in\n%s", c.memory, r.YAML)
		}
		if !slices.ContainsFunc(r.Facts, func(f Fact) bool { return f.Field == "node.memory" && f.Estimate == c.estimate }) {
			t.Errorf("no fact node.memory, estimate %t, in %+v", c.estimate, r.Facts)
		}
		last := r.Residuals[len(r.Residuals)-1]
		if ratio := float64(last.Simulated) / float64(last.Measured); c.residual && (ratio < 0.95 || ratio > 1.1) {
			t.Errorf("%d bytes: measured %v, simulated %v", last.Bytes, last.Measured, last.Simulated)
		}
	}
}

// Of a ping-pong alone the delays are known and nothing else, which is said.
func TestMissing(t *testing.T) {
	series := read(t, "a.txt", "# gigarank: nodes=2 ppn=4\n# OSU MPI Allreduce Latency Test v5.9\n# Size       Avg Latency(us)\n8 12.5\n# gigarank: nodes=2 ppn=1\n"+latencyHeading+"1 2.0\n1024 2.5\n")
	r, err := Machine(series, Options{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, m := range r.Missing {
		fields = append(fields, m.Field)
	}
	want := []string{"delays within a node", "network.gap, network.overhead", "network.eager_limit", "network.join", "node", "node.memory", "network.reduce"}
	if !slices.Equal(fields, want) {
		t.Errorf("missing are %q, want %q", fields, want)
	}
	socket := read(t, "b.txt", "# gigarank: nodes=1 ppn=2 level=socket:48\n"+latencyHeading+"1 0.5\n")
	if r, err := Machine(socket, Options{Name: "b"}); err != nil || r.Machine.RanksPerNode() != 48 {
		t.Errorf("a socket of 48 ranks alone: %v, %v", r, err)
	}
	if _, err := Machine(series[:1], Options{Name: "a"}); err == nil || !strings.Contains(err.Error(), "osu_latency") {
		t.Errorf("without a ping-pong got %v", err)
	}
}

// A ring of nccl-tests gives the delay of its steps: 4 ranks, 6 steps of 1.5 us + n/4 bytes at 10 GB/s.
func TestRingOfNCCL(t *testing.T) {
	var text strings.Builder
	text.WriteString("$ ./all_reduce_perf -b 1K -e 256M\n# nThread 1 nGpus 4\n#  Rank  0 Group  0 Pid  1 on  h device  0 [0x8d] NVIDIA\n#  Rank  1 Group  0 Pid  1 on  h device  1 [0x8d] NVIDIA\n" +
		"#  Rank  2 Group  0 Pid  1 on  h device  2 [0x8d] NVIDIA\n#  Rank  3 Group  0 Pid  1 on  h device  3 [0x8d] NVIDIA\n")
	for n := 1024; n <= 256<<20; n *= 4 {
		us := 6 * (1.5 + float64(n/4)/10e3)
		fmt.Fprintf(&text, "%12d %12d float sum -1 %.4f 0.1 0.1 0 %.4f 0.1 0.1 0\n", n, n/4, us, us)
	}
	r, err := Machine(read(t, "n.txt", text.String()), Options{Name: "gpus"})
	if err != nil {
		t.Fatal(err)
	}
	target, err := r.Machine.Target(4)
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(target.Delay(0, 1, 1<<20)) * 1e-6; math.Abs(got-(1.5+104.8576)) > 0.5 {
		t.Errorf("1 MiB takes %v us, want 106.36", got)
	}
	for _, o := range r.Residuals {
		if o.Chosen != "ring" || o.Error() > 0.02 {
			t.Errorf("%d bytes: %v measured, %v simulated by %s", o.Bytes, o.Measured, o.Simulated, o.Chosen)
		}
	}
}
