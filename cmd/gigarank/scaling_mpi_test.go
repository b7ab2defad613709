//go:build mpi

package main

import (
	"path/filepath"
	"testing"

	"gigarank/study"
)

// The study starts the host processes of each point itself.
func TestScalingStartsHosts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "scaling")
	cmd := command(t, "study", "scaling", "barrier", "--hosts", "1,2", "--lambda", "16,32", "--iterations", "3", "--out", dir)
	cmd.Env = append(cmd.Env, anyHost...)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	checkScaling(t, dir, func(p study.ScalingPoint) int { return int(p.Hosts) })
	for _, r := range readScaling(t, dir) {
		if r.Launcher != "mpirun -n" {
			t.Errorf("%+v was started by %q", r.Point, r.Launcher)
		}
	}
}
