package study

import (
	"fmt"
	"strings"

	"gigarank/network"
)

// A setting is the fixed part of a panel of a plot: all axes but ranks, algorithms and
// seeds.
type setting struct {
	machine *network.Machine
	digest  string // of machine
	noise   string
	varied  string // of the program's arguments
	payload int64
}

func (p *Plan) setting(m *network.Machine, noise, varied string, payload int64) setting {
	return setting{m, p.digest(m), noise, varied, payload}
}

// settingOf returns the setting of a point.
func (p *Plan) settingOf(q Point) setting {
	return p.setting(p.Machine(q), q.Noise, q.Varied, q.Payload)
}

func (s setting) has(p Point) bool {
	return p.Payload == s.payload && s.hasButPayload(p)
}

// hasButPayload is has for points of any payload.
func (s setting) hasButPayload(p Point) bool {
	return p.MachineDigest == s.digest && p.Noise == s.noise && p.Varied == s.varied
}

// settings returns the settings of a plan, machines first.
func (p *Plan) settings() []setting {
	var all []setting
	for _, s := range p.places() {
		for _, s.payload = range p.Payloads {
			all = append(all, s)
		}
	}
	return all
}

// places returns the settings without their payloads.
func (p *Plan) places() []setting {
	var all []setting
	for _, m := range p.Machines {
		for _, noise := range p.Noises {
			for _, v := range p.variations {
				all = append(all, p.setting(m, noise, v.name, 0))
			}
		}
	}
	return all
}

// describeMachine returns the name of a machine and what distinguishes it from the
// plan's others.
func (p *Plan) describeMachine(m *network.Machine) string {
	text := m.Name()
	var mappings, sizes bool
	for _, other := range p.Machines {
		mappings = mappings || other.Mapping() != m.Mapping()
		sizes = sizes || other.RanksPerNode() != m.RanksPerNode()
	}
	if mappings {
		text += ", " + m.Mapping()
	}
	if sizes {
		text += fmt.Sprintf(", %d a node", m.RanksPerNode())
	}
	return text
}

// describe returns the parameters by which a setting differs from the plan's others.
func (p *Plan) describe(s setting) string {
	parts := []string{p.describeMachine(s.machine)}
	if s.varied != "" {
		parts = append(parts, s.varied)
	}
	if s.payload > 0 {
		parts = append(parts, formatBytes(float64(s.payload)))
	}
	if len(p.Noises) > 1 {
		parts = append(parts, describeNoise(s.noise))
	}
	return strings.Join(parts, ", ")
}

func describeNoise(noise string) string {
	if noise == NoNoise {
		return "no noise"
	}
	return "noise " + noise
}
