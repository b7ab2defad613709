package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/trace"
)

// writeOperations writes the trace of tasks with operations, behind which each of them ends. A task without any has no part in the file.
func writeOperations(t *testing.T, name string, tasks ...[]trace.Operation) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := trace.NewWriter(file, trace.Header{Origin: "simulated", Tasks: len(tasks)}, trace.None)
	if err != nil {
		t.Fatal(err)
	}
	for task, operations := range tasks {
		if operations == nil {
			continue
		}
		var s trace.Stream
		for _, o := range append(operations, trace.Operation{Function: trace.End}) {
			if err := s.Append(w, task, &o); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(w, task); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(trace.Summary{}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// A replay of a trace that does not fit together ends with exit code 1, on any number of engines with the same words. They name the operation, and the
// one of the partner that comes nearest to fitting, each with function, task, number and byte.
func TestReplaysNameWhatDoesNotFit(t *testing.T) {
	type task = []trace.Operation
	send := func(to, tag, bytes int64) trace.Operation {
		return trace.Operation{Function: trace.Send, Peer: to, Tag: tag, Bytes: bytes}
	}
	recv := func(from, tag, room int64) trace.Operation {
		return trace.Operation{Function: trace.Recv, Source: from, SourceTag: tag, Room: room}
	}
	bcast := func(root, bytes int64) trace.Operation {
		return trace.Operation{Function: trace.Bcast, Root: root, Vector: bytes, Element: 1}
	}
	allreduce := func(bytes int64) trace.Operation {
		return trace.Operation{Function: trace.Allreduce, Vector: bytes, Element: 8, Traits: trace.Operator | trace.Commutative}
	}
	wait := func(request int64) trace.Operation {
		return trace.Operation{Function: trace.Wait, Requests: []int64{request}}
	}
	irecv := trace.Operation{Function: trace.Irecv, Source: 1, SourceTag: 5, Room: 8}
	burst, barrier := trace.Operation{Function: trace.Burst, CPU: 1000}, trace.Operation{Function: trace.Barrier}
	for _, c := range []struct {
		name         string
		tasks        []task
		own, nearest string // empty for a fault without another side
	}{
		{"unmatched send", []task{{burst, send(1, 5, 8)}, {burst}}, "MPI_Send in task 0, operation 1", ""},
		{"unmatched synchronous send", []task{{burst, {Function: trace.Ssend, Peer: 1, Tag: 5}}, {burst, recv(0, 6, 8)}}, "MPI_Ssend in task 0, operation 1", "MPI_Recv in task 1, operation 1"},
		{"unmatched receive", []task{{burst, recv(1, 5, 8)}, {send(0, 6, 8)}}, "MPI_Recv in task 0, operation 1", "MPI_Send in task 1, operation 0"},
		{"unmatched wait", []task{{irecv, burst, wait(0)}, {burst, send(0, 6, 8)}}, "MPI_Irecv in task 0, operation 0", "MPI_Send in task 1, operation 1"},
		{"collective on one side", []task{{barrier, burst, barrier}, {barrier, burst}}, "MPI_Barrier in task 0, operation 2", "MPI_Barrier in task 1, operation 0"},
		{"another collective", []task{{barrier, burst, barrier}, {barrier, bcast(0, 8)}}, "MPI_Barrier in task 0, operation 2", "MPI_Bcast in task 1, operation 1"},
		{"another root", []task{{barrier, burst, bcast(0, 8)}, {barrier, bcast(1, 8)}}, "MPI_Bcast in task 0, operation 2", "MPI_Bcast in task 1, operation 1"},
		{"another length", []task{{barrier, burst, allreduce(16)}, {barrier, allreduce(8)}}, "MPI_Allreduce in task 0, operation 2", "MPI_Allreduce in task 1, operation 1"},
		{"another length of a bcast", []task{{barrier, burst, bcast(0, 16)}, {barrier, bcast(0, 8)}}, "MPI_Bcast in task 0, operation 2", "MPI_Bcast in task 1, operation 1"},
		{"unknown request", []task{{burst, {Function: trace.Irecv, Source: 1, SourceTag: 5, Room: 8, Request: 2}, wait(3)}, {send(0, 5, 8)}}, "task 0, operation 2", "MPI_Irecv in task 0, operation 1"},
		{"no request", []task{{burst, wait(3)}, {}}, "task 0, operation 1", ""},
		{"rank missing", []task{{recv(1, 5, 8)}, nil}, "MPI_Recv in task 0, operation 0", ""},
		{"receive too short", []task{{burst, recv(1, 5, 8), recv(1, 5, 8)}, {send(0, 5, 8), burst, send(0, 5, 16)}}, "MPI_Recv in task 0, operation 2", "MPI_Send in task 1, operation 2"},
		{"unknown communicator", []task{{burst, {Function: trace.Barrier, Comm: 4}}, {barrier}}, "task 0, operation 1", "MPI_Barrier in task 1, operation 0"},
	} {
		name := filepath.Join(t.TempDir(), "faulty.grt")
		writeOperations(t, name, c.tasks...)
		first := ""
		for _, engines := range []string{"1", "2"} {
			_, says, _ := strings.Cut(executed(t, terminal.ExitProgram, "replay", name, "--machine", "xt5", "--engines", engines, "--progress", "none"), "gigarank: ")
			for _, operation := range []string{c.own, c.nearest} {
				if at := regexp.MustCompile(regexp.QuoteMeta(operation) + `, block 0, byte \d+ \(byte \d+ of the block\)`); operation != "" && !at.MatchString(says) {
					t.Errorf("%s, %s engines: no %q in\n%s", c.name, engines, operation, says)
				}
			}
			if first == "" {
				first = says
			} else if says != first {
				t.Errorf("%s: on two engines\n%s\non one\n%s", c.name, says, first)
			}
		}
		if says := executed(t, terminal.ExitProgram, "trace", "check", name); !strings.Contains(says, "fault") {
			t.Errorf("%s: trace check says %s", c.name, says)
		}
	}
}
