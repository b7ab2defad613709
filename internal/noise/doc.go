// Package noise holds operating system noise: interruptions that lengthen the compute
// phases of ranks.
//
// # Model
//
// A [Spec] is the description that a flag gives. [Parse] reads it, and [Spec.Seeded]
// returns the noise of a run, an [mpivirt.Noise]. Noise steals time from compute phases
// only, as in Hoefler, Schneider and Lumsdaine, "Characterizing the influence of system
// noise on large-scale applications by simulation" (SC 2010). While a rank waits for a
// message, noise costs it nothing. There are periodic interruptions, interruptions at random
// gaps, and traces of a real machine as Netgauge's selfish detour benchmark writes them.
//
// # Invariants
//
//   - Noise is a pure function of (seed, rank, begin, length): it is the same in any
//     order of calls and on any host.
//   - The numbers drawn for noise are independent of those that a program draws from the
//     same seed.
//
// # Use
//
//	spec, err := noise.Parse("periodic:10ms,25us", os.ReadFile)
//	config.Noise = spec.Seeded(seed)
package noise
