package mpivirt

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// IntercommCreate makes an intercommunicator of the group of local and a remote group
// (MPI_Intercomm_create). Every member of both groups calls it with its own group, which have no
// rank in common. The leader of each group, a member of local, is a member of peer too, where it
// knows the leader of the other; others may give any peer. It takes a Sendrecv of the groups'
// ranks between the leaders, with the tag on peer, and in each group a Bcast of their number, one of
// the ranks, and an Allreduce of 8 bytes. Errors: ErrRank, ErrTag; ErrComm for groups that have a rank in common.
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
	var told []byte
	if local.Rank() == leader {
		var err error
		if told, err = local.meetLeader(peer, remoteLeader, tag); err != nil {
			return nil, err
		}
	}
	call := local.compose(world.IntercommCreate).Enters(local.r.k.Meeting(leader, told), nil)
	b := local.whole(local.r.make(call, true), world.IntercommCreate)
	if b.Err != nil {
		return nil, b.Err
	}
	return local.handle(local.r.k.Communicator(b.NewComm)), nil
}

// meetLeader sends the local group to the remote leader and returns what the leader tells its own
// group.
func (c *Comm) meetLeader(peer *Comm, remoteLeader, tag int) ([]byte, error) {
	g := c.Group()
	token := c.r.k.Token(c.r.lp)
	own := []uint64{token}
	for m := range g.Size() {
		own = append(own, uint64(g.WorldRank(m)))
	}
	theirs, err := exchangeOwn(peer, own, remoteLeader, remoteLeader, tag)
	return kernel.Told(token, theirs), err
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
// the order is the same for all. It takes the time of an exchange between the first members of both
// groups and of a Bcast in each. Errors: ErrComm.
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
	if err := c.run(c.r.k.Prepare(kernel.Collective{
		Procedure: world.IntercommMerge, Operation: collectives.Allreduce, Bytes: 1, Element: 1, Data: true, Input: flag, Output: theirs,
	}), nil); err != nil {
		return nil, err
	}
	first := flag[0] < theirs[0] || flag[0] == theirs[0] && c.c.Context < c.c.Remote.Context
	c.made++
	return c.handle(c.r.k.Merge(c.r.lp, c.c, c.made, first)), nil
}

// dupInter is Dup of an intercommunicator. It takes the time of a barrier.
func (c *Comm) dupInter() (*Comm, error) {
	if err := c.run(c.r.k.Prepare(kernel.Collective{Procedure: world.CommDup, Operation: collectives.Barrier}), nil); err != nil {
		return nil, err
	}
	c.made++
	made := c.handle(c.r.k.DupInter(c.r.lp, c.c, c.made))
	return made, c.copyAttributes(made)
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
	return c.Split(color, max(key, 0))
}
