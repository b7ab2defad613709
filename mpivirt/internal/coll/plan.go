package coll

import (
	"math"
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/network"
	"gigarank/vtime"
)

// Plan says how engines carry out a collective of WORLD that all ranks call.
type Plan struct {
	Schedule     collectives.Schedule // among the participants; nil at a fixed cost
	Participants int
	Leaders      bool // participants are the leaders of nodes, else all ranks
	Mode         Mode
	Layered      bool // messages take the interfaces of nodes in layers
	Hidden       bool // interfaces never delay a participant; rounds over arrays leave them out, and so do messages that are not in layers
	Combines     bool // vectors are combined round by round, beside the clocks over arrays
}

// PlanOf returns the plan of a call. alone says that one engine has all ranks, and null that engines
// synchronise by null messages alone. repeated says that ranks make the call repeatedly and communicate
// by no other call, accounted that statistics are on. It returns an error for a call that cannot be carried out.
func PlanOf(t *network.Target, wanted Interpreter, null, alone, repeated, accounted bool, v *Collective) (p Plan, err error) {
	p.Leaders, p.Participants = ledByNodes(t, v.Algorithm) && (accounted || !leadsAlone(t, v)), t.Ranks()
	uniform := t.UniformFrom()
	if p.Leaders {
		p.Participants, uniform = t.Nodes(), math.MaxInt
		if t.LeadersUniform() {
			uniform = 0
		}
	}
	if p.Schedule, err = ScheduleOf(v.Operation, v.Algorithm, v.sized(p.Participants, PerNodeOf(t))); err != nil {
		return p, err
	}
	var layout *collectives.Layout
	if p.Schedule != nil {
		layout = v.CommonLayout(p.Schedule)
	}
	if takesNoPlaces(t, v, t.Ranks()) {
		t, p.Hidden = t.EqualShares(), true
	} else if repeated {
		l := layeringOf(t, v.Algorithm, &Repeated{v.Operation, v.Bytes, v.Element, v.Data})
		p.Layered, p.Hidden = l != nil, l.leftOut(accounted)
	}
	p.Mode = (&choice{
		target: t, wanted: wanted, null: null,
		call: v, schedule: p.Schedule, layout: layout,
		members: t.Ranks(), leaders: p.Leaders, ascending: true, alone: alone, uniformFrom: uniform, layered: p.Layered, accounted: accounted,
	}).mode()
	p.Combines = p.Mode == ByArrays && v.Moved() && v.combinesInRounds()
	return p, nil
}

// AgentBytes returns the size of an agent on a target machine, or of a member of a local collective.
func AgentBytes(t *network.Target) int {
	bytes := unsafe.Sizeof(agent{})
	if t.HasPorts() {
		bytes += unsafe.Sizeof(network.Port{})
	}
	return int(bytes)
}

// Sizes in bytes of the values with which an engine carries out collectives.
const (
	AgentDataBytes    = int(unsafe.Sizeof(memory{})) // of an agent in addition, if memory is moved
	RoundQueueBytes   = int(unsafe.Sizeof(roundQueue{}))
	RoundMessageBytes = int(unsafe.Sizeof(roundMessage{}))
	RoundRecordBytes  = roundRecord                      // of a round message between engines, without its content
	ContentBytes      = int(unsafe.Sizeof(content{}))    // of a copy that messages share; plus a buffer if longer than SmallContent
	RoundShakeBytes   = int(unsafe.Sizeof(roundShake{})) // of ACK or DATA between nodes
	LandingBytes      = int(unsafe.Sizeof(landing{}))    // of a message that a window has received
	LocalMessageBytes = int(unsafe.Sizeof(localMessage{}))
	PayloadBytes      = int(unsafe.Sizeof([]byte(nil))) // of a message of members whose memory is not moved directly
	MemberListBytes   = int(unsafe.Sizeof(memberList{}))
	PostponedBytes    = int(unsafe.Sizeof(postponed{}))
	ContributionBytes = int(unsafe.Sizeof(contribution{}))                                      // of a vector that waits for those of lower ranks of its node
	LocalTurnBytes    = int(unsafe.Sizeof(localPassage{}) + 2*unsafe.Sizeof(resource.Asking{})) // of a message of a local collective that takes interfaces in layers

	// Where statistics are on, in addition.
	EndingBytes  = int(unsafe.Sizeof(ending{}))  // of an LP
	AccountBytes = int(unsafe.Sizeof(account{})) // of an agent
	CarriedBytes = int(unsafe.Sizeof(carried{})) // of a message of a round
	RestBytes    = int(unsafe.Sizeof(rest{}))    // of a node

	ArrayAccountBytes = int(unsafe.Sizeof(stats.Account{}) + unsafe.Sizeof(vtime.Time(0))) // of a participant over arrays, with the latest entry that it knows of
)
