package bench

import (
	"fmt"

	"gigarank/internal/spelling"
)

// Datatype is the type of the elements of vectors, by its name in C, or that of libraries for GPUs.
type Datatype uint8

// The datatypes. The zero Datatype stands for the program's default.
const (
	Short Datatype = 1 + iota
	Int
	Long
	Float
	Double
	Bfloat16
)

// datatypes has the name and the bytes of each datatype.
var datatypes = [...]struct {
	name  string
	bytes int64
}{Short: {"short", 2}, Int: {"int", 4}, Long: {"long", 8}, Float: {"float", 4}, Double: {"double", 8}, Bfloat16: {"bf16", 2}}

// Datatypes returns all datatypes.
func Datatypes() []Datatype { return []Datatype{Short, Int, Long, Float, Double, Bfloat16} }

// String returns the name of the datatype, "" for the program's default.
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
