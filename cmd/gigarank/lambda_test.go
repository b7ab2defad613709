package main

import (
	"encoding/json"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// A run with λ ranks for each engine is the run with as many ranks as all engines have.
func TestLambdaCountsTheRanksOfEachEngine(t *testing.T) {
	of := func(args ...string) (d document) {
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(append([]string{"run", "barriertest", "--iterations", "1", "--json", "-", "--engines", "3"}, args...), c); code != terminal.ExitDone {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
		if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	a, b := of("--lambda", "50"), of("--ranks", "150")
	if a.Ranks != 150 || a.Lambda != 50 || a.Fingerprint != b.Fingerprint {
		t.Errorf("--lambda 50 on 3 engines: %d ranks, λ %v, fingerprint %s; 150 ranks have %s", a.Ranks, a.Lambda, a.Fingerprint, b.Fingerprint)
	}
	if d := of("--ranks", "100"); d.Lambda != 33.33 {
		t.Errorf("100 ranks on 3 engines: λ %v, want 33.33", d.Lambda)
	}
}
