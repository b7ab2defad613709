package trace

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
)

const (
	beginning = "\x89grt\r\n\x1a\n" // a transfer as text changes it
	ending    = "grt end\n"
	mark      = "\xa5gR" // of a record

	tailBytes  = 24 // of the end: places of index and summary, and the text
	entryBytes = 32 // of an entry of the index
	headBytes  = len(mark) + 1 + binary.MaxVarintLen64
	sumBytes   = 4

	blockBytes = 64 << 10 // of operations, after which a block is written
	mostBytes  = 4 << 20  // of a block: a longer one holds a single operation, which is refused
)

// The types of records.
const (
	recordHeader  = 'H'
	recordBlock   = 'B'
	recordSummary = 'S'
	recordIndex   = 'I'
	recordNote    = 'T'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Fault is damage of a file, or of the trace in it.
type Fault struct {
	File      string
	Task      int   // -1 if the fault is of no task
	Block     int64 // of the task, from 0; -1 for none
	Offset    int64 // in the file; -1 if it has no place there
	Within    int64 // byte of the block's operations, -1 for none
	Operation int64 // number in the task, from 0; -1 for none
	Problem   string
	Damaged   bool // the file is not as it was written; else what is in it does not fit together
}

func (f *Fault) Error() string {
	text := f.File + ": " + f.place() + ": " + f.Problem
	if f.Damaged {
		text += "; gigarank trace info --repair -o NEW keeps what is sound"
	}
	return text
}

// place names task, operation, block and byte, as far as the fault has them.
func (f *Fault) place() string {
	place := []string{}
	if f.Task >= 0 {
		place = append(place, fmt.Sprintf("task %d", f.Task))
	}
	if f.Operation >= 0 {
		place = append(place, fmt.Sprintf("operation %d", f.Operation))
	}
	if f.Block >= 0 {
		place = append(place, fmt.Sprintf("block %d", f.Block))
	}
	if f.Offset >= 0 {
		place = append(place, fmt.Sprintf("byte %d", f.Offset))
	}
	text := strings.Join(place, ", ")
	if f.Within >= 0 {
		text += fmt.Sprintf(" (byte %d of the block)", f.Within)
	}
	return text
}

// fault returns a fault of the file itself.
func fault(file string, at int64, format string, arguments ...any) *Fault {
	return &Fault{File: file, Task: -1, Block: -1, Within: -1, Operation: -1, Offset: at, Problem: fmt.Sprintf(format, arguments...)}
}

// damage returns a fault of a file that is not as it was written.
func damage(file string, at int64, format string, arguments ...any) *Fault {
	x := fault(file, at, format, arguments...)
	x.Damaged = true
	return x
}

// appendRecord appends a record.
func appendRecord(b []byte, kind byte, payload ...[]byte) []byte {
	begin, n := len(b), 0
	for _, p := range payload {
		n += len(p)
	}
	b = append(append(b, mark...), kind)
	b = binary.AppendUvarint(b, uint64(n))
	for _, p := range payload {
		b = append(b, p...)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[begin:], castagnoli))
}

// appendText appends a record with JSON.
func appendText(b []byte, kind byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return b, err
	}
	return appendRecord(b, kind, text), nil
}

// Block is a block of operations of one task.
type Block struct {
	Task  int
	First int64 // number of its first operation
	Count int64 // of operations
	size  int   // in bytes, before compression
	way   byte  // of compression
	text  []byte
}

// The ways of compression.
const (
	wayNone = 0
	wayZstd = 1
)

// appendHead appends what precedes the bytes of a block.
func (k *Block) appendHead(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(k.Task))
	b = binary.AppendUvarint(b, uint64(k.First))
	b = binary.AppendUvarint(b, uint64(k.Count))
	b = append(b, k.way)
	return binary.AppendUvarint(b, uint64(k.size))
}

// parse reads the payload of a block. It returns the problem, "" for none.
func (k *Block) parse(payload []byte, tasks int) string {
	r := source{data: payload}
	task, first, count := r.unsigned(), r.unsigned(), r.unsigned()
	way, size := byte(0), uint64(0)
	if r.at < len(payload) {
		way = payload[r.at]
		r.at++
		size = r.unsigned()
	} else {
		r.fail("the block has no operations")
	}
	switch {
	case r.problem != "":
	case task >= uint64(tasks):
		r.fail("the block is of task %d, but the file has %d", task, tasks)
	case first > 1<<62 || count > 1<<62:
		r.fail("the block begins with operation %d and has %d", first, count)
	case count == 0 || count > size:
		r.fail("the block has %d operations in %d bytes", count, size)
	case size > mostBytes:
		r.fail("the block has %d bytes of operations, more than %d", size, mostBytes)
	case way != wayNone && way != wayZstd:
		r.fail("the block is compressed in the unknown way %d: read it with a later version of gigarank", way)
	}
	*k = Block{Task: int(task), First: int64(first), Count: int64(count), size: int(size), way: way, text: payload[r.at:]}
	return r.problem
}

// entry is a block in the index.
type entry struct {
	task   uint32
	length uint32 // of the record
	place  int64  // of the record
	first  int64
	count  int64
}

func (e *entry) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, e.task)
	b = binary.LittleEndian.AppendUint32(b, e.length)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.place))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.first))
	return binary.LittleEndian.AppendUint64(b, uint64(e.count))
}

func (e *entry) read(b []byte) {
	e.task, e.length = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	e.place = int64(binary.LittleEndian.Uint64(b[8:]))
	e.first = int64(binary.LittleEndian.Uint64(b[16:]))
	e.count = int64(binary.LittleEndian.Uint64(b[24:]))
}
