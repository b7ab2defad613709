package fit

import (
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gigarank/collectives"
	"gigarank/internal/input"
	"gigarank/internal/spelling"
)

// Note is a remark on an unused part of a file.
type Note struct {
	File string
	Line int
	Text string
}

// String returns "file:line: text".
func (n Note) String() string { return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text) }

// Source is a file of benchmarks' output.
type Source struct {
	Name string
	Text []byte
	// Given is the layout that overrides the layout of the job, the zero value for none. Default is
	// for jobs without a layout.
	Given, Default Layout
	// Level overrides the level of the job, the zero value for none.
	Level Level
}

// reader finds the tables of a file.
type reader struct {
	*Source
	series []Series
	notes  []Note
	faults input.Faults
	job    shape

	line    int
	now     *Series        // the table being read; nil between tables
	unused  bool           // the rows being read belong to an unused benchmark
	parse   func([]string) // reads the fields of a row of now
	hosts   map[string]int // by host: ranks of nccl-tests
	imb     imbHeading
	command string // words that name a program of nccl-tests
	next    Level  // level of the next table, from a line of the job
}

// Read returns the tables of a file. The error has all faults, by line.
func Read(source Source) ([]Series, []Note, error) {
	r := &reader{Source: &source}
	found := false
	for text := range strings.Lines(string(source.Text)) {
		r.line++
		r.take(strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")))
		found = found || r.now != nil || r.unused
	}
	for _, s := range r.series {
		if len(s.Samples) == 0 && len(r.faults) == 0 {
			r.fault(s.Line, fmt.Sprintf("the table of %s has no row", s.Benchmark), "give the output of a run that came to its end")
		}
	}
	if !found && len(r.faults) == 0 {
		r.fault(1, "no output of the OSU micro-benchmarks, IMB or nccl-tests", "give the text that such a program prints, with its lines that begin with #")
	}
	if len(r.faults) > 0 {
		return nil, r.notes, r.faults
	}
	return r.series, r.notes, nil
}

func (r *reader) fault(line int, what, remedy string) {
	r.faults = append(r.faults, input.Fault{File: r.Name, Line: line, What: what, Remedy: remedy})
}

func (r *reader) note(format string, arguments ...any) {
	r.notes = append(r.notes, Note{r.Name, r.line, fmt.Sprintf(format, arguments...)})
}

var (
	osuHeading   = regexp.MustCompile(`^# OSU (\S+) (.+?)(?: +[Tt]est)?(?: v[0-9].*)?$`)
	osuPairs     = regexp.MustCompile(`\[ pairs: (\d+) \] \[ window size: (\d+) \]`)
	imbBenchmark = regexp.MustCompile(`^# Benchmarking (\S+)`)
	imbProcesses = regexp.MustCompile(`^# #processes = (\d+)`)
	imbGroups    = regexp.MustCompile(`^# \( *(\d+) groups of`)
	ncclHeading  = regexp.MustCompile(`^# nThread `)
	ncclRank     = regexp.MustCompile(`^# +Rank +\d+ .*\bon +(\S+) +device`)
	levelWords   = regexp.MustCompile(`^# gigarank:.*\blevel=(\S*)`)
	ncclProgram  = regexp.MustCompile(`\b(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce|gather|scatter|sendrecv|hypercube)_perf`)
)

// take reads a line of the file.
func (r *reader) take(line string) {
	r.job.read(line)
	r.readLevel(line)
	if program := ncclProgram.FindStringSubmatch(line); program != nil {
		r.command = program[1]
	}
	switch {
	case osuHeading.MatchString(line):
		r.end()
		r.beginOSU(osuHeading.FindStringSubmatch(line))
	case imbBenchmark.MatchString(line):
		r.end()
		r.imb = imbHeading{name: imbBenchmark.FindStringSubmatch(line)[1], line: r.line}
	case imbProcesses.MatchString(line):
		r.imb.processes, _ = strconv.Atoi(imbProcesses.FindStringSubmatch(line)[1])
	case imbGroups.MatchString(line):
		r.imb.groups, _ = strconv.Atoi(imbGroups.FindStringSubmatch(line)[1])
	case r.imb.name != "" && strings.Contains(line, "#repetitions"):
		r.beginIMB(strings.Fields(line))
	case ncclHeading.MatchString(line):
		if r.end(); r.hosts == nil { // each process may print the heading
			r.beginNCCL()
		}
	case r.hosts != nil && ncclRank.MatchString(line):
		r.hosts[ncclRank.FindStringSubmatch(line)[1]]++
	case r.now != nil && r.now.Kind == MessageRate && osuPairs.MatchString(line):
		found := osuPairs.FindStringSubmatch(line)
		r.now.Pairs, _ = strconv.Atoi(found[1])
		r.now.Window, _ = strconv.Atoi(found[2])
	case line == "" || line[0] == '#':
	default:
		r.row(strings.Fields(line))
	}
}

// row reads the fields of a line that is not a comment.
func (r *reader) row(fields []string) {
	numbers := 0
	for _, f := range fields {
		if _, err := strconv.ParseFloat(f, 64); err == nil {
			numbers++
		}
	}
	_, err := strconv.ParseInt(fields[0], 10, 64)
	begins := err == nil || r.now != nil && r.now.Operation == collectives.Barrier && r.now.Kind == Collective && numbers == len(fields)
	switch {
	case r.unused && numbers > 0:
	case r.now != nil && begins:
		r.parse(fields)
	case numbers == len(fields) && len(fields) > 1:
		r.fault(r.line, "a row of figures outside of a table", "restore the heading of the benchmark above it, or remove what cuts its table in two")
	default:
		r.end()
	}
}

// end ends a table.
func (r *reader) end() {
	if r.now != nil && len(r.now.Samples) > 0 || r.unused {
		r.now, r.unused = nil, false
	}
}

// begin begins a table.
func (r *reader) begin(s Series) {
	s.File, s.Line = r.Name, r.line
	if s.Level = r.level(); s.Level != (Level{}) && s.Kind != Latency {
		r.fault(r.line, fmt.Sprintf("%s has no level: level %s is that of two ranks which osu_latency or PingPong measures", s.Benchmark, s.Level.Name), "give this output without the level")
	}
	r.series = append(r.series, s)
	r.now, r.unused = &r.series[len(r.series)-1], false
}

// readLevel takes the level of the next table from a line such as "# gigarank: level=socket:8".
func (r *reader) readLevel(line string) {
	found := levelWords.FindStringSubmatch(line)
	if found == nil {
		return
	}
	var err error
	if r.next, err = ParseLevel(found[1]); err != nil {
		r.fault(r.line, err.Error(), "write level=socket:8, with the ranks of a unit, or level=leaf:16, with its nodes")
	}
}

// level returns the unit that the ranks of a table share. A line of the job is for one table.
func (r *reader) level() Level {
	next := r.next
	r.next = Level{}
	if r.Level != (Level{}) {
		return r.Level
	}
	return next
}

// skip passes over the table of an unused benchmark.
func (r *reader) skip(format string, arguments ...any) {
	r.note(format, arguments...)
	r.now, r.unused = nil, true
}

// layout returns the layout of a job's ranks.
func (r *reader) layout() (Layout, error) {
	if r.Given != (Layout{}) {
		return r.Given, nil
	}
	if l, known := r.job.layout(); known {
		return l, nil
	}
	if r.Default != (Layout{}) {
		return r.Default, nil
	}
	return Layout{}, errors.New("nothing says on how many nodes it ran, with how many ranks on each")
}

const layoutRemedy = "write FILE@NODESxRANKS, such as out.txt@32x96, give --nodes and --ranks-per-node, or put a line '# gigarank: nodes=32 ppn=96' above it"

// number reads a positive figure of a row; zero allows 0.
func (r *reader) number(field, what string, zero bool) (float64, bool) {
	v, err := strconv.ParseFloat(field, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v == 0 && !zero {
		r.fault(r.line, fmt.Sprintf("%q is no %s", field, what), "restore what the benchmark has printed, or remove the row")
		return 0, false
	}
	return v, true
}

// size reads the size of a row. Sizes ascend in a table.
func (r *reader) size(field string) (int64, bool) {
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil || n < 0 {
		r.fault(r.line, fmt.Sprintf("%q is no number of bytes", field), "restore what the benchmark has printed, or remove the row")
		return 0, false
	}
	return n, true
}

// add adds a sample, whose size is greater than the size of the previous sample.
func (r *reader) add(p Sample) {
	s := r.now.Samples
	if len(s) > 0 && p.Bytes <= s[len(s)-1].Bytes {
		r.fault(r.line, fmt.Sprintf("the size %d comes after %d", p.Bytes, s[len(s)-1].Bytes), "give each table a heading of its own")
		return
	}
	p.Line = r.line
	r.now.Samples = append(s, p)
}

// columns checks the number of fields of a row.
func (r *reader) columns(fields []string, least int) bool {
	if len(fields) < least {
		r.fault(r.line, fmt.Sprintf("the row has %s, and at least %d belong there", spelling.Count(len(fields), "figure"), least), "restore what the benchmark has printed, or remove the row")
		return false
	}
	return true
}

// osuCollectives maps names in headings to operations.
var osuCollectives = map[string]collectives.Operation{
	"Allreduce Latency": collectives.Allreduce, "Reduce Latency": collectives.Reduce, "Broadcast Latency": collectives.Bcast, "Barrier Latency": collectives.Barrier,
	"Allgather Latency": collectives.Allgather, "Gather Latency": collectives.Gather, "Scatter Latency": collectives.Scatter,
	"All-to-All Personalized Exchange Latency": collectives.Alltoall, "Reduce_scatter Latency": collectives.ReduceScatter,
}

// beginOSU begins a table of an OSU micro-benchmark. Its heading is "# OSU MPI Allreduce Latency Test v7.3".
func (r *reader) beginOSU(heading []string) {
	name := strings.TrimSpace(heading[2])
	s := Series{Window: 64, Pairs: 1, Statistic: "osu avg"}
	op, collective := osuCollectives[name]
	switch {
	case !strings.HasPrefix(heading[1], "MPI"):
		r.skip("OSU %s %s is not used: only those of MPI are", heading[1], name)
		return
	case name == "Latency":
		s.Kind, s.Benchmark = Latency, "osu_latency"
	case name == "Bandwidth":
		s.Kind, s.Benchmark = Bandwidth, "osu_bw"
	case name == "Multiple Bandwidth / Message Rate":
		s.Kind, s.Benchmark = MessageRate, "osu_mbw_mr"
	case collective:
		s.Kind, s.Operation, s.Benchmark = Collective, op, "osu_"+op.String()
	default:
		r.skip("OSU %s is not used: nothing in a machine file follows from it", name)
		return
	}
	layout, err := r.layout()
	if err == nil && s.Kind != Collective {
		layout, err = pair(layout, s.Kind == MessageRate)
	}
	if err != nil {
		r.fault(r.line, name+": "+err.Error(), layoutRemedy)
	}
	s.Layout = layout
	r.begin(s)
	r.parse = r.osuRow
}

// pair returns the layout of two ranks, or of the halves of all ranks between which messages go.
func pair(l Layout, halves bool) (Layout, error) {
	switch {
	case halves && l.Ranks()%2 != 0:
		return l, fmt.Errorf("%s on %s cannot form pairs", spelling.Count(l.Ranks(), "rank"), spelling.Count(l.Nodes, "node"))
	case halves && l.Nodes > 2:
		return l, fmt.Errorf("it ran on %s: pairs between two nodes are needed", spelling.Count(l.Nodes, "node"))
	case halves || l.Ranks() == 2:
		return l, nil
	case l.Nodes == 1:
		return Layout{1, 2}, nil
	case l.Nodes == 2 && l.PerNode == 1:
		return l, nil
	}
	return l, fmt.Errorf("it takes 2 ranks, and there are %d on %s", l.Ranks(), spelling.Count(l.Nodes, "node"))
}

func (r *reader) osuRow(fields []string) {
	s := r.now
	if s.Kind == Collective && s.Operation == collectives.Barrier {
		if us, ok := r.number(fields[0], "time", false); ok {
			r.add(Sample{Seconds: us * 1e-6})
		}
		return
	}
	if !r.columns(fields, 2) {
		return
	}
	n, sized := r.size(fields[0])
	v, ok := r.number(fields[1], map[bool]string{true: "bandwidth", false: "time"}[s.Kind == Bandwidth || s.Kind == MessageRate], n == 0)
	switch {
	case !ok || !sized || n == 0 && v == 0:
	case s.Kind == Bandwidth || s.Kind == MessageRate:
		r.add(Sample{Bytes: n, Rate: v * 1e6})
	default:
		r.addTime(n, v*1e-6, s.Operation == collectives.ReduceScatter)
	}
}

// addTime adds the time of a size. A total size is the size of the blocks of all ranks.
func (r *reader) addTime(bytes int64, seconds float64, total bool) {
	if ranks := int64(r.now.Layout.Ranks()); total && ranks > 0 {
		if bytes%ranks != 0 {
			r.note("%s cannot be equal blocks of %s: the row is not used", spelling.Count(bytes, "byte"), spelling.Count(ranks, "rank"))
			return
		}
		bytes /= ranks
	}
	if r.now.Kind == Collective && bytes == 0 {
		return // a call that does nothing
	}
	r.add(Sample{Bytes: bytes, Seconds: seconds})
}

// imbHeading holds the lines before the columns of a table of IMB.
type imbHeading struct {
	name              string
	line              int
	processes, groups int
}

// imbWindow is MAX_WIN_SIZE of the Intel MPI Benchmarks: the messages of a window of Uniband. Processes of the first half send to those of
// the second.
const imbWindow = 64

var imbCollectives = map[string]collectives.Operation{
	"Allreduce": collectives.Allreduce, "Reduce": collectives.Reduce, "Bcast": collectives.Bcast, "Barrier": collectives.Barrier, "Allgather": collectives.Allgather,
	"Gather": collectives.Gather, "Scatter": collectives.Scatter, "Alltoall": collectives.Alltoall, "Reduce_scatter": collectives.ReduceScatter,
}

// beginIMB begins a table of IMB, at the names of its columns.
func (r *reader) beginIMB(columns []string) {
	h := r.imb
	r.imb = imbHeading{}
	s := Series{Benchmark: "IMB " + h.name, Kind: Collective, Statistic: "imb avg"}
	op, collective := imbCollectives[h.name]
	switch {
	case h.groups > 1:
		r.skip("IMB %s of %s is not used: give the run of one", h.name, spelling.Count(h.groups, "group"))
		return
	case h.name == "PingPong":
		s.Kind = Latency
	case h.name == "Uniband":
		s.Kind, s.Pairs, s.Window = MessageRate, h.processes/2, imbWindow
	case collective:
		s.Operation = op
	default:
		r.skip("IMB %s is not used: nothing in a machine file follows from it", h.name)
		return
	}
	at := slices.Index(columns, "t_avg[usec]")
	switch s.Kind {
	case Latency:
		at = slices.Index(columns, "t[usec]")
	case MessageRate:
		at = slices.Index(columns, "Mbytes/sec")
	}
	if at < 0 {
		r.fault(r.line, fmt.Sprintf("the columns of %s have no time, or no bandwidth", s.Benchmark), "give the output without options that change its columns")
		r.skip("%s has neither time nor bandwidth", s.Benchmark)
		return
	}
	layout, err := r.layout()
	if err == nil {
		var fills bool
		if layout, fills, err = first(layout, h.processes); err == nil && !fills {
			r.skip("IMB %s of %s is not used: they do not fill nodes of %d", h.name, spelling.Count(h.processes, "process"), layout.PerNode)
			return
		}
	}
	if err == nil && s.Kind == MessageRate {
		layout, err = pair(layout, true)
	}
	if err != nil {
		r.fault(h.line, h.name+": "+err.Error(), layoutRemedy)
	}
	s.Layout = layout
	r.begin(s)
	r.parse = func(fields []string) { r.imbRow(fields, at) }
}

// first returns the layout of the first ranks, which fill one node after another, and whether they fill all of theirs.
func first(l Layout, processes int) (of Layout, fills bool, err error) {
	switch {
	case processes == 0 || processes == l.Ranks():
		return l, true, nil
	case processes > l.Ranks():
		return l, false, fmt.Errorf("it has %s, and the job has %s on %s", spelling.Count(processes, "process"), spelling.Count(l.Ranks(), "rank"), spelling.Count(l.Nodes, "node"))
	case processes <= l.PerNode:
		return Layout{1, processes}, true, nil
	case processes%l.PerNode == 0:
		return Layout{processes / l.PerNode, l.PerNode}, true, nil
	}
	return l, false, nil
}

func (r *reader) imbRow(fields []string, at int) {
	if slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, "out-of-mem") || strings.HasPrefix(f, "time-out") }) {
		r.note("IMB did not measure this size: %s", strings.Join(fields, " "))
		return
	}
	if !r.columns(fields, at+1) {
		return
	}
	bytes := int64(0)
	barrier := r.now.Kind == Collective && r.now.Operation == collectives.Barrier
	if !barrier {
		n, ok := r.size(fields[0])
		if !ok {
			return
		}
		bytes = n
	}
	us, ok := r.number(fields[at], "figure", bytes == 0 && !barrier)
	switch {
	case !ok || us == 0:
	case r.now.Kind == MessageRate:
		r.add(Sample{Bytes: bytes, Rate: us * 1e6})
	case barrier:
		r.add(Sample{Seconds: us * 1e-6})
	default:
		r.addTime(bytes, us*1e-6, r.now.Operation == collectives.ReduceScatter)
	}
}

