package study

import (
	"fmt"
	"strconv"

	"gigarank/internal/result"
	"gigarank/internal/spelling"
	"gigarank/vtime"
)

// Point is one simulation of a study: everything that its virtual results depend
// on. Two equal points give the same results, bit for bit.
type Point struct {
	Operation string `json:"operation"` // empty for a program
	// Program is the name of a program of gigarank list, or a path, with the SHA-256 of its file. Arguments are those of its
	// command line, as a shell reads them, and Varied those that the study varies, such as "size=100, steps=2".
	Program       string `json:"program,omitempty"`
	ProgramDigest string `json:"program_sha256,omitempty"`
	Arguments     string `json:"arguments,omitempty"`
	Varied        string `json:"varied,omitempty"`
	// CPU says how CPU times of ranks count: left out if they do not, measured, or replayed and the name of a recording.
	CPU       string `json:"cpu,omitempty"`
	Algorithm string `json:"algorithm"` // empty if a library chooses it
	// Library is the name of the library that chooses the algorithm, none for gigarank's own choice, empty for
	// an algorithm that is named. LibraryDigest stands for its table.
	Library       string `json:"library,omitempty"`
	LibraryDigest string `json:"library_digest,omitempty"`
	Ranks         int64  `json:"ranks"`
	Payload       int64  `json:"payload_bytes"`      // as the program takes it; 0 for none
	Datatype      string `json:"datatype,omitempty"` // of the elements of vectors; left out for the program's default
	Machine       string `json:"machine"`            // its name
	// MachineDigest stands for the whole machine file, with the two fields below; see
	// [network.Machine.Digest].
	MachineDigest string         `json:"machine_digest"`
	RanksPerNode  int            `json:"ranks_per_node"`
	Mapping       string         `json:"mapping"`
	Noise         string         `json:"noise"` // see [noise.Spec.String]
	Compute       vtime.Duration `json:"compute_ps"`
	Iterations    int            `json:"iterations"`
	Seed          uint64         `json:"seed"`
}

// Record is a point with its outcome: a line of results.jsonl.
type Record struct {
	Schema  int    `json:"schema"`
	Version string `json:"version"` // of gigarank, another for other code
	Point   Point  `json:"point"`
	// Time is the cost of an iteration beyond its compute time: the virtual time of the
	// run over the number of iterations, less the compute time. If all ranks enter
	// together once, it is the time from the common entry to the last exit. Of a program it is the virtual time of the run.
	// It is 0 if the point has failed.
	Time vtime.Duration `json:"time_ps"`
	// ClosedForm is the time by the formula of the algorithm where that is exact, 0
	// elsewhere. See [Plan.ClosedForm].
	ClosedForm vtime.Duration `json:"closed_form_ps,omitempty"`
	// Chosen is the algorithm that the library has chosen, empty if the point names an algorithm.
	Chosen string `json:"chosen_algorithm,omitempty"`
	// Error says why the simulated program failed; empty if it did not.
	Error  string          `json:"error,omitempty"`
	Result result.Document `json:"result"`
}

// Schema is the version of the fields of a record.
const Schema = 1

// NewRecord returns the record of a simulated point.
func (p *Plan) NewRecord(version string, point Point, d result.Document) Record {
	r := Record{Schema: Schema, Version: version, Point: point, Result: d}
	if d.Statistics != nil { // sums are for studies, and ranks for runs
		sums := *d.Statistics
		sums.Tasks, sums.Matrix = nil, nil
		r.Result.Statistics = &sums
	}
	if target, err := p.Machine(point).Target(point.Ranks); err == nil && point.Library != "" && p.Program == nil {
		r.Chosen = p.algorithmOf(point, target).String()
	}
	if !d.Complete {
		r.Error = d.Reason
		return r
	}
	if p.Program != nil {
		r.Time = vtime.Duration(d.VirtualTime)
		return r
	}
	r.Time = vtime.Duration(d.VirtualTime)/vtime.Duration(point.Iterations) - point.Compute
	if d, exact := p.ClosedForm(point); exact {
		r.ClosedForm = d
	}
	return r
}

// ratio returns the simulated time over that of the closed form, which is 1 if both are
// right. It returns "" where there is no closed form.
func (r Record) ratio() string {
	switch {
	case r.Error != "" || r.ClosedForm == 0:
		return ""
	case r.Time == r.ClosedForm:
		return "1"
	}
	return strconv.FormatFloat(float64(r.Time)/float64(r.ClosedForm), 'g', 12, 64)
}

// agreement returns a sentence on whether simulations and closed forms agree, "" if no
// closed form holds.
func agreement(records []Record) string {
	exact, differ := 0, 0
	var worst Record
	for _, r := range records {
		if r.ratio() == "" {
			continue
		}
		exact++
		if r.Time != r.ClosedForm {
			if differ++; differ == 1 {
				worst = r
			}
		}
	}
	switch {
	case exact == 0:
		return ""
	case differ == 0:
		return fmt.Sprintf("Closed forms hold at %d of %s, and the simulation agrees with them to the picosecond.", exact, spelling.Count(len(records), "point"))
	}
	return fmt.Sprintf("The simulation DIFFERS from the closed form at %d of the %s at which that holds, as with %s at %s ranks: %s : 1. Please report this as a fault of gigarank.",
		differ, spelling.Count(exact, "point"), worst.Point.Choice(), formatRanks(worst.Point.Ranks), worst.ratio())
}
