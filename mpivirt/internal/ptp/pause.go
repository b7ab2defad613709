package ptp

import "gigarank/mpivirt/internal/world"

// Raise makes an MPI error the completion of a call, which is over. It returns true.
func (k *Messages) Raise(lp int32, op world.Procedure, err error) bool {
	b := k.Renew(lp)
	b.Err, b.Procedure, b.Fatal, b.Request = err, op, k.ErrorsAreFatal(lp), 0
	return true
}

// Attach gives an LP room for buffered sends of up to a number of bytes each, and returns
// what it had.
func (k *Messages) Attach(lp int32, bytes int64) (before int64) {
	before = k.Attached[lp]
	if k.Attached == nil {
		k.Attached = map[int32]int64{}
	}
	if k.Attached[lp] = bytes; bytes == 0 {
		delete(k.Attached, lp)
	}
	return before
}

// Pause is waitForBuffers for an LP that does not wait for what it has begun: under a model with
// state at the receiver it goes on when all of that has begun.
func (k *Messages) Pause(lp int32) bool {
	if k.Processors == nil {
		return k.waitForBuffers(lp)
	}
	k.park(lp)
	if k.Postpone(lp) {
		return true
	}
	k.Unpark(lp)
	return false
}

// Throttle has an LP resumed later if it has begun so much that it ought to wait. It
// reports whether it does.
func (k *Messages) Throttle(lp int32) bool {
	if k.Processors != nil {
		return k.Processors[lp].crowded() && k.Postpone(lp)
	}
	return k.waitForBuffers(lp)
}

// waitForBuffers has an LP resumed later if the buffers that it has sent to last, or those of its
// own engine, are full. It reports whether it does. Its completion is kept.
func (k *Messages) waitForBuffers(lp int32) bool {
	own := k.Engine.Index()
	dst := k.sentTo
	k.sentTo = own
	if k.Processors != nil || !k.Engine.Congested(dst) {
		return false
	}
	k.park(lp)
	k.Engine.Throttle(lp, k.Clock[lp], dst)
	return true
}
