package coll

import "gigarank/mpivirt/internal/world"

// SharedResult returns the result that all members share of the allreduce that an LP has been
// through.
func (k *Collectives) SharedResult(lp int32, c *Communicator) []byte {
	if c.Size == 1 {
		return k.CompletionOf(lp).SharedResult
	}
	if len(k.KeptResults) > 0 {
		if result, has := k.KeptResults[lp]; has {
			return result
		}
	}
	return c.result
}

// NewComm returns the communicator of a color that the members of another have made last, the
// first rank of the group or 0 where they give no colors; nil if there is none.
func (k *Collectives) NewComm(lp int32, c *Communicator, color int) *Communicator {
	if c.Remote != nil {
		if made := c.union.made[color]; made != nil {
			return k.sideOf(made, lp)
		}
		return nil
	}
	if c.Size == 1 {
		if index := k.CompletionOf(lp).NewComm; index != world.Freed {
			return k.Communicators.At(index)
		}
		return nil
	}
	return c.made[color]
}

// fault is an error of a collective that an LP leaves.
type fault struct {
	op  world.Procedure
	err error
}

// TakeFault makes the error of the collective that an LP has left, if there is one, the
// completion of its call.
func (k *Collectives) TakeFault(lp int32) {
	if f, has := k.Faults[lp]; has {
		delete(k.Faults, lp)
		k.Raise(lp, f.op, f.err)
	}
}
