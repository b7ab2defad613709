package network

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/input"
	"gigarank/internal/random"
	"gigarank/internal/spelling"
	"gigarank/vtime"
)

// jitters are the random times that messages take beyond their delays: one distribution for all messages between
// nodes, or a distribution for each level. The zero value is none.
type jitters struct {
	between jitter
	levels  []levelJitter // in place of between
}

// levelJitter is the jitter of the messages between two ranks that a level unites.
type levelJitter struct {
	level string
	jitter
}

// The levels of a model without levels of its own.
const (
	nodeLevelName    = "node"
	machineLevelName = "machine"
)

// jitter is a random time. The zero value is none.
type jitter struct {
	kind  *jitterKind
	scale vtime.Duration   // the figure of its distribution
	shape ratioText        // of a distribution with a heavy tail
	limit vtime.Duration   // of a distribution with a heavy tail, which is cut there
	tail  float64          // the shape as a number
	times []vtime.Duration // of a list
}

// jitterKind is a distribution of the jitter of messages.
type jitterKind struct {
	name   string
	figure string // name of the field for the scale
	shape  string // name of the field for the weight of the tail; empty without a tail
	listed bool   // the figure is a list of times, each as likely
	// draw returns the time for a key, from 0 to most of the scale.
	draw func(seed, stream, counter uint64, scale vtime.Duration, shape float64) vtime.Duration
	most func(scale vtime.Duration) vtime.Duration // unless it has a tail, which ends at field most
}

// jitterKinds lists the distributions of jitter.
var jitterKinds = []*jitterKind{
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
	{name: "list", figure: "times", listed: true},
	{name: "pareto", figure: "least", shape: "alpha", draw: random.Pareto},
	{name: "lognormal", figure: "median", shape: "sigma", draw: random.Lognormal},
}

// most returns the greatest jitter.
func (j jitter) most() vtime.Duration {
	if j.kind == nil {
		return 0
	}
	switch {
	case j.kind.listed:
		return slices.Max(j.times)
	case j.kind.shape != "":
		return j.limit
	}
	return j.kind.most(j.scale)
}

// draw returns a random time for a key.
func (j *jitter) draw(seed, stream, counter uint64) vtime.Duration {
	switch {
	case j.kind == nil:
		return 0
	case j.kind.listed:
		return j.times[random.Intn(seed, stream, counter, len(j.times))]
	case j.kind.shape != "":
		return min(j.kind.draw(seed, stream, counter, j.scale, j.tail), j.limit)
	}
	return j.kind.draw(seed, stream, counter, j.scale, 0)
}

// given reports whether any messages have jitter.
func (j *jitters) given() bool { return j.between.kind != nil || j.levels != nil }

// most returns the greatest jitter of any message.
func (j *jitters) most() vtime.Duration {
	most := j.between.most()
	for _, l := range j.levels {
		most = max(most, l.most())
	}
	return most
}

// levelNames returns the names of the levels that messages of a model cross, from the inside out, and the index of the node's.
func levelNames(m model) (names []string, node int) {
	l, ok := m.(*levels)
	if !ok {
		return []string{nodeLevelName, machineLevelName}, 0
	}
	for _, level := range l.all {
		names = append(names, level.name)
	}
	return names, nodeLevel(l.all)
}

// byLevel returns the jitter of each level of a model.
func (j *jitters) byLevel(m model) []jitter {
	names, node := levelNames(m)
	all := make([]jitter, len(names))
	for i, name := range names {
		if j.levels == nil && i > node {
			all[i] = j.between
		}
		for _, l := range j.levels {
			if l.level == name {
				all[i] = l.jitter
			}
		}
	}
	return all
}

const jitterRemedy = "write jitter: {distribution: exponential, mean: 1us}, or a list such as [{level: node, distribution: exponential, mean: 50ns}, {level: machine, distribution: exponential, mean: 1us}]"

// parseJitters reads field jitter. check is to be called once the model is known.
func parseJitters(o *object) (j jitters, check func(m model)) {
	const key = "jitter"
	check = func(model) {}
	if !o.has(key) || o.fields[key].Node.Kind != yaml.SequenceNode {
		if inner := o.object(key, false, jitterRemedy); inner != nil {
			j.between = parseJitter(inner)
		}
		return j, check
	}
	entries := o.objects(key, jitterRemedy)
	for _, entry := range entries {
		level := entry.text("level", true)
		l := levelJitter{level, parseJitter(entry)}
		if level != "" && slices.ContainsFunc(j.levels, func(other levelJitter) bool { return other.level == level }) {
			entry.fault("level", fmt.Sprintf("%q is given again", level), "give each level once")
		}
		j.levels = append(j.levels, l)
	}
	return j, func(m model) {
		names, _ := levelNames(m)
		for i, l := range j.levels {
			if l.level != "" && !slices.Contains(names, l.level) {
				entries[i].fault("level", fmt.Sprintf("%q is unknown", l.level), spelling.Suggest(l.level, names, "the levels are "+strings.Join(names, ", ")))
			}
		}
	}
}

