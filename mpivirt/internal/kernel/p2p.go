package kernel

// maxTag is the largest tag (MPI_TAG_UB).
const maxTag = 1<<31 - 1

// checkSend returns what is wrong with the arguments of a send.
func (c *Communicator) checkSend(dest, tag int, bytes int64) error {
	switch {
	case c.Size == 0:
		return Errorf(ErrComm, "%s", c)
	case dest != ProcNull && (dest < 0 || dest >= c.Size):
		return Errorf(ErrRank, "destination %d in a communicator of %d ranks", dest, c.Size)
	case tag < 0 || tag > maxTag:
		return Errorf(ErrTag, "tag %d: tags of messages are 0 to %d", tag, maxTag)
	case bytes < 0:
		return Errorf(ErrCount, "a message of %d bytes", bytes)
	}
	return nil
}

func (c *Communicator) checkReceive(v *incoming) error {
	source, tag, bytes := v.source, v.tag, v.bytes
	switch {
	case c.Size == 0:
		return Errorf(ErrComm, "%s", c)
	case source != ProcNull && source != AnySource && (source < 0 || source >= c.Size):
		return Errorf(ErrRank, "source %d in a communicator of %d ranks", source, c.Size)
	case tag != AnyTag && (tag < 0 || tag > maxTag):
		return Errorf(ErrTag, "tag %d: tags are 0 to %d, or AnyTag", tag, maxTag)
	case bytes < 0:
		return Errorf(ErrCount, "room for %d bytes", bytes)
	}
	return nil
}

// emptyStatus is the status of an inactive request, and of one that is no receive (MPI
// 4.1, 3.7.3); nobodyStatus that of a receive from ProcNull (3.10).
var (
	EmptyStatus  = Status{Source: AnySource, Tag: AnyTag}
	NobodyStatus = Status{Source: ProcNull, Tag: AnyTag}
)
