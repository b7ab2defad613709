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
	regularTime      = 2    // a message of a round over arrays that is a shift or an exchange
	sharedTime       = 20   // a message of a round over arrays where ranks share interfaces
	movedTime        = 40   // the surplus of such a message, and of its sum, where ranks share the memory of their node
	stridedTime      = 50   // any other message over arrays
	localMemberTime  = 100  // a member of a local collective
	localMessageTime = 110  // a message of a local collective
	turnTime         = 130  // the surplus of such a message where it takes interfaces in layers
	inStepTime       = 25   // a message of a collective in step
	agentTime        = 350  // a participant of a collective by messages
	messageTime      = 250  // a message of a collective by messages
	passageTime      = 160  // the surplus of a message at an interface, or at the memory of a node
	receiverTime     = 550  // the surplus of a message under state at the receiver
	windowTime       = 900  // the surplus of a message among so many in windows that no cache holds them
	hanTime          = 600  // the surplus of a participant of an allreduce by han, whose schedule is composed of others
	doubleTreeTime   = 1000 // likewise by double-tree: the schedule is that of two trees
	nvlsTreeTime     = 1500 // likewise by nvls-tree
	remoteTime       = 300  // the surplus of a message among several engines
	dataTime         = 150  // a contribution to an allreduce
	ownDataTime      = 600  // the surplus of a rank with its own vectors
	combinedTime     = 0.05 // a byte of these vectors that is combined in order
	copiedTime       = 0.2  // a byte that is copied into a message or into its own buffer
)

// cachedMessages is a number of messages that caches hardly hold.
const cachedMessages = 1 << 17

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
		if o.Leaders || o.Mode == coll.ByArrays && !o.Combines {
			rank += combinedTime * float64(o.use.Bytes)
		}
	}
	return rank*float64(o.ranks) + o.participantTime()*float64(o.Participants)
}

// participantTime returns the part of the time that each participant adds.
func (o *costModel) participantTime() float64 {
	var member, message float64
	mode := o.Mode
	if mode == coll.InStep && !o.staysInStep() {
		mode = coll.ByMessages
	}
	switch mode {
	case coll.AtFixedCost:
		return fixedCostTime
	case coll.ByArrays:
		strided, regular := o.strided(), float64(regularTime)
		if o.Layered && !o.Hidden {
			if regular = sharedTime; o.use.Bytes > 0 && o.target.ContendedWithin() {
				regular += movedTime
			}
		}
		time := stridedTime*strided + regular*max(o.messages-strided, 0) + o.movingTime()
		if o.Combines {
			time += localMemberTime + localMessageTime*o.messages + o.combiningTime()
		}
		return time
	case coll.Locally:
		member, message = localMemberTime, localMessageTime
		if o.Layered {
			message += turnTime
		}
	case coll.InStep:
		member, message = localMemberTime, inStepTime
	default:
		member, message = agentTime+o.passagesTime(), messageTime
		if o.engines > 1 {
			message += remoteTime
		}
		if o.target.ReceiverState() {
			message += receiverTime
		}
		message += windowTime * min(1, float64(windowOf(o.Schedule))*float64(o.Participants)/cachedMessages)
	}
	if o.use.Operation == collectives.Allreduce {
		switch o.call.Algorithm.Base() {
		case collectives.HAN:
			member += hanTime
		case collectives.DoubleTree:
			member += doubleTreeTime
		case collectives.NVLSTree:
			member += nvlsTreeTime
		}
	}
	switch {
	case o.direct():
		member += o.movingTime()
	case o.use.Data:
		member += o.combiningTime()
	}
	return member + message*o.messages
}

// combiningTime returns the time in which a participant copies and combines the contents of its messages.
func (o *costModel) combiningTime() float64 {
	return copiedTime * float64(o.use.Bytes) * (2 + o.positions/max(float64(o.Schedule.Positions()), 1))
}

// staysInStep reports whether each round is a shift or an exchange among all. In rounds of other shapes a participant may be several
// rounds ahead, so that its message comes before those of earlier rounds, and the collective goes by messages.
func (o *costModel) staysInStep() bool {
	for round := range min(o.Schedule.MaxRounds(), coll.LongRounds) {
		p := o.Schedule.Pattern(round)
		if p.Kind != collectives.Shift && (p.Kind != collectives.Exchange || p.Folded > 0) {
			return false
		}
	}
	return true
}

// passagesTime returns the time in which a participant's messages pass interfaces and memories. A message between nodes passes an
// interface at either end, and of a rendezvous REQ, ACK and DATA do so. Sums pass the memory that the ranks of a node share.
func (o *costModel) passagesTime() float64 {
	if !o.target.Contended() || o.messages == 0 || o.Hidden && !o.Layered {
		return 0
	}
	n := 2 * (o.messages - o.inside)
	if o.target.ContendedWithin() {
		n += o.inside
	}
	if o.messageLength() > float64(o.target.EagerLimit()) {
		n *= 3
	}
	if o.target.ContendedWithin() && o.use.Bytes > 0 && !o.Leaders {
		n += o.combined
	}
	return passageTime * n
}

// messageLength returns the mean bytes of a message.
func (o *costModel) messageLength() float64 {
	bytes := o.positions / o.messages * float64(o.use.Bytes)
	if vectorOf(o.use.Operation) {
		bytes /= float64(max(o.Schedule.Positions(), 1))
	}
	return bytes
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
