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
// time of an allgather of 8 bytes from each member. Errors: ErrArgument for negative colors.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if c == nil {
		return nil, world.NoComm(world.CommSplit)
	}
	return c.create(c.r.k.Split(color, key))
}

// Dup makes a communicator with the same members and messages of its own
// (MPI_Comm_dup). Every member calls it. It takes the time of an allreduce of 8
// bytes.
func (c *Comm) Dup() (*Comm, error) {
	if c == nil {
		return nil, world.NoComm(world.CommDup)
	}
	return c.create(c.r.k.Dup(c.c.Group), nil)
}

// Create makes a communicator of a subgroup (MPI_Comm_create). Every member of c calls it.
// Those in the group give the same group and get the communicator. The others get nil, and
// may give any other group; disjoint groups make several communicators at once. It takes the
// time of an allreduce of 8 bytes. Errors: ErrGroup if a member of the group is none of c.
func (c *Comm) Create(g *Group) (*Comm, error) {
	if c == nil {
		return nil, world.NoComm(world.CommCreate)
	}
	return c.create(c.r.k.Create(c.Group(), g, c.r.Rank()))
}

// handle returns the rank's handle of a communicator that it is a member of.
func (c *Comm) handle(made *kernel.Communicator) *Comm {
	return &Comm{r: c.r, c: made, member: int32(made.Group.Member(c.r.Rank()))}
}

// Free frees the communicator for the rank (MPI_Comm_free). Later operations on it fail with
// ErrComm. Those already started complete.
func (c *Comm) Free() error {
	if c == nil {
		return world.NoComm(world.CommFree)
	}
	if err := c.r.do(c.compose(world.CommFree)).Err; err != nil {
		return err
	}
	c.c = c.r.k.Communicator(world.Freed)
	return nil
}
