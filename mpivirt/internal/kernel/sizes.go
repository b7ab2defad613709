package kernel

import (
	"unsafe"

	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/stats"
)

// MatrixSide is the greatest number of rows and columns of a matrix of bytes between ranks.
const MatrixSide = stats.MatrixSide

// Sizes in bytes of what an engine keeps for statistics.
const (
	// CountedBytes is that of an LP: its unfinished call, its computing time, and its waits.
	CountedBytes = int(unsafe.Sizeof(openCall{})) + int(unsafe.Sizeof(stats.Causes{}))/int(stats.NumberOfCauses) + p2p.WaitBytes
	// TaskBytes is that of the sums of a rank, and of the time for which others wait for it, up to TasksKept ranks.
	TaskBytes = int(unsafe.Sizeof(stats.Task{})) + int(unsafe.Sizeof(stats.RankBlame{})) + 2*4
)
