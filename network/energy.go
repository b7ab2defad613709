package network

import (
	"fmt"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/quantity"
)

// Energy is what a machine consumes. A field that the file does not give is zero.
//
//   - Compute is the power of a core that computes or works for MPI, and Wait that of a core that waits for MPI, in watts, in addition to that of its node.
//   - Node is the power of a node by itself, in watts: of all that is on while no core works, for the whole run.
//   - Interface is the energy of a byte that goes from one node to another, in joules: at both interfaces, and in between.
type Energy struct{ Compute, Wait, Node, Interface *big.Rat }

// energy is Energy with the texts of the file.
type energy struct {
	Energy
	texts map[string]string
}

const energyRemedy = "write energy: {compute: 6W, wait: 4W, node: 120W, interface: 60pJ/B}"

// energyFields are the fields of energy in their order.
var energyFields = []struct {
	name  string
	power bool
	of    func(e *Energy) **big.Rat
}{
	{"compute", true, func(e *Energy) **big.Rat { return &e.Compute }},
	{"wait", true, func(e *Energy) **big.Rat { return &e.Wait }},
	{"node", true, func(e *Energy) **big.Rat { return &e.Node }},
	{"interface", false, func(e *Energy) **big.Rat { return &e.Interface }},
}

// parseEnergy reads field energy.
func (m *Machine) parseEnergy(top *object) {
	if !top.has("energy") {
		top.skip("energy")
		return
	}
	o := top.object("energy", true, energyRemedy)
	if o == nil {
		return
	}
	e := &energy{texts: map[string]string{}}
	for _, f := range energyFields {
		*f.of(&e.Energy) = new(big.Rat)
		remedy := "write a power such as 6W"
		if !f.power {
			remedy = "write an energy such as 60pJ/B, or 8pJ/bit"
		}
		text, given := o.scalar(f.name, false, remedy)
		if !given {
			continue
		}
		v, err := parseEnergyOf(text, f.power)
		if err != nil {
			o.fault(f.name, err.Error(), remedy)
			continue
		}
		*f.of(&e.Energy), e.texts[f.name] = v, strings.TrimSpace(text)
	}
	if len(o.fields) == 0 {
		top.fault("energy", "has no field", energyRemedy)
	}
	o.close("", nil)
	m.energy = e
}

// smallPrefixes are the prefixes below one, as powers of ten.
var smallPrefixes = map[string]int64{"m": 3, "u": 6, "µ": 6, "n": 9, "p": 12, "f": 15}

// mostEnergy bounds a value, in watts or joules a byte: with it the energy of the longest run of the largest machine is a float64.
var mostEnergy = big.NewRat(1e12, 1)

// parseEnergyOf reads a power in watts, or else the energy of a byte in joules.
func parseEnergyOf(text string, power bool) (*big.Rat, error) {
	value, unit, ok := quantity.Split(strings.TrimSpace(text))
	if !ok {
		return nil, fmt.Errorf("%q is no number with a unit of at least 0", text)
	}
	prefix, known := strings.CutSuffix(unit, "W")
	if !power {
		if prefix, known = strings.CutSuffix(unit, "J/B"); !known {
			if prefix, known = strings.CutSuffix(unit, "J/bit"); known {
				value.Mul(value, big.NewRat(8, 1))
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("%q has an unknown unit %q", text, unit)
	}
	if scale, large := quantity.Prefixes[prefix]; large && !strings.HasSuffix(prefix, "i") {
		value.Mul(value, new(big.Rat).SetInt(new(big.Int).SetUint64(scale)))
	} else if digits, small := smallPrefixes[prefix]; small {
		value.Quo(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)))
	} else {
		return nil, fmt.Errorf("%q has an unknown unit %q", text, unit)
	}
	if value.Cmp(mostEnergy) > 0 || len(text) > 30 {
		return nil, fmt.Errorf("%q is out of range", text)
	}
	return value, nil
}

// write writes field energy, in the form that parseEnergy reads.
func (e *energy) write(top *objectWriter) {
	if e == nil {
		return
	}
	o := top.writer.object(top.within("energy"))
	o.node.Style = yaml.FlowStyle
	for _, f := range energyFields {
		if text := e.texts[f.name]; text != "" {
			o.put(f.name, &yaml.Node{Kind: yaml.ScalarNode, Value: text})
		}
	}
	top.put("energy", o.node)
}

// Energy returns what the machine consumes, nil if its file does not tell.
func (m *Machine) Energy() *Energy {
	if m.energy == nil {
		return nil
	}
	return &m.energy.Energy
}

// Energy returns what the machine consumes, nil if its file does not tell.
func (t *Target) Energy() *Energy { return t.machine.Energy() }
