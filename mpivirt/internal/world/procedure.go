package world

import "gigarank/collectives"

//go:generate go run gigarank/mpivirt/native/toolchain/procedures -o ../../native/toolchain/runtime/rank/procedures.h

// Procedure is an MPI procedure. Its number is the same in the C runtime of native ranks.
type Procedure uint8

// The procedures. The table [procedures] describes each of them; their order has no meaning.
const (
	NoProcedure Procedure = iota
	Send
	Ssend
	Bsend
	Rsend
	Recv
	Isend
	Issend
	Ibsend
	Irsend
	Irecv
	Sendrecv
	Isendrecv
	Wait
	Waitall
	Waitany
	Waitsome
	Test
	Testall
	Testany
	Testsome
	Probe
	Iprobe
	Mprobe
	Improbe
	Barrier
	Bcast
	Reduce
	Allreduce
	Gather
	Gatherv
	Scatter
	Scatterv
	Allgather
	Allgatherv
	Alltoall
	Alltoallv
	ReduceScatter
	Scan
	Exscan
	CommDup
	CommSplit
	CommCreate
	CommFree
	Compute
	CommRank
	CommSize
	CommGroup
	Start
	CommCreateGroup
	CommSetAttribute
	CommAttribute
	CommDeleteAttribute
	CommCompare
	CommSetName
	CommName
	CartCreate
	CartSub
	GraphCreate
	DistGraphCreate
	IntercommCreate
	Alltoallw
	ReduceScatterBlock
	CommSplitType
	DistGraphCreateAdjacent
	CommIdup
	NeighborAllgather
	NeighborAllgatherv
	NeighborAlltoall
	NeighborAlltoallv
	NeighborAlltoallw
	IntercommMerge
	Cancel
	ReduceLocal
	Psend
	Precv
)

// Class is the kind of work that a procedure does for a rank.
type Class uint8

// The classes of procedures.
const (
	ClassNone Class = iota
	ClassSend
	ClassReceive
	ClassSendReceive
	ClassWait
	ClassTest
	ClassProbe
	ClassRequest // starts or cancels requests
	ClassCollective
	ClassNeighborhood      // exchanges messages with named members
	ClassCommunicator      // makes or frees a communicator, and does nothing else
	ClassTopology          // makes a communicator with a virtual topology
	ClassIntercommunicator // makes a communicator of two groups
	ClassLocal             // concerns the calling rank alone
)

// SendMode is the communication mode of a send (MPI 4.1, 3.4).
type SendMode uint8

// The modes.
const (
	Standard    SendMode = iota
	Synchronous          // complete after the match by a receive
	Ready                // a matching receive must have been posted
	Buffered             // complete at once, whatever the size
)

// procedure is a row of the table of procedures.
type procedure struct {
	name      string // in reports
	inC       string // name in C, without MPI_; empty if it is the name in reports
	class     Class
	mode      SendMode              // of a send
	blocking  bool                  // the procedure returns when the operation is complete
	reduces   bool                  // the procedure applies an operator to the elements of members
	operation collectives.Operation // algorithm of package collectives that the procedure carries out
	like      Procedure             // procedure whose code a collective shares; see Plain
}