func (j *jitters) write(o *objectWriter) {
	const key = "jitter"
	if j.between.kind != nil {
		inner := o.object(o.within(key))
		j.between.write(inner)
		o.put(key, inner.node)
	}
	if j.levels == nil {
		return
	}
	putObjects(o, key, j.levels, func(inner *objectWriter, l levelJitter) {
		inner.text("level", l.level)
		l.write(inner)
	})
}

// parseJitter reads the fields of a distribution.
func parseJitter(o *object) (j jitter) {
	kind := pick(o, "distribution", jitterKinds, func(k *jitterKind) string { return k.name })
	fields := map[string][]string{}
	for _, k := range jitterKinds {
		fields[k.name] = []string{k.figure}
		if k.shape != "" {
			fields[k.name] = []string{k.figure, k.shape, "most"}
		}
	}
	if kind == nil {
		o.closeAny(fields)
		return j
	}
	j.kind = kind
	if kind.listed {
		j.times = parseTimes(o, kind.figure)
		o.close("distribution", fields)
		return j
	}
	j.scale = o.duration(kind.figure, true, 0)
	if kind.shape != "" {
		j.shape = o.shape(kind.shape)
		j.tail = j.shape.value()
		if j.limit = o.duration("most", true, 0); j.limit < j.scale && o.has("most") {
			o.fault("most", "is less than "+kind.figure, "write a longer time: the tail is cut there")
		}
	}
	if j.scale == 0 && o.has(kind.figure) {
		o.fault(kind.figure, fmt.Sprintf("is zero, so that there is no jitter of distribution %s", kind.name), "write a time of at least 1ps, or leave jitter out")
	}
	o.close("distribution", fields)
	return j
}

// parseTimes reads a list of times, of which one at least is more than zero.
func parseTimes(o *object, key string) (times []vtime.Duration) {
	const remedy = "write a list of times such as [0ns, 0ns, 20ns, 3us]"
	for i, node := range o.list(key, true, remedy) {
		d, err := vtime.ParseDuration(input.Target(node).Value)
		switch {
		case err != nil:
			o.fault(key, fmt.Sprintf("entry %d: %v", i, err), "")
		case d < 0 || d > longestFigure:
			o.fault(key, fmt.Sprintf("entry %d is %v", i, d), "write times from 0 to a day")
		}
		times = append(times, d)
	}
	if len(times) > 0 && slices.Max(times) == 0 {
		o.fault(key, "are zero, so that there is no jitter", "write a time of at least 1ps, or leave jitter out")
	}
	return times
}

// write writes the fields of a distribution.
func (j *jitter) write(o *objectWriter) {
	o.text("distribution", j.kind.name)
	if j.kind.listed {
		var texts []string
		for _, d := range j.times {
			texts = append(texts, d.String())
		}
		o.put(j.kind.figure, textList(texts))
		return
	}
	o.text(j.kind.figure, j.scale.String())
	if j.kind.shape != "" {
		o.put(j.kind.shape, &yaml.Node{Kind: yaml.ScalarNode, Value: string(j.shape)})
		o.text("most", j.limit.String())
	}
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

// HasJitter reports whether messages take a random time beyond their Delay, which each sender draws for each of its
// messages: see Jitter. A time at which ranks are interrupted is such a time, too: see Free.
func (t *Target) HasJitter() bool { return t.jittered }

// HasJitterWithinNodes reports whether messages within a node take a random time, and joins and releases, or ranks are interrupted.
func (t *Target) HasJitterWithinNodes() bool { return t.jitteredWithin }

// HasJitter reports whether the machine's messages have jitter or its ranks interruptions, so that times depend
// on the seed.
func (m *Machine) HasJitter() bool { return m.jitter.given() || m.interruptions.given() }

// Interrupts reports whether the machine's ranks are interrupted while they communicate.
func (m *Machine) Interrupts() bool { return m.interruptions.given() }

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

// Jitter returns the time that a message takes beyond its Delay, by the level that unites the two ranks. A message to oneself has none. message is the
// sender's name for the message, different for each of its messages. The time depends on the seed,
// the sender and that name, never on the instant of sending: so a message sent later does not
// arrive earlier. In a rendezvous the request has jitter.
func (t *Target) Jitter(src, dst int, message uint64) vtime.Duration {
	if !t.jittered || src == dst {
		return 0
	}
	level := 0
	switch {
	case t.paths.scope == byLevel:
		level = t.paths.tierOf(src, dst)
	case t.Node(src) != t.Node(dst):
		level = 1
	}
	return t.jitter[level].draw(t.seed, uint64(src), message)
}
