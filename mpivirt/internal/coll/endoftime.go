package coll

import "gigarank/vtime"

// pastSend is pastEnd for a message of a collective that would not leave its sender, or
// not arrive, before the end.
func (k *Collectives) pastSend(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	k.PastEnd(src, t, inst.Call.Procedure, "a message of %d bytes to rank %d", bytes, dst)
}

// pastReceive is pastEnd for a message of a collective that would not be taken in
// before the end.
func (k *Collectives) pastReceive(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	k.PastEnd(dst, t, inst.Call.Procedure, "a message of %d bytes from rank %d", bytes, src)
}
