//go:build mpi

package mpi

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gigarank/sync"
	"gigarank/sync/transporttest"
)

var worker = flag.Bool("worker", false, "run as one process of several, started by the launcher")

// underMPI runs one test of this binary in n processes.
func underMPI(t *testing.T, n int, test string) {
	t.Helper()
	launcher, err := exec.LookPath("mpirun")
	if err != nil {
		launcher, err = exec.LookPath("mpiexec")
	}
	if err != nil {
		t.Fatalf("the tests with the tag mpi need mpirun or mpiexec on the PATH: %v", err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), launcher, "-n", strconv.Itoa(n), binary, "-test.run=^"+test+"$", "-test.timeout=2m", "-worker")
	// More processes than cores, and root, are usual where tests run.
	command.Env = append(os.Environ(),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
		"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe")
	output, err := command.CombinedOutput()
	if err != nil || strings.Count(string(output), "PASS") != n {
		t.Errorf("%s in %d processes: %v\n%s", test, n, err, output)
	}
}

// sizes are the numbers of processes of a test. Under the race detector one number is enough: a process races with itself.
func sizes() []int {
	if testing.Short() {
		return []int{3}
	}
	return []int{1, 2, 3, 4}
}

func TestTransport(t *testing.T) {
	if *worker {
		j, err := open(beatPeriod, UsualLimit)
		if err != nil {
			t.Fatal(err)
		}
		transporttest.Test(t, func(k int) []sync.Transport {
			if k != j.Size() {
				return nil
			}
			return []sync.Transport{transport(t, j)}
		})
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	for _, n := range sizes() {
		underMPI(t, n, "TestTransport")
	}
}

// The suite with messages longer than a count of MPI, here a small one.
func TestLongCounts(t *testing.T) {
	if !*worker {
		if !testing.Short() {
			underMPI(t, 3, "TestLongCounts")
		}
		underMPI(t, 2, "TestLongCounts")
		return
	}
	longestCount = 1000
	j, err := open(beatPeriod, UsualLimit)
	if err != nil {
		t.Fatal(err)
	}
	transporttest.Test(t, func(k int) []sync.Transport {
		if k != j.Size() {
			return nil
		}
		return []sync.Transport{transport(t, j)}
	})
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func transport(t *testing.T, j Job) sync.Transport {
	t.Helper()
	e, err := j.Transport()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Many simulations follow one another in one job, each over a transport of its own.
// Processes begin and end them at different times and leave messages of all sizes
// behind. No transport gets a message of another, and the buffers of a transport are
// given back.
func TestManyTransports(t *testing.T) {
	if !*worker {
		for _, n := range sizes() {
			underMPI(t, n, "TestManyTransports")
		}
		return
	}
	j, err := open(beatPeriod, UsualLimit)
	if err != nil {
		t.Fatal(err)
	}
	lasting := transport(t, j) // beside all others
	for number := range 100 {
		e := transport(t, j)
		if (number+e.Rank())%3 == 0 {
			busy(2 * time.Millisecond)
		}
		sendNumber(t, e, number)
		for range (number*7 + e.Rank()) % (2 * e.Size()) { // of 2·Size messages
			receiveNumber(t, e, number)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if len(j.ends) != 1 {
			t.Fatalf("after transport %d there are %d", number, len(j.ends))
		}
	}
	sendNumber(t, lasting, 1000)
	receiveNumber(t, lasting, 1000)
	if err := j.Close(); err == nil {
		t.Error("MPI is finalised under a transport")
	}
	if err := lasting.Close(); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// sendNumber sends two messages full of a number to everyone. Most are so short
// that MPI sends them without waiting for the receiver.
func sendNumber(t *testing.T, e sync.Transport, number int) {
	for _, n := range []int{2, []int{200, 60_000, 3000}[number%3]} {
		for dst := range e.Size() {
			message := e.Alloc(n)
			for i := range n / 2 {
				binary.LittleEndian.PutUint16(message[2*i:], uint16(number))
			}
			if err := e.Send(dst, message); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// receiveNumber waits for a message and checks that it is full of a number.
func receiveNumber(t *testing.T, e sync.Transport, number int) {
	for start := time.Now(); time.Since(start) < time.Minute; {
		src, message, err := e.Receive()
		if err == nil && message == nil {
			err = e.Wait(time.Second)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(message) / 2 {
			if got := binary.LittleEndian.Uint16(message[2*i:]); int(got) != number {
				t.Fatalf("over transport %d comes a message of %d from process %d", number, got, src)
			}
		}
		if message != nil {
			e.Free(message)
			return
		}
	}
	t.Fatal("no message within a minute")
}

// A silent process is lost to its neighbours, which name it and its host. One whose
// engine is busy for long is not.
func TestLost(t *testing.T) {
	if !*worker {
		underMPI(t, 2, "TestLost")
		return
	}
	const limit = 1500 * time.Millisecond
	j, err := open(limit/20, limit)
	if err != nil {
		t.Fatal(err)
	}
	e := transport(t, j).(*end)
	// Both engines are busy for longer than the limit, without a call.
	busy(limit * 4 / 3)
	if e.lost.Load() != nil {
		t.Fatal("a busy engine counts as lost")
	}
	if e.rank == 1 {
		muted.Store(true)
		stay(t, e, 2*limit)
		muted.Store(false)
		stay(t, e, limit/3) // for the other to hear of it
		if err := e.Send(0, e.Alloc(1)); err != nil {
			t.Error(err)
		}
	} else {
		checkLoss(t, e, limit)
		reconcile(t, e)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A process is lost between two simulations: the other waits for it to begin the
// next one, and is told.
func TestLostBetweenTransports(t *testing.T) {
	if !*worker {
		underMPI(t, 2, "TestLostBetweenTransports")
		return
	}
	const limit = 1500 * time.Millisecond
	j, err := open(limit/20, limit)
	if err != nil {
		t.Fatal(err)
	}
	talk := transport(t, j).(*end)
	if err := transport(t, j).Close(); err != nil {
		t.Fatal(err)
	}
	if j.rank == 1 {
		muted.Store(true)
		stay(t, talk, 2*limit)
		muted.Store(false)
		stay(t, talk, limit/3)
		if err := talk.Send(0, talk.Alloc(1)); err != nil {
			t.Error(err)
		}
	}
	next, err := j.begin()
	if err != nil {
		t.Fatal(err)
	}
	err = next.connect()
	if j.rank == 0 {
		var lost *sync.Lost
		if !errors.As(err, &lost) || lost.Engine != 1 {
			t.Errorf("waiting for engine 1 ends with %v", err)
		}
		if _, err := j.Transport(); err == nil {
			t.Error("the loss is forgotten")
		}
		if err := j.Close(); err == nil {
			t.Error("MPI is finalised in spite of the loss")
		}
		reconcile(t, talk)
		err = next.connect()
	}
	for _, e := range []*end{next, talk} {
		if err == nil {
			err = e.Close()
		}
	}
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// busy computes.
func busy(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// stay waits for a message that does not come.
func stay(t *testing.T, e *end, d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
		if err := e.Wait(d - time.Since(start)); err != nil {
			t.Error(err)
			return
		}
	}
}

// checkLoss waits for the loss of engine 1.
func checkLoss(t *testing.T, e *end, limit time.Duration) {
	err := awaitLoss(e)
	var lost *sync.Lost
	if host, _ := os.Hostname(); !errors.As(err, &lost) || lost.Engine != 1 || lost.Host != host || lost.Silent < limit {
		t.Errorf("the loss of engine 1 on %s gives %v", host, err)
	}
	if _, _, err := e.Receive(); err == nil {
		t.Error("the loss is forgotten by Receive")
	}
	if err := e.Send(1, e.Alloc(1)); err == nil {
		t.Error("a message is sent in spite of the loss")
	}
}

// reconcile forgets the loss as soon as engine 1 is back, so that both can close.
func reconcile(t *testing.T, e *end) {
	for start := time.Now(); time.Since(start) < time.Minute; {
		e.lost.Store(nil)
		if _, message, _ := e.Receive(); message != nil {
			e.Free(message)
			return
		}
	}
	t.Error("engine 1 does not come back within a minute")
}

func awaitLoss(e *end) error {
	for start := time.Now(); time.Since(start) < time.Minute; {
		if err := e.Wait(time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("no loss within a minute")
}

func TestVersion(t *testing.T) {
	if !Available() || Version() == "" || strings.ContainsRune(Version(), 0) {
		t.Errorf("Available() = %v, Version() = %q", Available(), Version())
	}
}

// MPI can be initialised once in a process.
func TestOpenTwice(t *testing.T) {
	if !*worker {
		underMPI(t, 1, "TestOpenTwice")
		return
	}
	first, err := Open(UsualLimit)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Open(UsualLimit); err == nil {
		t.Errorf("MPI opens twice: %v", second)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
}

// An engine that has a processor to itself does not sleep while a message is under way: who
// sleeps is woken late. With more processes than processors it makes room for the others.
func TestShortWaitsDoNotSleep(t *testing.T) {
	if !*worker {
		if runtime.NumCPU() > 1 {
			underMPI(t, 2, "TestShortWaitsDoNotSleep")
		}
		if n := runtime.NumCPU() + 1; n <= 8 {
			underMPI(t, n, "TestShortWaitsDoNotSleep")
		}
		return
	}
	runtime.LockOSThread() // whose switches count
	defer runtime.UnlockOSThread()
	j, err := open(beatPeriod, UsualLimit)
	if err != nil {
		t.Fatal(err)
	}
	if want := j.Size() <= 2; j.roomy != want {
		t.Errorf("%d processes: each has a processor: %v, want %v", j.Size(), j.roomy, want)
	}
	e := transport(t, j)
	const rounds = 50
	switches := func() int64 {
		const thread = 1 // RUSAGE_THREAD of Linux
		var u syscall.Rusage
		if err := syscall.Getrusage(thread, &u); err != nil {
			t.Fatal(err)
		}
		return u.Nvcsw
	}
	send := func(dst int) {
		if err := e.Send(dst, e.Alloc(8)); err != nil {
			t.Fatal(err)
		}
	}
	receive := func() {
		for message := []byte(nil); message == nil; {
			if err := e.Wait(time.Second); err != nil {
				t.Fatal(err)
			}
			if _, message, err = e.Receive(); err != nil {
				t.Fatal(err)
			}
			if message != nil {
				e.Free(message)
			}
		}
	}
	slept := 0
	for range rounds {
		switch e.Rank() {
		case 0:
			before := switches()
			receive()
			if switches() > before {
				slept++
			}
			send(1)
		case 1:
			busy(400 * time.Microsecond)
			send(0)
			receive()
		}
	}
	if j.roomy && slept > rounds/2 {
		t.Errorf("of %d waits of 400 us %d gave up the processor", rounds, slept)
	}
	if err := errors.Join(e.Close(), j.Close()); err != nil {
		t.Error(err)
	}
}
