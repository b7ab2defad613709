//go:build mpi

package bench_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/sync/mpi"
)

var allProtocols = []sync.Protocol{sync.Null, sync.Conditional, sync.Hybrid}

// problem is a program with everything that its virtual results depend on.
type problem struct {
	program, why, machine string
	ranks                 int
	algorithm             collectives.Algorithm // of allreduces of a payload; else by default
	payload               int64                 // in bytes; 0 for that of small
}

func (p problem) String() string { return fmt.Sprintf("%s, %s, %d ranks", p.program, p.why, p.ranks) }

// run simulates a problem on the engines of some transports.
func (p problem) run(transports []sync.Transport, kind *mpivirt.Kind, protocol sync.Protocol, strict bool) (*mpivirt.Result, error) {
	target, err := machine(p.machine, p.ranks)
	if err != nil {
		return nil, err
	}
	c := bench.Config{
		Config: mpivirt.Config{
			Target: target, Transports: transports, Kind: kind, Protocol: protocol, Strict: strict, Seed: 7,
		},
		Options: small(p.program),
	}
	if p.payload > 0 {
		c.Payload, c.Algorithms = p.payload, map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: p.algorithm}
	}
	s, err := bench.New(p.program, c)
	if err != nil {
		return nil, err
	}
	return s.Run()
}

// deadlocks reports whether the problem ends in a deadlock.
func (p problem) deadlocks() bool { return p.program == "deadlock" && p.ranks > 1 }

// hostedCase is one way to simulate a problem on several host processes.
type hostedCase struct {
	problem
	kind     *mpivirt.Kind
	protocol sync.Protocol
	strict   bool
}

func (c hostedCase) String() string {
	return fmt.Sprintf("%v, %v, %v, strict %t", c.problem, c.kind, c.protocol, c.strict)
}

// hostedCases is the matrix for a number of host processes. It has every program on
// every machine, with one rank for each process and with a number of ranks that 2, 3
// and 4 do not divide. On two processes it has, with many ranks, each kind of LP under each protocol, and the order of virtual time takes
// turns. One process synchronises with nobody, and more than two do so as two: there, and with one rank a process, protocols take turns, too.
func hostedCases(hosts int) (cases []hostedCase) {
	for i, e := range bench.Programs() {
		for j, m := range matrixMachines {
			for r, ranks := range []int{29, hosts} {
				for k, kind := range e.Forms {
					turn := i + j + r + k
					for p, protocol := range allProtocols {
						strict := (turn+p)%2 > 0
						if hosts != 2 || ranks == hosts {
							if turn%len(allProtocols) != p {
								continue
							}
							strict = turn/len(allProtocols)%2 > 0
						}
						cases = append(cases, hostedCase{problem{program: e.Name, why: m.why, machine: m.machine, ranks: ranks}, kind, protocol, strict})
					}
				}
			}
		}
	}
	return append(cases, vectorCases()...)
}

// vectorCases are sums of vectors where nodes have interfaces, by algorithms that combine them round by round, in chunks of one length and of several,
// more than nodes hold ranks. The programs check the sums.
func vectorCases() (cases []hostedCase) {
	const ranks = 53 // of Rabenseifner's algorithm 32 take part in the exchanges
	for i, c := range []struct {
		algorithm collectives.Algorithm
		payload   int64
	}{
		{collectives.Rabenseifner, 8 * 3}, {collectives.Rabenseifner, 8 * 32}, {collectives.Rabenseifner, 8 * 1000}, {collectives.Rabenseifner, 8 * 32 * 100},
		{collectives.Ring, 8 * 50}, {collectives.Ring, 8 * ranks}, {collectives.RecursiveDoubling, 8 * 3},
	} {
		for k, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
			p := problem{"allreducetest", fmt.Sprintf("%v of %d bytes", c.algorithm, c.payload), "xt5", ranks, c.algorithm, c.payload}
			cases = append(cases, hostedCase{p, kind, []sync.Protocol{sync.Hybrid, sync.Conditional}[(i+k)%2], i%3 == 0})
		}
	}
	return cases
}

// hostedOutcome is the outcome of a case, as host 0 reports it.
type hostedOutcome struct {
	Case   string
	Result *mpivirt.Result
	Fault  string // "" for none
}

// workMatrix simulates all cases one after another as one process of a job.
func workMatrix(job mpi.Job) error {
	out := io.Discard
	if job.Rank() == 0 {
		file, err := os.Create(*results)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		out = file
	}
	encoder := json.NewEncoder(out)
	for _, c := range hostedCases(job.Size()) {
		transport, err := job.Transport()
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		o := hostedOutcome{Case: c.String()}
		o.Result, err = c.run([]sync.Transport{transport}, c.kind, c.protocol, c.strict)
		if c.deadlocks() {
			err = deadlockOnHost(job, o.Result, err, c.ranks)
		}
		if err != nil {
			o.Fault = err.Error()
			fmt.Printf("host %d: %v: %v\n", job.Rank(), c, err)
		}
		if err := errors.Join(encoder.Encode(o), transport.Close()); err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
	}
	return nil
}

