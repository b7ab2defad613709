package network

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/quantity"
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
	d := newDocument("")
	variant := *m
	if top := d.root(text); top != nil {
		variant.parseMapping(top, read)
	}
	if err := d.said(); err != nil {
		return nil, err
	}
	return &variant, nil
}

// WithAllocation returns the machine with another allocation: a shape such as 32x256, or file:PATH,
// a list of places. The path is relative to the working directory. read, which may be nil, reads
// such a file. The error names all faults.
func (m *Machine) WithAllocation(spec string, read func(path string) ([]byte, error)) (*Machine, error) {
	field := &yaml.Node{Kind: yaml.MappingNode}
	put := func(key string, value *yaml.Node) {
		field.Content = append(field.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	}
	if path, isFile := strings.CutPrefix(spec, "file:"); isFile {
		scalar := &yaml.Node{}
		scalar.SetString(path)
		put("nodes", scalar)
	} else {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, side := range strings.Split(spec, "x") {
			if _, err := quantity.ParseCount(side); err != nil {
				return nil, fmt.Errorf("allocation %q: write a shape such as 32x256, or file:PATH", spec)
			}
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: side})
		}
		put("shape", list)
	}
	text, err := yaml.Marshal(map[string]*yaml.Node{"allocation": field})
	if err != nil {
		return nil, fmt.Errorf("allocation %q: %w", spec, err)
	}
	d := newDocument("")
	variant := *m
	variant.allocation = allocation{}
	if top := d.root(text); top != nil {
		variant.parseAllocation(top, read)
	}
	if err := d.said(); err != nil {
		return nil, err
	}
	return &variant, nil
}

// said returns the faults of a single field, without line numbers.
func (d *document) said() error {
	var faults []error
	for _, f := range d.Faults {
		if f.File != "" {
			faults = append(faults, f)
		} else {
			faults = append(faults, fmt.Errorf("%s: %s", f.What, f.Remedy))
		}
	}
	return errors.Join(faults...)
}

// Digest returns 16 hexadecimal digits over everything that defines the machine, including the
// nodes in the files of its mapping and its allocation.
func (m *Machine) Digest() string {
	hash := sha256.New()
	hash.Write(m.YAML())
	if m, ok := m.mapping.(interface{ content() []byte }); ok {
		hash.Write(m.content())
	}
	for _, place := range m.allocation.places {
		hash.Write(binary.LittleEndian.AppendUint32(nil, uint32(place)))
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
