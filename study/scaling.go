package study

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/internal/quantity"
	"gigarank/internal/result"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/network"
)

// ScalingAxes are the axes of a study of the simulator itself, as its user writes them.
// An empty text stands for a default.
type ScalingAxes struct {
	Operation  string // barrier or allreduce
	Hosts      string // host processes: "1,2,4", "1..64"
	Lambda     string // λ, ranks for each of them: "128,1024"
	Machines   string // a list of presets and files; default xt5
	Algorithm  string // default the operation's
	Payload    string // bytes of each rank; default the program's
	Iterations string // operations of each run; default 5
	LP         string // the kind of rank; default the kind that takes the least memory
}

// ScalingOperations are the operations of Figs 6 and 7 of Perumalla and Park,
// "Simulating Billion-Task Parallel Programs", SPECTS 2014.
var ScalingOperations = []collectives.Operation{collectives.Barrier, collectives.Allreduce}

// The defaults.
const (
	defaultHosts             = "1,2"
	defaultLambda            = "128,1024"
	defaultScalingIterations = "5"
)

// Scaling is a checked study of the cost of an operation on the host as ranks and host
// processes grow together.
type Scaling struct {
	Operation collectives.Operation
	Entry     bench.Entry
	Points    []ScalingPoint // in the order of growing ranks
	Hosts     []int64
	Lambdas   []int64
	// Files are the machines as the user names them, in the order of Machines.
	Files      []string
	Machines   []*network.Machine
	Algorithm  string
	Payload    int64 // 0 for none
	Iterations int
	Kind       *mpivirt.Kind
	Notes      []string // remarks on the axes, each with its flag
}

// ScalingPoint is one run: λ ranks on each of some host processes.
type ScalingPoint struct {
	Operation  string `json:"operation"`
	Algorithm  string `json:"algorithm"`
	Machine    string `json:"machine"`
	Hosts      int64  `json:"hosts"`
	Lambda     int64  `json:"lambda"`
	Ranks      int64  `json:"ranks"` // λ times hosts
	Payload    int64  `json:"payload_bytes"`
	Iterations int    `json:"iterations"`
	LP         string `json:"lp"`
}

// ScalingRecord is a point with its outcome: a line of results.jsonl.
type ScalingRecord struct {
	Schema  int          `json:"schema"`
	Version string       `json:"version"`
	Point   ScalingPoint `json:"point"`
	// Launcher is the command that has started the host processes, or "engines" where
	// the engines of one process stand for them.
	Launcher string `json:"launcher"`
	// Wall is the wall time of an operation in seconds: the median of those after the
	// first, in which the ranks begin and first touch their memory.
	Wall float64 `json:"wall_per_operation_s"`
	// Remote is the number of remote events of an operation: messages between engines.
	Remote float64 `json:"remote_events_per_operation"`
	// Error says why the run failed; empty if it did not.
	Error  string          `json:"error,omitempty"`
	Result result.Document `json:"result"`
}

// NewScaling checks the axes and lays the points out. read reads the files that they
// name. Each fault goes to fault, with its flag.
func NewScaling(axes ScalingAxes, read func(path string) ([]byte, error), fault func(flag string, err error)) *Scaling {
	r := &reader{axes: Axes{Operation: axes.Operation, Payload: axes.Payload}, read: read, fault: fault}
	s := &Scaling{}
	known := s.operation(r)
	s.Hosts, _ = r.axis("--hosts", cmp.Or(axes.Hosts, defaultHosts), "1,2,4 or 1..64", bounded(quantity.ParseCount, 1, math.MaxInt32))
	s.Lambdas, _ = r.axis("--lambda", cmp.Or(axes.Lambda, defaultLambda), "128,1024 or 2^7..2^10", bounded(quantity.ParseCount, 1, mostRanks))
	iterations, err := bounded(quantity.ParseCount, 1, math.MaxInt32)(cmp.Or(axes.Iterations, defaultScalingIterations))
	r.check("--iterations", err)
	s.Iterations = int(iterations)
	s.machines(cmp.Or(axes.Machines, defaultMachine), r)
	if known {
		s.readProgram(axes, r)
	}
	s.layOut(r)
	s.Notes = r.notes
	return s
}

