package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/internal/cputime"
	"gigarank/internal/spelling"
)

// identify stores the header of a recording of this run. It has everything that decides on the computing of ranks
// between two calls, wherever the files lie: for a program in a file its bytes and its arguments, for one of
// gigarank list the flags that have it do something else. --compute, --seed and --noise change declared
// computing only, which is no part of a recording.
func (t *cpuTimes) identify(r *request, h *host.Processes, arguments []string) (err error) {
	t.header = cputime.Header{Program: r.entry.Name, Ranks: int(r.ranks), Process: h.Index, Processes: h.Size}
	if !isPath(r.entry.Name) {
		t.header.Arguments = []string{"--iterations", strconv.Itoa(r.options.Iterations), "--payload", strconv.FormatInt(r.options.Payload, 10)}
		t.header.Arguments = append(t.header.Arguments, arguments...)
		return nil
	}
	t.header.Program, t.header.Arguments = filepath.Base(r.entry.Name), arguments
	t.header.Digest, err = host.DigestOf(r.entry.Name)
	return err
}

// differs returns an error that names the recorded run, and the arguments that repeat it, unless it is the run here.
func differs(recorded, here cputime.Header) error {
	var give []string
	switch {
	case recorded.Program == here.Program && recorded.Digest == "" && here.Digest != "":
		give = append(give, here.Program+" of gigarank list")
	case recorded.Program == here.Program && recorded.Digest != "" && here.Digest == "":
		give = append(give, "that file")
	case recorded.Program != here.Program:
		give = append(give, "that program")
	}
	same := give == nil
	if recorded.Ranks != here.Ranks {
		give = append(give, fmt.Sprintf("--ranks %d in place of %d", recorded.Ranks, here.Ranks))
	}
	if same && !slices.Equal(recorded.Arguments, here.Arguments) {
		give = append(give, argumentsInPlace(recorded, here))
	}
	if same && recorded.Digest != here.Digest {
		give = append(give, fmt.Sprintf("the file %s as it was then, whose SHA-256 is another (%.12s, not %.12s)", here.Program, recorded.Digest, here.Digest))
	}
	if give == nil {
		return nil
	}
	return fmt.Errorf("%s on %s: give %s, or record it again", spelling.Quoted(append([]string{recorded.Program}, recorded.Arguments...)),
		spelling.Count(recorded.Ranks, "rank"), strings.Join(give, " and "))
}

// argumentsInPlace names the arguments that were recorded, and those that are given here.
func argumentsInPlace(recorded, here cputime.Header) string {
	was, is := "the arguments "+spelling.Quoted(recorded.Arguments), spelling.Quoted(here.Arguments)
	switch {
	case here.Digest == "": // flags
		was = spelling.Quoted(recorded.Arguments)
	case len(recorded.Arguments) == 0:
		was = "no arguments"
	case len(here.Arguments) == 0:
		is = "none"
	}
	return was + " in place of " + is
}
