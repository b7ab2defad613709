package network

// AlikeRanks returns two ranks whose messages take what those between any two ranks
// take, whatever their size. ok is false where some pairs are farther apart than
// others, or where it is not known that none is. A rank that is alone stands for both.
func (t *Target) AlikeRanks() (src, dst int, ok bool) {
	_, most := t.NodeSizes()
	switch {
	case t.ranks == 1 || t.scope == everywhere || t.Nodes() == 1:
		return 0, t.ranks - 1, true
	case most == 1:
		return t.AlikeLeaders()
	}
	return 0, 0, false
}

// AlikeLeaders is AlikeRanks for messages between the leaders of nodes.
func (t *Target) AlikeLeaders() (src, dst int, ok bool) {
	nodes := t.Nodes()
	src, dst = t.NodeMember(0, 0), t.NodeMember(nodes-1, 0)
	return src, dst, t.scope != byHops || t.sameHops(nodes)
}

// mostCompared bounds the nodes of which all pairs are looked at.
const mostCompared = 1 << 10

// sameHops reports whether any two of the first nodes are the same number of hops
// apart, which it knows of a star of any size, and of few nodes.
func (t *Target) sameHops(nodes int) bool {
	if _, isStar := t.topology.(star); isStar || nodes <= 2 {
		return true
	}
	if nodes > mostCompared {
		return false
	}
	hops := t.Hops(0, 1)
	for a := range nodes {
		for b := range a {
			if t.Hops(a, b) != hops {
				return false
			}
		}
	}
	return true
}

// NodeSizes returns the least and the greatest number of ranks on a node.
func (t *Target) NodeSizes() (least, most int) {
	l, listed := t.layout.(*listing)
	if !listed { // all are as large as the first but for the last ones
		return t.NodeSize(t.Nodes() - 1), t.NodeSize(0)
	}
	least = l.largest
	for node := range l.places {
		least = min(least, l.size(node))
	}
	return least, l.largest
}
