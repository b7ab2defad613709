package kernel

import "gigarank/vtime"

// phases are the parts of a run that the ranks of an engine mark, as programs in C do by gigarank_phase.
type phases struct {
	names  []string       // of all ranks, in the order in which they came first
	places map[string]int // of the names
	of     map[int32]*phase
}

// phase is the part of a run that a rank is in.
type phase struct {
	name   int // in names; -1 outside a phase
	since  vtime.Time
	counts []int32 // by name: iterations of the phase that the rank has ended
}

// BeginPhase ends the phase that a rank is in, and begins one with a name, or none if the name is empty. The length of a phase
// that ends is recorded under its name; see [Kernel.Record].
func (k *Kernel) BeginPhase(lp int32, name string) {
	if k.hearing.recorder != nil {
		k.hearing.recorder.BeginsPhase(lp, name)
	}
	p, now := &k.phases, k.Clocks()[lp]
	at, known := p.of[lp]
	if !known {
		if p.of == nil {
			p.of, p.places = map[int32]*phase{}, map[string]int{}
		}
		at = &phase{name: -1}
		p.of[lp] = at
	}
	if at.name >= 0 {
		if more := at.name + 1 - len(at.counts); more > 0 {
			at.counts = append(at.counts, make([]int32, more)...)
		}
		k.Record(int(at.counts[at.name]), p.names[at.name], now.Sub(at.since))
		at.counts[at.name]++
	}
	at.name, at.since = -1, now
	if name == "" {
		return
	}
	place, known := p.places[name]
	if !known {
		place = len(p.names)
		p.places[name], p.names = place, append(p.names, name)
	}
	at.name = place
}
