package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// measurement is what a run is asked for.
type measurement struct {
	seed  int64
	count int
	rooms []string
	jobs  int
	list  bool // only draws
}

const usage = "usage: scripts/mutations [FLAGS] SEED COUNT [ROOM...], such as 7 60 mpivirt/internal/coll; without rooms coll and p2p. Flags:"

func main() {
	var m measurement
	flag.IntVar(&m.jobs, "jobs", 2, "the `NUMBER` of rooms that are tested at the same time")
	flag.BoolVar(&m.list, "list", false, "list the mutations that are drawn, and run nothing")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := m.read(flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "mutations: %v\n", err)
		flag.Usage()
		os.Exit(2)
	}
	if err := m.run(); err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(1)
	}
}

// read takes the arguments in.
func (m *measurement) read(arguments []string) (err error) {
	if len(arguments) < 2 {
		return errors.New("a seed and a number of mutations are needed")
	}
	if m.seed, err = strconv.ParseInt(arguments[0], 10, 64); err != nil || m.seed < 1 {
		return fmt.Errorf("seed %q: a whole number from 1 on is needed", arguments[0])
	}
	if m.count, err = strconv.Atoi(arguments[1]); err != nil || m.count < 1 || m.jobs < 1 {
		return fmt.Errorf("%q mutations in %d jobs: whole numbers from 1 on are needed", arguments[1], m.jobs)
	}
	if m.rooms = arguments[2:]; len(m.rooms) == 0 {
		m.rooms = []string{"mpivirt/internal/coll", "mpivirt/internal/p2p"}
	}
	return nil
}

// draw returns mutations of the rooms, one a line of the source at most.
func (m *measurement) draw() (drawn []mutation, err error) {
	var all []mutation
	for _, room := range m.rooms {
		of, err := sitesOf(filepath.Clean(room))
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	type place struct {
		file string
		line int
	}
	taken := map[place]bool{}
	for _, i := range rand.New(rand.NewSource(m.seed)).Perm(len(all)) {
		at := place{all[i].file, all[i].line}
		if len(drawn) < m.count && !taken[at] {
			drawn, taken[at] = append(drawn, all[i]), true
		}
	}
	return drawn, nil
}

// run prints what the tests of the rooms find.
func (m *measurement) run() error {
	drawn, err := m.draw()
	if err != nil {
		return err
	}
	if m.list {
		for i := range drawn {
			fmt.Println(&drawn[i])
		}
		return nil
	}
	work, err := os.MkdirTemp("", "mutations")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	for _, room := range m.rooms {
		if came, output := m.test(work, room, ""); came != survives {
			return fmt.Errorf("the tests of %s fail without a mutation (%s):\n%s", room, came, output)
		}
	}
	outcomes := make([]outcome, len(drawn))
	next := make(chan int)
	var running sync.WaitGroup
	for job := range m.jobs {
		running.Go(func() {
			for i := range next {
				outcomes[i] = m.tryOut(filepath.Join(work, fmt.Sprint(job)), &drawn[i])
				fmt.Printf("%s  %v\n", outcomes[i], &drawn[i])
			}
		})
	}
	for i := range drawn {
		next <- i
	}
	close(next)
	running.Wait()
	fmt.Println(summary(m.seed, outcomes))
	return nil
}

// outcome is how the tests of a room end with a mutation in it.
type outcome string

const (
	found      outcome = "found"
	timeOut    outcome = "time-out"
	survives   outcome = "survives"
	noCompiles outcome = "does not compile"
	untested   outcome = "not tested"
)

// summary counts outcomes. A test that does not end has found the mutation.
func summary(seed int64, outcomes []outcome) string {
	n := map[outcome]int{}
	for _, o := range outcomes {
		n[o]++
	}
	text := fmt.Sprintf("seed %d: of %d mutations %d found, %d of them by time-out, %d survive, %d do not compile",
		seed, len(outcomes), n[found]+n[timeOut], n[timeOut], n[survives], n[noCompiles])
	if n[untested] > 0 {
		text += fmt.Sprintf(", %d not tested", n[untested])
	}
	return text
}

// tryOut runs the tests of a mutation's room with the mutation in it.
func (m *measurement) tryOut(work string, x *mutation) outcome {
	source, err := os.ReadFile(x.file)
	if err != nil {
		return untested
	}
	file, overlay := filepath.Join(work, filepath.Base(x.file)), filepath.Join(work, "overlay.json")
	original, err := filepath.Abs(x.file)
	replace, jsonErr := json.Marshal(map[string]any{"Replace": map[string]string{original: file}})
	if cmp.Or(err, jsonErr, os.MkdirAll(work, 0o777), os.WriteFile(file, x.apply(source), 0o666), os.WriteFile(overlay, replace, 0o666)) != nil {
		return untested
	}
	defer func() { _ = os.RemoveAll(work) }()
	came, _ := m.test(work, filepath.Dir(x.file), overlay)
	return came
}

// A test that takes more CPU time than limit, or waits for longer than patience, has failed. A mutation may let a test ask for memory
// without end: memory is its greatest address space in KiB, collectedAt the heap beyond which Go collects harder.
const (
	limit       = 45 * time.Second
	patience    = 5 * time.Minute
	memory      = 8 << 20
	collectedAt = "GOMEMLIMIT=1500MiB"
)

// test runs the tests of a room with files replaced as an overlay says, "" for none.
func (m *measurement) test(work, room, overlay string) (came outcome, output string) {
	binary := filepath.Join(work, "room.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-pgo=off", "-trimpath", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./"+filepath.ToSlash(room))
	if text, err := build.CombinedOutput(); err != nil {
		return noCompiles, string(text)
	}
	script := fmt.Sprintf(`ulimit -v %d 2>/dev/null; ulimit -t %d; exec "$0" "$@"`, memory, int(limit.Seconds()))
	arguments := []string{"-c", script, binary, "-test.failfast"}
	if drawsCases(room) {
		arguments = append(arguments, "-rapid.nofailfile", "-rapid.shrinktime=1ms", fmt.Sprintf("-rapid.seed=%d", m.seed))
	}
	ends, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	run := exec.CommandContext(ends, "sh", arguments...)
	run.Dir, run.Env, run.WaitDelay = room, append(os.Environ(), collectedAt), time.Second
	text, err := run.CombinedOutput()
	switch {
	case ends.Err() != nil || run.ProcessState != nil && run.ProcessState.UserTime()+run.ProcessState.SystemTime() > limit-time.Second:
		return timeOut, string(text)
	case err != nil:
		return found, string(text)
	}
	return survives, string(text)
}

// drawsCases reports whether the tests of a room draw cases, so that they have the flags of package rapid.
func drawsCases(room string) bool {
	tests, _ := filepath.Glob(filepath.Join(room, "*_test.go"))
	return slices.ContainsFunc(tests, func(file string) bool {
		source, err := os.ReadFile(file)
		return err == nil && bytes.Contains(source, []byte(`"pgregory.net/rapid"`))
	})
}
