package trace

import "unsafe"

// Wildcards, the process that is none, and the color of no communicator, as in package mpivirt.
const (
	AnySource = -2
	ProcNull  = -3
	AnyTag    = -4
	Root      = -5 // the task is the root of a collective on an intercommunicator
	Undefined = -32766
)

// The first communicators of each task.
const (
	World = 0
	Self  = 1
)

// Form says in which form a function was called, and how the call ended.
type Form int64

// The bits of a form.
const (
	Nonblocking Form = 1 << iota // a collective that begins, and has a request
	Failed                       // the call ended with an error of MPI, which the program took
	Missed                       // a test or nonblocking probe has found nothing
	Persistent                   // MPI_Start of a persistent request has begun the message
	Unsized                      // a receive takes a message of any length
	Long                         // a wait or test names only the requests that it has completed
	Freed                        // the request that begins is never waited for, as after MPI_Request_free
	Refused                      // the call was refused for its arguments, which the operation need not have
)

// Trait says what a collective is given.
type Trait int64

// The bits of a trait.
const (
	Data        Trait = 1 << iota // vectors of elements; else only sizes
	Operator                      // an operator reduces the vectors
	Commutative                   // which may be applied in any order
)

// Operation is an operation of a task. Which fields it has depends on the class of its function; the others mean nothing.
type Operation struct {
	Function Function

	Form Form  // of all functions of MPI
	Took int64 // of a call of a real program: how long it took by the wall clock, in picoseconds; of a run of failing tests all of them

	CPU, Wall int64 // of a burst, in picoseconds

	Comm int64 // number of the communicator; of a function that makes communicators the parent

	Peer, Tag, Bytes        int64 // of a send: the destination
	Source, SourceTag, Room int64 // of a receive or probe; the room for the message in bytes
	GotSource, GotTag       int64 // the source and tag of the message that a receive with wildcards, or a probe, has found
	GotBytes                int64 // of a probe
	Message                 int64 // number of the probed message, plus 1, that a probe has found or a receive takes; 0 for none
	Request                 int64 // number of the request that begins

	Requests  []int64 // that a wait, test or cancel names, -1 for an inactive request
	Completed []int64 // places in Requests of those that Waitany, Waitsome, Testany or Testsome has completed; with Long, of all
	Matched   []int64 // of each receive with wildcards that a wait or test has completed: its request, and source and tag of its message
	Times     int64   // a test or probe that has found nothing: further calls in a row that found nothing either

	Root, Vector, Element       int64 // of a collective; the bytes of the vector, or of one block, and of an element
	Datatype                    int64 // of the elements: a number by which members compare theirs
	Traits                      Trait
	Counts, InCounts, OutCounts []int64 // bytes by member; see mpivirt/internal/coll.Collective
	Given, Taken                int64   // of a collective on an intercommunicator: the bytes of the vectors that the task hands in and gets
	Color, Key                  int64   // of a split; of a local merge the color is 1 if the local group comes first; the key of a local function is its number
	Group                       []int64 // ranks of WORLD in the new communicator, for functions that name them; of an intercommunicator the remote group
	Made                        int64   // number of the new communicator; -1 for none
	Context                     int64   // MPI_Comm_create_group: what tells the call from others of the same group
	Token, RemoteToken          int64   // MPI_Intercomm_create: numbers of the group and the remote group, which tell the intercommunicator from others
	SendPeers, SendTags         []int64 // of an exchange with neighbours
	SendBytes                   []int64
	ReceivePeers, ReceiveTags   []int64
	ReceiveRooms                []int64
	Name                        []byte // of a mark
}

// Has reports whether a form has all bits of another one.
func (f Form) Has(bits Form) bool { return f&bits == bits }

// Has reports whether traits have all bits of others.
func (t Trait) Has(bits Trait) bool { return t&bits == bits }

// Calls returns how many calls the operation stands for: 1, but for runs of failing tests, and 0 where it is no call.
func (o *Operation) Calls() int64 {
	switch o.Function.Class() {
	case ClassNone, ClassBurst, ClassMark, ClassEnd, ClassDuplicate, ClassGiven, ClassMerge:
		return 0
	case ClassTest, ClassProbe:
		if o.Form.Has(Missed) {
			return 1 + o.Times
		}
	}
	return 1
}

