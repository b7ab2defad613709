package mpivirt

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// Comm is a rank's handle of a communicator (MPI_Comm). Only that rank may use it.
type Comm struct {
	r      *Rank
	c      *kernel.Communicator
	member int32
	made   int32 // of an intercommunicator: communicators made of it
}

// Rank returns the rank's number in the communicator (MPI_Comm_rank).
func (c *Comm) Rank() int {
	if c == nil {
		world.Throw(world.NoComm(world.CommRank))
	}
	return int(c.member)
}

// Size returns the number of members (MPI_Comm_size).
func (c *Comm) Size() int {
	if c == nil {
		world.Throw(world.NoComm(world.CommSize))
	}
	return c.c.Size
}

// Group returns the members (MPI_Comm_group). All ranks of the engine share the value.
func (c *Comm) Group() *Group {
	if c == nil {
		world.Throw(world.NoComm(world.CommGroup))
	}
	return c.r.k.GroupOf(c.c, c.r.lp)
}

// Split divides the communicator by color (MPI_Comm_split). The members with the same color
// form a new one, ordered by key, then by their order here. Every member calls it. Colors are
// 0 or more; a member with Undefined (MPI_UNDEFINED) joins none and gets nil. It takes the
// time of an allgather of 8 bytes from each member, by the algorithm that Config names for allgathers; where
// that is the default, by recursive doubling among a power of two, else by that of Bruck. On an intercommunicator, the members of both
// groups with the same color form a new one; who finds its color in its own group only gets nil. The
// allgather is then among both groups.
// Errors: ErrArgument for negative colors.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if c == nil {
		return nil, world.NoComm(world.CommSplit)
	}
	return c.create(c.r.k.Split(color, key))
}

// Dup makes a communicator with the same members and messages of its own
// (MPI_Comm_dup). Every member calls it. It takes the time of an allreduce of 8
// bytes. The keys of attributes say which of those are copied. Errors: those of their Copy.
func (c *Comm) Dup() (*Comm, error) {
	if c == nil {
		return nil, world.NoComm(world.CommDup)
	}
	if c.c.Remote != nil {
		return c.dupInter()
	}
	made, err := c.createSame(world.CommDup)
	if err != nil || len(c.r.k.Caches) == 0 {
		return made, err
	}
	return made, c.copyAttributes(made)
}

// createSame makes a communicator with the same members by a procedure. It has no attributes.
func (c *Comm) createSame(op world.Procedure) (*Comm, error) {
	return c.create(as(op)(c.r.k.Dup(c.c.Group), nil))
}

// CreateGroup makes a communicator of a subgroup (MPI_Comm_create_group). Only the members of
// the group call it, all with the same group and tag. Who is none of them gets nil at once. It
// takes the time of an allreduce of 8 bytes among them. Errors: ErrGroup if a member of the
// group is none of c; ErrTag.
func (c *Comm) CreateGroup(g *Group, tag int) (*Comm, error) {
	switch {
	case c == nil:
		return nil, world.NoComm(world.CommCreateGroup)
	case g == nil || g.Member(c.r.Rank()) < 0:
		return nil, nil
	}
	on, v, err := c.r.k.CreateGroup(c.c, g, tag, c.r.lp)
	return c.handle(on).create(v, err)
}

// SplitNodes divides the communicator by the target machine's nodes, whose ranks share memory
// (MPI_Comm_split_type with MPI_COMM_TYPE_SHARED). Members of a node are ordered by key, then
// by their order here. Every member calls it. It takes the time of a Split.
func (c *Comm) SplitNodes(key int) (*Comm, error) {
	if c == nil {
		return nil, world.NoComm(world.CommSplitType)
	}
	return c.create(as(world.CommSplitType)(c.r.k.Split(c.r.Node(c.r.Rank()), key)))
}

// Compare tells how two communicators of the rank compare (MPI_Comm_compare): Ident if they are
// the same, Congruent if they have the same members in the same order, Similar in another
// order, else Unequal.
func (c *Comm) Compare(d *Comm) Comparison {
	if c == nil || d == nil {
		world.Throw(world.NoComm(world.CommCompare))
	}
	outcome := c.Group().Compare(d.Group())
	switch {
	case c.c == d.c:
		return Ident
	case (c.c.Remote == nil) != (d.c.Remote == nil):
		return Unequal
	case c.c.Remote != nil:
		outcome = max(outcome, c.RemoteGroup().Compare(d.RemoteGroup()))
	}
	switch {
	case outcome == Ident:
		return Congruent
	default:
		return outcome
	}
}

// Create makes a communicator of a subgroup (MPI_Comm_create). Every member of c calls it.
// Those in the group give the same group and get the communicator. The others get nil, and
// may give any other group; disjoint groups make several communicators at once. It takes the
// time of an allreduce of 8 bytes. On an intercommunicator, the members of both groups give one
// group each, of their own side, and the two form a new intercommunicator unless one is empty.
// Errors: ErrGroup if a member of the group is none of c.
func (c *Comm) Create(g *Group) (*Comm, error) {
	if c == nil {
		return nil, world.NoComm(world.CommCreate)
	}
	if c.IsInter() {
		return c.createInter(g)
	}
	return c.createAs(world.CommCreate, g)
}

// createAs is Create by a procedure that goes like it.
func (c *Comm) createAs(op world.Procedure, g *Group) (*Comm, error) {
	return c.create(as(op)(c.r.k.Create(c.Group(), g, c.r.Rank())))
}

// handle returns the rank's handle of a communicator that it is a member of.
func (c *Comm) handle(made *kernel.Communicator) *Comm {
	return &Comm{r: c.r, c: made, member: int32(made.Group.Member(c.r.Rank()))}
}

// Free frees the communicator for the rank (MPI_Comm_free). Later operations on it fail with
// ErrComm. Those already started complete. Errors: ErrComm; those of the Delete of attributes,
// which leave the communicator as it is.
func (c *Comm) Free() error {
	if c == nil {
		return world.NoComm(world.CommFree)
	}
	if c.c.Index > world.Self {
		if err := c.deleteAttributes(); err != nil {
			return err
		}
	}
	if err := c.r.do(c.compose(world.CommFree)).Err; err != nil {
		return err
	}
	c.c = c.r.k.Communicator(world.Freed)
	return nil
}
