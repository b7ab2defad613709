package trace

// Note is what the recorder of a real program notes of a task besides its operations: when the task begins, and when it ends.
type Note struct {
	Task    int    `json:"task"`
	Host    string `json:"host"`
	Started int64  `json:"started_ns"` // wall time of the task's host, since 1970
	Begins  bool   `json:"begins,omitempty"`

	// Of the end of a task. A task that was killed has no such note.
	Mode       string           `json:"mode,omitempty"`
	Took       int64            `json:"took_ns,omitempty"`    // from the end of MPI_Init to MPI_Finalize
	CPU        int64            `json:"cpu_ns,omitempty"`     // CPU time of the main thread in it
	Operations int64            `json:"operations,omitempty"` // that were recorded
	Functions  map[string]Use   `json:"functions,omitempty"`  // those that were called
	Counters   map[string]int64 `json:"counters,omitempty"`   // of the processor
	Problems   []string         `json:"problems,omitempty"`   // why the operations are incomplete
	Remarks    []string         `json:"remarks,omitempty"`    // what could not be counted, and why
}

// Use is how a task has used a function of MPI.
type Use struct {
	Calls      int64 `json:"calls"`
	Time       int64 `json:"ns"`
	Bytes      int64 `json:"bytes,omitempty"`      // of messages: those that are sent, of a receive those that it has room for
	Unrecorded int64 `json:"unrecorded,omitempty"` // calls that moved data, or waited, and are no operations
	Failed     int64 `json:"failed,omitempty"`     // calls that ended with an error and are no operations
}

// Add adds the uses of a function by two tasks.
func (u Use) Add(v Use) Use {
	return Use{u.Calls + v.Calls, u.Time + v.Time, u.Bytes + v.Bytes, u.Unrecorded + v.Unrecorded, u.Failed + v.Failed}
}
