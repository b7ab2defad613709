package main

import (
	"strings"
	"testing"
)

// Wrong command lines are refused before anything runs.
func TestPredictRefuses(t *testing.T) {
	for _, c := range []struct {
		says      string
		arguments []string
	}{
		{"takes one PROGRAM", nil},
		{"is no path", []string{"picalc"}},
		{"--real: name the same program", []string{"./picalc", "--machine", "xt5"}},
		{"is no program", []string{"./picalc", "--real", "/nowhere/picalc"}},
		{"--calibrate", []string{"./picalc", "--calibrate", "hot"}},
		{"--calibrate: the machine is that of --machine", []string{"./picalc", "--machine", "xt5", "--calibrate", "cold"}},
		{"--resume: name the directory", []string{"./picalc", "--machine", "xt5", "--resume"}},
		{"--time-from", []string{"./picalc", "--time-from", "no group"}},
		{"--time-from", []string{"./picalc", "--time-from", "("}},
		{"--ranks", []string{"./picalc", "--ranks", "0"}},
		{"--hosts", []string{"./picalc", "--hosts", "1,,2"}},
		{"--runs", []string{"./picalc", "--runs", "none"}},
	} {
		console, _, stderr := testConsole(nil)
		if code := execute(append([]string{"study", "predict"}, c.arguments...), console); code != exitUsage || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: exit code %d, says\n%swant %q", c.arguments, code, stderr, c.says)
		}
	}
}
