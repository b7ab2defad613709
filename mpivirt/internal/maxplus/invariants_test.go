//go:build invariants || lint

package maxplus

import (
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// Each of these breaks something that must hold in rounds over arrays.
func TestBrokenRoundsAreFound(t *testing.T) {
	schedule, err := collectives.New(collectives.Barrier, collectives.Dissemination, 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	four := Rounds{Schedule: schedule, High: 4}
	for _, c := range []struct {
		why   string
		want  string
		spoil func()
	}{
		{"a round that leaves a receiver out", "visited 0 times", func() {
			checkRuns(collectives.Pattern{Kind: collectives.Irregular, Distance: 1}, 4, 0, 4)
		}},
		{"a round that turns a clock back", "goes back from 3ps to 2ps", func() {
			a := &Array{Rounds: four, work: []vtime.Time{7, 2, 0, 0}}
			a.checkRound([]vtime.Time{7, 3, 0, 0})
		}},
		{"more clocks than the round needs", "1 clocks have come, 0 were missing", func() {
			a := &Array{Rounds: four, received: 1}
			a.Complete()
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			defer func() {
				if v, ok := recover().(*invariant.Violation); !ok || !strings.Contains(v.Text, c.want) {
					t.Errorf("found %v, want %q", v, c.want)
				}
			}()
			c.spoil()
		})
	}
}
