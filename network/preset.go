package network

import (
	"embed"
	"fmt"
	"strings"
)

// Preset is a machine that comes with the program.
type Preset struct {
	Name    string
	Summary string // one line
	Source  string // of its figures
	// Validated is the part that was compared with measurements, the number of points and the
	// error; empty without a comparison.
	Validated string
}

//go:embed presets/*.yaml
var presetFiles embed.FS

// Presets returns the machines that come with the program, by name.
func Presets() []Preset {
	var presets []Preset
	for _, name := range presetNames() {
		text, _ := presetText(name)
		m, err := Parse(name, text, nil)
		if err != nil {
			panic(fmt.Sprintf("network: preset %s: %v", name, err))
		}
		presets = append(presets, Preset{name, m.description, m.source, m.validated})
	}
	return presets
}

func presetNames() []string {
	entries, err := presetFiles.ReadDir("presets")
	if err != nil {
		panic("network: no presets: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	return names
}

func presetText(name string) ([]byte, bool) {
	text, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	return text, err == nil
}
