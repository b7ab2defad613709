package library

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"gigarank/collectives"
)

// nodes returns the number of nodes of a call.
func nodes(q *collectives.Question) int { return (q.Ranks + max(q.PerNode, 1) - 1) / max(q.PerNode, 1) }

// elements returns the elements of the vector or the block of a call.
func elements(q *collectives.Question) int64 {
	if q.ElementBytes == 0 {
		return (q.Bytes + double - 1) / double
	}
	return q.Bytes / q.ElementBytes
}

// double is the size of an element where only sizes are simulated. Sums of doubles take the times of such vectors.
const double = 8

// Table is the choice of algorithms of a library. It does not change once it is read.
type Table struct {
	name       string
	source     string
	notes      []string
	inferred   []collectives.Operation
	operations []operation // by collectives.Operation
	blocks     operation   // MPI_Reduce_scatter_block; without rows it is as MPI_Reduce_scatter
	digest     string
}

// Name returns the name of the library.
func (t *Table) Name() string { return t.name }

// Digest returns 16 hexadecimal digits over the text of the table.
func (t *Table) Digest() string { return t.digest }

// Source returns where the rows were published.
func (t *Table) Source() string { return t.source }

// Notes returns the differences from the library that the table knows of.
func (t *Table) Notes() []string { return slices.Clone(t.notes) }

// Inferred reports whether the rows of an operation are not public, and were found by matching
// measured times.
func (t *Table) Inferred(op collectives.Operation) bool { return slices.Contains(t.inferred, op) }

// Bytes returns what the sizes of an operation's rows count: "vector", "block" or "total". It returns "" for barriers.
func (t *Table) Bytes(op collectives.Operation) string { return t.operations[op].measure.String() }

// Rows returns the rows of an operation, in the order in which they are tried.
func (t *Table) Rows(op collectives.Operation) []Row {
	rows := make([]Row, len(t.operations[op].rows))
	for i, r := range t.operations[op].rows {
		r.Choices = slices.Clone(r.Choices)
		rows[i] = r
	}
	return rows
}

// Fallbacks returns the fallbacks of an operation.
func (t *Table) Fallbacks(op collectives.Operation) []Fallback {
	return slices.Clone(t.operations[op].fallbacks)
}

// ByNodes reports whether a row of an operation has a condition on the nodes.
func (t *Table) ByNodes(op collectives.Operation) bool {
	return t.operations[op].byNodes || op == collectives.ReduceScatter && t.blocks.byNodes
}

// OfBlocks returns the table whose rows of reduce_scatter are those of MPI_Reduce_scatter_block, and whether the table has any.
func (t *Table) OfBlocks() (*Table, bool) {
	if len(t.blocks.rows) == 0 {
		return t, false
	}
	of := *t
	of.operations = slices.Clone(t.operations)
	of.operations[collectives.ReduceScatter] = t.blocks
	return &of, true
}

// of returns the rows that decide a call.
func (t *Table) of(q *collectives.Question) *operation {
	if q.EqualBlocks && q.Operation == collectives.ReduceScatter && len(t.blocks.rows) > 0 {
		return &t.blocks
	}
	return &t.operations[q.Operation]
}

// Choose returns the algorithm that the library takes for a call. It allocates nothing.
func (t *Table) Choose(q collectives.Question) collectives.Algorithm {
	o := t.of(&q)
	c := o.rows[o.row(&q)].at(o.measure.of(&q))
	return o.runs(&q, c.Algorithm, c.fallback)
}

// Runs returns the algorithm that the library runs for a call if it is told an algorithm: that, or its fallback.
func (t *Table) Runs(q collectives.Question, a collectives.Algorithm) collectives.Algorithm {
	o := t.of(&q)
	return o.runs(&q, a, o.fallbackOf(a))
}

func (o *operation) runs(q *collectives.Question, a collectives.Algorithm, fallback int) collectives.Algorithm {
	if fallback >= 0 {
		if f := &o.fallbacks[fallback]; !f.holds(q) {
			return f.Else
		}
	}
	return a
}

// Row is a row of a table: conditions, and an algorithm for each range of sizes.
type Row struct {
	Ranks, PerNode, Nodes   Range
	PowerOfTwo, Commutative Condition
	Choices                 []Choice // by size; the first size is 0
	line                    int
}

// Choice is an algorithm from a size on.
type Choice struct {
	From      int64 // bytes
	Algorithm collectives.Algorithm
	fallback  int // index of the operation's fallback of the algorithm, or -1
	line      int
}

// at returns the choice for a number of bytes.
func (r *Row) at(bytes int64) *Choice {
	n := sort.Search(len(r.Choices), func(i int) bool { return r.Choices[i].From > bytes })
	return &r.Choices[max(n-1, 0)]
}

