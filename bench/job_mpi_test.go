//go:build mpi

package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	stdsync "sync"
	"testing"
	"time"

	"gigarank/sync/mpi"
)

// jobLimit bounds the wall time of a job of several host processes.
const jobLimit = 30 * time.Second

// job returns a command line run as n host processes on this machine.
func job(ctx context.Context, t *testing.T, n int, program string, args ...string) *exec.Cmd {
	t.Helper()
	launcher, err := exec.LookPath("mpirun")
	if err != nil {
		t.Fatalf("the tests with the tag mpi need mpirun on the PATH: %v", err)
	}
	cmd := exec.CommandContext(ctx, launcher, append([]string{"-n", strconv.Itoa(n), program}, args...)...)
	// More processes than cores, other jobs on them, and root are usual where tests
	// run.
	cmd.Env = append(os.Environ(),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none",
		"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "PRTE_MCA_hwloc_default_binding_policy=none")
	return cmd
}

var binary struct {
	once stdsync.Once
	path string
	err  error
}

// gigarank builds the command with MPI, once.
func gigarank(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		dir, err := os.MkdirTemp("", "gigarank")
		if err != nil {
			binary.err = err
			return
		}
		binary.path = filepath.Join(dir, "gigarank")
		output, err := exec.Command("go", "build", "-tags", "mpi", "-o", binary.path, "gigarank/cmd/gigarank").CombinedOutput()
		if err != nil {
			binary.err = fmt.Errorf("%w\n%s", err, output)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

var (
	worker  = flag.String("worker", "", "simulate this as one process of several, started by the launcher")
	results = flag.String("results", "", "where host 0 writes what came out")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *worker != "" {
		os.Exit(work(*worker))
	}
	code := m.Run()
	if binary.path != "" {
		_ = os.RemoveAll(filepath.Dir(binary.path))
	}
	os.Exit(code)
}

// document holds the fields of a result that the tests read.
type document struct {
	Hosts       int
	Complete    bool
	Reason      string
	Fingerprint string
	VirtualTime int64 `json:"virtual_time_ps"`
}

func readDocument(t *testing.T, path string) (d document) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Error(err)
	}
	return d
}

// work does the work of a process of a job that a test has started with -worker. It
// returns the exit code.
func work(what string) int {
	job, err := mpi.Open(mpi.UsualLimit)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if what == "matrix" {
		err = workMatrix(job)
	} else {
		err = workFailure(job, failures[what])
	}
	if err = errors.Join(err, job.Close()); err != nil {
		fmt.Printf("host %d: %v\n", job.Rank(), err)
		return 1
	}
	return 0
}
