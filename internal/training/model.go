package training

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"gigarank/internal/spelling"
)

// Layer is the least part of a model whose gradients are there at one instant.
type Layer struct {
	Parameters int64
	Operations int64 // floating-point operations of the forward pass of a sample
}

// Model is a neural network.
type Model struct {
	Name        string
	Description string
	Source      string
	Sample      string // what a sample is, such as "a sequence of 512 tokens"
	Layers      []Layer
}

// Parameters returns the number of parameters.
func (m *Model) Parameters() (n int64) {
	for _, l := range m.Layers {
		n += l.Parameters
	}
	return n
}

// Operations returns the floating-point operations of the forward pass of a sample.
func (m *Model) Operations() (n int64) {
	for _, l := range m.Layers {
		n += l.Operations
	}
	return n
}

//go:embed models/*.yaml
var files embed.FS

// Names returns the names of the models that come along.
func Names() []string {
	entries, err := files.ReadDir("models")
	if err != nil {
		panic("training: no models: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	return names
}

// Named returns a model that comes along, nil if there is none of the name.
func Named(name string) *Model {
	text, err := files.ReadFile("models/" + name + ".yaml")
	if err != nil {
		return nil
	}
	m, err := Parse(name, text)
	if err != nil {
		panic(fmt.Sprintf("training: model %s: %v", name, err))
	}
	return m
}

// Load returns a model that comes along, or that of a file. The error for a file is an [input.Faults] with all its faults.
func Load(name string, readFile func(string) ([]byte, error)) (*Model, error) {
	if m := Named(name); m != nil {
		return m, nil
	}
	if readFile == nil {
		return nil, unknown(name)
	}
	text, err := readFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, unknown(name)
	case err != nil:
		return nil, err
	}
	return Parse(name, text)
}

func unknown(name string) error {
	return fmt.Errorf("there is neither a model nor a file %q: %s", name, spelling.Suggest(name, Names(), "the models are "+strings.Join(Names(), ", ")+"; or name a file"))
}
