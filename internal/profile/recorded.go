package profile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// isRecorded reports whether a text is a profile of gigarank trace profile --json.
func isRecorded(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && bytes.Contains(text, []byte(`"took_ns"`))
}

// recorded reads the notes of tasks of a real program: times in nanoseconds of the tasks' hosts.
func (r *reader) recorded() {
	var d struct {
		Schema int
		Header struct{ Tasks int }
		Tasks  []struct {
			Task      int
			Took      int64 `json:"took_ns"`
			Functions map[string]struct {
				Calls int64
				Time  int64 `json:"ns"`
			}
		}
	}
	const remedy = "give a file of gigarank trace profile --json"
	if err := json.Unmarshal(r.text, &d); err != nil {
		r.fault(1, fmt.Sprintf("no profile of a recorded run: %v", err), remedy)
		return
	}
	if d.Schema != 1 || d.Header.Tasks < 1 || d.Header.Tasks > mostTasks {
		r.fault(1, fmt.Sprintf("schema %d with %d tasks is no profile of a recorded run", d.Schema, d.Header.Tasks), remedy)
		return
	}
	r.Tasks = d.Header.Tasks
	for _, t := range d.Tasks {
		if t.Task < 0 || t.Task >= r.Tasks {
			r.fault(1, fmt.Sprintf("task %d of %d", t.Task, r.Tasks), remedy)
			return
		}
		r.Run = max(r.Run, float64(t.Took)/1e9)
		inside := int64(0)
		for name, use := range t.Functions {
			inside += use.Time
			r.add(name, uint64(max(use.Calls, 0)), float64(use.Time)/1e9)
		}
		r.task(t.Task, float64(inside)/1e9)
	}
	slices.SortFunc(r.Functions, func(a, b Function) int { return cmp.Compare(a.Name, b.Name) })
	r.settle(1)
}
