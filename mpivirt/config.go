package mpivirt

import (
	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/network"
)

// Config describes one simulation. The zero value of an optional field is its
// default. [New] names all faults at once.
type Config struct {
	// Target is the machine, laid out for the number of ranks. Required.
	Target *network.Target
	// Program is the program to run. Required.
	Program Program
	// Kind is the kind of the ranks. The program must have a form for it. Nil stands for the
	// kind of the program's first form.
	Kind *Kind
	// Transports has one transport for each engine of this process. The number of engines
	// of all processes is Transports[0].Size(). Required.
	Transports []engine.Transport
	// Protocol is the protocol of synchronisation.
	Protocol engine.Protocol
	// Strict switches off the shortcut for deterministic waits. Every LP that waits is then
	// resumed in the order of virtual time.
	Strict bool
	// Polls is the number of tests or probes of a rank in a row, without another call between them, that find
	// nothing and make a loop which only waits, as long as other ranks go on. The next one returns when it finds
	// something. When nothing else can go on, ranks in such loops poll on, up to a million times in a row each and
	// ten millions together, before that is a deadlock. 0 means 1000.
	Polls int32
	// Collectives chooses the interpreter.
	Collectives Interpreter
	// Algorithms has the algorithm of each operation that does not use its default.
	Algorithms map[collectives.Operation]collectives.Algorithm
	// Library chooses the algorithms of the other operations, by the size of each call. Nil has the hardware's
	// algorithm where the machine has such hardware, else the first that [collectives.Algorithms] has. The
	// command sets a library on every machine.
	Library collectives.Library
	// NoContents has messages and collectives carry sizes only: receives and results leave buffers as they are, and operators of
	// reductions are not called. Virtual times and counts are those of a run with contents. The kind of the ranks must not
	// have NeedsContents set.
	NoContents bool
	// Seed is the seed of all random numbers of the program.
	Seed uint64
	// Noise is the operating system's, which lengthens compute phases; nil for none.
	Noise Noise
	// Bursts returns the source of the CPU times of an engine of this process, which has n
	// ranks from first on. It is called once for each engine. Nil charges ranks only for the
	// computing that they declare. The kind of the ranks must have Measurable set.
	Bursts func(first, n int) Bursts
	// Now reads the wall clock in seconds. Nil leaves wall times at zero. Virtual time does
	// not depend on it.
	Now func() float64
	// BufferLimit is the limit of each engine's buffers in bytes; see [engine.Config].
	BufferLimit int64
	// Window is the window from one engine to another in bytes; see [engine.Config].
	Window int64
	// Reserve receives the memory of each array whose length grows with the number of ranks,
	// before its first use. The host may then provide larger pages. Reserve must neither
	// keep nor change the memory. May be nil.
	Reserve func(memory []byte)
	// Touch has the pages of a piece of memory in place, before the Go runtime makes ranks
	// there. It may clear the memory. Several goroutines call it at once. May be nil:
	// each page is then written to.
	Touch func(memory []byte)
	// Watchdog is a wall time in seconds. A rank whose code is blocked outside MPI for so
	// long, as by a channel or a lock, ends the run. Computing does not count as blocked.
	// 0 means 5 seconds; a negative value switches the watchdog off.
	Watchdog float64
	// Activities has the activities of VACED-SIM counted, and messages and calls of collectives by size.
	Activities bool
	// Matrix has the bytes between ranks counted, if Activities are.
	Matrix bool
	// Course has the ranks' times by cause summed up in bins of virtual time, if Activities are counted.
	Course bool
	// Sites has calls summed up by the places of the program that make them, if Activities are counted and the kind of rank knows
	// these places: [Kind].Sited.
	Sites bool
	// Path has the critical path followed, if Activities are counted. Collectives then go by messages. A call that takes time then takes 16 bytes of memory, a call
	// that waits 72 more; over MPI those of all processes go to host 0.
	Path bool
	// Observer returns the observer of an engine of this process, which has n ranks from first on. It is called once for
	// each engine. Nil observes nothing.
	Observer func(first, n int) Observer
	// Recorder returns the recorder of an engine, as Observer does. Nil records nothing.
	Recorder func(first, n int) Recorder
	// Output receives the text that ranks print. Nil drops it.
	Output func(text string)
}

// Algorithm returns the algorithm of an operation: the configured one, else the default on
// the target.
func (c *Config) Algorithm(op collectives.Operation) collectives.Algorithm {
	return c.ofKernel().Algorithm(op)
}

// AlgorithmFor returns the algorithm of an operation that all ranks call with so many bytes, in elements of some bytes: that of Algorithm, the
// library's, or, for vectors that are too long for the network to sum up, that of machines without such a network.
func (c *Config) AlgorithmFor(op collectives.Operation, bytes, element int64) collectives.Algorithm {
	return c.ofKernel().AlgorithmFor(op, bytes, element)
}

// HardwareOf returns what a machine carries out by itself, on which its algorithms depend.
func HardwareOf(m *network.Machine) collectives.Hardware { return kernel.HardwareOf(m) }

// ofKernel returns the same configuration under the kernel's name.
func (c *Config) ofKernel() *kernel.Config { return (*kernel.Config)(c) }
