package result

// Document is the result of a run.
type Document struct {
	Schema  int    `json:"schema"`
	Program string `json:"program"`
	Ranks   int64  `json:"ranks"`
	Hosts   int    `json:"hosts"`
	Engines int    `json:"engines"`
	// Lambda is λ, the multiplexing ratio: ranks for each engine.
	Lambda float64 `json:"lambda"`
	LP     string  `json:"lp"`
	Sync   string  `json:"sync"`
	Strict bool    `json:"strict"`
	// Collectives is the interpreter that was asked for.
	Collectives string `json:"collectives"`
	Machine     string `json:"machine"`
	// MachineDigest stands for everything that defines the machine, mapping and ranks per
	// node included.
	MachineDigest string `json:"machine_digest"`
	RanksPerNode  int    `json:"ranks_per_node"`
	Mapping       string `json:"mapping"`
	// Library chose the algorithms of the collectives that were not chosen by name; left out for none.
	Library string `json:"library,omitempty"`
	// Algorithms are those of the collectives that the program is known to call, and of
	// those that were chosen.
	Algorithms map[string]string `json:"algorithms"`
	// Noise is "none" or a description by which the noise can be drawn again.
	Noise string `json:"noise"`
	// CPU says how CPU times of ranks count: "ignored", "measured" or "replayed".
	CPU string `json:"cpu"`
	// Skeleton is the file of weights for the skeleton of a program, "none" if its computing takes no time, and left out for the program itself.
	Skeleton string `json:"skeleton,omitempty"`
	// WeightsOf is the program with which the weights were found, if it is another one, with the same tasks.
	WeightsOf string `json:"weights_of,omitempty"`
	// TaskShare is the part of the ranks' virtual time that tasks have taken by their weights, if there are any.
	TaskShare *float64 `json:"task_share,omitempty"`
	// UncountedTasks are the tasks whose iterations the skeleton counts in part or not at all.
	UncountedTasks []UncountedTask `json:"uncounted_tasks,omitempty"`
	// Directives are the assumptions about data with which the skeleton was built.
	Directives []string `json:"directives,omitempty"`
	// Failures are the lines of branches behind which the program would end a failing run, and its skeleton goes on: they need data that it has not.
	Failures []string `json:"failures_left_out,omitempty"`
	// Polls is the number of tests or probes in a row that make a rank wait, where one was
	// given; 0, and left out, for the usual number.
	Polls int32 `json:"polls,omitempty"`
	// Compute, Payload and TimedIterations are the program's options, with its defaults.
	Compute int64 `json:"compute_ps"`
	Payload int64 `json:"payload_bytes"`
	// Contents is "none" if messages and vectors had sizes only, and left out else. Datatype is that of vectors, if one was chosen.
	Contents        string `json:"contents,omitempty"`
	Datatype        string `json:"datatype,omitempty"`
	TimedIterations int    `json:"timed_iterations"`
	Seed            uint64 `json:"seed"`
	// Version is that of gigarank, and Command its command line. A study, which has one of
	// each for all its points, leaves them out.
	Version  string `json:"version,omitempty"`
	Command  string `json:"command,omitempty"`
	Complete bool   `json:"complete"`
	// Reason says why the run is incomplete.
	Reason        string `json:"reason,omitempty"`
	FinishedRanks uint64 `json:"finished_ranks"`
	// Late says that events came later than polls and choices that should have seen them, so that times may be wrong.
	Late string `json:"late,omitempty"`
	// SkippedPolls is how many polls of long loops were not made, since their ranks only seemed to wait.
	SkippedPolls uint64 `json:"skipped_polls,omitempty"`
	// Departures are those of a replay from the course of the record; left out for other runs.
	Departures *Departures `json:"departures,omitempty"`
	// VirtualTime is the last finish of any rank.
	VirtualTime int64 `json:"virtual_time_ps"`
	// Fingerprint is a digest of (rank, finish time) over the finished ranks.
	Fingerprint string `json:"fingerprint"`
	// Wall is the time from the beginning of the set-up to the end of the run. SetUp is
	// the part of it before the first rank ran.
	Wall              float64 `json:"wall_s"`
	SetUp             float64 `json:"setup_s"`
	Events            uint64  `json:"events"`
	Messages          uint64  `json:"messages"`
	RemoteMessages    uint64  `json:"remote_messages"`
	SyncMessages      uint64  `json:"sync_messages"`
	TransportMessages uint64  `json:"transport_messages"`
	Switches          uint64  `json:"switches"`
	// PeakRSS is the most memory that was resident, summed over the host processes.
	// BytesPerRank is PeakRSS divided by the number of ranks.
	PeakRSS      int64       `json:"peak_rss_bytes"`
	BytesPerRank float64     `json:"bytes_per_rank"`
	Iterations   []Iteration `json:"iterations"`
	// Figures are numbers that the program makes of its iterations.
	Figures []Figure `json:"figures,omitempty"`
	// Finish describes the finish times of the finished ranks. Operations describes the
	// times of each operation, over ranks and iterations.
	Finish     Distribution `json:"finish"`
	Operations []Operation  `json:"operations"`
	// Activities are there if they were asked for.
	Activities []Activity `json:"activities,omitempty"`
	// Sent are the messages that the program sends point to point, by size, and Handed the calls of
	// collectives, by the bytes that the rank contributes. They are there if they were asked for, and list the
	// classes that have any.
	Sent   []SizeClass `json:"sent,omitzero"`
	Handed []SizeClass `json:"handed_to_collectives,omitzero"`
	// Statistics are there if they were asked for.
	Statistics *Statistics `json:"statistics,omitempty"`
	// Energy is there if the machine file has field energy.
	Energy *Energy `json:"energy,omitempty"`
	// CriticalPath is there if it was asked for.
	CriticalPath *CriticalPath `json:"critical_path,omitempty"`
}

