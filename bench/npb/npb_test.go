package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCounts(t *testing.T) {
	for _, c := range []struct{ benchmark, class, want string }{
		{"BT", "S", "[1 4 9 16 25 36 49 64 81 100 121 144 169 196 225 256]"},
		{"SP", "A", "[1 4 9 16]"},
		{"CG", "W", "[1 2 4 8 16 32 64]"},
		{"LU", "A", "[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16]"},
		{"DT", "S", "[]"},
		{"EP", "B", "[]"},
	} {
		if got := fmt.Sprint(counts(c.benchmark, c.class)); got != c.want {
			t.Errorf("%s.%s runs on %s, want %s", c.benchmark, c.class, got, c.want)
		}
	}
	if got := numbers([]int{1, 2, 4, 5, 6, 9}); got != "1, 2, 4–6, 9" {
		t.Errorf("numbers are %q", got)
	}
}

// The benchmarks say in several ways that they have verified, and that they cannot run.
func TestWhatBenchmarksSay(t *testing.T) {
	for _, c := range []struct {
		output, refused string
		verified        bool
		seconds         float64
	}{
		{output: " Time in seconds =                     0.25\n Verification    =               SUCCESSFUL\n", verified: true, seconds: 0.25},
		{output: " VERIFICATION SUCCESSFUL\n", verified: true},
		{output: " Verification    =             UNSUCCESSFUL\n"},
		{output: "\n Error: Cell size too small. Min size is 3\n", refused: "Error: Cell size too small. Min size is 3"},
		{output: " *** ERROR determining processor topology for 3 processes\n", refused: "*** ERROR determining processor topology for 3 processes"},
		{output: "     SUBDOMAIN SIZE IS TOO SMALL - \n", refused: "SUBDOMAIN SIZE IS TOO SMALL -"},
	} {
		o := outcome{output: c.output}
		if o.verified() != c.verified || o.refused() != c.refused || o.seconds() != c.seconds {
			t.Errorf("%q: verified %v, refused %q, %v s", c.output, o.verified(), o.refused(), o.seconds())
		}
	}
}

// A run that takes too long is ended with all that it has started.
func TestRunsEnd(t *testing.T) {
	o := run(200*time.Millisecond, "sh", "-c", "sleep 60 & sleep 60; echo done")
	if o.err == nil || !strings.Contains(o.err.Error(), "not at its end after 200ms") || o.wall > 30 {
		t.Errorf("%v after %v s", o.err, o.wall)
	}
	if o := run(time.Minute, "sh", "-c", "echo 'Verification Successful'"); !o.verified() || o.memory < 100<<10 {
		t.Errorf("%+v", o)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		says      string
	}{
		{[]string{"tree"}, "give the directory"},
		{[]string{"tree", "other"}, "give the directory"},
		{[]string{"-ranks", "2,x", "tree", "verify"}, `"x" is no number of ranks`},
		{[]string{"-benchmarks", "CG", "-ranks", "2", t.TempDir(), "verify"}, "is no NPB3.4-MPI"},
	} {
		if err := execute(c.arguments); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.arguments, err, c.says)
		}
	}
}
