package world

import (
	"sync/atomic"

	"gigarank/engine"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// Summary is an engine's report on its ranks.
type Summary struct {
	Digest engine.Digest // of the ranks that have finished
	Tally  stats.Tally
	Ended  *atomic.Int64 // number of ranks finished, for other goroutines to read

	Unreceived Unreceived
	Late       Late
	Activities stats.Activities
	Sent       stats.Sizes // of messages point to point
	Handed     stats.Sizes // bytes that ranks hand to collectives
	Calls      stats.Calls
	Path       stats.PathLog // of the critical path
	Uncharged  Uncharged
	Weighed    int64 // virtual time of tasks of a skeleton, in nanoseconds
	Departures Departures
}

// Finish records the finish of a rank.
func (s *Summary) Finish(rank int, at vtime.Time) {
	s.Digest.Add(rank, at)
	s.Tally.Finish(at)
	if s.Digest.Finished%64 == 0 {
		s.Ended.Add(64)
	}
}

// ForgetFinishes removes all finishes.
func (s *Summary) ForgetFinishes() {
	s.Digest = engine.Digest{}
	s.Tally.ForgetFinishes()
}

// Settle ends the counting of calls: calls that are counted afterwards are lost.
func (s *Summary) Settle() { s.Calls.Settle(&s.Activities) }

// Merge adds the summary of another engine, whose counting ends. The tallies of both must be settled.
func (s *Summary) Merge(o *Summary) {
	o.Settle()
	s.Digest.Merge(&o.Digest)
	s.Tally.Merge(&o.Tally)
	s.Unreceived.merge(o.Unreceived.Messages, &o.Unreceived.first)
	s.Late.merge(&o.Late)
	s.Activities.Merge(&o.Activities)
	s.Sent.Merge(&o.Sent)
	s.Handed.Merge(&o.Handed)
	s.Calls.Merge(&o.Calls)
	s.Path.Merge(&o.Path)
	s.Uncharged.merge(&o.Uncharged)
	s.Weighed += o.Weighed
	s.Departures.Merge(&o.Departures)
}

// Encode returns a summary, whose counting ends, the report of the engine's observer and the engine's statistics as bytes, for engine 0.
func (s *Summary) Encode(report []byte, counts engine.Statistics) []byte {
	s.Settle()
	b := AppendWords(AppendWords(s.Tally.Append(s.Path.Append(s.Calls.Append(s.Uncharged.append(s.Handed.Append(s.Sent.Append(s.Activities.Append(s.Late.append(s.Unreceived.append(counts.Append(s.Digest.Append(nil))))))))))), uint64(s.Weighed)), s.Departures.words()...)
	return append(AppendWords(b, uint64(len(report))), report...)
}

// DecodeSummary returns the summary, the statistics and the report that Encode has packed into b, and the rest of
// b.
func DecodeSummary(b []byte) (s *Summary, counts engine.Statistics, report, rest []byte) {
	s = &Summary{}
	rest = s.Tally.Read(s.Path.Read(s.Calls.Read(s.Uncharged.read(s.Handed.Read(s.Sent.Read(s.Activities.Read(s.Late.read(s.Unreceived.read(counts.Read(s.Digest.Read(b)))))))))))
	r := Reader{Rest: rest}
	s.Weighed = int64(r.U64())
	s.Departures.read(&r)
	n := r.U64()
	return s, counts, r.Rest[:n], r.Rest[n:]
}