// deadlockOnHost expects a deadlock: host 0 knows all ranks that wait.
func deadlockOnHost(job mpi.Job, r *mpivirt.Result, err error, ranks int) error {
	var report *mpivirt.DeadlockError
	if job.Rank() == 0 || !errors.As(err, &report) {
		return checkDeadlock(r, err, ranks)
	}
	return nil
}

// matrixLimit bounds the wall time of all cases of one number of host processes.
const matrixLimit = 200 * time.Second

// Host independence: on 1 to 4 host processes, each program gives the results that it
// gives within one process.
func TestMatrixOverMPI(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plain := map[problem]*mpivirt.Result{}
	for hosts := 1; hosts <= 4; hosts++ {
		path := filepath.Join(t.TempDir(), "results")
		ctx, cancel := context.WithTimeout(t.Context(), matrixLimit)
		output, err := job(ctx, t, hosts, self, "-worker", "matrix", "-results", path).CombinedOutput()
		cancel()
		done := compareCases(t, hosts, path, plain)
		if cases := hostedCases(hosts); done < len(cases) {
			t.Errorf("%d hosts: %v; %d of %d cases ended; the next one is: %v\n%s", hosts, err, done, len(cases), cases[done], output)
		} else if err != nil || len(output) > 0 {
			t.Errorf("%d hosts: %v\n%s", hosts, err, output)
		}
	}
}

// compareCases compares the outcomes in a file with those within one process, which it
// stores in plain. It returns their number.
func compareCases(t *testing.T, hosts int, path string, plain map[problem]*mpivirt.Result) (done int) {
	file, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = file.Close() }()
	decoder := json.NewDecoder(bufio.NewReader(file))
	for _, c := range hostedCases(hosts) {
		var o hostedOutcome
		if err := decoder.Decode(&o); err != nil {
			return done // not done, or in the middle of it
		}
		done++
		if plain[c.problem] == nil {
			plain[c.problem] = runPlain(t, c.problem)
		}
		var err error
		switch {
		case o.Case != c.String():
			err = fmt.Errorf("the job has simulated %s instead", o.Case)
		case o.Fault != "":
			err = errors.New(o.Fault)
		default:
			err = sameOutcome(o.Result, plain[c.problem])
		}
		if err != nil {
			t.Errorf("%d hosts, %v: %v", hosts, c, err)
		}
	}
	return done
}

// runPlain simulates a problem on one engine of this process.
func runPlain(t *testing.T, p problem) *mpivirt.Result {
	e, err := bench.Lookup(p.program)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.run(sync.NewInProcess(1), e.Forms[0], sync.Hybrid, false)
	if p.deadlocks() {
		err = checkDeadlock(r, err, p.ranks)
	}
	if err != nil {
		t.Fatalf("%v within one process: %v", p, err)
	}
	return r
}

// A program on the command line gives the same results on several host processes as
// within one. Their number, the kind of LP, the protocol and strictness change from
// program to program.
func TestCommandOverMPI(t *testing.T) {
	for i, e := range bench.Programs() {
		if e.Name == "deadlock" {
			continue // TestDeadlockOverMPI
		}
		p := problem{program: e.Name, why: "two levels", machine: "xt5", ranks: 29}
		want := runPlain(t, p)
		hosts, kind, protocol := 1+i%4, e.Forms[i/2%len(e.Forms)], allProtocols[i%3]
		out := filepath.Join(t.TempDir(), "out.json")
		o := e.Resolve(small(e.Name))
		arguments := []string{"run", e.Name, "--ranks", strconv.Itoa(p.ranks), "--seed", "7",
			"--iterations", strconv.Itoa(o.Iterations), "--compute", o.Compute.String(), "--payload", strconv.FormatInt(o.Payload, 10),
			"--lp", kind.String(), "--sync", protocol.String(), fmt.Sprintf("--strict=%t", i%2 > 0), "--json", out, "--progress", "none"}
		for _, op := range collectives.Operations() { // the command would choose by simulations
			arguments = append(arguments, "--algorithm", fmt.Sprintf("%v=%v", op, collectives.Algorithms(op)[0]))
		}
		if e.Name == "ddptraining" {
			file := filepath.Join(t.TempDir(), "model.yaml")
			if err := os.WriteFile(file, []byte(tinyModel), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, argument := range smallTraining {
				arguments = append(arguments, strings.ReplaceAll(argument, "MODEL", file))
			}
		}
		cmd := job(t.Context(), t, hosts, gigarank(t), arguments...)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v on %d hosts: %v\n%s", p, hosts, err, output)
			continue
		}
		got := readDocument(t, out)
		if got.Hosts != hosts || got.Fingerprint != want.Fingerprint || got.VirtualTime != int64(want.VirtualTime) {
			t.Errorf("%v on %d hosts, %v, %v: %+v; within one process %s, %v", p, hosts, kind, protocol, got,
				want.Fingerprint, want.VirtualTime)
		}
	}
}
