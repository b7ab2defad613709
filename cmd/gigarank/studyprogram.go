package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/native/toolchain"
	"gigarank/study"
)

// outputFile is the file of the output of a study's programs, in the directory of the results.
const outputFile = "output.txt"

// readSubject reads what is studied: an operation, or a program and its arguments.
func (s *conductor) readSubject(words []string, faults *terminal.UsageError) {
	f := s.flags
	if slices.Contains(study.Operations(), words[0]) {
		f.axes.Operation = words[0]
		for _, of := range []struct{ flag, value string }{{"--cpu", f.hosting.cpu.mode}, {"--cpu-replay", f.hosting.cpu.replay}, {"--stack", f.hosting.stack}, {"--stacks", f.hosting.stacks}} {
			if of.value != "" {
				faults.Add(of.flag, errors.New("a study of an operation runs no code of a user: name a program, or leave the flag out"))
			}
		}
		if len(words) > 1 {
			faults.Add("ARGUMENT", fmt.Errorf("%s takes flags alone, and programs in files take arguments", words[0]))
		}
		return
	}
	f.axes.Program = s.program(words[0], words[1:], faults)
}

// program returns a program that is studied, which may be unknown: opening it says so.
func (s *conductor) program(name string, arguments []string, faults *terminal.UsageError) *study.Program {
	p := &study.Program{Name: name, Arguments: arguments}
	cpu := &s.flags.hosting.cpu
	switch {
	case cpu.mode == cpuMeasured.String():
		p.CPU = study.MeasuredCPU
	case cpu.replay != "":
		p.CPU = cpuReplayed.String() + " " + cpu.replay
	}
	reported := false
	p.Open = func(arguments []string) (bench.Entry, error) {
		if _, err := bench.Lookup(name); err != nil && !isPath(name) && foreign(name) == nil {
			names := study.Operations()
			for _, e := range bench.Programs() {
				names = append(names, e.Name)
			}
			return bench.Entry{}, fmt.Errorf("unknown operation or program %q: %s", name, spelling.Choices(name, names))
		}
		own := s.flags.hosting
		own.programArguments = arguments
		var of terminal.UsageError
		entry, err := lookUp(s.console, name, &own, &of)
		if !reported {
			*faults, reported = append(*faults, of...), true
		}
		if err != nil || isPath(name) {
			return entry, err
		}
		entry, wrong := entry.With(arguments, s.console.ReadFile)
		return entry, errors.Join(wrong...)
	}
	if isPath(name) {
		p.Digest, _ = host.DigestOf(name) // opening a file that cannot be read is a fault
	}
	return p
}

// atPoint completes the request of a point of a program: with the arguments of the point, and with CPU times.
func (s *conductor) atPoint(point study.Point, r *request) error {
	arguments := s.plan.Arguments(point)
	var err error
	if r.entry, err = s.plan.Program.Open(arguments); err != nil {
		return err
	}
	r.options = r.entry.Resolve(r.config.Options)
	var faults terminal.UsageError
	r.readCPU(s.hosts, &cpuFlags{mode: s.flags.hosting.cpu.mode, replay: s.plan.Fill(s.flags.hosting.cpu.replay, point)}, arguments, &faults)
	return faults.OrNil()
}

// warn says on host 0 what a program in a file lacks, and what it uses that the ranks of a process share.
func (s *conductor) warn() {
	if p := s.plan.Program; p != nil && isPath(p.Name) {
		warnOfMissing(s.console, p.Name)
		for _, note := range toolchain.Notes(p.Name) {
			_, _ = fmt.Fprintf(s.console.Stderr, "gigarank: %s uses %s\n", p.Name, note)
		}
	}
}

// printer returns the writer of the output of ranks at a point: a file, which tables do not mix with. end closes it.
func (s *conductor) printer(point study.Point, r *request) (to io.Writer, end func() error, err error) {
	if s.plan.Program == nil {
		return r.output(s.console), func() error { return nil }, nil
	}
	name := filepath.Join(s.flags.out, outputFile)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, nil, fmt.Errorf("%s, which takes the output of the program: %w", name, err)
	}
	if s.hosts.Index == 0 {
		if _, err := fmt.Fprintf(file, "== %s\n", s.plan.Name(point)); err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
	}
	return file, file.Close, nil
}
