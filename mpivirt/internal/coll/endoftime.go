package coll

import (
	"gigarank/internal/spelling"
	"gigarank/vtime"
)

// pastSend is pastEnd for a message of a collective that would not leave its sender, or not arrive,
// before the end of virtual time.
func (c *Collectives) pastSend(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	c.partition.PastEnd(src, t, inst.Call.Procedure, "a message of %s to rank %d", spelling.Count(bytes, "byte"), dst)
}

// pastReceive is pastEnd for a message of a collective that would not be received before the end of
// virtual time.
func (c *Collectives) pastReceive(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	c.partition.PastEnd(dst, t, inst.Call.Procedure, "a message of %s from rank %d", spelling.Count(bytes, "byte"), src)
}