// Unconditional reports whether the row fits every call.
func (r *Row) Unconditional() bool {
	return r.Ranks.All() && r.onAnyLayout() && r.PowerOfTwo == Either && r.Commutative == Either
}

func (r *Row) onAnyLayout() bool { return r.PerNode.All() && r.Nodes.All() }

func (r *Row) fitsLayout(q *collectives.Question) bool {
	return r.PerNode.Has(max(q.PerNode, 1)) && r.Nodes.Has(nodes(q))
}

// Range is a range of numbers with both ends. The zero Range has all numbers.
type Range struct{ Least, Most int }

// unlimited is Most of a range without an upper end.
const unlimited = math.MaxInt

// All reports whether the range has all numbers.
func (r Range) All() bool { return r == Range{} }

// Unlimited reports whether the range has no upper end.
func (r Range) Unlimited() bool { return r.All() || r.Most == unlimited }

// Has reports whether the range has a number.
func (r Range) Has(n int) bool { return r.All() || r.Least <= n && n <= r.Most }

// Condition is what a row asks of a property of the call.
type Condition uint8

// The conditions.
const (
	Either Condition = iota
	Yes
	No
)

// Allows reports whether the condition holds.
func (c Condition) Allows(property bool) bool { return c == Either || (c == Yes) == property }

// operation is the part of a table that is about an operation.
type operation struct {
	measure   measure
	rows      []Row
	fallbacks []Fallback
	unclear   bool // while it is read: the conditions of a row have a fault
	// starts has the numbers of ranks at which the rows that fit change, ascending from 1. left has for
	// each of them, and the properties of a call, the rows whose conditions on ranks and properties
	// hold, up to the first without a condition on the layout.
	starts []int
	left   [][properties][]int
	// byNodes says that a row has a condition on the layout.
	byNodes bool
}

// properties is the number of combinations of commutative and power of two.
const properties = 4

func propertiesOf(commutative, powerOfTwo bool) int {
	p := 0
	if commutative {
		p |= 1
	}
	if powerOfTwo {
		p |= 2
	}
	return p
}

// index fills starts, left and byNodes.
func (o *operation) index() {
	o.byNodes = slices.ContainsFunc(o.rows, func(r Row) bool { return !r.onAnyLayout() })
	o.starts = []int{1}
	for _, r := range o.rows {
		if r.Ranks.All() {
			continue
		}
		o.starts = append(o.starts, max(r.Ranks.Least, 1))
		if r.Ranks.Most < unlimited {
			o.starts = append(o.starts, r.Ranks.Most+1)
		}
	}
	slices.Sort(o.starts)
	o.starts = slices.Compact(o.starts)
	o.left = make([][properties][]int, len(o.starts))
	for i, ranks := range o.starts {
		for p := range properties {
			for k, r := range o.rows {
				if r.Ranks.Has(ranks) && r.Commutative.Allows(p&1 != 0) && r.PowerOfTwo.Allows(p&2 != 0) {
					o.left[i][p] = append(o.left[i][p], k)
					if r.onAnyLayout() {
						break
					}
				}
			}
		}
	}
}

// row returns the index of the first row that fits.
func (o *operation) row(q *collectives.Question) int {
	i := sort.Search(len(o.starts), func(i int) bool { return o.starts[i] > q.Ranks })
	for _, k := range o.left[max(i-1, 0)][propertiesOf(q.Commutative, isPowerOfTwo(q.Ranks))] {
		if o.rows[k].fitsLayout(q) {
			return k
		}
	}
	return len(o.rows) - 1
}

func isPowerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

// powerOfTwoUpTo returns the greatest power of two up to n, which is at least 1.
func powerOfTwoUpTo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// measure is what the sizes of rows count.
type measure uint8

const (
	nothing measure = iota // barriers
	vector
	block
	total
)

var measureNames = [...]string{"", "vector", "block", "total"}

func (m measure) String() string { return measureNames[m] }

// hasVector reports whether the bytes of a question are the size of a vector.
func hasVector(op collectives.Operation) bool {
	switch op {
	case collectives.Bcast, collectives.Reduce, collectives.Allreduce, collectives.Scan, collectives.Exscan:
		return true
	}
	return false
}

// measures returns what the sizes of an operation may count, the default first.
func measures(op collectives.Operation) []measure {
	switch {
	case op == collectives.Barrier:
		return []measure{nothing}
	case hasVector(op):
		return []measure{vector}
	}
	return []measure{block, total}
}

// of returns the bytes that the sizes count.
func (m measure) of(q *collectives.Question) int64 {
	if m != total {
		return q.Bytes
	}
	ranks := int64(max(q.Ranks, 1))
	if q.Bytes > math.MaxInt64/ranks {
		return math.MaxInt64
	}
	return q.Bytes * ranks
}
