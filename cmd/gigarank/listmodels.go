package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/training"
)

// listedModel is a model of list models --json.
type listedModel struct {
	listed
	Sample     string `json:"sample"`
	Source     string `json:"source"`
	Layers     int    `json:"layers"`
	Parameters int64  `json:"parameters"`
	Operations int64  `json:"flops"`
}

func newListModels(c *terminal.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List the neural networks that ddptraining trains",
		Long: `Models lists the neural networks that come along for ddptraining, with the floating-point operations
of the forward pass of a sample. A model of your own is a file in YAML:

  name: perceptron
  layers:                       # in the order of the forward pass
    - {name: in, parameters: 2M, flops: 4M}
    - name: block
      repeat: 3                 # as often as this
      layers:
        - {name: hidden, parameters: 1M, flops: 2M}

A layer is the least part whose gradients are there at one instant. Backward takes twice the flops of forward.`,
		Example: `  gigarank list models
  gigarank run ddptraining model=gpt2-xl --machine dgx-h100 --lp event`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var models []listedModel
			var lines []string
			for _, name := range training.Names() {
				m := training.Named(name)
				models = append(models, listedModel{listed{m.Name, m.Description}, m.Sample, m.Source, len(m.Layers), m.Parameters(), m.Operations()})
				lines = append(lines, fmt.Sprintf("%s\t%s", m.Name, m.Description),
					fmt.Sprintf("\t%d layers, %d parameters, %.3g flops for %s", len(m.Layers), m.Parameters(), float64(m.Operations()), m.Sample),
					"\tsource: "+m.Source)
			}
			if asJSON {
				return writeJSON(c.Stdout, struct {
					Schema int           `json:"schema"`
					Models []listedModel `json:"models"`
				}{1, models})
			}
			section(c.Stdout, "Models", lines)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}
