package kernel

import (
	"sync/atomic"

	"gigarank/engine"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// summary holds what an engine reports of its ranks.
type summary struct {
	digest engine.Digest // of the ranks that have finished
	tally  stats.Tally
	ended  *atomic.Int64 // ranks finished, for other goroutines to read
}

// finish enters the finish of a rank.
func (s *summary) finish(rank int, at vtime.Time) {
	s.digest.Add(rank, at)
	s.tally.Finish(at)
	if s.digest.Finished%64 == 0 {
		s.ended.Add(64)
	}
}

// forgetFinishes forgets which ranks have finished.
func (s *summary) forgetFinishes() {
	s.digest = engine.Digest{}
	s.tally.ForgetFinishes()
}

// merge adds the summary of another engine. The tallies of both are settled.
func (s *summary) merge(o *summary) {
	s.digest.Merge(&o.digest)
	s.tally.Merge(&o.tally)
}

// result returns the summary of all engines as the result of a simulation.
func (s *summary) result(counts engine.Statistics) *Result {
	return &Result{
		VirtualTime: s.digest.Last, Finished: s.digest.Finished, Fingerprint: s.digest.String(), Statistics: counts,
		SetupWall: s.tally.SetUp(), Finish: s.tally.Finishes(), Operations: s.tally.Operations(), Iterations: s.tally.Iterations(),
	}
}

// encode packs a summary and the engine's statistics for engine 0.
func (s *summary) encode(counts engine.Statistics) []byte {
	return s.tally.Append(counts.Append(s.digest.Append(nil)))
}

// decodeSummary unpacks what encode has packed, and returns the rest of b.
func decodeSummary(b []byte) (s *summary, counts engine.Statistics, rest []byte) {
	s = &summary{}
	rest = s.tally.Read(counts.Read(s.digest.Read(b)))
	return s, counts, rest
}
