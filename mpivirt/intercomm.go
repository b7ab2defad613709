package mpivirt

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// IntercommCreate makes an intercommunicator of the group of local and a remote group
// (MPI_Intercomm_create). Every member of both groups calls it with its own group, which have no
// rank in common. The leader of each group, a member of local, is a member of peer too, where it
// knows the leader of the other; others may give any peer. It takes a Sendrecv of the groups'
// ranks between the leaders, with the tag on peer, and two Bcasts in each group. Errors: ErrRank,
// ErrTag; ErrComm for groups that have a rank in common.
//
// On an intercommunicator, Rank, Size and Group are those of the local group, destinations and
// sources those of the remote one. A collective sends data between the groups. The root of one is
// Root in its own call, ProcNull in those of its group, and its number there in those of the
// remote group. A block for each member, or from each, is one for each remote member. A reduction
// combines the vectors of the remote group.
func IntercommCreate(local *Comm, leader int, peer *Comm, remoteLeader, tag int) (*Comm, error) {
	if local == nil || local.Rank() == leader && peer == nil {
		return nil, world.NoComm(world.IntercommCreate)
	}
	if local.c.Remote != nil || local.c.Size == 0 {
		return nil, local.refuse(world.IntercommCreate, world.Errorf(ErrComm, "%s is no communicator of one group", local.c))
	}
	if leader < 0 || leader >= local.Size() {
		return nil, local.refuse(world.IntercommCreate, world.Errorf(ErrRank, "leader %d of a group of %d", leader, local.Size()))
	}
	length, both := []int{0}, []uint64(nil)
	if local.Rank() == leader {
		told, err := local.meetLeader(peer, remoteLeader, tag)
		if err != nil {
			return nil, err
		}
		length[0], both = len(told), told
	}
	if err := Bcast(local, length, leader); err != nil {
		return nil, err
	}
	if local.Rank() != leader {
		both = make([]uint64, length[0])
	}
	if err := Bcast(local, both, leader); err != nil {
		return nil, err
	}
	return local.interOf(both)
}

// meetLeader sends the local group to the remote leader and returns the tokens of both leaders
// and the remote group.
func (c *Comm) meetLeader(peer *Comm, remoteLeader, tag int) ([]uint64, error) {
	g := c.Group()
	token := c.r.k.Token(c.r.lp)
	own := []uint64{token}
	for m := range g.Size() {
		own = append(own, uint64(g.WorldRank(m)))
	}
	sent, err := Isend(peer, own, remoteLeader, tag)
	if err != nil {
		return nil, err
	}
	status, err := peer.Probe(remoteLeader, tag)
	if err != nil {
		return nil, err
	}
	told := make([]uint64, 1+status.Bytes/8)
	if _, err := Recv(peer, told[1:], remoteLeader, tag); err != nil {
		return nil, err
	}
	told[0] = token
	_, err = sent.Wait()
	return told, err
}

// interOf returns the rank's handle of the intercommunicator of its group and a remote one, from
// what the leaders have told each other: their tokens, and the ranks of the remote group.
func (c *Comm) interOf(told []uint64) (*Comm, error) {
	token, remoteToken := told[0], told[1]
	var ranks []int
	for _, rank := range told[2:] {
		ranks = append(ranks, int(rank))
	}
	g, remote := c.Group(), world.NewGroup(ranks)
	if common := g.Intersection(remote).Size(); common > 0 {
		return nil, c.refuse(world.IntercommCreate, world.Errorf(ErrComm, "%d ranks are in both groups: give two without a common rank", common))
	}
	return c.handle(c.r.k.Meeting(token, g, remoteToken, remote)), nil
}

// IsInter reports whether the communicator is an intercommunicator (MPI_Comm_test_inter).
func (c *Comm) IsInter() bool { return c != nil && c.c.Remote != nil }

