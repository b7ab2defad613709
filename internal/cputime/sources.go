package cputime

import (
	"encoding/binary"
	"fmt"

	"gigarank/vtime"
)

// Measured is a source of bursts that measures them.
type Measured struct{ meter *Meter }

// NewMeasured returns a source for one engine.
func NewMeasured(c Clock) *Measured { return &Measured{NewMeter(c)} }

// Start begins a burst of the rank that runs.
func (m *Measured) Start() { m.meter.Start() }

// Stop ends a burst of a rank and returns its length.
func (m *Measured) Stop(int) (vtime.Duration, error) {
	return vtime.Duration(m.meter.Stop()) * vtime.Nanosecond, nil
}

// Kept reports whether each burst counts by itself.
func (*Measured) Kept() bool { return false }

// Declared returns the length of a burst that the program declares instead of computing.
func (m *Measured) Declared(_ int, d vtime.Duration) (vtime.Duration, error) { return d, nil }

// Recorded is a source of bursts that measures and records them.
type Recorded struct {
	Measured
	log *Log
}

// NewRecorded returns a source for an engine, which records to a log.
func NewRecorded(c Clock, log *Log) *Recorded { return &Recorded{*NewMeasured(c), log} }

// Stop ends a burst of a rank, records it and returns its length.
func (r *Recorded) Stop(rank int) (vtime.Duration, error) {
	d, err := r.Measured.Stop(rank)
	r.log.append(rank, d)
	return d, err
}

// Kept reports whether each burst counts by itself.
func (*Recorded) Kept() bool { return true }

// Declared records and returns the length of a burst that the program declares.
func (r *Recorded) Declared(rank int, d vtime.Duration) (vtime.Duration, error) {
	d -= d % vtime.Nanosecond
	r.log.append(rank, d)
	return d, nil
}

// Log holds the bursts of ranks first to first+len(ranks)-1, each in the order of its
// program: a variable-length integer of nanoseconds for each burst.
type Log struct {
	first int
	ranks [][]byte
}

// NewLog returns an empty log of n ranks.
func NewLog(first, n int) *Log { return &Log{first, make([][]byte, n)} }

func (l *Log) append(rank int, d vtime.Duration) {
	b := &l.ranks[rank-l.first]
	*b = binary.AppendUvarint(*b, uint64(d/vtime.Nanosecond))
}

// Replayed is a source of bursts that a log holds.
type Replayed struct{ log *Log }

// NewReplayed returns a source for an engine. It consumes the log, which holds the engine's
// ranks.
func NewReplayed(log *Log) *Replayed { return &Replayed{log} }

// Start does nothing.
func (r *Replayed) Start() {}

// Stop returns the next burst of a rank. The error says that the recording has no more.
func (r *Replayed) Stop(rank int) (vtime.Duration, error) {
	b := &r.log.ranks[rank-r.log.first]
	ns, n := binary.Uvarint(*b)
	if n <= 0 {
		return 0, fmt.Errorf("the recording of CPU times ends before the program of rank %d does: its options differ, "+
			"or its course depends on time, as with AnySource on another machine; record it again", rank)
	}
	*b = (*b)[n:]
	return vtime.Duration(ns) * vtime.Nanosecond, nil
}

// Kept reports whether each burst counts by itself.
func (*Replayed) Kept() bool { return true }

// Declared returns the next burst of a rank, whatever the program declares.
func (r *Replayed) Declared(rank int, _ vtime.Duration) (vtime.Duration, error) { return r.Stop(rank) }
