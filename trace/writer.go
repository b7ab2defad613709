package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Compression is the way in which blocks are compressed.
type Compression uint8

// The ways of compression.
const (
	Zstd Compression = iota
	None
)

// String returns the name on the command line.
func (c Compression) String() string { return [...]string{"zstd", "none"}[c] }

// Writer writes a file. Several goroutines may write blocks of different tasks at the same time; the order of the blocks of a
// task is that of its calls.
type Writer struct {
	encoder *zstd.Encoder // nil for no compression

	mutex   sync.Mutex
	w       io.Writer
	at      int64
	tasks   int
	index   []entry
	size    int64 // of the blocks before compression
	failure error // of the first write that failed
	scratch []byte
}

// NewWriter begins a file. It completes version and units of the header.
func NewWriter(w io.Writer, h Header, c Compression) (*Writer, error) {
	h.Version, h.Units = Version, units
	if h.Tasks < 1 || h.Tasks > mostTasks {
		return nil, fmt.Errorf("a trace of %d tasks: they are 1 to %d", h.Tasks, mostTasks)
	}
	t := &Writer{w: w, tasks: h.Tasks}
	if c == Zstd {
		var err error
		if t.encoder, err = zstd.NewWriter(nil, zstd.WithWindowSize(2*blockBytes), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true)); err != nil {
			return nil, err
		}
	}
	text, err := appendText([]byte(beginning), recordHeader, h)
	if err == nil {
		t.write(text)
	}
	if err == nil {
		err = t.failure
	}
	return t, err
}

// mostTasks is the most tasks of a file: as many as gigarank has ranks.
const mostTasks = 1<<31 - 2

// write appends bytes to the file.
func (t *Writer) write(b []byte) {
	if t.failure != nil {
		return
	}
	n, err := t.w.Write(b)
	if t.at += int64(n); err != nil {
		t.failure = err
	}
}

// shortBytes is the most bytes of a block that is not worth while to compress: that saves some 90 bytes, and takes as long as encoding 100
// operations.
const shortBytes = 256

// Write appends a block of a task's operations. It returns the error of this or an earlier write.
func (t *Writer) Write(task int, first, count int64, operations []byte) error {
	k := Block{Task: task, First: first, Count: count, size: len(operations), text: operations}
	if len(operations) > mostBytes {
		return fmt.Errorf("task %d: an operation takes %d bytes, more than the %d of a block: it has too many counts", task, len(operations), mostBytes)
	}
	if t.encoder != nil && len(operations) > shortBytes {
		if packed := t.encoder.EncodeAll(operations, nil); len(packed) < len(operations) {
			k.way, k.text = wayZstd, packed
		}
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.add(&k)
	return t.failure
}

// add appends a block.
func (t *Writer) add(k *Block) {
	head := k.appendHead(nil)
	t.scratch = appendRecord(t.scratch[:0], recordBlock, head, k.text)
	e := entry{uint32(k.Task), uint32(len(t.scratch)), t.at, k.First, k.Count}
	t.write(t.scratch)
	t.index, t.size = append(t.index, e), t.size+int64(k.size)
}

// Include appends the blocks of a complete file whose tasks are of the same trace, as they are compressed there, and returns the file's summary. It reads
// the file from its beginning to its end.
func (t *Writer) Include(name string, r io.ReaderAt, size int64) (*Summary, error) {
	f, err := Open(name, r, size)
	if err != nil {
		return nil, err
	}
	_, _, at, err := readHeader(name, r, size)
	if err == nil && f.Header.Tasks != t.tasks {
		err = fault(name, 0, "the file is of a trace of %d tasks, and this one has %d", f.Header.Tasks, t.tasks)
	}
	if err != nil {
		return nil, err
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	blocks := int64(0)
	for at < f.ends {
		c, problem := readRecord(r, at, f.ends, mostBlock)
		var k Block
		if problem == "" && c.kind == recordBlock {
			if problem = k.parse(c.payload, t.tasks); problem == "" {
				t.add(&k)
				blocks++
			}
		}
		if problem != "" {
			return nil, damage(name, at, "%s", problem)
		}
		at = c.end
	}
	if t.failure == nil && blocks != f.Summary.Blocks {
		return nil, damage(name, at, "the file has %d blocks, and its summary %d", blocks, f.Summary.Blocks)
	}
	return &f.Summary, t.failure
}

// WriteNote appends a note on a task.
func (t *Writer) WriteNote(n *Note) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	text, err := appendText(t.scratch[:0], recordNote, n)
	if err != nil {
		return err
	}
	t.scratch = text
	t.write(text)
	return t.failure
}

// Close ends the file. The caller closes what the file is written to.
func (t *Writer) Close(s Summary) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	slices.SortFunc(t.index, func(a, b entry) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.first, b.first)) })
	s.Blocks, s.Contents = int64(len(t.index)), t.size
	summaryAt := t.at
	text, err := appendText(nil, recordSummary, s)
	if err != nil {
		return err
	}
	t.write(text)
	indexAt := t.at
	entries := make([]byte, 0, entryBytes*len(t.index))
	for i := range t.index {
		entries = t.index[i].append(entries)
	}
	t.write(appendRecord(nil, recordIndex, entries))
	tail := binary.LittleEndian.AppendUint64(nil, uint64(indexAt))
	tail = binary.LittleEndian.AppendUint64(tail, uint64(summaryAt))
	t.write(append(tail, ending...))
	if t.encoder != nil {
		_ = t.encoder.Close() // it holds nothing
	}
	return t.failure
}

// Stream encodes the operations of one task, and writes them in blocks. Only one goroutine uses it.
type Stream struct {
	buffer []byte
	first  int64 // number of the first operation in the buffer
	count  int64 // of operations in the buffer
	state  state
}

// firstBytes is the room for the first operations of a stream.
const firstBytes = 128

// Len returns the bytes that wait to be written.
func (s *Stream) Len() int { return len(s.buffer) }

// Next returns the number of the next operation.
func (s *Stream) Next() int64 { return s.first + s.count }

// Append adds an operation, and writes the block if it is full.
func (s *Stream) Append(t *Writer, task int, o *Operation) error {
	if s.buffer == nil {
		s.buffer = make([]byte, 0, firstBytes)
	}
	var repeats bool
	if s.buffer, repeats = s.state.encodeRepeated(s.buffer, o); !repeats {
		s.buffer = s.state.encode(s.buffer, o)
	}
	s.count++
	if len(s.buffer) < blockBytes {
		return nil
	}
	return s.Flush(t, task)
}

// Flush writes the operations that wait to be written, as a block.
func (s *Stream) Flush(t *Writer, task int) error {
	if s.count == 0 {
		return nil
	}
	err := t.Write(task, s.first, s.count, s.buffer)
	s.first, s.count, s.state = s.first+s.count, 0, state{}
	if s.buffer = s.buffer[:0]; cap(s.buffer) > 2*blockBytes {
		s.buffer = nil
	}
	return err
}
