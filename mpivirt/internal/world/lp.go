package world

import "gigarank/mpivirt/internal/stats"

// None stands for no LP.
const None = -1

// Untimed is the label of a collective that is not timed; see [Partition.Label].
const Untimed = stats.Untimed