// Named appends the requests that a wait or test has completed, or, if it has found nothing, that it names.
func (o *Operation) Named(list []int64) []int64 {
	switch o.Function {
	case Waitany, Waitsome, Testany, Testsome:
		if o.Form.Has(Long) || o.Form.Has(Missed) {
			break
		}
		for _, i := range o.Completed {
			if i >= 0 && i < int64(len(o.Requests)) {
				list = append(list, o.Requests[i])
			}
		}
		return list
	}
	return append(list, o.Requests...)
}

// field is a field of operations, in the file.
type field uint8

// The fields with a number, then those with a list.
const (
	fieldForm field = iota
	fieldCPU
	fieldWall
	fieldComm
	fieldPeer
	fieldTag
	fieldBytes
	fieldSource
	fieldSourceTag
	fieldRoom
	fieldGotSource
	fieldGotTag
	fieldGotBytes
	fieldMessage
	fieldRequest
	fieldTimes
	fieldRoot
	fieldVector
	fieldElement
	fieldDatatype
	fieldTraits
	fieldColor
	fieldKey
	fieldMade
	fieldContext
	fieldTook // no operation refers to this field of another one, or to those behind it
	fieldGiven
	fieldTaken
	fieldToken
	fieldRemoteToken
	scalars

	fieldRequests field = iota - 1
	fieldCompleted
	fieldCounts
	fieldInCounts
	fieldOutCounts
	fieldGroup
	fieldSendPeers
	fieldSendTags
	fieldSendBytes
	fieldReceivePeers
	fieldReceiveTags
	fieldReceiveRooms
	fieldMatched
	fieldName
	fields
)

const lists = int(fields - scalars)

// layouts are the fields of each class, in the order of the bits of a mask: what changes often first.
var layouts = [...][]field{
	ClassBurst:        {fieldCPU, fieldWall},
	ClassMark:         {fieldName},
	ClassEnd:          {},
	ClassSend:         {fieldPeer, fieldTag, fieldBytes, fieldRequest, fieldComm, fieldForm, fieldTook},
	ClassReceive:      {fieldSource, fieldSourceTag, fieldRoom, fieldRequest, fieldComm, fieldGotSource, fieldGotTag, fieldForm, fieldMessage, fieldTook},
	ClassSendReceive:  {fieldPeer, fieldTag, fieldBytes, fieldSource, fieldSourceTag, fieldRoom, fieldRequest, fieldComm, fieldGotSource, fieldGotTag, fieldForm, fieldTook},
	ClassWait:         {fieldRequests, fieldCompleted, fieldForm, fieldTook, fieldMatched},
	ClassTest:         {fieldRequests, fieldCompleted, fieldForm, fieldTimes, fieldTook, fieldMatched},
	ClassProbe:        {fieldSource, fieldSourceTag, fieldGotSource, fieldGotTag, fieldGotBytes, fieldComm, fieldForm, fieldMessage, fieldTimes, fieldTook},
	ClassCancel:       {fieldRequests, fieldForm, fieldTook},
	ClassCollective:   {fieldVector, fieldRoot, fieldComm, fieldElement, fieldCounts, fieldTraits, fieldRequest, fieldForm, fieldDatatype, fieldInCounts, fieldOutCounts, fieldTook, fieldGiven, fieldTaken},
	ClassNeighborhood: {fieldComm, fieldRequest, fieldForm, fieldSendPeers, fieldSendTags, fieldSendBytes, fieldReceivePeers, fieldReceiveTags, fieldReceiveRooms, fieldTook},
	ClassCommunicator: {fieldComm, fieldMade, fieldColor, fieldKey, fieldGroup, fieldContext, fieldForm, fieldTook},
	ClassFree:         {fieldComm, fieldForm, fieldTook},
	ClassDuplicate:    {fieldComm, fieldKey, fieldMade},
	ClassGiven:        {fieldMade, fieldGroup, fieldContext},
	ClassMeeting:      {fieldComm, fieldMade, fieldRoot, fieldGroup, fieldToken, fieldRemoteToken, fieldForm, fieldTook},
	ClassMerge:        {fieldComm, fieldKey, fieldMade, fieldColor},
}

