package p2p

import "gigarank/mpivirt/internal/world"

// Raise stores an MPI error as the completion of a call. It returns true, since the call is
// complete.
func (m *Messages) Raise(lp int32, op world.Procedure, err error) bool {
	b := m.NewCompletion(lp)
	b.Err, b.Procedure, b.Fatal, b.Request = err, op, m.Partition.ErrorsAreFatal(lp), 0
	return true
}

// Attach sets the size of an LP's buffer, which bounds the largest buffered send, and returns the
// previous size.
func (m *Messages) Attach(lp int32, bytes int64) (before int64) {
	before = m.Attached[lp]
	if m.Attached == nil {
		m.Attached = map[int32]int64{}
	}
	if m.Attached[lp] = bytes; bytes == 0 {
		delete(m.Attached, lp)
	}
	return before
}

// Pause has an LP resumed later if it must pause before it goes on, and reports whether it must. An
// LP pauses while buffers are full. Under a model with state at the receiver, an LP pauses until
// all operations that it has started have begun.
func (m *Messages) Pause(lp int32) bool {
	if m.Processors == nil {
		return m.waitForBuffers(lp)
	}
	if !m.Behind(lp) {
		return false
	}
	m.park(lp)
	return m.Postpone(lp)
}

// MayPause reports whether Pause might pause the running LP. It is quick.
func (m *Messages) MayPause() bool {
	return m.Processors != nil || m.sentTo != m.Partition.Engine.Index() || m.Partition.Engine.Full()
}

// Throttle has an LP resumed later if it has started too many operations or filled a buffer. It
// reports whether the LP is throttled.
func (m *Messages) Throttle(lp int32) bool {
	if m.Processors != nil {
		return m.Processors.QueueFull(lp) && m.Postpone(lp)
	}
	return m.waitForBuffers(lp)
}

// SharesLinks reports whether all messages share the links of a network. There no rank is held back
// for the sake of buffers.
func (m *Messages) SharesLinks() bool { return m.Interfaces != nil && !m.Interfaces.InFlight() }

// waitForBuffers has an LP resumed later if the buffers of its latest destination, or of its
// own engine, are full. It reports whether they are. The completion of the LP is kept. On a machine with progress in
// calls of all kinds an LP is not held back between two computations: whether its phase goes on has to be known.
func (m *Messages) waitForBuffers(lp int32) bool {
	own := m.Partition.Engine.Index()
	dst := m.sentTo
	m.sentTo = own
	if m.Processors != nil || m.SharesLinks() || !m.Partition.Engine.Congested(dst) || m.InCalls && !m.inWaits && !m.computing[lp].called {
		return false
	}
	m.park(lp)
	m.Partition.Engine.Throttle(lp, m.Partition.Clock[lp], dst)
	return true
}
