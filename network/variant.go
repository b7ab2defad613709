package network

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// WithRanksPerNode returns the machine with room for n ranks on each node.
func (m *Machine) WithRanksPerNode(n int) (*Machine, error) {
	if n < 1 || n > maxRanks {
		return nil, fmt.Errorf("%d ranks per node: use a number from 1 to 2^40", n)
	}
	variant := *m
	variant.perNode = n
	return &variant, nil
}

// WithMapping returns the machine with another mapping of ranks to nodes: block,
// cyclic, random:SEED or file:PATH. The path is relative to the working directory.
// read, which may be nil, reads such a file. The error names all faults.
func (m *Machine) WithMapping(rule string, read func(path string) ([]byte, error)) (*Machine, error) {
	scalar := &yaml.Node{}
	scalar.SetString(rule)
	text, err := yaml.Marshal(map[string]*yaml.Node{"mapping": scalar})
	if err != nil {
		return nil, fmt.Errorf("mapping %q: %w", rule, err)
	}
	d := &document{seen: make(map[string]bool)}
	variant := *m
	if top := d.root(text); top != nil {
		variant.parseMapping(top, read)
	}
	if len(d.faults) == 0 {
		return &variant, nil
	}
	var faults []error
	for _, f := range d.faults {
		if f.File != "" {
			faults = append(faults, f)
		} else {
			faults = append(faults, fmt.Errorf("%s: %s", f.What, f.Remedy))
		}
	}
	return nil, errors.Join(faults...)
}

// Digest returns 16 hexadecimal digits over everything that defines the machine, the
// nodes that a mapping file lists included.
func (m *Machine) Digest() string {
	hash := sha256.New()
	hash.Write(m.YAML())
	if m, ok := m.mapping.(interface{ content() []byte }); ok {
		hash.Write(m.content())
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
