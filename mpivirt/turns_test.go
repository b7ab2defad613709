package mpivirt_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

// Where workers run the engines, a run ends as with a goroutine for each, also by a rank whose code ends the
// worker's goroutine or never returns.
func TestRunsOfWorkersEnd(t *testing.T) {
	t.Parallel()
	const ranks, engines = 12, 6
	line := make(chan int)
	for name, c := range map[string]struct {
		at7   func(r *steps.Rank) steps.Outcome // what rank 7 does after 7 us
		error string
	}{
		"well":         {func(r *steps.Rank) steps.Outcome { return r.Barrier() }, ""},
		"a panic":      {func(*steps.Rank) steps.Outcome { panic("broken") }, "broken"},
		"Goexit":       {func(*steps.Rank) steps.Outcome { runtime.Goexit(); panic("not reached") }, "Goexit"},
		"an error":     {func(r *steps.Rank) steps.Outcome { return r.Fail(errors.New("no luck")) }, "no luck"},
		"a deadlock":   {func(r *steps.Rank) steps.Outcome { return r.Finish() }, "deadlock"},
		"another call": {func(r *steps.Rank) steps.Outcome { return r.Recv(8, 0) }, "deadlock"},
		"a block":      {func(r *steps.Rank) steps.Outcome { <-line; return r.Barrier() }, "chan receive"},
	} {
		first := ""
		for workers := range 3 {
			transports := sync.NewInProcess(engines)
			if workers > 0 {
				transports = sync.NewInTurns(engines, workers)
			}
			s, err := mpivirt.New(mpivirt.Config{
				Target: target(t, flat4, ranks), Transports: transports, Watchdog: 0.1,
				Program: mpivirt.Program{Name: name, Forms: []mpivirt.Form{steps.Main(func() steps.Program {
					return steps.New(func(r *steps.Rank, step *int) steps.Outcome {
						*step++
						switch {
						case *step == 1:
							return r.Barrier()
						case *step == 2:
							r.Compute(vtime.Duration(r.Rank()) * vtime.Microsecond)
							if r.Rank() == 7 {
								return c.at7(r)
							}
							return r.Barrier()
						}
						return r.Finish()
					})
				})}},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Run()
			got := ""
			if err != nil {
				got = err.Error()
			}
			if (got == "") != (c.error == "") || !strings.Contains(got, c.error) {
				t.Errorf("%s, %d workers: error %q, want one with %q", name, workers, got, c.error)
			}
			got, _, _ = strings.Cut(got, "\n")
			if workers == 0 {
				first = got
			} else if got != first {
				t.Errorf("%s, %d workers: %q, without %q", name, workers, got, first)
			}
			s.Close()
		}
	}
}
