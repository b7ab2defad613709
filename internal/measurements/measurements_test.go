package measurements

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/internal/input"
	"gigarank/network"
)

const columns = "machine,nodes,ppn,op,bytes,measured_us"

func machine(t *testing.T, text string) *network.Machine {
	t.Helper()
	m, err := network.Parse("test", []byte("name: test\n"+text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Columns come in any order, quotes hold commas and new lines, and lines are those of the file.
func TestRead(t *testing.T) {
	rows, unread, err := Read("m.csv", []byte("\ufeffop,machine,ppn,nodes,measured_us,bytes,source,colour,fallback_suspected,set_aside\n"+
		"barrier,a,2,4,1.5,0,\"x, y\nz\",red,1,\n"+
		"bcast,b,1,8,3,1024,s,,,busy\n"))
	want := []Row{{Line: 2, Machine: "a", Nodes: 4, PerNode: 2, Operation: "barrier", Measured: 1.5e-6, Source: "x, y\nz", Fallback: true},
		{Line: 4, Machine: "b", Nodes: 8, PerNode: 1, Operation: "bcast", Bytes: 1024, Measured: 3e-6, Source: "s", SetAside: "busy"}}
	if err != nil || !reflect.DeepEqual(rows, want) || !slices.Equal(unread, []string{"colour"}) {
		t.Errorf("got %+v, not read %v, %v; want %+v", rows, unread, err, want)
	}
}

// Each fault is named with its line, all at once.
func TestReadFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "m.csv:1: no measurement"},
		{columns, "m.csv:1: no measurement"},
		{"machine,nodes,ppn,op,bytes\na,1,1,bcast,8", "m.csv:1: no column measured_us"},
		{columns + "\na,0,x,bcast,-1,0\n\na,1,1,bcast,8", `m.csv:2: nodes: "0" is no count|m.csv:2: ppn: "x" is no count|m.csv:2: bytes: "-1"|m.csv:2: measured_us: "0" is no time|m.csv:4: 5 cells under 6 columns`},
		{columns + "\n,1,1,,8,1", "m.csv:2: machine: the name of the machine is empty|m.csv:2: op: the name of the operation is empty"},
		{columns + "\na,1,1,bcast,8,NaN\na,1,1,bcast,8,Inf\na,1,1,bcast,8,-2", "m.csv:2: measured_us|m.csv:3: measured_us|m.csv:4: measured_us"},
		{columns + ",fallback_suspected\na,1,1,bcast,8,1,yes", `m.csv:2: fallback_suspected: "yes"`},
		{columns + "\na,1,1,\"bcast,8,1", "m.csv:2: "},
		{columns + ",bytes\na,1,1,bcast,8,1,9", "m.csv:1: bytes: is a column twice"},
		{columns + "\na,2,1,alltoall,9223372036854775807,1", `m.csv:2: bytes: "9223372036854775807"`},
	} {
		_, _, err := Read("m.csv", []byte(c.text))
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

func TestWhere(t *testing.T) {
	r := &Row{Line: 7, Machine: "leonardo", Nodes: 256, PerNode: 2, Operation: "allreduce", Bytes: 4096, Source: "pico/2025_04_06___20.tar", Algorithm: "ring_ompi"}
	for text, want := range map[string]bool{
		"machine=leonardo": true, "machine=leo": false, "machine=leo*": true, "machine=*ardo": true, "machine=l*n*o": true, "machine=*": true, "machine=l*x*o": false,
		"nodes=256": true, "nodes<=255": false, "nodes>=256,ppn=1": false, "ranks=512": true, "bytes<=4096, op=all*": true,
		"source=*2025_04_06*": true, "named=1": true, "named=0": false, "line=7": true, "machine=oleo*": false, "machine=leonardo*o": false,
	} {
		w, err := ParseWhere(text)
		if err != nil || w.Matches(r) != want {
			t.Errorf("%s: got %v, %v; want %v", text, w.Matches(r), err, want)
		}
	}
	for text, want := range map[string]string{
		"machine": "no condition", "colour=red": "unknown column", "nodes=many": "is a number", "machine<=a": "is a word", "nodes<5": "use =, <= or >=", "": "no condition", "nodes<": "use =",
	} {
		if _, err := ParseWhere(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// Names of algorithms as Open MPI, MPICH, NCCL and the published tables write them.
func TestPointOf(t *testing.T) {
	for _, c := range []struct {
		op, algorithm, statistic string
		want                     string // algorithm/statistic, or a part of the error
	}{
		{"allreduce", "recursive_doubling_ompi", "median of max over ranks; best run", "recursive-doubling/last exit"},
		{"allreduce", "ring_over", "max", "ring/last exit"},
		{"allreduce", "rabenseifner_mpich", "", "rabenseifner/last exit"},
		{"allreduce", "default_mpich", "osu avg", "/mean over ranks"},
		{"allreduce", "default-default", "min", "/first exit"},
		{"allreduce", "default", "imb avg", "/back to back"},
		{"allreduce", "ring (linear in nodes)", "nccl-tests", "ring/back to back"},
		{"allreduce", "", "avg", "/mean over ranks"},
		{"barrier", "", "osu avg", "/back to back"},
		{"barrier", "dissemination", "max", "dissemination/last exit"},
		{"allgather", "brucks_mpich", "", "bruck/last exit"},
		{"alltoall", "modified_bruck_ompi", "", "bruck/last exit"},
		{"bcast", "default-basic-linear", "", "linear/last exit"},
		{"gatherv", "", "osu avg", "linear/mean over ranks"},
		{"alltoallv", "", "osu avg, sycl", "pairwise/mean over ranks"},
		{"allreduce", "NVLS", "", "offload/last exit"},
		{"allreduce", "tree", "", "double-tree/last exit"},
		{"alltoall", "ring_ompi", "", "no algorithm ring of alltoall"},
		{"allreduce-multiple", "", "", "no operation allreduce-multiple"},
		{"allreduce", "ring", "best of three", "statistic"},
	} {
		p, err := PointOf(&Row{Operation: c.op, Algorithm: c.algorithm, Statistic: c.statistic, Nodes: 1, PerNode: 1})
		got := fmt.Sprint(err)
		if err == nil {
			got = "/" + p.Statistic.String()
			if p.Named {
				got = p.Algorithm.String() + got
			}
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %q %q: got %s, want %s", c.op, c.algorithm, c.statistic, got, c.want)
		}
	}
}

// Under some names Open MPI does something else: its ring of fewer elements than ranks is recursive doubling (512 ranks of
// Leonardo: 1419 us with 512 elements, and of Fugaku 37 us with 8, as long as recursive doubling).
func TestExceptionsOfOpenMPI(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want string
	}{
		{Row{Operation: "allreduce", Algorithm: "ring_ompi", Library: "OMPI 4.1.6", Nodes: 512, Bytes: 2048}, "ring"},
		{Row{Operation: "allreduce", Algorithm: "ring_ompi", Library: "OMPI 4.1.6", Nodes: 512, Bytes: 2044}, "recursive-doubling"},
		{Row{Operation: "allreduce", Algorithm: "default-ring", Library: "FJMPI 4.0.1", Nodes: 512, Bytes: 32}, "recursive-doubling"},
		{Row{Operation: "allreduce", Algorithm: "ring_over", Library: "OMPI 4.1.6", Nodes: 512, Bytes: 32}, "ring"},
		{Row{Operation: "allreduce", Algorithm: "ring", Library: "NCCL", Nodes: 512, Bytes: 32}, "ring"},
		{Row{Operation: "allgather", Algorithm: "linear", Library: "mine", Nodes: 8}, "linear"},
		{Row{Operation: "alltoall", Algorithm: "default-linear", Library: "FJMPI 4.0.1", Nodes: 8}, "linear-sync"},
		{Row{Operation: "alltoall", Algorithm: "linear", Library: "mine", Nodes: 8}, "linear"},
	} {
		c.row.PerNode = 1
		p, err := PointOf(&c.row)
		if got := p.Algorithm.String(); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %s, %v; want %s", c.row, got, err, c.want)
		}
	}
}

// Algorithms that are other collectives in turn take as long as these, one after the other, by the algorithms that the library chooses. On
// a flat machine, where a message takes 1 us plus 1 us for 1000 bytes and sums cost nothing, these are binomial or linear here: a binomial reduce or bcast of m
// bytes among 8 ranks takes three messages, a linear scatterv one.
func TestComposedAlgorithms(t *testing.T) {
	table, err := library.Parse("t", []byte("name: t\nsource: a test\nbase: openmpi-4.1\nreduce: {rows: [{algorithm: binomial}]}\nbcast: {rows: [{algorithm: binomial}]}\ngather: {rows: [{algorithm: linear}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	const flat = "network: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	for _, c := range []struct {
		row  Row
		want float64 // us
	}{
		{Row{Operation: "allreduce", Algorithm: "default-nonoverlapping", Bytes: 1000}, 3*2 + 3*2},
		{Row{Operation: "reduce_scatter", Algorithm: "default-non-overlapping", Bytes: 1000}, 3*9 + 2},
		{Row{Operation: "allgather", Algorithm: "default-linear", Bytes: 1000}, 2 + 3*9},
		{Row{Operation: "allgather", Algorithm: "default-gtbc", Bytes: 1000}, 3 + 2 + 3*9}, // the ranks agree first
		{Row{Operation: "allreduce", Algorithm: "default-rdbc", Bytes: 1000}, 3 + 3*2 + 3*2},
		{Row{Operation: "bcast", Algorithm: "default-trinaryx6", Bytes: 1000}, 3 * 2}, // 2·2·2 nodes have no six trees
		{Row{Operation: "bcast", Algorithm: "default-basic-linear", Bytes: 1000}, 3 * 2},
		{Row{Operation: "scatter", Algorithm: "default-use-bcast", Bytes: 1000}, 3 * 9},
	} {
		c.row.Machine, c.row.Library, c.row.Nodes, c.row.PerNode, c.row.Measured = "a", "FJMPI 4.0.1", 8, 1, c.want*1e-6
		all := Compare([]Row{c.row}, Options{Limit: 10, Machine: func(*Row) (*network.Machine, error) { return machine(t, flat), nil },
			Library: func(*Row, *network.Machine) (collectives.Library, error) { return table, nil }})
		if o := all[0]; !o.Counts() || math.Abs(o.Ratio()-1) > 1e-6 {
			t.Errorf("%s %s: got %v us by %s, %s; want %v", c.row.Operation, c.row.Algorithm, o.Simulated*1e6, o.Chosen, o.Reason, c.want)
		}
	}
	if _, err := PointOf(&Row{Operation: "scatter", Algorithm: "use-bcast", Library: "FJMPI", Nodes: 8, PerNode: 1, Statistic: "avg"}); err == nil {
		t.Error("the mean over ranks of a bcast and nothing else was taken")
	}
}

// Names of Fujitsu MPI for algorithms along the links of a torus, with the segments of its rules, and the agreement by messages of calls
// without the barrier network: a barrier of 3 us among 8 ranks by recursive doubling.
func TestTorusAlgorithmsOfFujitsu(t *testing.T) {
	m := machine(t, "node: {bandwidth: 1GB/s}\ntopology: {kind: torus, dimensions: 3}\nnetwork: {model: flat, latency: 1us, torus_writes: {begin: 6us, hop: 2us, take: 0ns}}\n")
	for _, c := range []struct {
		operation, name string
		bytes           int64
		chosen          string
		want            float64 // us
	}{
		{"bcast", "trinaryx3", 3000, "torus-trees:fanout=3", 6 + 3*3},
		{"bcast", "trinaryx3", 4, "recursive-doubling + torus-trees:fanout=3", 3 + 6 + 3*2.002},
		{"bcast", "trinaryx3", 32 << 20, "torus-trees:16KiB:fanout=3", 0},
		{"bcast", "trinaryx3", 33 << 20, "torus-trees:64KiB:fanout=3", 0},
		{"reduce", "trinaryx3", 24 << 10, "torus-trees:fanout=3", 0},
		{"reduce", "trinaryx3", 7 << 20, "torus-trees:64KiB:fanout=3", 0},
		{"allreduce", "trix3", 6000, "torus-trees:4KiB:fanout=3", 6 + 6 + 3*2*4},
		{"allreduce", "trix3", 393217, "torus-trees:16KiB:fanout=3", 0},
		{"allgather", "3dtorus", 3000, "torus-rings", 6 + 3*2 + 7},
		{"gather", "simple", 1000, "torus-direct", 6 + 3*2 + 4},
		{"alltoall", "doublespread", 1000, "torus-spread", 6 + 3*2 + 7},
		{"bcast", "split-binary-tree", 4, "chain", 0},
		{"bcast", "basic-linear", 4, "chain", 0},
		{"bcast", "basic-linear", 32, "split-binary", 0},
	} {
		r := Row{Machine: "a", Operation: c.operation, Algorithm: "default-" + c.name, Library: "FJMPI 4.0.1", Nodes: 8, PerNode: 1, Bytes: c.bytes, Measured: 1}
		o := Compare([]Row{r}, Options{Limit: 10, Machine: func(*Row) (*network.Machine, error) { return m, nil }})[0]
		if o.Chosen != c.chosen || c.want != 0 && math.Abs(o.Simulated*1e6-c.want) > 1e-6 {
			t.Errorf("%s %s of %d bytes: got %v us by %q (%s), want %v by %q", c.operation, c.name, c.bytes, o.Simulated*1e6, o.Chosen, o.Reason, c.want, c.chosen)
		}
	}
	valid := Row{Operation: "bcast", Algorithm: "default-basic-linear", Library: "FJMPI 4.0.1", Nodes: 64, PerNode: 1, Bytes: 8 << 20, Source: "results/fugaku/2025_04_12___03_23_58.tar.gz"}
	if p, err := PointOf(&valid); err != nil || p.Algorithm != collectives.LinearNonblocking {
		t.Errorf("where the library knows basic_linear: %v, %v", p.Algorithm, err)
	}
}

// On a flat machine, where a message takes 1 us plus 1 us for 1000 bytes and nothing else costs
// anything, dissemination takes log2 of the ranks times 1 us, and a linear bcast one message: the root is free at
// once, the other 7 of 8 ranks after 2 us. If a message costs the root a processor time of 3 us, which is more than the
// rest, bcasts back to back follow each other every 7 messages; a rank that waits for its message sees as much.
func TestSimulatedStatistics(t *testing.T) {
	flat := "ranks_per_node: 48\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	busy := "ranks_per_node: 48\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 3us, receive: 0us}}\n"
	for _, c := range []struct {
		machine string
		point   Point
		want    float64 // us
	}{
		{flat, Point{collectives.Barrier, collectives.Dissemination, true, nil, 8, 1, 0, 0, LastExit, part{}, false, false, false}, 3},
		{flat, Point{collectives.Barrier, collectives.Dissemination, true, nil, 4, 8, 0, 0, LastExit, part{}, false, false, false}, 5},
		{flat, Point{collectives.Barrier, collectives.Dissemination, true, nil, 8, 1, 0, 0, BackToBack, part{}, false, false, false}, 3},
		{flat, Point{collectives.Bcast, collectives.Linear, true, nil, 8, 1, 0, 1000, LastExit, part{}, false, false, false}, 2},
		{flat, Point{collectives.Bcast, collectives.Linear, true, nil, 8, 1, 0, 1000, MeanExit, part{}, false, false, false}, 2 * 7. / 8},
		{flat, Point{collectives.Bcast, collectives.Linear, true, nil, 8, 1, 0, 1000, FirstExit, part{}, false, false, false}, 0},
		{busy, Point{collectives.Bcast, collectives.Linear, true, nil, 8, 1, 0, 1000, LastExit, part{}, false, false, false}, 7*3 + 2},
		{busy, Point{collectives.Bcast, collectives.Linear, true, nil, 8, 1, 0, 1000, BackToBack, part{}, false, false, false}, 7 * 3},
	} {
		got, err := c.point.Simulate(machine(t, c.machine))
		if err != nil || math.Abs(got*1e6-c.want) > 1e-5 { // means are rounded down to picoseconds
			t.Errorf("%v: got %v us, %v; want %v", c.point, got*1e6, err, c.want)
		}
	}
}

// The OSU micro-benchmarks take times from a barrier on. That of Open MPI among 256 ranks is a binomial tree, which releases rank r as many
// latencies of 1 us after its root as r has ones. A linear bcast of 2000 bytes gets to each rank 3 us after the root has entered, and a
// rank with k ones waits for it for 3 - k us: C(8,1) ranks for 2 us, C(8,2) for 1 us, the others not at all. In an allreduce by recursive
// doubling rank r waits for each rank s, which enters at the ones of s, and whose vector takes a message for each bit in which r and s differ. So a
// rank with k ones enters at k and leaves at 16 - k: after 8 us in the mean, and rank 255 at once.
func TestMeanAfterBarrier(t *testing.T) {
	table, err := library.Named("openmpi-4.1")
	if err != nil {
		t.Fatal(err)
	}
	m := machine(t, "network: {model: flat, latency: 1us, bandwidth: 1GB/s}\n")
	for _, c := range []struct {
		op        collectives.Operation
		algorithm collectives.Algorithm
		bytes     int64
		statistic Statistic
		want      float64 // us
	}{
		{collectives.Bcast, collectives.Linear, 2000, MeanExit, (8*2. + 28*1) / 256},
		{collectives.Bcast, collectives.Linear, 2000, FirstExit, 0},
		{collectives.Bcast, collectives.Linear, 2000, LastExit, 3},
		{collectives.Allreduce, collectives.RecursiveDoubling, 0, MeanExit, 8},
		{collectives.Allreduce, collectives.RecursiveDoubling, 0, FirstExit, 0},
	} {
		p := Point{Operation: c.op, Algorithm: c.algorithm, Named: true, Library: table, Nodes: 256, PerNode: 1, Bytes: c.bytes, Statistic: c.statistic}
		if got, err := p.Simulate(m); err != nil || math.Abs(got*1e6-c.want) > 1e-5 {
			t.Errorf("%v, %v: got %v us, %v; want %v", c.op, c.statistic, got*1e6, err, c.want)
		}
	}
}

// A comparison simulates all rows, counts those without a reason, and is the same on any number of cores.
func TestCompare(t *testing.T) {
	m := machine(t, "ranks_per_node: 48\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n")
	rows, _, err := Read("m.csv", []byte(columns+",algorithm,fallback_suspected,set_aside\n"+
		"a,8,1,barrier,0,6,dissemination,0,\n"+ // 3 us
		"a,8,1,barrier,0,1,dissemination,0,\n"+ // the same point
		"a,8,1,barrier,0,2,dissemination,1,\n"+
		"a,8,1,barrier,0,2,dissemination,0,busy\n"+
		"a,16,1,barrier,0,2,dissemination,0,\n"+ // 4 us
		"b,8,1,barrier,0,2,,0,\n"+
		"a,8,1,scan,0,2,ring,0,\n"+
		"a,1048576,1,alltoall,65536,2,pairwise,0,\n"))
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Limit: 10, SetAside: []Rule{{where("nodes=16"), "sixteen"}}, Machine: func(r *Row) (*network.Machine, error) {
		if r.Machine != "a" {
			return nil, errors.New("no machine")
		}
		return m, nil
	}}
	all := Compare(rows, options)
	for i, want := range []struct {
		ratio  float64
		reason string
	}{{0.5, ""}, {3, ""}, {1.5, "another algorithm"}, {1.5, "busy"}, {2, "sixteen"}, {0, "no machine"}, {0, "no algorithm ring of scan"}, {0, "--limit"}} {
		if o := all[i]; math.Abs(o.Ratio()-want.ratio) > 1e-9 || !strings.Contains(o.Reason, want.reason) || o.Counts() != (want.reason == "") || o.Failed {
			t.Errorf("row %d: ratio %v, reason %q; want %v", i, o.Ratio(), o.Reason, want)
		}
	}
	options.Cores = 3
	if again := Compare(rows, options); !reflect.DeepEqual(all, again) {
		t.Errorf("on 3 cores got %v, on all %v", again, all)
	}
	summaries := Summarize(all, []Class{{"eight", []Where{where("nodes=8")}}, {"none", []Where{where("nodes=7")}}})
	if len(summaries) == 0 || summaries[0].Summaries[0].Points != 2 || summaries[0].Summaries[0].Worst.Line != 3 || summaries[1].Summaries[0].Group != "eight" || len(summaries[1].Summaries) != 1 {
		t.Errorf("got %+v", summaries)
	}
	d := NewDocument("m.csv", all, nil)
	if d.Rows != 8 || d.Counted != 2 || len(d.Points) != 8 || d.Points[7].Simulated != 0 || math.Abs(d.Points[0].Ratio-0.5) > 1e-9 {
		t.Errorf("got %+v", d)
	}
}

// Quartiles, median error and shares, worked out by hand for the ratios 0.5, 1, 1.2, 2.5. The factors are 1, 1.2, 2, 2.5.
func TestSummary(t *testing.T) {
	var all []Outcome
	for _, ratio := range []float64{1.2, 2.5, 0.5, 1} {
		all = append(all, Outcome{Row: Row{Measured: 2, Operation: "bcast"}, Simulated: 2 * ratio})
	}
	s := Summarize(all, nil)[0].Summaries[0]
	want := Summary{Group: s.Group, Points: 4, Quartiles: [3]float64{0.875, 1.1, 1.525}, Error: 0.35, Within: [3]float64{0.5, 0.5, 0.75}, Worst: s.Worst}
	for i := range want.Quartiles {
		if math.Abs(s.Quartiles[i]-want.Quartiles[i]) > 1e-12 {
			t.Errorf("quartile %d is %v, want %v", i, s.Quartiles[i], want.Quartiles[i])
		}
	}
	if math.Abs(s.Ninety-2.35) > 1e-12 {
		t.Errorf("90 %% are within %v, want 2.35", s.Ninety)
	}
	if s.Points != 4 || math.Abs(s.Error-want.Error) > 1e-12 || s.Within != want.Within || s.Worst.Ratio() != 2.5 {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

// A machine with another number of nodes than were measured is refused.
func TestNodesOfPoint(t *testing.T) {
	m := machine(t, "nodes: 4\nranks_per_node: 48\nmapping: cyclic\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n")
	p := Point{Operation: collectives.Barrier, Nodes: 2, PerNode: 2}
	if _, err := p.Simulate(m); err == nil || !strings.Contains(err.Error(), "on 4 nodes, and 2 were measured") {
		t.Errorf("got %v", err)
	}
}

// Rows that figures of the machine come from do not count, and are simulated all the same.
func TestRowsThatTheMachineWasFittedTo(t *testing.T) {
	const flat = "ranks_per_node: 48\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	rows := []Row{{Line: 2, Machine: "a", Nodes: 8, PerNode: 1, Operation: "barrier", Measured: 4e-6}, {Line: 3, Machine: "a", Nodes: 16, PerNode: 1, Operation: "barrier", Measured: 4e-6}}
	for text, want := range map[string][2]string{
		flat: {"", ""},
		flat + "fitted_to: ['machine=a,nodes=8']\n":                 {"figures of machine test come from it", ""},
		flat + "fitted_to: ['machine=b', 'op=barrier,nodes>=16']\n": {"", "figures of machine test come from it"},
	} {
		m := machine(t, text)
		all := Compare(rows, Options{Limit: 10, Machine: func(*Row) (*network.Machine, error) { return m, nil }})
		for i, o := range all {
			if o.Reason != want[i] || o.Simulated == 0 {
				t.Errorf("%s: row %d: reason %q, simulated %v; want %q", text, i, o.Reason, o.Simulated, want[i])
			}
		}
	}
	if _, err := FittedTo(machine(t, flat+"fitted_to: [colour=red, op<=3]\n")); err == nil || strings.Count(err.Error(), "machine test: fitted_to") != 2 {
		t.Errorf("got %v, want both faults", err)
	}
}

// Machines whose messages share a network are simulated as others are: fair shares of each link of the topology, busses and links.
func TestMachinesThatShareANetwork(t *testing.T) {
	rows := []Row{{Line: 2, Machine: "a", Nodes: 8, PerNode: 2, Operation: "alltoall", Bytes: 64 << 10, Measured: 1e-4}, {Line: 3, Machine: "a", Nodes: 8, PerNode: 1, Operation: "barrier", Measured: 1e-5}}
	for _, section := range []string{
		"contention: {model: fair, link: 1GB/s, topology: true}\ntopology: {kind: fat-tree, arity: 2}\ntaper: 0.5",
		"contention: {model: fair, link: 1GB/s, topology: true}\ntopology: {kind: torus, dimensions: 3}",
		"contention: {model: fair, out: 1GB/s, in: 1GB/s, backbone: 3GB/s}",
		"contention: {model: links, busses: 3, out: 1}", "contention: {model: pmac, in: 1}",
	} {
		m := machine(t, "ranks_per_node: 2\n"+section+"\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n")
		free := machine(t, "ranks_per_node: 2\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n")
		all := Compare(rows, Options{Limit: 10, Machine: func(*Row) (*network.Machine, error) { return m, nil }})
		alone := Compare(rows, Options{Limit: 10, Machine: func(*Row) (*network.Machine, error) { return free, nil }})
		for i, o := range all {
			if o.Reason != "" || o.Simulated < alone[i].Simulated || i == 0 && o.Simulated == alone[i].Simulated {
				t.Errorf("%s: row %d: reason %q, simulated %v, without contention %v", section, i, o.Reason, o.Simulated, alone[i].Simulated)
			}
		}
	}
}

// atScale are the rows of large jobs that presets take figures from, with the figure. No other figure of a preset comes from
// more than 32 nodes, or from a machine whose name is another.
var atScale = map[string]string{
	"machine=leonardo,nodes>=512,op=allreduce,algorithm=recursive_doubling*,bytes<=256":    "leonardo: latency_per_hop",
	"machine=leonardo,nodes=512,op=allgather,algorithm=recursive_doubling*,bytes>=16384":   "leonardo: congestion",
	"machine=fugaku,nodes=512,op=alltoall,algorithm=default-modified-bruck,bytes<=4":       "fugaku: datatype",
	"machine=fugaku,nodes=512,op=gather,algorithm=default-basic-linear,bytes=2048":         "fugaku: partners",
	"machine=fugaku,nodes=512,op=allreduce,algorithm=default-recursive_doubling,bytes<=32": "fugaku: latency_per_hop",
	"machine=fugaku,nodes=512,op=bcast,algorithm=default-trinaryx3,bytes=256":              "fugaku: torus_writes",
	"machine=bluegene-q,nodes=98304,op=allreduce,bytes<=8":                                 "bluegene-q: allreduce, of which one row is published",
	"machine=qsnet-asci-q-64,nodes=64,op=barrier,mpi=Quadrics hw":                          "qsnet: barrier, of which one row is published",
	"machine=fugaku,op=allreduce,algorithm=default-default,bytes<=4":                       "fugaku: barrier, which is published by number of nodes",
}

// TestPresetsAreFittedToSmallJobs holds what presets say under fitted_to: each condition names a machine, an operation and at most
// 32 nodes, or stands in atScale.
func TestPresetsAreFittedToSmallJobs(t *testing.T) {
	const largest = 32
	found := map[string]bool{}
	for _, p := range network.Presets() {
		m, err := network.Load(p.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := FittedTo(m)
		if err != nil {
			t.Error(err)
		}
		for i, w := range rules {
			text := m.FittedTo()[i]
			if strings.HasPrefix(atScale[text], p.Name+": ") {
				found[text] = true
				continue
			}
			named := map[string]bool{}
			for _, c := range w {
				named[c.column] = c.relation == "=" || c.relation == "<="
				if c.column == "nodes" && c.number > largest {
					t.Errorf("%s: fitted to %s, which is more than %d nodes", p.Name, text, largest)
				}
			}
			if !named["machine"] || !named["op"] || !named["nodes"] {
				t.Errorf("%s: fitted to %s: name machine, op and nodes", p.Name, text)
			}
		}
	}
	for text, what := range atScale {
		if !found[text] {
			t.Errorf("%s: no preset is fitted to %s", what, text)
		}
	}
}

// bytes of a reduce_scatter are those of the block that a rank gets: 671,088 on 100 nodes of LUMI are a vector of 64 MiB. By ring
// such a block goes P - 1 times, and is summed up as often.
func TestBytesOfReduceScatterAreABlock(t *testing.T) {
	const ranks, block = 8, 1000
	p, err := PointOf(&Row{Operation: "reduce_scatter", Algorithm: "ring_over", Nodes: ranks, PerNode: 1, Bytes: block})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Simulate(machine(t, "network: {model: flat, latency: 1us, bandwidth: 1GB/s, reduce: {bandwidth: 1GB/s}}\n"))
	if want := (ranks - 1) * 3e-6; err != nil || math.Abs(got-want) > 1e-12 { // a round: 1 us, 1000 bytes over the wire and 1000 summed
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}
