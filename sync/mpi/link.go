package mpi

// Link measures the messages of this process on the MPI library itself, without the
// threads of a [Job]. All its calls come from the goroutine that opened it. Times are in
// seconds.
type Link interface {
	// Rank returns the number of this process.
	Rank() int
	// Nodes returns, for each process, the first process on its node.
	Nodes() []int
	// Cold reports whether long messages come from memory that caches do not hold: see OpenLink.
	Cold() bool
	// PingPong returns half the time of messages there and back, the mean of so many times, or the
	// time of a message there and a message back at once, if they are long and cold.
	// Both partners call it, and one of them begins. So do the next four.
	PingPong(partner int, begins bool, bytes, times int) (float64, error)
	// SendTime returns the time that the process which begins spends in the call that sends.
	SendTime(partner int, begins bool, bytes, times int) (float64, error)
	// ReceiveTime returns the time that the process which begins spends in the call that receives
	// a message, if it makes that call wait seconds after it has asked for the message.
	ReceiveTime(partner int, begins bool, bytes int, wait float64, times int) (float64, error)
	// Waits reports to both partners whether the sender of a message waits for its receiver, who is
	// late by some seconds, least of so many times: who polls and then posts the receive, or, if
	// posted, posts it and then computes.
	Waits(partner int, begins bool, bytes int, posted bool, late float64, times int) (bool, error)
	// WaitsForWait reports to both partners whether the sender of a message waits, least of so many times, for the wait of
	// a receiver who computes some seconds while the message comes, then posts the receive, computes as long again and waits.
	// Else the call that posts the receive answers the message.
	WaitsForWait(partner int, begins bool, bytes int, late float64, times int) (bool, error)
	// Gap returns the time between two messages of a train.
	Gap(partner int, begins bool, bytes, times int) (float64, error)
	// Collective returns the time of a barrier or an allreduce, the mean of so many in a row.
	// All processes of a group call it: the processes of this node if near, else all.
	Collective(operation string, near bool, bytes, times int) (float64, error)
	// Bcast returns the time of a bcast by process 0 and a barrier after it, the mean of so many pairs in a row.
	// All processes call it.
	Bcast(bytes, times int) (float64, error)
	// Reduce returns the time to sum so many bytes of doubles into others. They are at most
	// half of the longest message.
	Reduce(bytes, times int) (float64, error)
	// LocalCopy returns the time of a message of this process to itself, while the others of
	// its node send themselves one, too. All processes call it.
	LocalCopy(bytes, times int) (float64, error)
	// Most waits for all processes, without use of a processor, and returns the greatest of their numbers.
	Most(number int) (int, error)
	// Pause waits for a while, in which the machine may come into another state.
	Pause()
	// Close finalises MPI. All processes call it.
	Close() error
}