// rare reports whether a field that a mask does not name is 0, and not the value before.
func (f field) rare() bool {
	return f == fieldForm || f == fieldMessage || f == fieldTimes || f >= fieldTook && f < scalars
}

// offsets are the places of the fields in an operation, by field. An encoder asks for each field of each operation: a switch takes a fifth of its time.
var offsets = [1 << 8]uintptr{
	fieldForm:         unsafe.Offsetof(Operation{}.Form),
	fieldCPU:          unsafe.Offsetof(Operation{}.CPU),
	fieldWall:         unsafe.Offsetof(Operation{}.Wall),
	fieldComm:         unsafe.Offsetof(Operation{}.Comm),
	fieldPeer:         unsafe.Offsetof(Operation{}.Peer),
	fieldTag:          unsafe.Offsetof(Operation{}.Tag),
	fieldBytes:        unsafe.Offsetof(Operation{}.Bytes),
	fieldSource:       unsafe.Offsetof(Operation{}.Source),
	fieldSourceTag:    unsafe.Offsetof(Operation{}.SourceTag),
	fieldRoom:         unsafe.Offsetof(Operation{}.Room),
	fieldGotSource:    unsafe.Offsetof(Operation{}.GotSource),
	fieldGotTag:       unsafe.Offsetof(Operation{}.GotTag),
	fieldGotBytes:     unsafe.Offsetof(Operation{}.GotBytes),
	fieldMessage:      unsafe.Offsetof(Operation{}.Message),
	fieldRequest:      unsafe.Offsetof(Operation{}.Request),
	fieldTimes:        unsafe.Offsetof(Operation{}.Times),
	fieldRoot:         unsafe.Offsetof(Operation{}.Root),
	fieldVector:       unsafe.Offsetof(Operation{}.Vector),
	fieldElement:      unsafe.Offsetof(Operation{}.Element),
	fieldDatatype:     unsafe.Offsetof(Operation{}.Datatype),
	fieldTraits:       unsafe.Offsetof(Operation{}.Traits),
	fieldColor:        unsafe.Offsetof(Operation{}.Color),
	fieldKey:          unsafe.Offsetof(Operation{}.Key),
	fieldMade:         unsafe.Offsetof(Operation{}.Made),
	fieldTook:         unsafe.Offsetof(Operation{}.Took),
	fieldGiven:        unsafe.Offsetof(Operation{}.Given),
	fieldTaken:        unsafe.Offsetof(Operation{}.Taken),
	fieldToken:        unsafe.Offsetof(Operation{}.Token),
	fieldRemoteToken:  unsafe.Offsetof(Operation{}.RemoteToken),
	fieldContext:      unsafe.Offsetof(Operation{}.Context),
	fieldRequests:     unsafe.Offsetof(Operation{}.Requests),
	fieldCompleted:    unsafe.Offsetof(Operation{}.Completed),
	fieldCounts:       unsafe.Offsetof(Operation{}.Counts),
	fieldInCounts:     unsafe.Offsetof(Operation{}.InCounts),
	fieldOutCounts:    unsafe.Offsetof(Operation{}.OutCounts),
	fieldGroup:        unsafe.Offsetof(Operation{}.Group),
	fieldSendPeers:    unsafe.Offsetof(Operation{}.SendPeers),
	fieldSendTags:     unsafe.Offsetof(Operation{}.SendTags),
	fieldSendBytes:    unsafe.Offsetof(Operation{}.SendBytes),
	fieldReceivePeers: unsafe.Offsetof(Operation{}.ReceivePeers),
	fieldReceiveTags:  unsafe.Offsetof(Operation{}.ReceiveTags),
	fieldMatched:      unsafe.Offsetof(Operation{}.Matched),
	fieldReceiveRooms: unsafe.Offsetof(Operation{}.ReceiveRooms),
}

// scalar returns a field with a number.
func (o *Operation) scalar(f field) *int64 {
	return (*int64)(unsafe.Add(unsafe.Pointer(o), offsets[f]))
}

// list returns a field with a list of numbers.
func (o *Operation) list(f field) *[]int64 {
	return (*[]int64)(unsafe.Add(unsafe.Pointer(o), offsets[f]))
}
