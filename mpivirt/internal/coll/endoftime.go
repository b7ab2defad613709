package coll

import "gigarank/vtime"

// pastSend is pastEnd for a message of a collective that would not leave its sender, or not arrive,
// before the end of virtual time.
func (c *Collectives) pastSend(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	c.partition.PastEnd(src, t, inst.Call.Procedure, "a message of %d bytes to rank %d", bytes, dst)
}

// pastReceive is pastEnd for a message of a collective that would not be received before the end of
// virtual time.
func (c *Collectives) pastReceive(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	c.partition.PastEnd(dst, t, inst.Call.Procedure, "a message of %d bytes from rank %d", bytes, src)
}
