//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"errors"
	"strings"

	"gigarank/mpivirt/internal/world"
)

// classes are the error classes of MPI, by the classes of package world.
var classes = [...]C.int32_t{
	world.ErrBuffer: 1, world.ErrCount: 2, world.ErrType: 3, world.ErrTag: 4, world.ErrComm: 5, world.ErrRank: 6, world.ErrRequest: 7,
	world.ErrRoot: 8, world.ErrGroup: 9, world.ErrOp: 10, world.ErrTopology: 11, world.ErrDims: 12, world.ErrArgument: 13, world.ErrTruncate: 15,
	world.ErrOther: 16, world.ErrKeyval: 36,
}

// errInStatus is the class of a wait for several requests of which some have failed.
const errInStatus C.int32_t = 19

// furtherClasses are the names of classes that package world does not have.
var furtherClasses = map[C.int32_t]string{
	20: "MPI_ERR_ACCESS", 21: "MPI_ERR_AMODE", 22: "MPI_ERR_ASSERT", 23: "MPI_ERR_BAD_FILE", 24: "MPI_ERR_BASE",
	25: "MPI_ERR_CONVERSION", 26: "MPI_ERR_DISP", 27: "MPI_ERR_DUP_DATAREP", 28: "MPI_ERR_FILE_EXISTS", 29: "MPI_ERR_FILE_IN_USE",
	30: "MPI_ERR_FILE", 31: "MPI_ERR_INFO_KEY", 32: "MPI_ERR_INFO_NOKEY", 33: "MPI_ERR_INFO_VALUE", 34: "MPI_ERR_INFO",
	35: "MPI_ERR_IO", 37: "MPI_ERR_LOCKTYPE", 38: "MPI_ERR_NAME", 39: "MPI_ERR_NO_MEM", 40: "MPI_ERR_NOT_SAME",
	41: "MPI_ERR_NO_SPACE", 42: "MPI_ERR_NO_SUCH_FILE", 43: "MPI_ERR_PORT", 44: "MPI_ERR_QUOTA", 45: "MPI_ERR_READ_ONLY",
	46: "MPI_ERR_RMA_ATTACH", 47: "MPI_ERR_RMA_CONFLICT", 48: "MPI_ERR_RMA_RANGE", 49: "MPI_ERR_RMA_SHARED", 50: "MPI_ERR_RMA_SYNC",
	51: "MPI_ERR_SERVICE", 52: "MPI_ERR_SIZE", 53: "MPI_ERR_SPAWN", 54: "MPI_ERR_UNSUPPORTED_DATAREP", 55: "MPI_ERR_UNSUPPORTED_OPERATION",
	56: "MPI_ERR_WIN", 57: "MPI_ERR_RMA_FLAVOR", 58: "MPI_ERR_PROC_ABORTED", 59: "MPI_ERR_VALUE_TOO_LARGE", 60: "MPI_ERR_SESSION",
	61: "MPI_ERR_ERRHANDLER", 62: "MPI_ERR_ABI",
}

// numberOf returns the error class of MPI of an error.
func numberOf(err error) C.int32_t {
	switch e := err.(type) {
	case *world.Error:
		return classes[e.Class]
	case *furtherError:
		return e.number
	}
	return classes[world.ErrOther]
}

// errorOf returns an error of a class of MPI.
func errorOf(number C.int32_t, detail string) error {
	for class, n := range classes {
		if n == number && n != 0 {
			return world.Errorf(world.ErrorClass(class), "%s", detail)
		}
	}
	if name, known := furtherClasses[number]; known {
		return &furtherError{number, name, detail}
	}
	return world.Errorf(world.ErrOther, "%s", detail)
}

// furtherError is an error of a class that package world does not have. There it is one of MPI_ERR_OTHER.
type furtherError struct {
	number        C.int32_t
	class, detail string
}

func (e *furtherError) Error() string { return e.class + ": " + e.detail }

func (e *furtherError) Unwrap() error { return world.ErrOther }

// returned is an error of which a rank has heard.
type returned struct {
	procedure world.Procedure
	form      C.int32_t
	err       error
}

// heard keeps an error that a rank hears of. Its error handler may end the rank with it.
func (b *body) heard(lp int32, p world.Procedure, err error) {
	if b.errors == nil {
		b.errors = map[int32]returned{}
	}
	b.errors[lp] = returned{p, b.named.form, err}
}

// raise ends a rank with the latest error that it has heard of, with a code of its own, or with a
// reason that is no error of MPI.
func (b *body) raise(lp int32, c *cCall) {
	if c.key == C.GIGARANK_ASTRAY {
		b.strayed(lp, c)
		return
	}
	e := b.errors[lp]
	if c.key < 0 {
		e = returned{err: errors.New(stringOf(c.detail))}
	} else if c.key > 0 {
		e = returned{err: errorOf(C.int32_t(c.key), stringOf(c.detail))}
	}
	b.named = namedCall{lp, e.form}
	b.k.Fail(lp, e.procedure, e.err)
}

// namedCall is the form of a call that a rank makes, for errors of that rank.
type namedCall struct {
	lp   int32
	form C.int32_t
}

// variantOf returns the procedure that a call of a form makes: the procedure of the call, or its variant.
func variantOf(p world.Procedure, form C.int32_t) world.Procedure {
	if form&C.GIGARANK_VARIANT != 0 {
		if p == world.Barrier && form&C.GIGARANK_FORM == C.GIGARANK_PLAIN {
			return world.CommDup // of an intercommunicator
		}
		if variant, has := variants[p]; has {
			return variant
		}
	}
	return p
}

// variants are the procedures of calls with GIGARANK_VARIANT, by the procedure of the call.
var variants = map[world.Procedure]world.Procedure{
	world.Alltoallv: world.Alltoallw, world.ReduceScatter: world.ReduceScatterBlock, world.CommSplit: world.CommSplitType, world.CommDup: world.DistGraphCreate,
	world.Barrier: world.CommIdup,
}

// nameOf returns the name of a procedure in C, without MPI_, in the form of the call that is at fault if the
// rank makes it.
func (b *body) nameOf(rank int, p world.Procedure) string {
	name := p.NameInC()
	if lp, here := b.k.Local(rank); !here || lp != b.named.lp || p == world.NoProcedure || p == world.CommIdup {
		return name
	}
	plain := strings.TrimPrefix(name, "I")
	if plain != name {
		plain = strings.ToUpper(plain[:1]) + plain[1:]
	}
	switch b.named.form & C.GIGARANK_FORM {
	case C.GIGARANK_LATER:
		return "I" + strings.ToLower(plain)
	case C.GIGARANK_PERSISTENT:
		return plain + "_init"
	case C.GIGARANK_MATCHED:
		if plain != name {
			return "Imrecv"
		}
		return "Mrecv"
	}
	return name
}
