package kernel

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
)

// resultOf returns the result of a simulation from the summary of all engines.
func resultOf(s *world.Summary, counts engine.Statistics) *Result {
	finish := s.Tally.Finishes()
	return &Result{
		VirtualTime: s.Digest.Last, Finished: s.Digest.Finished, Fingerprint: s.Digest.String(), Statistics: counts,
		SetupWall: s.Tally.SetUp(), Finish: finish, Operations: s.Tally.Operations(), Iterations: s.Tally.Iterations(),
		Late: s.Late, Departures: s.Departures, Uncharged: s.Uncharged.Matters(s.Digest.Finished, finish.Mean), Weighed: float64(s.Weighed) / 1e9,
	}
}
