package main

import (
	"regexp"
	"testing"
)

// Doctor tells each of these on a line of its own.
func TestDoctor(t *testing.T) {
	c, stdout, _ := testConsole(map[string]string{"GOMAXPROCS": "2"})
	if code := execute([]string{"doctor"}, c); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	for _, pattern := range []string{
		`(?m)^version +.*go1\.`,
		`(?m)^cores +2 used of [1-9]`,
		// 1 GiB less 64 MiB, at 3300 and 24 bytes a rank.
		`(?m)^memory +1\.00 GiB available$`,
		`(?m)^ +1\.00 GiB by MemAvailable`,
		`(?m)^goroutine ranks +about 353k fit`,
		`(?m)^event ranks +about 66\.5M fit`,
		`(?m)^switch +[1-9][0-9]* ns`,
		`(?m)^MPI +.+`,
		`(?m)^launcher +none`,
		`(?m)^GOMAXPROCS +2, set`,
		`(?m)^progress +a plain line`,
	} {
		if !regexp.MustCompile(pattern).MatchString(stdout.String()) {
			t.Errorf("no %q in\n%s", pattern, stdout)
		}
	}
}

func TestVersion(t *testing.T) {
	c, stdout, _ := testConsole(nil)
	code := execute([]string{"version"}, c)
	if !regexp.MustCompile(`^gigarank \S+, go1\.\S+, \w+/\w+, .+\n$`).MatchString(stdout.String()) || code != exitDone {
		t.Errorf("exit code %d, %q", code, stdout)
	}
}
