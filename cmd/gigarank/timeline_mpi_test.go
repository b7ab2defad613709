//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt/timeline"
)

// The files of a picture are the same on any number of host processes, also of native ranks, of some of the ranks, and of a deadlock.
func TestTimelineOnHosts(t *testing.T) {
	native := buildAllSends(t)
	for i, c := range []struct {
		run  string
		code int
	}{
		{"stencil --ranks 12 --iterations 2 --compute 20us --critical-path", terminal.ExitDone},
		{"stencil --ranks 12 --iterations 2 --compute 20us --lp event --machine frontier --ranks-shown 1-4,9 --window 10us..60us", terminal.ExitDone},
		{native + " --ranks 7 --ranks-shown 2-6 --machine loggops-default", terminal.ExitDone},
		{"deadlock --ranks 6", terminal.ExitProgram},
	} {
		for _, f := range timeline.Formats {
			dirs := [2]string{t.TempDir(), t.TempDir()}
			one, there := filepath.Join(dirs[0], "p"+f.Ending), filepath.Join(dirs[1], "p"+f.Ending)
			executed(t, c.code, append(strings.Fields("run "+c.run+" --engines 1 --progress none --timeline"), one)...)
			hosts := 2 + i%2
			output, err := underMPI(t, hosts, append(strings.Fields("run "+c.run+" --progress none --timeline"), there)...).CombinedOutput()
			if (err == nil) != (c.code == terminal.ExitDone) {
				t.Fatalf("%d host processes, %s: %v\n%s", hosts, c.run, err, output)
			}
			samePicture(t, dirs[0], dirs[1])
		}
	}
}
