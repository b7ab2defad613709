package slice

import (
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// Extents are the bytes that a call reads or writes from where an argument points. They are known where counts, datatypes and lengths are constant: then what a call
// moves through one member of a structure or of COMMON is apart from the members beside it.

// integerBytes are those of an int, an INTEGER, and a handle in Fortran.
const integerBytes = 4

// reached returns the bytes that a call may read or write from where an argument points that is no content of messages.
func (s *Slice) reached(i *ir.Instr, n int) span {
	e, name := effectOf(i), i.Calls()
	canonical := effects.Canonical(name)
	switch {
	case e.Kind == effects.Copy || strings.HasPrefix(name, "llvm.memset.") || name == "memset":
		if bytes, is := ir.IntOf(i.Args()[2]); is && bytes >= 0 {
			return first(bytes)
		}
	case (canonical == "comm_rank" || canonical == "comm_size") && n == 1:
		return first(integerBytes)
	case strings.HasPrefix(name, "mpi_") && n == len(e.Roles)-1 && !e.Clock && !strings.HasPrefix(name, "mpi_aint_"): // the error in Fortran
		return first(integerBytes)
	}
	return all
}

// extentOf returns the bytes of the content at a buffer of a call.
func (s *Slice) extentOf(b buffer) span {
	args, count, kind := b.call.Args(), b.arg+1, b.arg+2
	name := strings.TrimSuffix(strings.TrimPrefix(effects.Canonical(b.call.Calls()), "i"), "_init")
	switch {
	case b.of.Group == effects.Messages || name == "bcast":
	case slices.Contains(reductions, name):
		count, kind = 2, 3
	default:
		return all
	}
	if count >= len(args) || kind >= len(args) {
		return all
	}
	number, known := s.integer(args[count])
	handle, constant := s.handle(args[kind])
	bytes := bytesOf[handle]
	if !known || !constant || bytes == 0 || number < 0 || number > mostCounted {
		return all
	}
	return first(number * bytes)
}

// reductions are the collectives with two buffers that have as many elements as one count says, on each member.
var reductions = []string{"reduce", "allreduce", "scan", "exscan"}

// integer returns the value of an integer argument that is constant, in Fortran as the only value of a variable.
func (s *Slice) integer(v ir.Value) (n int64, is bool) {
	if v.Of().Kind == ir.Pointer {
		return s.handle(v)
	}
	return ir.IntOf(v)
}

// bytesOf has the bytes of an element of basic datatypes, by handle: from MPI_SHORT to MPI_DOUBLE in mpi.h, and from MPI_LOGICAL to MPI_CHARACTER in mpif.h, MPI_CHAR, MPI_BYTE.
var bytesOf = map[int64]int64{
	0x208: 2, 0x209: 4, 0x20A: 8, 0x20B: 8, 0x20C: 2, 0x20D: 4, 0x20E: 8, 0x20F: 8, 0x210: 4, 0x214: 8,
	0x218: 4, 0x219: 4, 0x21A: 4, 0x21B: 8, 0x21C: 8, 0x21D: 16, 0x21E: 1, 0x243: 1, 0x247: 1,
}

// onlyValue returns the only constant that a program stores into four bytes of a variable that is 0 at the begin, where no message and no call may write it. Before that the
// variable is 0, which is no datatype.
func (s *Slice) onlyValue(v ir.Value) (n int64, is bool) {
	targets := s.memory.targets(v)
	if len(targets) != 1 || targets[0].step != 0 {
		return 0, false
	}
	of, symbol := s.memory.objects[targets[0].object].of.(*ir.Symbol)
	if !symbol || of.Global == nil || of.Global.Init == nil {
		return 0, false
	}
	if c, constant := of.Global.Init.(*ir.Const); !constant || c.Text != "zeroinitializer" {
		return 0, false
	}
	return s.onlyStored(place{targets[0].object, targets[0].spanAt(first(integerBytes))})
}

// onlyStored returns the only constant that is written into a place.
func (s *Slice) onlyStored(at place) (n int64, is bool) {
	if slices.ContainsFunc(s.buffers, func(b buffer) bool {
		return b.role != effects.Sent && slices.ContainsFunc(s.places(b.call.Args()[b.arg], nil), at.overlaps)
	}) {
		return 0, false
	}
	for _, w := range s.writers[at.object] {
		switch {
		case !at.overlaps(w.at):
			continue
		case w.Op != ir.Store || w.at.span != at.span:
			return 0, false
		}
		stored, constant := ir.IntOf(w.Operands[0])
		if !constant || is && stored != n {
			return 0, false
		}
		n, is = stored, true
	}
	return n, is
}
