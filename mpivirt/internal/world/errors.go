package world

import (
	"errors"
	"fmt"

	"gigarank/vtime"
)

// ErrorClass is a standard class of MPI errors. It is an error itself, so that
// errors.Is(err, mpivirt.ErrTruncate) works.
type ErrorClass uint8

// The error classes, with the MPI name of each.
const (
	ErrBuffer   ErrorClass = iota + 1 // MPI_ERR_BUFFER
	ErrCount                          // MPI_ERR_COUNT
	ErrTag                            // MPI_ERR_TAG
	ErrComm                           // MPI_ERR_COMM
	ErrRank                           // MPI_ERR_RANK
	ErrRequest                        // MPI_ERR_REQUEST
	ErrRoot                           // MPI_ERR_ROOT
	ErrGroup                          // MPI_ERR_GROUP
	ErrOp                             // MPI_ERR_OP
	ErrArgument                       // MPI_ERR_ARG
	ErrTruncate                       // MPI_ERR_TRUNCATE
	ErrOther                          // MPI_ERR_OTHER
	ErrType                           // MPI_ERR_TYPE
	ErrKeyval                         // MPI_ERR_KEYVAL
	ErrTopology                       // MPI_ERR_TOPOLOGY
	ErrDims                           // MPI_ERR_DIMS
)

var classNames = [...]string{
	"", "MPI_ERR_BUFFER", "MPI_ERR_COUNT", "MPI_ERR_TAG", "MPI_ERR_COMM", "MPI_ERR_RANK",
	"MPI_ERR_REQUEST", "MPI_ERR_ROOT", "MPI_ERR_GROUP", "MPI_ERR_OP", "MPI_ERR_ARG",
	"MPI_ERR_TRUNCATE", "MPI_ERR_OTHER", "MPI_ERR_TYPE", "MPI_ERR_KEYVAL", "MPI_ERR_TOPOLOGY", "MPI_ERR_DIMS",
}

// Error returns the MPI name of the class.
func (c ErrorClass) Error() string { return classNames[c] }

// Error is an MPI error of one rank.
type Error struct {
	Class  ErrorClass
	Detail string // the cause and the remedy

	other *OtherCall // nil for an error that is not of two calls
}

// OtherCall is the call of another rank with which a rank's call does not match.
type OtherCall struct {
	Rank  int32 // in WORLD
	Call  Procedure
	Waits bool // the other rank cannot leave the call, and its call does not fail

	Context uint64 // of the communicator
	Number  uint32 // of the collective
	Site    uint64 // where the program has made the call, as the other rank's engine numbers places; 0 if that is not known
	Own     uint64 // likewise, of the call that does not match
}

// Against stores the call of another rank with which the rank's call does not match, and returns the error.
func (e *Error) Against(o OtherCall) *Error {
	e.other = &o
	return e
}

// InCollective stores the communicator and the number of the collective, for an error of two calls.
func (e *Error) InCollective(context uint64, number uint32) {
	if e.other != nil {
		e.other.Context, e.other.Number = context, number
	}
}

// CalledFrom stores the places of the rank's call and of the other rank's, for an error of two calls.
func (e *Error) CalledFrom(own, other uint64) {
	if e.other != nil {
		e.other.Own, e.other.Site = own, other
	}
}

func (e *Error) Error() string { return e.Class.Error() + ": " + e.Detail }

// Unwrap returns the class, for errors.Is.
func (e *Error) Unwrap() error { return e.Class }

// NoComm returns the error of a call on a nil communicator (MPI_COMM_NULL). Such a communicator has
// no error handler, so the call always returns the error. NoComm is not inlined into the frames of
// ranks that wait.
//
//go:noinline
func NoComm(c Procedure) *Error {
	return Errorf(ErrComm, "%s on no communicator: Split and Create give nil to ranks that are in no new one", c)
}

// Errorf returns an error of a class, with a formatted detail.
func Errorf(class ErrorClass, format string, arguments ...any) *Error {
	return &Error{Class: class, Detail: fmt.Sprintf(format, arguments...)}
}

// RankError is the failure of a rank of the simulated program: it returned an error,
// panicked, called Abort or made an MPI error.
type RankError struct {
	Rank  int
	Time  vtime.Time // the rank's clock
	Call  string     // the current or latest MPI call; empty for none
	Place string     // the function, file and line that have made the call, as "exchange (halo.c:42)"; "" if they are not known
	Other string     // likewise of the call of another rank with which the call does not match
	Late  bool       // the rank had left MPI, for example by MPI_Finalize
	Err   error
}

func (e *RankError) Error() string {
	where := ""
	if e.Call != "" {
		where = " in " + e.Call
	}
	if e.Place != "" {
		where += ", called in " + e.Place
	}
	text := fmt.Sprintf("rank %d failed at virtual time %v%s: %v", e.Rank, e.Time, where, e.Err)
	if e.Other != "" {
		text += ", called in " + e.Other
	}
	return text
}

// Against returns the call of another rank with which the call does not match, nil for none.
func (e *RankError) Against() *OtherCall {
	if of := (*Error)(nil); errors.As(e.Err, &of) {
		return of.other
	}
	return nil
}

// OtherAt returns the error with the place of the other rank's call; the error itself for the place "".
func (e *RankError) OtherAt(place string) *RankError {
	if place == "" {
		return e
	}
	placed := *e
	placed.Other = place
	return &placed
}

// At returns the error with a place; the error itself for the place "".
func (e *RankError) At(place string) *RankError {
	if place == "" {
		return e
	}
	placed := *e
	placed.Place = place
	return &placed
}

// Unwrap returns the rank's own error.
func (e *RankError) Unwrap() error { return e.Err }

// Aborted returns the error of a program that calls MPI_Abort.
func Aborted(code int) error { return abortError{code} }

type abortError struct{ code int }

func (e abortError) Error() string {
	return fmt.Sprintf("the program called Abort with code %d", e.code)
}

// Fatal carries an MPI error out of a rank whose error handler is
// [ErrorsAreFatal].
type Fatal struct{ Err error }

// Throw unwinds a rank with an MPI error. It does not return.
func Throw(err error) { panic(Fatal{err}) }

// Numbers that stand for no rank, tag or index. They differ from one another, so that a confusion
// is found.
const (
	NoMember  = -1     // result of [Group.Member] for a rank outside the group
	AnySource = -2     // MPI_ANY_SOURCE
	ProcNull  = -3     // MPI_PROC_NULL
	AnyTag    = -4     // MPI_ANY_TAG
	Root      = -5     // MPI_ROOT: the rank is the root of a collective on an intercommunicator
	Undefined = -32766 // MPI_UNDEFINED: the color of no communicator, the index of no request, [Group.Translate] of a rank outside
)

// The statuses of requests without a message.
var (
	// EmptyStatus is the status of an inactive request, and of a request that is no receive (MPI
	// 4.1, 3.7.3). ProcNullStatus is the status of a receive from ProcNull (3.10).
	EmptyStatus    = Status{Source: AnySource, Tag: AnyTag}
	ProcNullStatus = Status{Source: ProcNull, Tag: AnyTag}

	// CancelledStatus is the status of a cancelled receive.
	CancelledStatus = Status{Source: AnySource, Tag: AnyTag, Cancelled: true}
)

// Status is the envelope of a message that a receive or probe has found (MPI_Status).
type Status struct {
	Source int   // the sender, as a member of the communicator
	Tag    int   // tag of the message
	Bytes  int64 // size of the message

	// Cancelled is true if a cancel has ended the receive, which has no message.
	Cancelled bool
}
