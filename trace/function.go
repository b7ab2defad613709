package trace

// Function says what an operation is: a function of MPI, or what a task does besides. The numbers are those of the file.
type Function uint8

// The functions. A number is never given anew.
const (
	NoFunction  Function = 0
	Burst       Function = 1 // computing
	MarkBegin   Function = 2 // a region of the program begins
	MarkEnd     Function = 3
	MarkInstant Function = 4
	End         Function = 5 // the task has come to its end: no operation follows

	Send      Function = 10
	Ssend     Function = 11
	Bsend     Function = 12
	Rsend     Function = 13
	Isend     Function = 14
	Issend    Function = 15
	Ibsend    Function = 16
	Irsend    Function = 17
	Recv      Function = 18
	Irecv     Function = 19
	Sendrecv  Function = 20
	Isendrecv Function = 21
	Psend     Function = 22 // a message of a partitioned send, which MPI_Psend_init has set up
	Precv     Function = 23
	Wait      Function = 25
	Waitall   Function = 26
	Waitany   Function = 27
	Waitsome  Function = 28
	Test      Function = 29
	Testall   Function = 30
	Testany   Function = 31
	Testsome  Function = 32
	Probe     Function = 33
	Iprobe    Function = 34
	Mprobe    Function = 35
	Improbe   Function = 36
	Cancel    Function = 37

	Barrier            Function = 40
	Bcast              Function = 41
	Reduce             Function = 42
	Allreduce          Function = 43
	Gather             Function = 44
	Gatherv            Function = 45
	Scatter            Function = 46
	Scatterv           Function = 47
	Allgather          Function = 48
	Allgatherv         Function = 49
	Alltoall           Function = 50
	Alltoallv          Function = 51
	Alltoallw          Function = 52
	ReduceScatter      Function = 53
	ReduceScatterBlock Function = 54
	Scan               Function = 55
	Exscan             Function = 56
	CommIdup           Function = 57 // waits for the other members; the communicator is a local duplicate

	NeighborAllgather  Function = 60
	NeighborAllgatherv Function = 61
	NeighborAlltoall   Function = 62
	NeighborAlltoallv  Function = 63
	NeighborAlltoallw  Function = 64

	CommDup                 Function = 70
	CommSplit               Function = 71
	CommSplitType           Function = 72
	CommCreate              Function = 73
	CommCreateGroup         Function = 74
	CommFree                Function = 75
	CartCreate              Function = 76
	CartSub                 Function = 77
	GraphCreate             Function = 78
	DistGraphCreate         Function = 79
	DistGraphCreateAdjacent Function = 80
	LocalDuplicate          Function = 81 // a communicator that all members make with the same number, without a message
	CommGiven               Function = 82 // a communicator that is there, and takes no time to make
	IntercommCreate         Function = 83 // the leaders' messages are operations before it
	IntercommMerge          Function = 84 // the groups agree on their order; the communicator is a local merge
	LocalMerge              Function = 85 // the communicator of both groups, which all members make with the same number, without a message

	extension Function = 127
)

// Class is the kind of work that a function does. The functions of a class have the same fields.
type Class uint8

// The classes.
const (
	ClassNone Class = iota
	ClassBurst
	ClassMark
	ClassEnd
	ClassSend
	ClassReceive
	ClassSendReceive
	ClassWait
	ClassTest
	ClassProbe
	ClassCancel
	ClassCollective
	ClassNeighborhood
	ClassCommunicator // makes communicators
	ClassFree
	ClassDuplicate
	ClassGiven
	ClassMeeting // makes an intercommunicator of two groups
	ClassMerge
)

