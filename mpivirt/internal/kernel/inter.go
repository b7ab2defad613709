package kernel

import (
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/world"
)

// A blocking collective on an intercommunicator, and the call that makes an intercommunicator,
// consist of parts. Each part is complete at once or makes the LP wait. An LP that is resumed in
// such a call submits the call again, until the call is over.

// InParts reports whether an LP is in an unfinished call that consists of parts.
func (k *Kernel) InParts(lp int32) bool { return len(k.inParts) > 0 && k.inParts[lp] != nil }

// Told returns the bytes that a leader broadcasts in its group: its own token, and the token and
// ranks that the remote leader has sent.
func Told(token uint64, theirs []uint64) []byte {
	remoteToken, ranks := uint64(0), []int(nil)
	for i, n := range theirs {
		if i == 0 {
			remoteToken = n
		} else {
			ranks = append(ranks, int(n))
		}
	}
	return coll.Told(token, remoteToken, world.NewGroup(ranks))
}

// ToldOf is Told of a group.
func ToldOf(token, remoteToken uint64, remote *world.Group) []byte {
	return coll.Told(token, remoteToken, remote)
}

// Meeting returns the collective by which the members of a group make an intercommunicator after
// their leader has exchanged data with the remote leader. told holds the bytes of Told at the
// leader, and is nil at other members. The completion of the call contains the communicator.
func (k *Kernel) Meeting(leader int, told []byte) *coll.Collective {
	return k.collectives.Prepare(coll.Collective{Procedure: world.IntercommCreate, Root: leader, Input: told})
}

// beginParts begins a call that consists of parts.
func (k *Kernel) beginParts(lp int32, x *coll.InterCall) bool {
	if k.inParts == nil {
		k.inParts = map[int32]*coll.InterCall{}
	}
	k.inParts[lp] = x
	k.messages.NewCompletion(lp)
	return k.goOn(lp)
}

// goOn continues a call that consists of parts after a part is over. It reports whether the call is
// over. A member with a nonfatal error still takes part in the parts that other members wait for.
func (k *Kernel) goOn(lp int32) bool {
	x := k.inParts[lp]
	for {
		if b := k.messages.CompletionOf(lp); b.Err != nil {
			if b.Fatal {
				b.Procedure = x.Procedure()
				delete(k.inParts, lp)
				return true
			}
			if x.Err == nil {
				x.Err = b.Err
			}
		}
		part, more := x.NextPart()
		if !more {
			break
		}
		k.messages.NewCompletion(lp)
		over := false
		if v := part.Collective; v != nil {
			over = k.enterCollective(lp, k.Compose(v.Procedure, x.Group, int32(x.Member)).Enters(v, nil))
		} else {
			q := k.Compose(x.Call.Procedure, x.Comm, int32(x.Member))
			over = k.exchange(lp, q.Exchanges(Exchange{}, nil), Exchange{part.Receives, part.Sends, nil})
		}
		if !over {
			return false
		}
	}
	delete(k.inParts, lp)
	made := k.collectives.EndParts(x)
	b := k.messages.NewCompletion(lp)
	if x.Err != nil {
		return k.messages.Raise(lp, x.Procedure(), x.Err)
	}
	if made != nil {
		b.NewComm = made.Index
	}
	return true
}