func (s *Scaling) operation(r *reader) bool {
	var names []string
	for _, op := range ScalingOperations {
		if names = append(names, op.String()); op.String() == r.axes.Operation {
			s.Operation = op
			s.Entry, _ = bench.Lookup(bench.TimedBy(op))
			return true
		}
	}
	r.fault("OPERATION", fmt.Errorf("unknown operation %q: %s", r.axes.Operation, spelling.Choices(r.axes.Operation, names)))
	return false
}

// machines keeps the names of the files, which the host processes read again.
func (s *Scaling) machines(text string, r *reader) {
	for _, name := range splitNames(text) {
		m, err := network.Load(name, r.read)
		if !r.check("--machine", err) {
			continue
		}
		if slices.ContainsFunc(s.Machines, func(other *network.Machine) bool { return other.Name() == m.Name() }) {
			r.fault("--machine", fmt.Errorf("two machines are named %s: change name in one of the files, or name it once", m.Name()))
			continue
		}
		s.Machines, s.Files = append(s.Machines, m), append(s.Files, name)
	}
}

// readProgram reads the flags that depend on the program of the operation.
func (s *Scaling) readProgram(axes ScalingAxes, r *reader) {
	s.Algorithm = axes.Algorithm
	hardware := s.hardware()
	if s.Algorithm == "" {
		s.Algorithm = collectives.DefaultOn(s.Operation, hardware).String()
	} else if a, err := collectives.ParseAlgorithm(s.Operation, s.Algorithm); err != nil {
		r.fault("--algorithm", err)
	} else if !slices.Contains(collectives.AlgorithmsOn(s.Operation, hardware), a) {
		switch {
		case a.AlongTorus():
			r.fault("--algorithm", fmt.Errorf("%v needs writes along the links of a torus, with a rank a node, on every machine: add torus_writes to network in their files, or choose another algorithm", a))
		case a == collectives.Offload:
			r.fault("--algorithm", fmt.Errorf("%v needs a network that sums vectors up, on every machine: add allreduce or switches to network in their files, or choose another algorithm", a))
		default:
			r.fault("--algorithm", fmt.Errorf("%v needs the time of a barrier from every machine: add barrier: {time: 3us} to network in their files, or choose another algorithm", a))
		}
	}
	payloads := r.payloads(&Plan{Operation: s.Operation, Entry: s.Entry})
	if len(payloads) > 1 {
		r.fault("--payload", errors.New("more than one payload: make a study of each"))
	} else if len(payloads) == 1 {
		s.Payload = payloads[0]
	}
	if s.Kind = leanest(s.Entry); axes.LP == "" {
		return
	}
	var names []string
	for _, kind := range s.Entry.Forms {
		if names = append(names, kind.Name); kind.Name == axes.LP {
			s.Kind = kind
			return
		}
	}
	r.fault("--lp", fmt.Errorf("unknown kind of rank %q: %s", axes.LP, spelling.Choices(axes.LP, names)))
}

// hardware returns what all machines carry out by themselves.
func (s *Scaling) hardware() collectives.Hardware {
	h := collectives.Hardware{Barrier: len(s.Machines) > 0, Offload: len(s.Machines) > 0, Torus: len(s.Machines) > 0}
	for _, m := range s.Machines {
		own := mpivirt.HardwareOf(m)
		h.Barrier, h.Offload, h.Torus = h.Barrier && own.Barrier, h.Offload && own.Offload, h.Torus && own.Torus
	}
	return h
}

// layOut makes the points and checks that their ranks fit the machines.
func (s *Scaling) layOut(r *reader) {
	if s.Kind == nil {
		s.Kind = mpivirt.Goroutine // of an unknown program
	}
	for _, m := range s.Machines {
		for _, lambda := range s.Lambdas {
			for _, hosts := range s.Hosts {
				if lambda > mostRanks/hosts {
					r.fault("--lambda", fmt.Errorf("%d ranks on each of %d hosts are too many: use at most %d in all", lambda, hosts, int64(mostRanks)))
					continue
				}
				if _, err := m.Target(lambda * hosts); err != nil {
					r.fault("--hosts", err)
				}
				s.Points = append(s.Points, ScalingPoint{
					Operation: s.Operation.String(), Algorithm: s.Algorithm, Machine: m.Name(), Hosts: hosts, Lambda: lambda,
					Ranks: lambda * hosts, Payload: s.Payload, Iterations: s.Iterations, LP: s.Kind.Name,
				})
			}
		}
	}
	slices.SortStableFunc(s.Points, func(a, b ScalingPoint) int { return cmp.Compare(a.Ranks, b.Ranks) })
}

