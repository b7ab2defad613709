package world

import "gigarank/mpivirt/internal/stats"

// None is the number of no LP.
const None = -1

// Untimed is the label of a collective that is not timed; see [Kernel.Label].
const Untimed = stats.Untimed
