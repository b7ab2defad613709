package mpivirt

import (
	"gigarank/mpivirt/datatype"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Memory of derived datatypes (mpivirt/datatype). A message has the packed elements: what one
// type sends, any other of the same elements receives. Displacements count from the first byte
// of a buffer. For a nonblocking receive, a rank unpacks after its wait.

// raise returns an error of a call of the rank, after its error handler.
func (c *Comm) raise(op world.Procedure, err error) error {
	c.r.noteCall(op)
	c.r.k.Raise(c.r.lp, op, err)
	return c.r.fault()
}

// SendType sends values of a datatype (MPI_Send). Errors: as Send; ErrBuffer for elements outside
// the buffer.
func SendType(c *Comm, buffer []byte, count int, t *datatype.Type, dest, tag int) error {
	if c == nil {
		return world.NoComm(world.Send)
	}
	packed, err := datatype.Pack([]byte{}, buffer, 0, count, t)
	if err != nil {
		return c.raise(world.Send, err)
	}
	return c.send(world.Send, packed, int64(len(packed)), dest, tag)
}

// IsendType is the nonblocking SendType (MPI_Isend). The values are packed at once, so the buffer
// may be changed.
func IsendType(c *Comm, buffer []byte, count int, t *datatype.Type, dest, tag int) (Request, error) {
	if c == nil {
		return Request{}, world.NoComm(world.Isend)
	}
	packed, err := datatype.Pack([]byte{}, buffer, 0, count, t)
	if err != nil {
		return Request{}, c.raise(world.Isend, err)
	}
	return c.isend(world.Isend, packed, int64(len(packed)), dest, tag)
}

// RecvType receives at most so many values of a datatype (MPI_Recv). What lies between the
// elements stays as it is. Errors: as Recv; ErrBuffer for elements outside the buffer.
func RecvType(c *Comm, buffer []byte, count int, t *datatype.Type, source, tag int) (Status, error) {
	if c == nil {
		return world.ProcNullStatus, world.NoComm(world.Recv)
	}
	if err := datatype.Check(buffer, 0, count, t); err != nil {
		return world.ProcNullStatus, c.raise(world.Recv, err)
	}
	packed := make([]byte, datatype.PackSize(count, t))
	status, err := c.recv(packed, int64(len(packed)), source, tag)
	if err != nil || !c.r.HasContents() {
		return status, err
	}
	_, err = datatype.Unpack(packed[:status.Bytes], buffer, 0, count, t)
	return status, err
}

// TypedBlock is values of a datatype in a buffer, from a byte on.
type TypedBlock struct {
	At    int // byte of the buffer that displacements count from
	Count int
	Type  *datatype.Type
}

// packBlocks returns the packed blocks of a buffer, one after the other, and their lengths.
func packBlocks(buffer []byte, blocks []TypedBlock) (packed []byte, counts []int, err error) {
	counts = make([]int, len(blocks))
	for i, b := range blocks {
		before := len(packed)
		if packed, err = datatype.Pack(packed, buffer, b.At, b.Count, b.Type); err != nil {
			return nil, nil, err
		}
		counts[i] = len(packed) - before
	}
	return packed, counts, nil
}

// unpackBlocks stores what packBlocks has packed from blocks of the same lengths.
func unpackBlocks(packed, buffer []byte, blocks []TypedBlock, counts []int) error {
	for i, b := range blocks {
		if _, err := datatype.Unpack(packed[:counts[i]], buffer, b.At, b.Count, b.Type); err != nil {
			return err
		}
		packed = packed[counts[i]:]
	}
	return nil
}

// Alltoallw is Alltoall with blocks of any datatypes: the j-th of sends goes to member j, and
// what comes from member i is stored as the i-th of receives (MPI_Alltoallw). It takes the time
// of Alltoallv of the packed blocks. Errors: as Alltoallv; ErrBuffer for elements outside a
// buffer.
func Alltoallw(c *Comm, send []byte, sends []TypedBlock, receive []byte, receives []TypedBlock) error {
	if c == nil {
		return world.NoComm(world.Alltoallw)
	}
	out, outCounts, err := packBlocks(send, sends)
	if err != nil {
		return c.refuse(world.Alltoallw, err)
	}
	in, inCounts, err := packBlocks(receive, receives)
	if err != nil {
		return c.refuse(world.Alltoallw, err)
	}
	if err := c.run(as(world.Alltoallw)(typed.Alltoallv(c.caller(), out, outCounts, in, inCounts))); err != nil {
		return err
	}
	return unpackBlocks(in, receive, receives, inCounts)
}

// NeighborAlltoallw is NeighborAlltoall with blocks of any datatypes
// (MPI_Neighbor_alltoallw). Errors: as NeighborAlltoall; ErrBuffer for elements outside a buffer.
func NeighborAlltoallw(t Topology, send []byte, sends []TypedBlock, receive []byte, receives []TypedBlock) error {
	c := t.communicator()
	if c == nil {
		return world.NoComm(world.NeighborAlltoallw)
	}
	out, outCounts, err := packBlocks(send, sends)
	if err != nil {
		return c.refuse(world.NeighborAlltoallw, err)
	}
	in, inCounts, err := packBlocks(receive, receives)
	if err != nil {
		return c.refuse(world.NeighborAlltoallw, err)
	}
	x, err := typed.NeighborAlltoallv(neighborsOf(t), out, outCounts, in, inCounts)
	if err := exchangeAll(t, world.NeighborAlltoallw, x, err); err != nil {
		return err
	}
	return unpackBlocks(in, receive, receives, inCounts)
}
