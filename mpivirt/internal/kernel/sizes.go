package kernel

import (
	"unsafe"

	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/stats"
)

// MatrixSide is the greatest number of rows and columns of a matrix of bytes between ranks.
const MatrixSide = stats.MatrixSide

// CourseBytes is the memory of the course of a run in each engine.
const CourseBytes = stats.CourseBytes

// Sizes in bytes of what an engine keeps for statistics.
const (
	// CountedBytes is that of an LP: its computing time.
	CountedBytes = int(unsafe.Sizeof(stats.Causes{})) / int(stats.NumberOfCauses)
	// CallBytes is that of an LP whose calls are heard: its unfinished call, and its wait.
	CallBytes = int(unsafe.Sizeof(openCall{})) + p2p.WaitBytes
	// WaiterBytes is that of an LP for whose waits somebody is to be named: up to TasksKept ranks, or for an observer.
	WaiterBytes = int(unsafe.Sizeof(stats.Waiter{}))
	// TaskBytes is that of the sums of a rank, and of the time for which others wait for it, up to TasksKept ranks.
	TaskBytes = int(unsafe.Sizeof(stats.Task{})) + int(unsafe.Sizeof(stats.RankBlame{})) + 2*4
)
