package network

import "gigarank/vtime"

// progress says when ranks handle the messages of a rendezvous that have arrived.
type progress int

const (
	// asynchronous: at once, as with a thread or an interface that makes progress by itself.
	asynchronous progress = iota
	// inCalls: only inside MPI calls, of whatever kind.
	inCalls
	// inWaits: only inside MPI calls that wait, test or probe, as VACED-SIM has it and MPI libraries do that
	// have no thread for it.
	inWaits
)

func (p progress) String() string { return [...]string{"asynchronous", "calls", "waits"}[p] }

// parseProgress returns the mode of progress, asynchronous by default.
func parseProgress(o *object) progress {
	if !o.has("progress") {
		o.skip("progress")
		return asynchronous
	}
	return pick(o, "progress", []progress{asynchronous, inCalls, inWaits}, progress.String)
}

// ProgressInCalls reports whether a rank handles the messages of a rendezvous that have arrived
// for it only inside MPI calls. Otherwise it handles them at once.
func (t *Target) ProgressInCalls() bool { return t.machine.progress != asynchronous }

// ProgressInWaits reports whether of these calls only the ones count that wait, test or probe. A call that starts an
// operation handles only what one of them has found before.
func (t *Target) ProgressInWaits() bool { return t.machine.progress == inWaits }

// Data returns the arrival of the content of a message above the eager limit, and the instant at
// which its sender is free, for a content that leaves at an instant. See [Target.Rendezvous].
func (t *Target) Data(src, dst int, bytes int64, leaves vtime.Time) (arrival, free vtime.Time) {
	latency, transfer := t.LatencyAndTransfer(src, dst, bytes)
	if t.copies {
		free = leaves.Add(t.copied.time(bytes))
	} else {
		free = leaves.Add(transfer)
	}
	return leaves.Add(latency).Add(transfer), free
}
