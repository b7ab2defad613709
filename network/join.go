package network

import "gigarank/vtime"

// parseJoin returns the times of joins by size, nil if the file gives none.
func parseJoin(o *object) []measurement {
	if !o.has("join") {
		o.skip("join")
		return nil
	}
	return parseTable(o, "join")
}

// Join returns the time in which a node-leader collective moves bytes from a member of a node to
// the leader, or back. It is at least one picosecond. Unless the machine gives it, it is the Delay
// within a node, under levels that of the node's level. A given time contains no overhead.
func (t *Target) Join(bytes int64) vtime.Duration {
	if !t.joins {
		const any = 0 // such delay models do not distinguish nodes, or ranks within a node
		latency, transfer := t.between(any, any, bytes)
		return latency.Plus(transfer)
	}
	return t.join.latency.Plus(t.join.transfer(bytes))
}
