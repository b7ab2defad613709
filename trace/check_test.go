package trace

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// A check finds the same faults in any number of parts.
func TestChecksInPartsAgree(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.IntRange(2, 7).Draw(t, "tasks")
		var file bytes.Buffer
		w, err := NewWriter(&file, Header{Origin: "simulated", Tasks: tasks}, None)
		if err != nil {
			t.Fatal(err)
		}
		streams := make([]Stream, tasks)
		add := func(task int, o Operation) {
			if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
				return
			}
			if err := streams[task].Append(w, task, &o); err != nil {
				t.Fatal(err)
			}
		}
		each := func(of func(task int) Operation) {
			for task := range tasks {
				add(task, of(task))
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			tag := rapid.Int64Range(0, 2).Draw(t, "tag")
			comm := rapid.Int64Range(0, 2).Draw(t, "communicator") * 2 % 3 // WORLD, or number 2
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				each(func(task int) Operation {
					return Operation{Function: CommSplit, Color: int64(task % 2), Key: -int64(task), Made: 2}
				})
			case 1:
				each(func(int) Operation { return Operation{Function: Barrier, Comm: comm} })
			default:
				each(func(task int) Operation {
					return Operation{Function: Send, Comm: comm, Peer: int64((task + 1) % tasks), Tag: tag}
				})
				each(func(task int) Operation {
					return Operation{Function: Recv, Comm: comm, Source: int64((task + tasks - 1) % tasks), SourceTag: tag}
				})
			}
		}
		for task := range tasks {
			add(task, Operation{Function: End})
			if err := streams[task].Flush(w, task); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(Summary{}); err != nil {
			t.Fatal(err)
		}
		f, err := Open("file.grt", bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		most := rapid.IntRange(1, 20).Draw(t, "most")
		want, n, err := checkParts(f, most, 1)
		if err != nil {
			t.Fatal(err)
		}
		found += n
		for _, parts := range []int{2, 3, tasks} {
			if got, count, err := checkParts(f, most, parts); err != nil || count != n || !reflect.DeepEqual(got, want) {
				t.Fatalf("%d parts: %d faults, %q, %v; one part: %d, %q", parts, count, got, err, n, want)
			}
		}
	})
	if found == 0 {
		t.Error("no draw has a fault")
	}
}
