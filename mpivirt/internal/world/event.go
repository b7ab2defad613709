package world

// Data of timed events: the work of the kernel at the instant of the event.
const (
	DataWait      = iota // evaluate the LP's wait
	DataSettle           // settle the LP's receives from any source
	DataResume           // resume the LP after a collective
	DataServe            // serve the LP's processor
	DataPassage          // serve the interfaces of nodes
	DataHandshake        // handle a message of a rendezvous, on a machine with progress in calls
	DataDeadline         // the first message of a collective that lacks members would arrive, under state at the receiver
)
