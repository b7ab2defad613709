package ptp

import "gigarank/mpivirt/internal/world"

// Raise stores an MPI error as the completion of a call. It returns true: the call is
// complete.
func (k *Messages) Raise(lp int32, op world.Procedure, err error) bool {
	b := k.NewCompletion(lp)
	b.Err, b.Procedure, b.Fatal, b.Request = err, op, k.ErrorsAreFatal(lp), 0
	return true
}

// Attach sets the size of an LP's buffer, the largest buffered send, and returns the size
// before.
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

// Pause has an LP resumed later if it must pause before it goes on, and reports whether it
// must. Buffers may be full. Under a model with state at the receiver, the operations that
// the LP has started must have begun.
func (k *Messages) Pause(lp int32) bool {
	if k.Processors == nil {
		return k.waitForBuffers(lp)
	}
	if !k.Behind(lp) {
		return false
	}
	k.park(lp)
	return k.Postpone(lp)
}

// MayPause reports whether Pause may have the running LP pause. It is quick.
func (k *Messages) MayPause() bool {
	return k.Processors != nil || k.sentTo != k.Engine.Index() || k.Engine.Full()
}

// Throttle has an LP resumed later if it has started too many operations, or filled a
// buffer. It reports whether that is so.
func (k *Messages) Throttle(lp int32) bool {
	if k.Processors != nil {
		return k.Processors.Crowded(lp) && k.Postpone(lp)
	}
	return k.waitForBuffers(lp)
}

// waitForBuffers has an LP resumed later if the buffers of its latest destination, or of its
// own engine, are full. It reports whether they are. The completion of the LP is kept. On a machine with progress in
// calls an LP is not held back between two computations: whether its phase goes on has to be known.
func (k *Messages) waitForBuffers(lp int32) bool {
	own := k.Engine.Index()
	dst := k.sentTo
	k.sentTo = own
	if k.Processors != nil || !k.Engine.Congested(dst) || k.InCalls && !k.computing[lp].called {
		return false
	}
	k.park(lp)
	k.Engine.Throttle(lp, k.Clock[lp], dst)
	return true
}