// functions is the table of functions.
var functions = [...]struct {
	name  string
	class Class
	fails bool // a call may find nothing, and is then over: a test or nonblocking probe
}{
	Burst:       {name: "burst", class: ClassBurst},
	MarkBegin:   {name: "mark begin", class: ClassMark},
	MarkEnd:     {name: "mark end", class: ClassMark},
	MarkInstant: {name: "mark", class: ClassMark},
	End:         {name: "end", class: ClassEnd},

	Send:      {name: "MPI_Send", class: ClassSend},
	Ssend:     {name: "MPI_Ssend", class: ClassSend},
	Bsend:     {name: "MPI_Bsend", class: ClassSend},
	Rsend:     {name: "MPI_Rsend", class: ClassSend},
	Isend:     {name: "MPI_Isend", class: ClassSend},
	Issend:    {name: "MPI_Issend", class: ClassSend},
	Ibsend:    {name: "MPI_Ibsend", class: ClassSend},
	Irsend:    {name: "MPI_Irsend", class: ClassSend},
	Recv:      {name: "MPI_Recv", class: ClassReceive},
	Irecv:     {name: "MPI_Irecv", class: ClassReceive},
	Sendrecv:  {name: "MPI_Sendrecv", class: ClassSendReceive},
	Isendrecv: {name: "MPI_Isendrecv", class: ClassSendReceive},
	Psend:     {name: "MPI_Psend_init", class: ClassSend},
	Precv:     {name: "MPI_Precv_init", class: ClassReceive},
	Wait:      {name: "MPI_Wait", class: ClassWait},
	Waitall:   {name: "MPI_Waitall", class: ClassWait},
	Waitany:   {name: "MPI_Waitany", class: ClassWait},
	Waitsome:  {name: "MPI_Waitsome", class: ClassWait},
	Test:      {name: "MPI_Test", class: ClassTest, fails: true},
	Testall:   {name: "MPI_Testall", class: ClassTest, fails: true},
	Testany:   {name: "MPI_Testany", class: ClassTest, fails: true},
	Testsome:  {name: "MPI_Testsome", class: ClassTest, fails: true},
	Probe:     {name: "MPI_Probe", class: ClassProbe},
	Iprobe:    {name: "MPI_Iprobe", class: ClassProbe, fails: true},
	Mprobe:    {name: "MPI_Mprobe", class: ClassProbe},
	Improbe:   {name: "MPI_Improbe", class: ClassProbe, fails: true},
	Cancel:    {name: "MPI_Cancel", class: ClassCancel},

	Barrier:            {name: "MPI_Barrier", class: ClassCollective},
	Bcast:              {name: "MPI_Bcast", class: ClassCollective},
	Reduce:             {name: "MPI_Reduce", class: ClassCollective},
	Allreduce:          {name: "MPI_Allreduce", class: ClassCollective},
	Gather:             {name: "MPI_Gather", class: ClassCollective},
	Gatherv:            {name: "MPI_Gatherv", class: ClassCollective},
	Scatter:            {name: "MPI_Scatter", class: ClassCollective},
	Scatterv:           {name: "MPI_Scatterv", class: ClassCollective},
	Allgather:          {name: "MPI_Allgather", class: ClassCollective},
	Allgatherv:         {name: "MPI_Allgatherv", class: ClassCollective},
	Alltoall:           {name: "MPI_Alltoall", class: ClassCollective},
	Alltoallv:          {name: "MPI_Alltoallv", class: ClassCollective},
	Alltoallw:          {name: "MPI_Alltoallw", class: ClassCollective},
	ReduceScatter:      {name: "MPI_Reduce_scatter", class: ClassCollective},
	ReduceScatterBlock: {name: "MPI_Reduce_scatter_block", class: ClassCollective},
	Scan:               {name: "MPI_Scan", class: ClassCollective},
	Exscan:             {name: "MPI_Exscan", class: ClassCollective},
	CommIdup:           {name: "MPI_Comm_idup", class: ClassCollective},

	NeighborAllgather:  {name: "MPI_Neighbor_allgather", class: ClassNeighborhood},
	NeighborAllgatherv: {name: "MPI_Neighbor_allgatherv", class: ClassNeighborhood},
	NeighborAlltoall:   {name: "MPI_Neighbor_alltoall", class: ClassNeighborhood},
	NeighborAlltoallv:  {name: "MPI_Neighbor_alltoallv", class: ClassNeighborhood},
	NeighborAlltoallw:  {name: "MPI_Neighbor_alltoallw", class: ClassNeighborhood},

	CommDup:                 {name: "MPI_Comm_dup", class: ClassCommunicator},
	CommSplit:               {name: "MPI_Comm_split", class: ClassCommunicator},
	CommSplitType:           {name: "MPI_Comm_split_type", class: ClassCommunicator},
	CommCreate:              {name: "MPI_Comm_create", class: ClassCommunicator},
	CommCreateGroup:         {name: "MPI_Comm_create_group", class: ClassCommunicator},
	CommFree:                {name: "MPI_Comm_free", class: ClassFree},
	CartCreate:              {name: "MPI_Cart_create", class: ClassCommunicator},
	CartSub:                 {name: "MPI_Cart_sub", class: ClassCommunicator},
	GraphCreate:             {name: "MPI_Graph_create", class: ClassCommunicator},
	DistGraphCreate:         {name: "MPI_Dist_graph_create", class: ClassCommunicator},
	DistGraphCreateAdjacent: {name: "MPI_Dist_graph_create_adjacent", class: ClassCommunicator},
	LocalDuplicate:          {name: "local duplicate", class: ClassDuplicate},
	CommGiven:               {name: "communicator", class: ClassGiven},
	IntercommCreate:         {name: "MPI_Intercomm_create", class: ClassMeeting},
	IntercommMerge:          {name: "MPI_Intercomm_merge", class: ClassCollective},
	LocalMerge:              {name: "local merge", class: ClassMerge},
}

// Known reports whether a number stands for a function.
func (f Function) Known() bool { return int(f) < len(functions) && functions[f].name != "" }

// String returns the name of a function, for MPI its name in C.
func (f Function) String() string {
	if !f.Known() {
		return "unknown function"
	}
	return functions[f].name
}

// Class returns the class of a function, ClassNone for a number that stands for none.
func (f Function) Class() Class { return classes[f] }

// classes are the classes by function. Encoders ask for them for each operation.
var classes = func() (all [1 << 8]Class) {
	for f := range functions {
		all[f] = functions[f].class
	}
	return all
}()

// MayFind reports whether a call may find nothing, and is then over: a test or a nonblocking probe.
func (f Function) MayFind() bool { return f.Known() && functions[f].fails }

// Functions returns all functions, in the order of their numbers.
func Functions() (all []Function) {
	for f := range functions {
		if Function(f).Known() {
			all = append(all, Function(f))
		}
	}
	return all
}

// FunctionNamed returns the function with a name, NoFunction for none.
func FunctionNamed(name string) Function {
	for f := range functions {
		if functions[f].name == name && name != "" {
			return Function(f)
		}
	}
	return NoFunction
}
