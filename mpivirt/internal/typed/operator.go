package typed

import "gigarank/mpivirt/internal/world"

// Op combines the elements that members contribute to a reduction (MPI_Op). Making one
// allocates: make it once and use it repeatedly.
type Op[T Datatype] struct{ operator world.Operator }

// Combine stores left[i] ⊕ right[i] in into, which may be either of them.
func (o Op[T]) Combine(into, left, right []T) {
	o.operator.Apply(Bytes(into), Bytes(left), Bytes(right))
}

// newOp returns an Op of into[i] = left[i] ⊕ right[i], where into may be left or right.
func newOp[T Datatype](name string, commutative bool, apply func(into, left, right []T)) Op[T] {
	return Op[T]{world.Operator{Name: name, Commutative: commutative, Apply: func(into, left, right []byte) {
		apply(Elements[T](into), Elements[T](left), Elements[T](right))
	}}}
}

// Number is the constraint of types with an order and arithmetic.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~float32 | ~float64
}

// Integer is the constraint of types with bitwise operations.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// elementwise returns a commutative Op that applies f to each pair of elements.
func elementwise[T Datatype](name string, f func(a, b T) T) Op[T] {
	return newOp(name, true, func(into, left, right []T) {
		for i := range into {
			into[i] = f(left[i], right[i])
		}
	})
}

// Sum adds (MPI_SUM).
func Sum[T Number | ~complex64 | ~complex128]() Op[T] {
	if add := addition[T](); add != nil {
		return newOp("sum", true, add)
	}
	return newOp("sum", true, func(into, left, right []T) {
		left, right = left[:len(into)], right[:len(into)]
		for i := range into {
			into[i] = left[i] + right[i]
		}
	})
}

// Prod multiplies (MPI_PROD).
func Prod[T Number | ~complex64 | ~complex128]() Op[T] {
	return elementwise("prod", func(a, b T) T { return a * b })
}

// Max takes the greater (MPI_MAX).
func Max[T Number]() Op[T] { return elementwise("max", func(a, b T) T { return max(a, b) }) }

// Min takes the lesser (MPI_MIN).
func Min[T Number]() Op[T] { return elementwise("min", func(a, b T) T { return min(a, b) }) }

// Land is the logical and (MPI_LAND).
func Land[T ~bool]() Op[T] { return elementwise("land", func(a, b T) T { return a && b }) }

// Lor is the logical or (MPI_LOR).
func Lor[T ~bool]() Op[T] { return elementwise("lor", func(a, b T) T { return a || b }) }

// Lxor is the logical exclusive or (MPI_LXOR).
func Lxor[T ~bool]() Op[T] { return elementwise("lxor", func(a, b T) T { return a != b }) }

// Band is the bitwise and (MPI_BAND).
func Band[T Integer]() Op[T] { return elementwise("band", func(a, b T) T { return a & b }) }

// Bor is the bitwise or (MPI_BOR).
func Bor[T Integer]() Op[T] { return elementwise("bor", func(a, b T) T { return a | b }) }

// Bxor is the bitwise exclusive or (MPI_BXOR).
func Bxor[T Integer]() Op[T] { return elementwise("bxor", func(a, b T) T { return a ^ b }) }

// NewOp returns an operation defined by the program (MPI_Op_create). The operation must be
// associative. If it is not commutative, only algorithms that combine in rank order are used.
func NewOp[T Datatype](commutative bool, f func(a, b T) T) Op[T] {
	op := elementwise("user", f)
	op.operator.Commutative = commutative
	return op
}