// Activity sums up one of the six activities of VACED-SIM over all ranks and messages:
// "computation", "copy at sender", "REQ", "ACK", "DATA" or "copy at receiver".
type Activity struct {
	Activity string `json:"activity"`
	Count    uint64 `json:"count"`
	Min      int64  `json:"min_ps"`
	Mean     int64  `json:"mean_ps"`
	Max      int64  `json:"max_ps"`
	// PerRank is the total over the number of ranks.
	PerRank int64 `json:"per_rank_ps"`
}

// SizeClass counts messages or calls whose bytes are from Low to High: 0, or from a power of two up to
// the next.
type SizeClass struct {
	Low   int64  `json:"low_bytes"`
	High  int64  `json:"high_bytes"`
	Count uint64 `json:"count"`
	// Bytes is the sum; 2^64-1 stands for more, too.
	Bytes uint64 `json:"bytes"`
}

// Distribution describes times over ranks.
type Distribution struct {
	Min       int64     `json:"min_ps"`
	Mean      int64     `json:"mean_ps"`
	Max       int64     `json:"max_ps"`
	Histogram Histogram `json:"histogram"`
}

// Histogram counts ranks by time, in at most 64 bins of equal width.
type Histogram struct {
	Low    int64    `json:"low_ps"` // beginning of the first bin
	Width  int64    `json:"width_ps"`
	Counts []uint64 `json:"counts"`
}

// Operation describes the times of one operation.
type Operation struct {
	Operation string    `json:"operation"`
	Histogram Histogram `json:"histogram"`
}

// Iteration is one timed operation of a run, over all ranks that took part.
type Iteration struct {
	Index     int     `json:"index"`
	Operation string  `json:"operation"`
	Min       int64   `json:"min_ps"`
	Mean      int64   `json:"mean_ps"`
	Max       int64   `json:"max_ps"`
	Wall      float64 `json:"wall_s"`
}

// Figure is a number that a program makes of its iterations.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is "ps" for virtual times and "" for ratios.
	Unit string `json:"unit"`
}

// Schema is the version of the fields.
const Schema = 1

// UncountedTask is a task of a skeleton: its line, the lines of loops and calls in it whose iterations are not counted, and its share of the time when
// its weight was found.
type UncountedTask struct {
	Line  string   `json:"line"`
	Loops []string `json:"loops"`
	Share float64  `json:"share"`
}

// Departures counts operations of a replay that did not take the course of the record.
type Departures struct {
	Waited  uint64 `json:"waited"`  // tests and probes that found something then, and had to wait for it
	Found   uint64 `json:"found"`   // tests and probes that found nothing then, and found something
	Matched uint64 `json:"matched"` // receives with wildcards, and probes, that took another message
	Passed  uint64 `json:"passed"`  // requests that were complete before those that a Waitany, or the like, took then
}
