package training

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/input"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
)

// Limits of a model, far beyond any that is trained. They keep sums within 63 bits.
const (
	mostLayers     = 1 << 20
	mostParameters = 1e15 // of the model
	mostOperations = 1e18 // of the model, for a sample
)

// document is the file of a model being read.
type document struct {
	input.Document
	flooded bool // a fault says that the layers are too many
}

// Parse returns the model of a file. Faults name the file by name. The error is an [input.Faults] with all faults of the file.
func Parse(name string, text []byte) (*Model, error) {
	d := &document{Document: input.Document{File: name}}
	m := &Model{}
	if top := d.Root(text, "start with name: and layers:, and see the models that come along", "describe one model a file"); top != nil {
		d.model(m, top)
	}
	if len(d.Faults) > 0 {
		d.Faults.Sort()
		return nil, d.Faults
	}
	return m, nil
}

func (d *document) model(m *Model, top *yaml.Node) {
	fields, ok := d.Fields(top, "", top.Line, "write fields as key: value")
	if !ok {
		return
	}
	layers := 0 // line of the field
	for _, f := range fields {
		switch f.Name {
		case "name":
			m.Name = d.text(f)
		case "description":
			m.Description = d.text(f)
		case "source":
			m.Source = d.text(f)
		case "sample":
			m.Sample = d.text(f)
		case "layers":
			layers = f.Line
			m.Layers = d.list(f.Node, f.Path, f.Line)
		default:
			d.unknown(f, "name", "description", "source", "sample", "layers")
		}
	}
	if !slices.ContainsFunc(fields, func(f input.Field) bool { return f.Name == "name" }) {
		d.Fault(1, "name", "is missing", "write the model's name, such as name: my-model")
	}
	switch {
	case layers == 0:
		d.Fault(1, "layers", "is missing", "list the layers in the order of the forward pass, such as - {name: fc, parameters: 2049000, flops: 4.1M}")
	case len(d.Faults) == 0:
		d.checkSums(m, layers)
	}
}

// checkSums reports a model without gradients, and one beyond the limits.
func (d *document) checkSums(m *Model, line int) {
	parameters, operations := 0., 0.
	for _, l := range m.Layers {
		parameters += float64(l.Parameters)
		operations += float64(l.Operations)
	}
	switch {
	case parameters == 0:
		d.Fault(line, "layers", "no layer has parameters, so that there are no gradients", "give the parameters of the layers")
	case parameters > mostParameters:
		d.Fault(line, "layers", fmt.Sprintf("have %.3g parameters together", parameters), "use at most 10^15")
	case operations > mostOperations:
		d.Fault(line, "layers", fmt.Sprintf("take %.3g operations for a sample", operations), "use at most 10^18")
	}
}

// list returns the layers of a list, repeated ones as often as they are.
func (d *document) list(node *yaml.Node, path string, line int) (layers []Layer) {
	node = input.Target(node)
	const remedy = "write a list of layers, such as - {name: fc, parameters: 2049000, flops: 4.1M}"
	switch {
	case node.Kind != yaml.SequenceNode:
		d.Fault(line, path, "is "+input.KindOf(node)+", not a list", remedy)
		return nil
	case len(node.Content) == 0:
		d.Fault(line, path, "is an empty list", remedy)
	}
	for i, entry := range node.Content {
		layers = append(layers, d.entry(entry, fmt.Sprintf("%s[%d]", path, i))...)
	}
	return layers
}

// entry returns the layers of an entry of a list: a layer, or a block of layers.
func (d *document) entry(node *yaml.Node, path string) []Layer {
	fields, ok := d.Fields(node, path, node.Line, "write a layer such as {name: fc, parameters: 2049000, flops: 4.1M}, or a block with layers")
	if !ok {
		return nil
	}
	repeat, layer, given := int64(1), Layer{}, map[string]input.Field{}
	var block []Layer
	for _, f := range fields {
		given[f.Name] = f
		switch f.Name {
		case "name":
			d.text(f)
		case "repeat":
			repeat = d.count(f, 1, mostLayers)
		case "parameters":
			layer.Parameters = d.count(f, 0, mostParameters)
		case "flops":
			layer.Operations = d.count(f, 0, mostOperations)
		case "layers":
			block = d.list(f.Node, f.Path, f.Line)
		default:
			d.unknown(f, "name", "repeat", "parameters", "flops", "layers")
		}
	}
	_, isBlock := given["layers"]
	for _, name := range []string{"parameters", "flops"} {
		f, there := given[name]
		switch {
		case isBlock && there:
			d.Fault(f.Line, f.Path, "is given for a block, whose layers have it", "remove it")
		case !isBlock && !there:
			d.Fault(node.Line, input.Path(path, name), "is missing", "write "+name+": 0 for none")
		}
	}
	if !isBlock {
		block = []Layer{layer}
	}
	return d.repeated(block, repeat, path, node.Line)
}

// repeated returns layers a number of times.
func (d *document) repeated(layers []Layer, times int64, path string, line int) []Layer {
	if int64(len(layers)) > mostLayers/max(times, 1) {
		if !d.flooded {
			d.Fault(line, path, fmt.Sprintf("has %d times %s", times, spelling.Count(len(layers), "layer")), fmt.Sprintf("use at most %d in all", mostLayers))
		}
		d.flooded = true
		return nil
	}
	return slices.Repeat(layers, int(times))
}

// text returns a value, without line breaks.
func (d *document) text(f input.Field) string {
	text := strings.Join(strings.Fields(f.Node.Value), " ")
	if f.Node.Kind != yaml.ScalarNode || f.Node.Tag == "!!null" || text == "" {
		d.Fault(f.Line, f.Path, "is "+input.KindOf(f.Node), "write a text")
	}
	return text
}

// count returns a whole number within limits, least if it is none.
func (d *document) count(f input.Field, least, most int64) int64 {
	if f.Node.Kind != yaml.ScalarNode {
		d.Fault(f.Line, f.Path, "is "+input.KindOf(f.Node), "write a number")
		return least
	}
	n, err := quantity.ParseCount(f.Node.Value)
	switch {
	case err != nil:
		d.Fault(f.Line, f.Path, err.Error(), "")
		return least
	case n < least || n > most:
		d.Fault(f.Line, f.Path, fmt.Sprintf("is %d", n), fmt.Sprintf("use %d to %d", least, most))
		return least
	}
	return n
}

func (d *document) unknown(f input.Field, known ...string) {
	d.Fault(f.Line, f.Path, "is unknown", spelling.Suggest(f.Name, known, "the fields here are "+strings.Join(known, ", ")))
}
