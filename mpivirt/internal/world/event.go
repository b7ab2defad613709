package world

// Data of timed events: what the kernel does at their time.
const (
	DataWait   = iota // look at the wait of the LP
	DataSettle        // let its receives from any source settle
	DataResume        // resume the LP, whose collective is over
	DataServe         // let the LP's processor begin what it can
)
