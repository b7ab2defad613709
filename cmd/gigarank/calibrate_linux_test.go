package main

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"
)

// A run that goes on for too long or takes more memory than it may is ended, and others are left alone.
func TestWatchRun(t *testing.T) {
	const long, much = time.Minute, 1 << 40
	for _, c := range []struct {
		program string
		limit   time.Duration
		most    int64
		want    string
	}{
		{"sleep 60", 50 * time.Millisecond, much, "^50ms$"},
		{"sleep 60", long, 1 << 10, " [KM]iB$"},
		{"sleep 0.1", long, much, "^$"},
	} {
		cmd := exec.Command("sh", "-c", "exec "+c.program)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cut := watchRun(cmd.Process, os.DirFS("/"), c.limit, c.most)
		_ = cmd.Wait()
		if why, peak := cut(); !regexp.MustCompile(c.want).MatchString(why) || peak <= 0 {
			t.Errorf("%+v: ended for %q, %d bytes", c, why, peak)
		}
	}
}
