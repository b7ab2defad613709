package kernel

import (
	"fmt"
	"strings"

	"gigarank/vtime"
)

// Bursts measures the CPU times of bursts, the computations of ranks between two MPI calls. Package
// cputime implements it. Only the goroutine that runs the engine uses it.
type Bursts interface {
	// Start begins a burst of the running rank.
	Start()
	// Stop ends the burst of a rank and returns its CPU time on the host.
	Stop(rank int) (vtime.Duration, error)
	// Declared returns the CPU time of a burst whose time the program declares, or that has been
	// measured elsewhere.
	Declared(rank int, d vtime.Duration) (vtime.Duration, error)
	// Kept reports whether each burst counts by itself, as in a recording, and not only the sum of
	// the bursts.
	Kept() bool
}

// StartBurst begins a burst of the running LP, if CPU times count.
func (k *Kernel) StartBurst() {
	if k.bursts != nil {
		k.bursts.Start()
	}
}

// Bursting reports whether CPU times count.
func (k *Kernel) Bursting() bool { return k.bursts != nil }

// KeepsBursts reports whether each burst counts by itself.
func (k *Kernel) KeepsBursts() bool { return k.bursts.Kept() }

// StopBurst ends a burst of an LP and returns its CPU time on the host. ChargeBurst advances the
// LP's clock by that time.
func (k *Kernel) StopBurst(lp int32) (vtime.Duration, error) {
	return k.bursts.Stop(int(k.partition.Global(lp)))
}

// GiveBurst returns the CPU time of a burst whose time the program declares.
func (k *Kernel) GiveBurst(lp int32, d vtime.Duration) (vtime.Duration, error) {
	return k.bursts.Declared(int(k.partition.Global(lp)), d)
}

// ChargeBurst advances the clock of an LP by the time of a burst on the LP's node. It returns the
// error of Compute.
func (k *Kernel) ChargeBurst(lp int32, d vtime.Duration) error {
	return k.Compute(lp, k.partition.Target.CPUTime(int(k.partition.Global(lp)), d))
}

// Unmeasurable returns the error of CPU times for ranks of a kind, nil if they can be measured.
func (k *Kind) Unmeasurable() error {
	if k.Measurable {
		return nil
	}
	var names []string
	for _, other := range kinds {
		if other.Measurable {
			names = append(names, other.Name)
		}
	}
	return fmt.Errorf("the CPU time of %v ranks cannot be measured: use ranks of kind %s", k, strings.Join(names, " or "))
}

// Sample sums the CPU times of the executions of a part of an LP's program.
type Sample struct {
	Times int
	total vtime.Duration
}

// Add adds the time of another execution.
func (s *Sample) Add(d vtime.Duration) { s.Times, s.total = s.Times+1, s.total.Plus(d) }

// Mean returns the mean of the times. There must be at least one.
func (s *Sample) Mean() vtime.Duration { return s.total / vtime.Duration(s.Times) }

// sampleKey identifies a sampled part of an LP's program.
type sampleKey struct {
	lp   int32
	name string
}

// SampleOf returns the sample of a name, which is empty at first.
func (k *Kernel) SampleOf(lp int32, name string) *Sample {
	key := sampleKey{lp, name}
	s := k.samples[key]
	if s == nil {
		if k.samples == nil {
			k.samples = map[sampleKey]*Sample{}
		}
		s = &Sample{}
		k.samples[key] = s
	}
	return s
}
