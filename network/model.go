package network

import (
	"math"
	"slices"

	"gigarank/vtime"
)

// A model is a delay model with its parameters, as given by a machine file. It is immutable.
//
// A model may also be a [copier] or an [occupier].
type model interface {
	// kind returns the model's entry in the registry.
	kind() *modelKind
	// write writes the parameters into section network, in a fixed order and with the defaults
	// written out.
	write(o *objectWriter)
	// over returns the delays between ranks with a placement.
	over(p placement) delays
}

// delays are the delays of a model for the ranks of a target. They are immutable and safe for
// concurrent use. All are pure functions, unless the kind has shared state.
//
// Within a node all pairs of ranks have the same delay, a pair of a rank and itself included, and
// the delay is the same on all nodes. Node-leader collectives depend on it.
//
// Models whose delays depend only on nodes and hops return [paths], which targets call without an
// interface. Delays may also be [regular] or a [filler].
type delays interface {
	// latency returns the part of the delay in which the bytes take up nothing, at least a
	// picosecond: the whole delay of a message without bytes. It depends on no state, and on the
	// bytes only if the kind says latencyBySize.
	latency(src, dst int, bytes int64) vtime.Duration
	// transfer returns the transfer time of the bytes: 0 for none, and not less for more bytes
	// unless the kind says latencyBySize.
	transfer(src, dst int, bytes int64) vtime.Duration
	// lookahead returns a lower bound on latency plus transfer of any bytes from a rank of
	// [loA,hiA) to one of [loB,hiB), neither of which is empty, in constant time.
	lookahead(loA, hiA, loB, hiB int) vtime.Duration
	// longest returns an upper bound on latency plus transfer of at most so many bytes between any
	// two ranks.
	longest(bytes int64) vtime.Duration
}

// regular delays describe which pairs of ranks have equal delays. Of other delays nothing is
// assumed.
type regular interface {
	// uniformFrom returns the distance between two ranks from which on the delay depends on the
	// size alone, the number of ranks if there is no such distance.
	uniformFrom() int
	// ranksAlike reports whether the delay between any two ranks equals the delay between the first
	// and the last rank.
	ranksAlike() bool
	// leadersAlike reports whether the delay between the leaders of any two nodes
	// equals that between the leaders of the first and the last node.
	leadersAlike() bool
}

// A filler computes many delays at once, for Target.Delays.
type filler interface {
	fill(src, dst int, bytes int64, out []vtime.Duration)
}

// A copier is a model under which the processors at both ends copy the bytes of a
// message. The sender of a rendezvous is then free once its bytes are copied.
type copier interface {
	// copying returns the bytes that a processor copies per second, 0 for infinite.
	copying() bandwidth
}

// An occupier is a model with state at the receiver, see [Target.ReceiverState]. It defines the
// processors' costs of a message and the eager limit itself. Its messages take their latency;
// depart and takeIn charge for the bytes.
type occupier interface {
	charge() Overhead         // of a message without bytes
	interval() vtime.Duration // between two messages at a port
	eager() int64             // size in bytes above which a message uses rendezvous
	depart(o *Occupancy, bytes int64, at vtime.Time)
	takeIn(o *Occupancy, bytes int64, at vtime.Time)
}

// modelKind is an entry of the registry of delay models.
type modelKind struct {
	name    string
	summary string // one line: what a delay is made of
	// fields are the fields of section network that the model reads.
	fields []string
	// charged says that the machine may give overhead, gap, eager_limit and jitter in addition to
	// the model. An occupier defines them itself.
	charged bool
	// symmetric says that the delay from one rank to another equals the delay of the way back.
	symmetric bool
	// latencyBySize says that the latency depends on the size of the message. More bytes may then
	// arrive sooner.
	latencyBySize bool
	// shared says that the transfer time of a message depends on other messages under way. The
	// target then reports no ranks as alike.
	shared bool
	// needsTopology says that a machine file must give a topology.
	needsTopology bool
	// examples are fields of section network other than model, as a YAML mapping. They cover all
	// fields.
	examples []string
	parse    func(o *object) model
}

