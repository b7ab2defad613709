package network

// twolevel is latency + bytes/bandwidth with separate parameters within a node.
type twolevel struct{ intra, inter link }

var twolevelKind = modelKind{
	name:      "twolevel",
	summary:   "the same, within a node and between nodes",
	fields:    []string{"intra", "inter"},
	charged:   true,
	symmetric: true,
	examples: []string{
		"{intra: {latency: 0.5us, bandwidth: 6GB/s}, inter: {latency: 5us, bandwidth: 1.7GB/s}}",
		"{intra: {latency: 7us, bandwidth: 6GB/s}, inter: {latency: 1us}}",
	},
	parse: func(o *object) model { return &twolevel{parseLevel(o, "intra"), parseLevel(o, "inter")} },
}

func parseLevel(o *object, key string) link {
	inner := o.object(key, true, "write "+key+": {latency: 1us, bandwidth: 10GB/s}")
	l := parseLink(inner)
	inner.close("", nil)
	return l
}

func (m *twolevel) kind() *modelKind { return &twolevelKind }

func (m *twolevel) write(o *objectWriter) {
	for _, level := range []struct {
		name string
		link link
	}{{"intra", m.intra}, {"inter", m.inter}} {
		inner := o.object(o.within(level.name))
		level.link.write(inner)
		o.put(level.name, inner.node)
	}
}

func (m *twolevel) over(p placement) delays {
	return pathsByNode(p, newPath(m.intra.latency, m.intra.bandwidth), newPath(m.inter.latency, m.inter.bandwidth))
}
