package network

import (
	"fmt"

	"gigarank/internal/random"
	"gigarank/vtime"
)

// jitter is the random time that a message between nodes takes beyond its delay. The zero
// value is none.
type jitter struct {
	kind  *jitterKind
	scale vtime.Duration // the figure of its distribution
}

// jitterKind is a distribution of the jitter of messages.
type jitterKind struct {
	name   string
	figure string // the field that gives its scale
	// draw returns the time for a key, from 0 to most of the scale.
	draw func(seed, stream, counter uint64, scale vtime.Duration) vtime.Duration
	most func(scale vtime.Duration) vtime.Duration
}

// jitters are the distributions.
var jitters = []*jitterKind{
	{
		name: "uniform", figure: "most",
		draw: func(seed, stream, counter uint64, scale vtime.Duration) vtime.Duration {
			return vtime.Duration(random.Intn(seed, stream, counter, int(scale)+1))
		},
		most: func(scale vtime.Duration) vtime.Duration { return scale },
	},
	{
		name: "exponential", figure: "mean",
		draw: random.Exponential,
		// −ln of 2^-64, the least of 64 bits, is 44.4.
		most: func(scale vtime.Duration) vtime.Duration { return scale.Times(45) },
	},
}

// most returns the greatest jitter.
func (j jitter) most() vtime.Duration {
	if j.kind == nil {
		return 0
	}
	return j.kind.most(j.scale)
}

func parseJitter(o *object) (j jitter) {
	const example = "write jitter: {distribution: exponential, mean: 1us}"
	inner := o.object("jitter", false, example)
	if inner == nil {
		return j
	}
	kind := pick(inner, "distribution", jitters, func(k *jitterKind) string { return k.name })
	fields := map[string][]string{}
	for _, k := range jitters {
		fields[k.name] = []string{k.figure}
	}
	if kind == nil {
		inner.closeAny(fields)
		return j
	}
	j = jitter{kind, inner.duration(kind.figure, true, 0)}
	if j.scale == 0 && inner.has(kind.figure) {
		inner.fault(kind.figure, fmt.Sprintf("is zero, so that there is no jitter of distribution %s", kind.name), "write a time of at least 1ps, or leave jitter out")
	}
	inner.close("distribution", fields)
	return j
}

func (j jitter) write(o *objectWriter) {
	inner := o.object(o.within("jitter"))
	inner.text("distribution", j.kind.name)
	inner.text(j.kind.figure, j.scale.String())
	o.put("jitter", inner.node)
}

// HasJitter reports whether messages between nodes take a random time beyond their Delay.
// Each sender draws it for each of its messages: see Jitter.
func (t *Target) HasJitter() bool { return t.jittered }

// HasJitter reports whether the machine's messages have jitter, so that their times depend
// on the seed.
func (m *Machine) HasJitter() bool { return m.jitter.kind != nil }

// Seeded returns the target with a seed of its jitter.
func (t *Target) Seeded(seed uint64) *Target {
	if !t.HasJitter() {
		return t
	}
	seeded := *t
	seeded.seed = random.Mix(seed ^ jitterSalt)
	return &seeded
}

// jitterSalt keeps the numbers of jitter apart from those of programs and noise.
const jitterSalt = 0x6a69747465720a01

// Jitter returns the time that a message takes beyond its Delay: none within a node. message
// is its sender's name for it, another for each of its messages. The time depends on the
// seed, the sender and that name, never on when the message is sent: a later message is not
// earlier for it. Of a rendezvous the request is jittered.
func (t *Target) Jitter(src, dst int, message uint64) vtime.Duration {
	j := t.machine.jitter
	if j.kind == nil || t.Node(src) == t.Node(dst) {
		return 0
	}
	return j.kind.draw(t.seed, uint64(src), message, j.scale)
}