// models is the registry of delay models. New entries go to the end.
var models = []*modelKind{
	&flatKind,
	&twolevelKind,
	&tableKind,
	&hopsKind,
	&loggopsKind,
	&levelsKind,
	&factorsKind,
}

// DelayModel describes a delay model.
type DelayModel struct {
	Name    string   // the value of field model in section network
	Summary string   // one line
	Fields  []string // of section network that the model reads
	Charged bool     // the machine file gives overheads, gaps and eager limit; else the model defines them, and has state at the receiver
}

// Models returns the delay models.
func Models() []DelayModel {
	var all []DelayModel
	for _, k := range models {
		all = append(all, DelayModel{k.name, k.summary, k.fields, k.charged})
	}
	return all
}

// chargeFields are the fields of section network that all charged models have.
var chargeFields = []string{"overhead", "gap", "eager_limit", "jitter", "interruptions", "progress"}

// perHopField is the field of section network with which a model depends on the topology. For hops
// it is a parameter.
const perHopField = "latency_per_hop"

// modelFields returns the fields of section network that only some models have.
func modelFields() map[string][]string {
	fields := make(map[string][]string)
	for _, k := range models {
		fields[k.name] = k.fields
		if k.charged {
			fields[k.name] = slices.Concat(k.fields, chargeFields)
		}
		if !slices.Contains(k.fields, perHopField) {
			fields[k.name] = append(slices.Clip(fields[k.name]), perHopField)
		}
	}
	return fields
}

func (m *Machine) parseNetwork(o *object) {
	if o == nil {
		return
	}
	kind := pick(o, "model", models, func(k *modelKind) string { return k.name })
	m.eagerLimit = math.MaxInt64
	checkJitter := func(model) {}
	if kind != nil && kind.charged {
		m.overhead = parseOverhead(o)
		m.partners = parsePartners(o)
		m.blockingSend = o.duration("blocking_send", false, 0)
		m.gap = o.duration("gap", false, 0)
		m.eagerLimit = o.size("eager_limit", false, math.MaxInt64)
		m.jitter, checkJitter = parseJitters(o)
		m.interruptions = parseInterruptions(o)
		m.progress = parseProgress(o)
	}
	m.reduce = parseWork(o, "reduce")
	m.localCopy = parseWork(o, "local_copy")
	m.datatypes = parseDatatypes(o)
	m.fresh = parseFresh(o)
	m.congestion = parseCongestion(o)
	m.torusWrites = parseTorusWrites(o)
	m.poll = o.duration("poll", false, defaultPoll)
	if m.poll == 0 {
		o.fault("poll", "is zero, so that a program that polls would never come to an end", "write a time of at least 1ps")
	}
	m.launch = o.duration("launch", false, 0)
	m.barrier = parseBarrier(o)
	m.join = parseJoin(o)
	if kind == nil {
		m.parseOffloads(o)
		o.closeAny(modelFields())
		return
	}
	if !slices.Contains(kind.fields, perHopField) {
		m.routed = o.has(perHopField)
		m.perHop = o.duration(perHopField, false, 0)
	}
	m.model = kind.parse(o)
	checkJitter(m.model)
	m.parseOffloads(o)
	o.close("model", modelFields())
}

func parseOverhead(o *object) Overhead {
	inner := o.object("overhead", false, "write overhead: {send: 300ns, receive: 300ns}")
	v := Overhead{
		Send:    inner.duration("send", inner != nil, 0),
		Receive: inner.duration("receive", inner != nil, 0),
	}
	inner.close("", nil)
	return v
}

// link is one level of a model, as given by a machine file.
type link struct {
	latency   vtime.Duration
	bandwidth bandwidth
}

func parseLink(o *object) link {
	return link{
		latency:   o.duration("latency", true, 0),
		bandwidth: o.bandwidth("bandwidth", false),
	}
}

func (l link) write(o *objectWriter) {
	o.text("latency", l.latency.String())
	o.text("bandwidth", l.bandwidth.String())
}
