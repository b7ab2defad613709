package trace

// Version is the version of the files that this package writes. It reads files of later versions, with a warning.
const Version = 1

// Header tells where a trace is from.
type Header struct {
	Version   int      `json:"version"`
	Origin    string   `json:"origin"`  // "simulated", "real", or the format that it was converted from
	Tasks     int      `json:"tasks"`   // ranks of WORLD
	Program   string   `json:"program"` // name or path
	Arguments []string `json:"arguments,omitempty"`
	Digest    string   `json:"sha256,omitempty"` // of the program's file
	Library   string   `json:"library,omitempty"`
	Machine   string   `json:"machine,omitempty"` // on which the program ran, or was simulated
	Units     Units    `json:"units"`
	Recorder  string   `json:"recorder,omitempty"` // program and version that wrote the file

	// Repeats is the collective of WORLD that the program calls as its only communication; nil for others.
	Repeats *Repeats `json:"repeats,omitempty"`
}

// Units are the units of numbers in operations.
type Units struct {
	Time string `json:"time"` // "ps"
	Size string `json:"size"` // "B"
}

// The only units that there are.
var units = Units{Time: "ps", Size: "B"}

// Repeats describes a repeated collective.
type Repeats struct {
	Operation string `json:"operation"` // as gigarank list has it
	Bytes     int64  `json:"bytes"`
	Element   int64  `json:"element"`
	Data      bool   `json:"data"`
}

// Summary tells what a trace holds. It is known when the trace ends.
type Summary struct {
	Operations int64            `json:"operations"`
	Blocks     int64            `json:"blocks"`
	Ended      int64            `json:"ended"`     // tasks whose last operation is [End]
	Functions  map[string]int64 `json:"functions"` // calls by function, among them those of failing tests
	Contents   int64            `json:"contents"`  // bytes of the blocks before compression
	Note       string           `json:"note,omitempty"`

	// Of a real program: calls that moved data and are no operations, and why operations of tasks are incomplete.
	Unrecorded map[string]int64 `json:"unrecorded,omitempty"`
	Problems   []string         `json:"problems,omitempty"` // the first of them
}

// Add adds what another file holds of the same trace.
func (s *Summary) Add(other *Summary) {
	s.Operations, s.Ended = s.Operations+other.Operations, s.Ended+other.Ended
	for f, n := range other.Functions {
		s.Functions[f] += n
	}
}
