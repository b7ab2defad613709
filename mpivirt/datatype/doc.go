// Package datatype has the derived datatypes of MPI (MPI 4.1, chapter 5).
//
// # Model
//
// A [Type] describes basic elements at displacements in bytes: its type map. Basic types come
// from Go's ([Of]), others from those before them. A program sends memory of a type, or packs it:
// what travels are the elements alone, in the order of the type map.
//
// # Invariants
//
//   - A Type is immutable, and takes memory for the calls that made it, not for its elements.
//   - A buffer is a slice of bytes with a place in it that displacements count from. Nothing
//     outside the slice is touched: an element there is an error.
//   - Packing takes no virtual time.
//
// # Use
//
//	column, err := datatype.Vector(rows, 1, columns, datatype.Of[float64]())
//	err = mpivirt.SendType(c, datatype.Bytes(matrix[j:]), 1, column, dest, tag)
package datatype
