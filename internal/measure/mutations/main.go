package main

import (
	"bytes"
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
	for _, room := range arguments[2:] {
		m.rooms = append(m.rooms, filepath.Clean(room))
	}
	if len(m.rooms) == 0 {
		m.rooms = []string{"mpivirt/internal/coll", "mpivirt/internal/p2p"}
	}
	return nil
}

// draw returns mutations of the rooms, one a line of the source at most.
func (m *measurement) draw() (drawn []mutation, err error) {
	var all []mutation
	for _, room := range m.rooms {
		of, err := sitesOf(room)
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

// run prints which mutations the tests of the rooms find.
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
	binaries := map[string]string{}
	for _, folder := range m.rooms {
		if binaries[folder], err = m.prepare(work, folder, drawn); err != nil {
			return err
		}
	}
	outcomes := make([]outcome, len(drawn))
	next := make(chan int)
	var running sync.WaitGroup
	for job := range m.jobs {
		running.Go(func() {
			for i := range next {
				x := &drawn[i]
				outcomes[i] = m.tryOut(filepath.Join(work, fmt.Sprint(job)), binaries[filepath.Dir(x.file)], x)
				fmt.Printf("%s  %v\n", outcomes[i], x)
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

// prepare builds the tests of a room with the mutations that one binary can hold, and returns the binary. The tests
// pass while none is switched on.
func (m *measurement) prepare(work, folder string, drawn []mutation) (binary string, err error) {
	work = filepath.Join(work, "rooms", folder)
	if err := os.MkdirAll(work, 0o777); err != nil {
		return "", err
	}
	r, err := load(folder)
	if err != nil {
		return "", err
	}
	overlay, err := r.schema(work, drawn)
	if err != nil {
		return "", err
	}
	if binary, err = build(work, folder, overlay); err != nil {
		return "", err
	}
	if came, output := m.test(binary, folder, 0); came != survives {
		return "", fmt.Errorf("the tests of %s fail without a mutation (%s):\n%s", folder, came, output)
	}
	return binary, nil
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

// tryOut runs the tests of a mutation's room: the binary that holds many mutations, or one with this mutation alone.
func (m *measurement) tryOut(work, binary string, x *mutation) (came outcome) {
	if x.number > 0 {
		came, _ = m.test(binary, filepath.Dir(x.file), x.number)
		return came
	}
	defer func() { _ = os.RemoveAll(work) }()
	source, err := os.ReadFile(x.file)
	if err != nil {
		return untested
	}
	overlay, err := replaced(work, map[string]string{x.file: x.apply(source)})
	if err != nil {
		return untested
	}
	if binary, err = build(work, filepath.Dir(x.file), overlay); err != nil {
		return noCompiles
	}
	came, _ = m.test(binary, filepath.Dir(x.file), 0)
	return came
}

// replaced writes files and the overlay that has go build read them in place of those of their names.
func replaced(work string, texts map[string]string) (overlay string, err error) {
	if err := os.MkdirAll(work, 0o777); err != nil {
		return "", err
	}
	by := map[string]string{}
	for name, text := range texts {
		original, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		by[original] = filepath.Join(work, filepath.Base(name))
		if err := os.WriteFile(by[original], []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	file, err := json.Marshal(map[string]any{"Replace": by})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, file, 0o666)
}

// build compiles the tests of a room with files replaced as an overlay says.
func build(work, folder, overlay string) (binary string, err error) {
	binary = filepath.Join(work, "room.test")
	compile := exec.Command("go", "test", "-c", "-vet=off", "-pgo=off", "-trimpath", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./"+filepath.ToSlash(folder))
	if text, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the tests of %s do not compile: %w\n%s", folder, err, text)
	}
	return binary, nil
}

// A test that takes more CPU time than limit, or waits for longer than patience, has failed. A mutation may let a test ask for memory
// without end: memory is its greatest address space in KiB, collectedAt the heap beyond which Go collects harder.
const (
	limit       = 45 * time.Second
	patience    = 5 * time.Minute
	memory      = 8 << 20
	collectedAt = "GOMEMLIMIT=1500MiB"
	processors  = "GOMAXPROCS=1" // jobs run side by side, and engines take turns
)

// test runs the tests of a room with a mutation switched on, 0 for none.
func (m *measurement) test(binary, room string, number int) (came outcome, output string) {
	script := fmt.Sprintf(`ulimit -v %d 2>/dev/null; ulimit -t %d; exec "$0" "$@"`, memory, int(limit.Seconds()))
	arguments := []string{"-c", script, binary, "-test.failfast"}
	if drawsCases(room) {
		arguments = append(arguments, "-rapid.nofailfile", "-rapid.shrinktime=1ms", fmt.Sprintf("-rapid.seed=%d", m.seed))
	}
	ends, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	run := exec.CommandContext(ends, "sh", arguments...)
	run.Dir, run.Env, run.WaitDelay = room, append(os.Environ(), collectedAt, processors, fmt.Sprintf("%s=%d", variable, number)), time.Second
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
