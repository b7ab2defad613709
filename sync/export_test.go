package sync

// NewInTurns is NewInProcess for a process with one processor, whose engines take turns
// however few they are.
func NewInTurns(k int) []Transport { return newInProcess(k, 1, true) }
