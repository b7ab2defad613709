package forecast

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/coll"
)

// Times of the host in ns of user CPU, over all engines, measured by scripts/forecast on two shared
// cores of a Xeon at 2 GHz: the difference between three iterations and one, the least of several
// attempts.
const (
	joinTime         = 10   // a rank that joins and leaves its node
	fixedCostTime    = 3    // a member of a barrier at a fixed cost
	regularTime      = 3    // a message of a round over arrays that is a shift or an exchange
	sharedTime       = 20   // a message of a round over arrays where ranks share interfaces
	movedTime        = 40   // the surplus of such a message, and of its sum, where ranks share the memory of their node
	stridedTime      = 50   // any other message over arrays
	localMemberTime  = 150  // a member of a local collective
	localMessageTime = 200  // a message of a local collective
	agentTime        = 350  // a participant of a collective by messages
	messageTime      = 250  // a message of a collective by messages
	remoteTime       = 300  // the surplus of a message among several engines
	dataTime         = 150  // a contribution to an allreduce
	ownDataTime      = 600  // the surplus of a rank with its own vectors
	combinedTime     = 0.12 // a byte of these vectors that is combined in order
	copiedTime       = 0.6  // a byte that is copied into a message or into its own buffer
)

// time estimates the host's time of one collective, in ns.
func (o *costModel) time() float64 {
	rank := o.resume
	if o.Leaders {
		rank += joinTime
	}
	if o.use.Data {
		rank += dataTime
		if !o.transient {
			rank += ownDataTime
		}
		if o.Leaders || o.Mode == coll.ByArrays {
			rank += combinedTime * float64(o.use.Bytes)
		}
	}
	return rank*float64(o.ranks) + o.participantTime()*float64(o.Participants)
}

// participantTime returns the part of the time that each participant adds.
func (o *costModel) participantTime() float64 {
	var member, message float64
	switch o.Mode {
	case coll.AtFixedCost:
		return fixedCostTime
	case coll.ByArrays:
		strided, regular := o.strided(), float64(regularTime)
		if o.Layered {
			if regular = sharedTime; o.use.Bytes > 0 && o.target.ContendedWithin() {
				regular += movedTime
			}
		}
		return stridedTime*strided + regular*max(o.messages-strided, 0) + o.movingTime()
	case coll.Locally:
		member, message = localMemberTime, localMessageTime
	default:
		member, message = agentTime, messageTime
		if o.engines > 1 {
			message += remoteTime
		}
	}
	w := float64(o.Schedule.Positions())
	switch {
	case o.direct():
		member += o.movingTime()
	case o.use.Data:
		member += copiedTime * float64(o.use.Bytes) * (2 + o.positions/max(w, 1))
	}
	return member + message*o.messages
}

// movingTime returns the time to copy a participant's result from the inputs of all participants.
func (o *costModel) movingTime() float64 {
	bytes := copiedTime * float64(o.use.Bytes)
	switch {
	case !o.direct():
		return 0
	case o.crossesEngines() && o.use.Operation == collectives.Alltoall: // into records, and out of records
		return bytes * float64(o.ranks) * (2 - 1/float64(o.engines))
	case o.use.Operation == collectives.Allgather || o.use.Operation == collectives.Alltoall:
		return bytes * float64(o.ranks)
	}
	return bytes
}

// strided returns the number of messages over arrays of a participant in rounds that are neither
// shifts nor exchanges.
func (o *costModel) strided() float64 {
	if o.Schedule.MaxRounds() > coll.LongRounds {
		return 0
	}
	n := 0
	for round := range o.Schedule.MaxRounds() {
		if p := o.Schedule.Pattern(round); p.Kind == collectives.Strided {
			n += p.Count
		}
	}
	return float64(n) / float64(o.Participants)
}
