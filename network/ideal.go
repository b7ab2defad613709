package network

// Ideal returns the machine with an ideal network: messages take a picosecond, the least that a network can take, whatever their size, and calls cost
// the processor nothing. Nodes, mapping, ratios of CPU times, the eager limit and the library stay: a rendezvous still waits for its receiver.
// Efficiencies of POP compare runs on both.
func (m *Machine) Ideal() *Machine {
	ideal, err := Parse(m.name, []byte("name: ideal\nnetwork: {model: flat, latency: 1ps}\n"), nil)
	if err != nil {
		panic("network: " + err.Error())
	}
	ideal.name = m.name + ", ideal network"
	ideal.library, ideal.nodes, ideal.perNode, ideal.mapping = m.library, m.nodes, m.perNode, m.mapping
	ideal.topology, ideal.allocation = m.topology, m.allocation
	ideal.cpuRatio, ideal.cpuRatios, ideal.poll = m.cpuRatio, m.cpuRatios, m.poll
	ideal.eagerLimit = m.eagerLimit
	if t, err := m.Target(1); err == nil {
		ideal.eagerLimit = t.EagerLimit()
	}
	for _, span := range m.typed {
		of := *span.of
		of.links, of.bandwidths, of.intra = [2]int{}, [2]bandwidth{}, nil
		ideal.typed = append(ideal.typed, typedNodes{span.from, span.to, &of})
	}
	return ideal
}
