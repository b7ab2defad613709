package steps

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Request is an operation that an event rank has begun: four bytes. The zero Request is
// inactive (MPI_REQUEST_NULL). After a wait, or a test with success, a Request is invalid: the
// rank puts zero in its place.
type Request int32

// awaitAny makes a call that waits for any of requests, or tests them. The kernel keeps a long list.
func (r *Rank) awaitAny(op world.Procedure, requests []Request) Outcome {
	memory := typed.Elements[int32](typed.Bytes(requests))
	if !kernel.Keeps(op, len(requests)) {
		r.k.ReadMemory(r.lp, memory)
		return r.await(op, requests...)
	}
	q := r.compose(op)
	return r.do(q.WaitsForSet(r.k.KeepMemory(r.lp, memory)))
}

// await makes a call that waits for requests, or tests them.
func (r *Rank) await(op world.Procedure, requests ...Request) Outcome {
	q := r.compose(op)
	list := r.k.RequestList[:0]
	for _, request := range requests {
		list = append(list, int32(request))
	}
	r.k.RequestList = list
	return r.do(q.Waits(list, nil))
}

// Wait waits for an operation (MPI_Wait).
func (r *Rank) Wait(q Request) Outcome { return r.await(world.Wait, q) }

// Waitall waits for all operations given (MPI_Waitall).
func (r *Rank) Waitall(requests ...Request) Outcome {
	return r.await(world.Waitall, requests...)
}

// Waitany waits for one of the operations given (MPI_Waitany). Index returns which one; see
// [mpivirt.Waitany]. A list of 256 requests or more belongs to the operation until the next step: it
// lies in the rank's state, or what that refers to, and nobody changes it. Waitsome, Testany and
// Testsome have the same rule.
func (r *Rank) Waitany(requests ...Request) Outcome {
	return r.awaitAny(world.Waitany, requests)
}

// Waitsome waits for at least one of the operations given (MPI_Waitsome). Indices returns
// which are complete.
func (r *Rank) Waitsome(requests ...Request) Outcome {
	return r.awaitAny(world.Waitsome, requests)
}

// Test tests whether an operation is complete (MPI_Test). Found returns the answer. A test that
// fails takes the time in the machine's poll field.
func (r *Rank) Test(q Request) Outcome { return r.await(world.Test, q) }

// Cancel cancels a receive that has no message yet (MPI_Cancel); see [mpivirt.Request.Cancel]. A
// wait or test for it must follow, whose status says whether it was cancelled.
func (r *Rank) Cancel(q Request) Outcome { return r.await(world.Cancel, q) }

// Testall is Waitall that does not wait (MPI_Testall); the answer is in Found.
func (r *Rank) Testall(requests ...Request) Outcome {
	return r.await(world.Testall, requests...)
}

// Testany is Waitany that does not wait (MPI_Testany); the answer is in Found.
func (r *Rank) Testany(requests ...Request) Outcome {
	return r.awaitAny(world.Testany, requests)
}

// Testsome is Waitsome that does not wait (MPI_Testsome); the answer is in Found.
func (r *Rank) Testsome(requests ...Request) Outcome {
	return r.awaitAny(world.Testsome, requests)
}

// The results of an operation are valid in the next step only.

// completion returns the completion of the rank's latest call. It is empty if another rank of
// the engine has waited since, hence valid in the step after a wait only.
func (r *Rank) completion() *kernel.Completion { return r.k.CompletionOf(r.lp) }

// Err returns the error of the last operation, if the rank asked for its errors; see
// [Rank.SetErrorsReturn].
func (r *Rank) Err() error { return r.completion().Err }

// Found reports whether the test or probe of the last step has succeeded.
func (r *Rank) Found() bool { return r.completion().Found }

// Index returns the position of the complete operation in the list, the first of several. It is
// Undefined if none was active.
func (r *Rank) Index() int {
	if which := r.completion().Indices; len(which) > 0 {
		return which[0]
	}
	return world.Undefined
}

// Indices returns the positions of the complete operations in the list. The caller must not
// change them.
func (r *Rank) Indices() []int { return r.completion().Indices }

// Status returns the status of the receive or probe of the last step; of several receives, that
// of the last one in the list.
func (r *Rank) Status() world.Status { return r.k.StatusOf(r.completion()) }

// Data returns the message of the last step's receive; of several receives, that of the last
// one in the list. The caller must not change it.
func (r *Rank) Data() []byte {
	return r.k.DataOf(r.completion())
}

// Data is Data as elements.
func Data[T typed.Datatype](r *Rank) []T { return typed.Elements[T](r.Data()) }

// DataOf is [Rank.DataOf] as elements.
func DataOf[T typed.Datatype](r *Rank, q Request) []T { return typed.Elements[T](r.DataOf(q)) }

// StatusOf is Status of one of the operations that the last step has waited for.
func (r *Rank) StatusOf(q Request) world.Status {
	status, _ := r.completed(q)
	return status
}

// DataOf is Data of one of the operations that the last step has waited for.
func (r *Rank) DataOf(q Request) []byte {
	_, data := r.completed(q)
	return data
}

// completed returns the status and content of an operation that the last step has waited for.
// Both are empty if it was inactive, or a send that completed in its call.
func (r *Rank) completed(q Request) (world.Status, []byte) {
	status, data, waited := r.k.CompletedRequest(r.completion(), int32(q))
	if !waited {
		r.refuse(r.lastCall, world.Errorf(world.ErrRequest, "the last step has not completed the request: ask in the step after its wait"))
	}
	return status, data
}
