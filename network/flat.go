package network

// flat is the model of Hockney: latency + bytes/bandwidth, equal for all pairs.
type flat struct{ link link }

var flatKind = modelKind{
	name:      "flat",
	summary:   "latency + bytes / bandwidth, between all ranks",
	fields:    []string{"latency", "bandwidth"},
	charged:   true,
	symmetric: true,
	examples:  []string{"{latency: 2us, bandwidth: 3GB/s}", "{latency: 0}"},
	parse:     func(o *object) model { return &flat{parseLink(o)} },
}

func (m *flat) kind() *modelKind      { return &flatKind }
func (m *flat) write(o *objectWriter) { m.link.write(o) }

func (m *flat) over(p placement) delays {
	return pathEverywhere(p, newPath(m.link.latency, m.link.bandwidth))
}