// ncclOperations maps names of programs to operations. total says that a size is the size of all
// blocks.
var ncclOperations = map[string]struct {
	op    collectives.Operation
	total bool
}{
	"all_reduce": {collectives.Allreduce, false}, "reduce": {collectives.Reduce, false}, "broadcast": {collectives.Bcast, false},
	"all_gather": {collectives.Allgather, true}, "reduce_scatter": {collectives.ReduceScatter, true}, "alltoall": {collectives.Alltoall, true},
	"gather": {collectives.Gather, true}, "scatter": {collectives.Scatter, true},
}

// beginNCCL begins a table of nccl-tests. Not every version prints the operation; then the command
// line or the name of the file tells it.
func (r *reader) beginNCCL() {
	name := r.command
	if name == "" {
		if in := ncclProgram.FindStringSubmatch(path.Base(r.Name) + "_perf"); in != nil {
			name = in[1]
		}
		for program := range ncclOperations { // a file all_reduce.txt
			if strings.Contains(path.Base(r.Name), program) && len(program) > len(name) {
				name = program
			}
		}
	}
	of, known := ncclOperations[name]
	switch {
	case name == "":
		r.fault(r.line, "nothing says which program of nccl-tests this is", "put the command line with all_reduce_perf or its like above it, or into the name of the file")
		r.skip("a table of nccl-tests has no name")
		return
	case !known:
		r.skip("%s_perf of nccl-tests is not used: nothing in a machine file follows from it", name)
		return
	}
	r.hosts = map[string]int{}
	r.begin(Series{Benchmark: "nccl-tests " + name, Kind: Collective, Operation: of.op, Statistic: "nccl-tests"})
	r.parse = func(fields []string) { r.ncclRow(fields, of.total) }
}

// ncclRow reads "size count type redop [root] time algbw busbw #wrong time algbw busbw #wrong".
func (r *reader) ncclRow(fields []string, total bool) {
	if r.hosts != nil {
		r.settle()
	}
	const after = 8 // figures out of place and in place
	if !r.columns(fields, 4+after) {
		return
	}
	n, sized := r.size(fields[0])
	us, timed := r.number(fields[len(fields)-after], "time", n == 0)
	if sized && timed && n > 0 {
		r.addTime(n, us*1e-6, total)
	}
}

// settle sets the layout of a table of nccl-tests from its list of devices.
func (r *reader) settle() {
	hosts := r.hosts
	r.hosts = nil
	if len(hosts) > 0 && r.Given == (Layout{}) {
		perNode, even := 0, true
		for _, n := range hosts {
			even = even && (perNode == 0 || n == perNode)
			perNode = n
		}
		if even {
			r.now.Layout = Layout{len(hosts), perNode}
			return
		}
		r.fault(r.now.Line, "its hosts have different numbers of ranks", "give a run with as many on each")
		return
	}
	layout, err := r.layout()
	if err != nil {
		r.fault(r.now.Line, err.Error(), layoutRemedy)
	}
	r.now.Layout = layout
}
