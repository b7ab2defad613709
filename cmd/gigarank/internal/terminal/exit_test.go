package terminal

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"gigarank/mpivirt"
	"gigarank/sync"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		why  string
		err  error
		want int
	}{
		{"done", nil, 0},
		{"a rank's error", &mpivirt.RankError{Err: errors.New("x")}, 1},
		{"the same, wrapped", fmt.Errorf("while: %w", &mpivirt.RankError{Err: errors.New("x")}), 1},
		{"a deadlock", &mpivirt.DeadlockError{}, 1},
		{"wrong usage", UsageError{errors.New("x")}, 2},
		{"a lost process", &sync.Lost{}, 3},
		{"a signal", InterruptedBy(unix.SIGTERM), 3},
		{"stopped by a host that cannot say why any more", &sync.Stopped{}, 3},
		{"anything else", errors.New("disk full"), 3},
		{"what the hosts agreed on counts more than the host's own error", Ended{Cause: &sync.Stopped{}, Code: 1}, 1},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%s: exit code %d, want %d", c.why, got, c.want)
		}
	}
}

// A host whose error is only that another one ended the run counts as done. The host
// with the cause decides the exit code.
func TestStoppedHostHasNoOpinion(t *testing.T) {
	if got := OwnCode(&sync.Stopped{}); got != ExitDone {
		t.Errorf("a stopped host votes for %d", got)
	}
	if got := OwnCode(&mpivirt.RankError{Err: errors.New("x")}); got != ExitProgram {
		t.Errorf("the host of a failed rank votes for %d", got)
	}
}