// procedures is the table of procedures.
var procedures = [...]procedure{
	NoProcedure:             {},
	Send:                    {name: "Send", class: ClassSend, blocking: true},
	Ssend:                   {name: "Ssend", class: ClassSend, mode: Synchronous, blocking: true},
	Bsend:                   {name: "Bsend", class: ClassSend, mode: Buffered, blocking: true},
	Rsend:                   {name: "Rsend", class: ClassSend, mode: Ready, blocking: true},
	Recv:                    {name: "Recv", class: ClassReceive, blocking: true},
	Isend:                   {name: "Isend", class: ClassSend},
	Issend:                  {name: "Issend", class: ClassSend, mode: Synchronous},
	Ibsend:                  {name: "Ibsend", class: ClassSend, mode: Buffered},
	Irsend:                  {name: "Irsend", class: ClassSend, mode: Ready},
	Irecv:                   {name: "Irecv", class: ClassReceive},
	Sendrecv:                {name: "Sendrecv", class: ClassSendReceive, blocking: true},
	Isendrecv:               {name: "Isendrecv", class: ClassSendReceive},
	Wait:                    {name: "Wait", class: ClassWait, blocking: true},
	Waitall:                 {name: "Waitall", class: ClassWait, blocking: true},
	Waitany:                 {name: "Waitany", class: ClassWait, blocking: true},
	Waitsome:                {name: "Waitsome", class: ClassWait, blocking: true},
	Test:                    {name: "Test", class: ClassTest},
	Testall:                 {name: "Testall", class: ClassTest},
	Testany:                 {name: "Testany", class: ClassTest},
	Testsome:                {name: "Testsome", class: ClassTest},
	Probe:                   {name: "Probe", class: ClassProbe, blocking: true},
	Iprobe:                  {name: "Iprobe", class: ClassProbe},
	Mprobe:                  {name: "Mprobe", class: ClassProbe, blocking: true},
	Improbe:                 {name: "Improbe", class: ClassProbe},
	Barrier:                 {name: "Barrier", class: ClassCollective, blocking: true, operation: collectives.Barrier},
	Bcast:                   {name: "Bcast", class: ClassCollective, blocking: true, operation: collectives.Bcast},
	Reduce:                  {name: "Reduce", class: ClassCollective, blocking: true, operation: collectives.Reduce, reduces: true},
	Allreduce:               {name: "Allreduce", class: ClassCollective, blocking: true, operation: collectives.Allreduce, reduces: true},
	Gather:                  {name: "Gather", class: ClassCollective, blocking: true, operation: collectives.Gather},
	Gatherv:                 {name: "Gatherv", class: ClassCollective, blocking: true, operation: collectives.Gatherv},
	Scatter:                 {name: "Scatter", class: ClassCollective, blocking: true, operation: collectives.Scatter},
	Scatterv:                {name: "Scatterv", class: ClassCollective, blocking: true, operation: collectives.Scatterv},
	Allgather:               {name: "Allgather", class: ClassCollective, blocking: true, operation: collectives.Allgather},
	Allgatherv:              {name: "Allgatherv", class: ClassCollective, blocking: true, operation: collectives.Allgatherv},
	Alltoall:                {name: "Alltoall", class: ClassCollective, blocking: true, operation: collectives.Alltoall},
	Alltoallv:               {name: "Alltoallv", class: ClassCollective, blocking: true, operation: collectives.Alltoallv},
	ReduceScatter:           {name: "ReduceScatter", inC: "Reduce_scatter", class: ClassCollective, blocking: true, operation: collectives.ReduceScatter, reduces: true},
	Scan:                    {name: "Scan", class: ClassCollective, blocking: true, operation: collectives.Scan, reduces: true},
	Exscan:                  {name: "Exscan", class: ClassCollective, blocking: true, operation: collectives.Exscan, reduces: true},
	CommDup:                 {name: "Comm.Dup", inC: "Comm_dup", class: ClassCommunicator, blocking: true},
	CommSplit:               {name: "Comm.Split", inC: "Comm_split", class: ClassCommunicator, blocking: true},
	CommCreate:              {name: "Comm.Create", inC: "Comm_create", class: ClassCommunicator, blocking: true},
	CommFree:                {name: "Comm.Free", inC: "Comm_free", class: ClassCommunicator, blocking: true},
	Compute:                 {name: "Compute", class: ClassLocal},
	CommRank:                {name: "Comm.Rank", inC: "Comm_rank", class: ClassLocal},
	CommSize:                {name: "Comm.Size", inC: "Comm_size", class: ClassLocal},
	CommGroup:               {name: "Comm.Group", inC: "Comm_group", class: ClassLocal},
	Start:                   {name: "Start", class: ClassRequest},
	CommCreateGroup:         {name: "Comm.CreateGroup", inC: "Comm_create_group", class: ClassCommunicator, blocking: true},
	CommSetAttribute:        {name: "Comm.SetAttribute", inC: "Comm_set_attr", class: ClassLocal},
	CommAttribute:           {name: "Comm.Attribute", inC: "Comm_get_attr", class: ClassLocal},
	CommDeleteAttribute:     {name: "Comm.DeleteAttribute", inC: "Comm_delete_attr", class: ClassLocal},
	CommCompare:             {name: "Comm.Compare", inC: "Comm_compare", class: ClassLocal},
	CommSetName:             {name: "Comm.SetName", inC: "Comm_set_name", class: ClassLocal},
	CommName:                {name: "Comm.Name", inC: "Comm_get_name", class: ClassLocal},
	CartCreate:              {name: "CartCreate", inC: "Cart_create", class: ClassTopology, blocking: true, like: CommCreate},
	CartSub:                 {name: "Cart.Sub", inC: "Cart_sub", class: ClassTopology, blocking: true, like: CommSplit},
	GraphCreate:             {name: "GraphCreate", inC: "Graph_create", class: ClassTopology, blocking: true, like: CommCreate},
	DistGraphCreate:         {name: "DistGraphCreate", inC: "Dist_graph_create", class: ClassTopology, blocking: true, like: CommDup},
	IntercommCreate:         {name: "IntercommCreate", inC: "Intercomm_create", class: ClassIntercommunicator, blocking: true},
	Alltoallw:               {name: "Alltoallw", class: ClassCollective, blocking: true, like: Alltoallv},
	ReduceScatterBlock:      {name: "ReduceScatterBlock", inC: "Reduce_scatter_block", class: ClassCollective, blocking: true, reduces: true, like: ReduceScatter},
	CommSplitType:           {name: "Comm.SplitNodes", inC: "Comm_split_type", class: ClassCommunicator, blocking: true, like: CommSplit},
	DistGraphCreateAdjacent: {name: "DistGraphCreateAdjacent", inC: "Dist_graph_create_adjacent", class: ClassTopology, blocking: true, like: CommDup},
	CommIdup:                {name: "Comm.Idup", inC: "Comm_idup", class: ClassCommunicator, like: Barrier},
	NeighborAllgather:       {name: "NeighborAllgather", inC: "Neighbor_allgather", class: ClassNeighborhood, blocking: true},
	NeighborAllgatherv:      {name: "NeighborAllgatherv", inC: "Neighbor_allgatherv", class: ClassNeighborhood, blocking: true},
	NeighborAlltoall:        {name: "NeighborAlltoall", inC: "Neighbor_alltoall", class: ClassNeighborhood, blocking: true},
	NeighborAlltoallv:       {name: "NeighborAlltoallv", inC: "Neighbor_alltoallv", class: ClassNeighborhood, blocking: true},
	NeighborAlltoallw:       {name: "NeighborAlltoallw", inC: "Neighbor_alltoallw", class: ClassNeighborhood, blocking: true},
	IntercommMerge:          {name: "Comm.Merge", inC: "Intercomm_merge", class: ClassIntercommunicator, blocking: true},
	Cancel:                  {name: "Cancel", class: ClassRequest},
	ReduceLocal:             {name: "ReduceLocal", inC: "Reduce_local", class: ClassLocal},
	Psend:                   {name: "Psend", inC: "Psend_init", class: ClassSend},
	Precv:                   {name: "Precv", inC: "Precv_init", class: ClassReceive},
}

