//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The critical path is the same on any number of host processes.
func TestCriticalPathOnHosts(t *testing.T) {
	for i, run := range pathRuns {
		one := runDocument(t, run+" --critical-path --engines 1")
		hosts := 2 + i%2
		path := filepath.Join(t.TempDir(), "result.json")
		arguments := append(strings.Fields("run "+run), "--critical-path", "--json", path)
		if output, err := underMPI(t, hosts, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("%d host processes, %s: %v\n%s", hosts, run, err, output)
		}
		d := readDocument(t, path)
		if diff := cmp.Diff(pathIn(t, run, &one), pathIn(t, run, &d)); diff != "" || d.Hosts != hosts {
			t.Errorf("%d host processes, %s (-one +there):\n%s", d.Hosts, run, diff)
		}
	}
}
