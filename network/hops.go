package network

import "gigarank/vtime"

// hops is the model in which a message passes the memory of its node. Between two nodes the message
// also passes the network, whose latency grows with the hops. The processors at both ends copy the
// bytes between the user's memory and the memory of the message.
type hops struct {
	network link
	perHop  vtime.Duration
	memory  link
}

var hopsKind = modelKind{
	name:      "hops",
	summary:   "bytes copied by both processors, latency by the hops of the topology",
	fields:    []string{"latency", "bandwidth", "latency_per_hop", "memory_latency", "memory_bandwidth"},
	charged:   true,
	symmetric: true,
	examples: []string{
		"{latency: 15us, latency_per_hop: 0.6us, bandwidth: 4.16GB/s, memory_bandwidth: 6.38GB/s}",
		"{latency: 1us, latency_per_hop: 2us, memory_latency: 4us, memory_bandwidth: 7GB/s}",
		"{latency: 1us, latency_per_hop: 0, memory_bandwidth: 5GB/s}",
	},
	parse: func(o *object) model {
		m := &hops{network: parseLink(o)}
		m.perHop = o.duration("latency_per_hop", true, 0)
		m.memory.latency = o.duration("memory_latency", false, 0)
		m.memory.bandwidth = o.bandwidth("memory_bandwidth", false)
		return m
	},
	needsTopology: true,
}

func (m *hops) kind() *modelKind   { return &hopsKind }
func (m *hops) copying() bandwidth { return m.memory.bandwidth }

func (m *hops) write(o *objectWriter) {
	m.network.write(o)
	o.text("latency_per_hop", m.perHop.String())
	o.text("memory_latency", m.memory.latency.String())
	o.text("memory_bandwidth", m.memory.bandwidth.String())
}

func (m *hops) over(p placement) delays {
	return pathsByHops(p,
		newPath(m.memory.latency, m.memory.bandwidth, m.memory.bandwidth),
		newPath(m.network.latency, m.memory.bandwidth, m.network.bandwidth), m.perHop)
}