// traits are the columns of the table that each call reads, with room for every value of a
// Procedure, so that lookups need no bounds check. Values that are no procedure have zero traits.
var traits = func() (all [1 << 8]struct {
	class  Class
	mode   SendMode
	blocks bool // see Blocks
	sends  bool // see Sends
}) {
	for c, p := range procedures {
		t := &all[c]
		t.class, t.mode = p.class, p.mode
		t.sends = p.blocking && p.class == ClassSend
		t.blocks = p.blocking && (p.class == ClassSend || p.class == ClassReceive || p.class == ClassSendReceive)
	}
	return all
}()

// procedureOf maps each operation to its procedure.
var procedureOf = func() (of [1 << 8]Procedure) {
	for c, p := range procedures {
		if p.class == ClassCollective && p.like == NoProcedure {
			of[p.operation] = Procedure(c)
		}
	}
	return of
}()

// Procedures returns the number of procedures, NoProcedure included. The number of each procedure
// is less.
func Procedures() int { return len(procedures) }

// Known reports whether a number is the number of a procedure.
func (c Procedure) Known() bool { return int(c) < len(procedures) }

// String returns the name of a procedure in reports.
func (c Procedure) String() string { return procedures[c].name }

// NameInC returns the name of a procedure in C, without MPI_.
func (c Procedure) NameInC() string {
	if name := procedures[c].inC; name != "" {
		return name
	}
	return procedures[c].name
}

// Class returns the class of a procedure, ClassNone for a number that is no procedure.
func (c Procedure) Class() Class { return traits[c].class }

// Mode returns the communication mode of a send.
func (c Procedure) Mode() SendMode { return traits[c].mode }

// Blocks reports whether a procedure sends or receives and returns when that operation is complete.
func (c Procedure) Blocks() bool { return traits[c].blocks }

// Sends reports whether a procedure is a blocking send, and nothing else.
func (c Procedure) Sends() bool { return traits[c].sends }

// Reduces reports whether a procedure applies an operator to the elements of members.
func (c Procedure) Reduces() bool { return procedures[c].reduces }

// Plain returns the procedure whose code a collective shares, from arguments to messages:
// Comm.Create for CartCreate; for most procedures the procedure itself.
func (c Procedure) Plain() Procedure {
	if like := procedures[c].like; like != NoProcedure {
		return like
	}
	return c
}

// Operation returns the operation of a collective, which is that of its plain procedure.
func (c Procedure) Operation() collectives.Operation { return procedures[c.Plain()].operation }

// ProcedureOf returns the procedure of a collective operation.
func ProcedureOf(op collectives.Operation) Procedure { return procedureOf[op] }

// In returns " in " and the name of a procedure, the empty string for none.
func (c Procedure) In() string {
	if c == NoProcedure {
		return ""
	}
	return " in " + c.String()
}
