package coll

import "gigarank/mpivirt/internal/world"

// SharedResult returns the result of an LP's latest allreduce, in memory that all members share.
func (c *Collectives) SharedResult(lp int32, comm *Communicator) []byte {
	if comm.Size == 1 {
		return c.Messages.CompletionOf(lp).SharedResult
	}
	if len(c.KeptResults) > 0 {
		if result, has := c.KeptResults[lp]; has {
			return result
		}
	}
	return comm.result
}

// NewComm returns the communicator of a color that the latest collective on another communicator
// has made; nil for none. Without colors, color is the first rank of the group, or 0.
func (c *Collectives) NewComm(lp int32, comm *Communicator, color int) *Communicator {
	if comm.Remote != nil {
		if made := comm.union.made[color]; made != nil {
			return c.sideOf(made, lp)
		}
		return nil
	}
	if comm.Size == 1 {
		if index := c.Messages.CompletionOf(lp).NewComm; index != world.Freed {
			return c.Communicators.At(index)
		}
		return nil
	}
	return comm.made[color]
}

// fault is the error of a collective that an LP leaves.
type fault struct {
	op  world.Procedure
	err error
}

// TakeFault makes the error of the collective that an LP has left, if any, the completion of the
// LP's call.
func (c *Collectives) TakeFault(lp int32) {
	if f, has := c.Faults[lp]; has {
		delete(c.Faults, lp)
		c.Messages.Raise(lp, f.op, f.err)
	}
}
