package mpivirt

import "gigarank/mpivirt/internal/typed"

// Sum adds (MPI_SUM).
func Sum[T typed.Number | ~complex64 | ~complex128]() Op[T] { return typed.Sum[T]() }

// Prod multiplies (MPI_PROD).
func Prod[T typed.Number | ~complex64 | ~complex128]() Op[T] { return typed.Prod[T]() }

// Max takes the greater (MPI_MAX).
func Max[T typed.Number]() Op[T] { return typed.Max[T]() }

// Min takes the lesser (MPI_MIN).
func Min[T typed.Number]() Op[T] { return typed.Min[T]() }

// Land is the logical and (MPI_LAND).
func Land[T ~bool]() Op[T] { return typed.Land[T]() }

// Lor is the logical or (MPI_LOR).
func Lor[T ~bool]() Op[T] { return typed.Lor[T]() }

// Lxor is the logical exclusive or (MPI_LXOR).
func Lxor[T ~bool]() Op[T] { return typed.Lxor[T]() }

// Band is the bitwise and (MPI_BAND).
func Band[T typed.Integer]() Op[T] { return typed.Band[T]() }

// Bor is the bitwise or (MPI_BOR).
func Bor[T typed.Integer]() Op[T] { return typed.Bor[T]() }

// Bxor is the bitwise exclusive or (MPI_BXOR).
func Bxor[T typed.Integer]() Op[T] { return typed.Bxor[T]() }

// NewOp returns an operation of the program's own (MPI_Op_create). It must be associative.
// If it is not commutative, only algorithms that combine in rank order are used.
func NewOp[T Datatype](commutative bool, f func(a, b T) T) Op[T] {
	return typed.NewOp(commutative, f)
}
