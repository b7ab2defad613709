package contention

import "gigarank/vtime"

// Interfaces are the interfaces of nodes in one direction.
type Interfaces struct {
	each   int  // of a node
	shared bool // any message takes any; else a rank has its own
	gap    vtime.Duration
	free   []vtime.Time // by node and interface: when the next message may begin
}

// NewInterfaces returns the idle interfaces of nodes, in one direction. If they are not shared, the
// k-th rank of a node uses interface k modulo their number. gap is the least time between the end
// of a message and the begin of the next.
func NewInterfaces(nodes, each int, shared bool, gap vtime.Duration) *Interfaces {
	return &Interfaces{each, shared, gap, make([]vtime.Time, nodes*each)}
}

// Take gives a message of the k-th rank of a node, which asks at an instant, its place for the
// time that its bytes take. It returns when the message begins. Messages ask in order.
func (i *Interfaces) Take(node, k int, asks vtime.Time, bytes vtime.Duration) (begins vtime.Time) {
	own := i.free[node*i.each : (node+1)*i.each]
	at := 0
	if i.shared {
		for j := range own {
			if own[j] < own[at] {
				at = j
			}
		}
	} else {
		at = k % i.each
	}
	begins = max(asks, own[at])
	own[at] = begins.Add(bytes).Add(i.gap)
	return begins
}
