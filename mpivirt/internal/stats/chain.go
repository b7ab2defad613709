package stats

import "gigarank/vtime"

// Chain is the chain of messages and of work for MPI by which an operation of a rank ends, back to the rank and the instant at
// which the chain leaves the program of a rank: at a send, at a post, at the entry into a collective. The time since then that is
// not named is that of the network.
type Chain struct {
	Rank           int32 // in WORLD
	At             vtime.Time
	Works          vtime.Duration // of processors
	Shared, Within vtime.Duration // for which other messages and work have delayed the chain, between nodes and within a node
}
