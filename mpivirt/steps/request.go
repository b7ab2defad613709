package steps

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Request is an operation that an event rank has begun: four bytes. The zero
// Request is inactive (MPI_REQUEST_NULL). One that has been waited for, or
// tested with success, stands for nothing any more: the rank puts zero in its place.
type Request int32

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

// Waitany waits for one of the operations given (MPI_Waitany); which one is in Index;
// see [mpivirt.Waitany].
func (r *Rank) Waitany(requests ...Request) Outcome {
	return r.await(world.Waitany, requests...)
}

// Waitsome waits for at least one of the operations given (MPI_Waitsome); which are
// over is in Indices.
func (r *Rank) Waitsome(requests ...Request) Outcome {
	return r.await(world.Waitsome, requests...)
}

// Test looks whether an operation is over (MPI_Test); the answer is in Found. A test
// that fails takes the time that the machine's poll field says.
func (r *Rank) Test(q Request) Outcome { return r.await(world.Test, q) }

// Testall is Waitall that does not wait (MPI_Testall); the answer is in Found.
func (r *Rank) Testall(requests ...Request) Outcome {
	return r.await(world.Testall, requests...)
}

// Testany is Waitany that does not wait (MPI_Testany); the answer is in Found.
func (r *Rank) Testany(requests ...Request) Outcome {
	return r.await(world.Testany, requests...)
}

// Testsome is Waitsome that does not wait (MPI_Testsome); the answer is in Found.
func (r *Rank) Testsome(requests ...Request) Outcome {
	return r.await(world.Testsome, requests...)
}

// What an operation has brought is there for the step that follows it, and no longer.

// completion is what the last call of the rank has brought: by its last wait, or nothing if
// another rank of the engine has waited since. It can be relied on in the step after the
// wait only.
func (r *Rank) completion() *kernel.Completion { return r.k.CompletionOf(r.lp) }

// Err returns the error of the last operation, if the rank asked for its errors; see
// [Rank.SetErrorsReturn].
func (r *Rank) Err() error { return r.completion().Err }

// Found reports whether the test or probe of the last step has succeeded.
func (r *Rank) Found() bool { return r.completion().Found }

// Index returns which of the operations given is over, the first if there are
// several; Undefined if none of them was active.
func (r *Rank) Index() int {
	if which := r.completion().Indices; len(which) > 0 {
		return which[0]
	}
	return world.Undefined
}

// Indices returns which of the operations given are over. It is to be read only.
func (r *Rank) Indices() []int { return r.completion().Indices }

// Status tells what the receive or probe of the last step has brought; of several
// receives, the last one in the order given.
func (r *Rank) Status() world.Status { return r.k.StatusOf(r.completion()) }

// Data returns the message that the receive of the last step has brought; of several
// receives, the last one in the order given. It is to be read only.
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

// completed returns what one of the operations that the last step has waited for has brought:
// nothing if it was inactive or over from the start.
func (r *Rank) completed(q Request) (world.Status, []byte) {
	status, data, waited := r.k.CompletedRequest(r.completion(), int32(q))
	if !waited {
		r.refuse(r.lastCall, world.Errorf(world.ErrRequest, "the last step has not waited for the request, or in vain"))
	}
	return status, data
}
