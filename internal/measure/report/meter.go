package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// meter runs the binary.
type meter struct {
	binary      string
	launcher    string // command line of the MPI launcher; empty for none
	repetitions int
	chart       []engineCost // of the measurements over engines
}

// sample is the figures of one run: fields of its document, and the processor time of
// the process.
type sample struct {
	Ranks, Engines    int
	Wall              float64 `json:"wall_s"`
	SetUp             float64 `json:"setup_s"`
	Events            float64
	Messages          float64
	RemoteMessages    float64 `json:"remote_messages"`
	SyncMessages      float64 `json:"sync_messages"`
	TransportMessages float64 `json:"transport_messages"`
	Switches          float64
	BytesPerRank      float64 `json:"bytes_per_rank"`
	Fingerprint       string
	Iterations        []struct {
		Wall float64 `json:"wall_s"`
	}
	cpu float64 // seconds
}

// run returns the wall time without set-up, in seconds.
func (s *sample) run() float64 { return s.Wall - s.SetUp }

// iteration returns the median wall time of an iteration, in seconds. It leaves out the
// first, in which the ranks begin and first touch their memory.
func (s *sample) iteration() float64 {
	var walls []float64
	for _, it := range s.Iterations[min(1, len(s.Iterations)):] {
		walls = append(walls, it.Wall)
	}
	return middle(walls)
}

// take runs a command line of gigarank m.repetitions times, on several host processes
// if hosts > 1. A line without a machine runs on xt5 without interfaces.
func (m *meter) take(hosts int, line string) ([]sample, error) {
	var samples []sample
	for range m.repetitions {
		s, err := m.once(hosts, strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("gigarank %s: %w", line, err)
		}
		samples = append(samples, s)
		fmt.Fprintf(os.Stderr, "gigarank %s: %.2f s, %.2f s of processors\n", line, s.Wall, s.cpu)
	}
	return samples, nil
}

func (m *meter) once(hosts int, args []string) (s sample, err error) {
	dir, err := os.MkdirTemp("", "gigarank")
	if err != nil {
		return s, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if !slices.Contains(args, "--machine") {
		machine, err := free()
		if err != nil {
			return s, err
		}
		file := filepath.Join(dir, "free.yaml")
		if err := os.WriteFile(file, machine.YAML(), 0o600); err != nil {
			return s, err
		}
		args = append(args, "--machine", file)
	}
	out := filepath.Join(dir, "out.json")
	command := append([]string{m.binary}, args...)
	if hosts > 1 {
		command = slices.Concat(strings.Fields(m.launcher), []string{"-n", fmt.Sprint(hosts)}, command)
	}
	command = append(command, "--progress", "none", "--json", out)
	cmd := exec.Command(command[0], command[1:]...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return s, fmt.Errorf("%w\n%s", err, output)
	}
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	text, err := os.ReadFile(out)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// median returns the median of a figure over samples.
func median(samples []sample, figure func(s *sample) float64) float64 {
	values := make([]float64, len(samples))
	for i := range samples {
		values[i] = figure(&samples[i])
	}
	return middle(values)
}

// middle returns the median, NaN for no values.
func middle(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