// Arguments returns the command line of gigarank for a point, without the flags that say
// how many engines there are and where its document goes.
func (s *Scaling) Arguments(p ScalingPoint) []string {
	at := slices.IndexFunc(s.Machines, func(m *network.Machine) bool { return m.Name() == p.Machine })
	args := []string{"run", s.Entry.Name, "--ranks", strconv.FormatInt(p.Ranks, 10), "--machine", s.Files[at],
		"--lp", p.LP, "--iterations", strconv.Itoa(p.Iterations), "--algorithm", p.Operation + "=" + p.Algorithm, "--progress", "none"}
	if s.Operation != collectives.Barrier {
		args = append(args, "--payload", strconv.FormatInt(p.Payload, 10))
	}
	return args
}

// NewScalingRecord returns the record of a run. failure is nil if it has ended well.
func NewScalingRecord(version, launcher string, point ScalingPoint, d result.Document, failure error) ScalingRecord {
	r := ScalingRecord{Schema: Schema, Version: version, Point: point, Launcher: launcher, Result: d}
	if failure != nil {
		r.Error = failure.Error()
		return r
	}
	r.Remote = float64(d.RemoteMessages) / float64(point.Iterations)
	var walls []float64
	for _, it := range d.Iterations[min(1, len(d.Iterations)-1):] {
		walls = append(walls, it.Wall)
	}
	slices.Sort(walls)
	n := len(walls)
	r.Wall = (walls[(n-1)/2] + walls[n/2]) / 2
	return r
}

// scalingColumns are the columns of the table of a study of the simulator.
var scalingColumns = []column[ScalingRecord]{
	{"operation", func(r ScalingRecord) string { return r.Point.Operation }},
	{"algorithm", func(r ScalingRecord) string { return r.Point.Algorithm }},
	{"machine", func(r ScalingRecord) string { return r.Point.Machine }},
	{"lambda", func(r ScalingRecord) string { return whole(r.Point.Lambda) }},
	{"hosts", func(r ScalingRecord) string { return whole(r.Point.Hosts) }},
	{"launcher", func(r ScalingRecord) string { return r.Launcher }},
	{"ranks", func(r ScalingRecord) string { return whole(r.Point.Ranks) }},
	{"lp", func(r ScalingRecord) string { return r.Point.LP }},
	{"payload_bytes", func(r ScalingRecord) string { return whole(r.Point.Payload) }},
	{"iterations", func(r ScalingRecord) string { return strconv.Itoa(r.Point.Iterations) }},
	{"wall_per_operation_s", func(r ScalingRecord) string { return r.known(r.Wall) }},
	{"remote_events_per_operation", func(r ScalingRecord) string { return r.known(r.Remote) }},
	{"wall_s", func(r ScalingRecord) string { return r.known(r.Result.Wall) }},
	{"setup_s", func(r ScalingRecord) string { return r.known(r.Result.SetUp) }},
	{"events", func(r ScalingRecord) string { return r.known(float64(r.Result.Events)) }},
	{"messages", func(r ScalingRecord) string { return r.known(float64(r.Result.Messages)) }},
	{"remote_messages", func(r ScalingRecord) string { return r.known(float64(r.Result.RemoteMessages)) }},
	{"sync_messages", func(r ScalingRecord) string { return r.known(float64(r.Result.SyncMessages)) }},
	{"transport_messages", func(r ScalingRecord) string { return r.known(float64(r.Result.TransportMessages)) }},
	{"peak_rss_bytes", func(r ScalingRecord) string { return r.known(float64(r.Result.PeakRSS)) }},
	{"bytes_per_rank", func(r ScalingRecord) string { return r.known(r.Result.BytesPerRank) }},
	{"virtual_time_ps", func(r ScalingRecord) string { return r.known(float64(r.Result.VirtualTime)) }},
	{"fingerprint", func(r ScalingRecord) string { return r.Result.Fingerprint }},
	{"error", func(r ScalingRecord) string { return r.Error }},
	{"version", func(r ScalingRecord) string { return r.Version }},
}

// known returns a figure of a run that has ended well, else "".
func (r ScalingRecord) known(v float64) string {
	if r.Error != "" {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// WriteScalingCSV writes the records as a table, as WriteCSV does.
func WriteScalingCSV(w io.Writer, records []ScalingRecord) error {
	return writeCSV(w, scalingColumns, records)
}
