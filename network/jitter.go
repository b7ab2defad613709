package network

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/random"
	"gigarank/vtime"
)

// jitter is the random time that a message between nodes takes beyond its delay. The zero
// value is none.
type jitter struct {
	kind  *jitterKind
	scale vtime.Duration // the figure of its distribution
	shape ratioText      // of a distribution with a heavy tail
	limit vtime.Duration // of a distribution with a heavy tail, which is cut there
}

// jitterKind is a distribution of the jitter of messages.
type jitterKind struct {
	name   string
	figure string // name of the field for the scale
	shape  string // name of the field for the weight of the tail; empty without a tail
	// draw returns the time for a key, from 0 to most of the scale.
	draw func(seed, stream, counter uint64, scale vtime.Duration, shape float64) vtime.Duration
	most func(scale vtime.Duration) vtime.Duration // unless it has a tail, which ends at field most
}

// jitters lists the distributions of jitter.
var jitters = []*jitterKind{
	{
		name: "uniform", figure: "most",
		draw: func(seed, stream, counter uint64, scale vtime.Duration, _ float64) vtime.Duration {
			return vtime.Duration(random.Intn(seed, stream, counter, int(scale)+1))
		},
		most: func(scale vtime.Duration) vtime.Duration { return scale },
	},
	{
		name: "exponential", figure: "mean",
		draw: func(seed, stream, counter uint64, scale vtime.Duration, _ float64) vtime.Duration {
			return random.Exponential(seed, stream, counter, scale)
		},
		// −ln of 2^-64, the least of 64 bits, is 44.4.
		most: func(scale vtime.Duration) vtime.Duration { return scale.Times(45) },
	},
	{name: "pareto", figure: "least", shape: "alpha", draw: random.Pareto},
	{name: "lognormal", figure: "median", shape: "sigma", draw: random.Lognormal},
}

// most returns the greatest jitter.
func (j jitter) most() vtime.Duration {
	if j.kind == nil {
		return 0
	}
	if j.kind.shape != "" {
		return j.limit
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
		if k.shape != "" {
			fields[k.name] = []string{k.figure, k.shape, "most"}
		}
	}
	if kind == nil {
		inner.closeAny(fields)
		return j
	}
	j = jitter{kind: kind, scale: inner.duration(kind.figure, true, 0)}
	if kind.shape != "" {
		j.shape = inner.shape(kind.shape)
		if j.limit = inner.duration("most", true, 0); j.limit < j.scale && inner.has("most") {
			inner.fault("most", "is less than "+kind.figure, "write a longer time: the tail is cut there")
		}
	}
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
	if j.kind.shape != "" {
		inner.put(j.kind.shape, &yaml.Node{Kind: yaml.ScalarNode, Value: string(j.shape)})
		inner.text("most", j.limit.String())
	}
	o.put("jitter", inner.node)
}

// ratioText is a decimal number as written in the file.
type ratioText string

// value returns the number.
func (r ratioText) value() float64 {
	v, _ := strconv.ParseFloat(string(r), 64) // checked by shape
	return v
}

// shape reads the weight of a tail: alpha of pareto, sigma of lognormal.
func (o *object) shape(key string) ratioText {
	least, most, remedy := 1.01, 100.0, "write a number from 1.01 to 100; the less, the heavier the tail"
	if key == "sigma" {
		least, most, remedy = 0.01, 5, "write a number from 0.01 to 5; the more, the heavier the tail"
	}
	s, ok := o.scalar(key, true, remedy)
	if !ok {
		return ""
	}
	if v, err := strconv.ParseFloat(s, 64); err != nil || len(s) > 30 || !(v >= least && v <= most) {
		o.fault(key, fmt.Sprintf("%q is no such number", s), remedy)
		return ""
	}
	return ratioText(s)
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

// jitterSalt separates the random numbers of jitter from those of programs and noise.
const jitterSalt = 0x6a69747465720a01

// Jitter returns the time that a message takes beyond its Delay: 0 within a node. message is the
// sender's name for the message, different for each of its messages. The time depends on the seed,
// the sender and that name, never on the instant of sending: so a message sent later does not
// arrive earlier. In a rendezvous the request has jitter.
func (t *Target) Jitter(src, dst int, message uint64) vtime.Duration {
	j := t.machine.jitter
	if j.kind == nil || t.Node(src) == t.Node(dst) {
		return 0
	}
	d := j.kind.draw(t.seed, uint64(src), message, j.scale, t.tail)
	if j.kind.shape != "" {
		d = min(d, j.limit)
	}
	return d
}
