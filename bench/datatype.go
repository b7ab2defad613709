package bench

import (
	"fmt"

	"gigarank/internal/spelling"
)

// Datatype is the type of the elements of vectors, by its name in C.
type Datatype uint8

// The datatypes. The zero Datatype stands for the program's default.
const (
	Short Datatype = 1 + iota
	Int
	Long
	Float
	Double
)

// datatypes has the name and the bytes of each datatype.
var datatypes = [...]struct {
	name  string
	bytes int64
}{Short: {"short", 2}, Int: {"int", 4}, Long: {"long", 8}, Float: {"float", 4}, Double: {"double", 8}}

// Datatypes returns all datatypes.
func Datatypes() []Datatype { return []Datatype{Short, Int, Long, Float, Double} }

// String returns the name of the datatype in C, "" for the program's default.
func (d Datatype) String() string { return datatypes[d].name }

// Bytes returns the size of an element, 0 for the program's default.
func (d Datatype) Bytes() int64 { return datatypes[d].bytes }

// checkElements returns an error for a payload that is not a whole number of elements.
func (o Options) checkElements() error {
	if size := max(o.Datatype.Bytes(), 1); o.Payload%size != 0 {
		return fmt.Errorf("payload of %s: elements of datatype %v have %s each", spelling.Count(o.Payload, "byte"), o.Datatype, spelling.Count(size, "byte"))
	}
	return nil
}