// RemoteSize returns the number of members of the remote group, 0 without one
// (MPI_Comm_remote_size).
func (c *Comm) RemoteSize() int {
	if !c.IsInter() {
		return 0
	}
	return c.c.Remote.Size
}

// RemoteGroup returns the remote group, an empty one without one (MPI_Comm_remote_group).
func (c *Comm) RemoteGroup() *Group {
	if !c.IsInter() {
		return world.Strided(0, 1, 0)
	}
	return c.c.Remote.Group
}

// Merge makes a communicator of both groups of an intercommunicator (MPI_Intercomm_merge). All
// members of a group give the same high: the group with false comes first. If both give the same,
// the order is the same for all. It takes the time of a message from the first member of the
// remote group. Errors: ErrComm.
func (c *Comm) Merge(high bool) (*Comm, error) {
	switch {
	case c == nil:
		return nil, world.NoComm(world.IntercommMerge)
	case !c.IsInter():
		return nil, c.refuse(world.IntercommMerge, world.Errorf(ErrComm, "%s is no intercommunicator", c.c))
	}
	flag, theirs := []byte{0}, []byte{0}
	if high {
		flag[0] = 1
	}
	x := kernel.Exchange{Receives: []kernel.Part{{Peer: 0, Bytes: 1, Buffer: theirs}}}
	if c.Rank() == 0 {
		for peer := range c.RemoteSize() {
			x.Sends = append(x.Sends, kernel.Part{Peer: peer, Bytes: 1, Buffer: flag})
		}
	}
	if err := c.r.do(c.compose(world.IntercommMerge).Exchanges(x, nil)).Err; err != nil {
		return nil, err
	}
	c.r.throttle()
	first := flag[0] < theirs[0] || flag[0] == theirs[0] && c.c.Context < c.c.Remote.Context
	c.made++
	return c.handle(c.r.k.Merge(c.c, c.made, first)), nil
}

// dupInter is Dup of an intercommunicator. It takes the time of a barrier.
func (c *Comm) dupInter() (*Comm, error) {
	if err := c.Barrier(); err != nil {
		return nil, err
	}
	c.made++
	made := c.handle(c.r.k.DupInter(c.c, c.made))
	return made, c.copyAttributes(made)
}

// splitInter is Split of an intercommunicator: the members of both groups with the same color have
// a new one. Those whose color the remote group does not have get nil. It takes the time of an
// Allgather and of an Allgatherv.
func (c *Comm) splitInter(color, key int) (*Comm, error) {
	if err := c.r.k.CheckColor(color); err != nil {
		return nil, c.refuse(world.CommSplit, err)
	}
	theirs, ours := make([]int64, 2*c.RemoteSize()), make([]int64, 2*c.Size())
	if err := Allgather(c, []int64{int64(color), int64(key)}, theirs); err != nil {
		return nil, err
	}
	// A group hears of its own members from the first of the other.
	var told []int64
	if c.Rank() == 0 {
		told = theirs
	}
	counts := make([]int, c.RemoteSize())
	counts[0] = len(ours)
	if err := Allgatherv(c, told, ours, counts); err != nil {
		return nil, err
	}
	c.made++
	if color == Undefined {
		return nil, nil
	}
	made := c.r.k.SplitInter(c.c, c.made, color, ours, theirs)
	if made == nil {
		return nil, nil
	}
	return c.handle(made), nil
}

// createInter is Create of an intercommunicator: its groups are those that the members of both
// groups give. Those that are in none, or in one whose remote group is empty, get nil.
func (c *Comm) createInter(g *Group) (*Comm, error) {
	if g == nil {
		g = world.Strided(0, 1, 0)
	}
	if err := c.Group().Contains(g); err != nil {
		return nil, c.refuse(world.CommCreate, err)
	}
	color, key := Undefined, g.Member(c.r.Rank())
	if key >= 0 {
		color = 0
	}
	return c.splitInter(color, max(key, 0))
}
