package mpivirt

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/forecast"
	"gigarank/vtime"
)

// Use is a collective of WORLD whose cost is asked for: all ranks call it.
type Use struct {
	Operation collectives.Operation
	Bytes     int64                               // of the vector or of one block
	Element   int64                               // size of an element; 0 if only sizes are simulated
	Data      bool                                // vectors of elements, whose memory is moved unless the configuration has no contents; else only sizes
	Alone     bool                                // ranks communicate by nothing else
	Times     int                                 // that each rank calls it, one time after the other; 0 is once
	Calls     int                                 // that each rank makes in an iteration of the program; 0 is one
	Compute   func(rank, time int) vtime.Duration // by a rank before each time; nil is none
	Unordered bool                                // the ranks of a node call it in any order
	Row       int                                 // of calls that each rank makes one right after the other; 0 is one
}

// Cost holds the needs of ranks and their collectives on the host.
type Cost struct {
	Time           float64 // ns of CPU on all engines, in which all ranks go through the collectives once
	BytesPerRank   float64 // while ranks wait in the collective that takes most
	BytesPerEngine float64 // on each engine besides, however many ranks it has
	PassageBytes   float64 // of BytesPerRank: messages of collectives that delay each other
	Waiting        float64 // the greatest share of the ranks that wait in a collective at the same time; 1 without collectives
	ByMessages     bool    // some collective is carried out so: ranks go on one after the other
}

// Held counts what a program's ranks hold for point-to-point messages at the same time: the mean of all
// ranks, when it is most.
type Held struct {
	Mailboxes  float64 // ranks that have one
	Requests   float64
	Messages   float64 // that no receive has taken
	Payload    float64 // bytes of each message's content; 0 if only the size is simulated
	Length     float64 // bytes of a message where interfaces take long messages in packets; 0 is Payload
	Received   float64 // contents that event ranks have received and not seen yet
	Leaving    float64 // messages that wait for an interface of their sender's node, or for its memory
	Coming     float64 // messages that wait for an interface of their receiver's node
	Operations float64 // under a model with state at the receiver: under way in a processor
}

// CostOf returns an estimate of the host's time and memory for the ranks of WORLD, on a
// number of engines, that call collectives in turn. Without collectives it is the memory of
// the ranks alone. The program's own memory is not included.
//
// It reads Target, Kind, Protocol, Collectives, Algorithms, NoContents and Window of the Config. Without
// a Target it counts no collectives.
func CostOf(c *Config, engines int, uses ...Use) Cost {
	all := make([]forecast.Use, len(uses))
	for i, use := range uses {
		all[i] = forecast.Use(use)
	}
	return Cost(forecast.CostOf(c.ofKernel(), engines, all...))
}

// CheckUse returns the error of a collective that cannot be carried out on the target with the configured algorithm, such as of too many
// rounds. Without a Target there is none.
func (c *Config) CheckUse(use Use) error {
	if c.Target == nil {
		return nil
	}
	return forecast.Check(c.ofKernel(), forecast.Use(use))
}

// HeldBytes returns the memory that a program's ranks hold for point-to-point messages, over
// what [CostOf] has counted in a cost.
func HeldBytes(c *Config, h Held, cost Cost) float64 {
	return forecast.HeldBytes(c.ofKernel(), forecast.Held(h), forecast.Cost(cost))
}
