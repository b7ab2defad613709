package trace

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"sort"

	"github.com/klauspost/compress/zstd"
)

// File is a trace that is read. Several goroutines may read it at the same time.
type File struct {
	Name     string
	Header   Header
	Summary  Summary
	Warnings []string // of a file of a later version
	Foreign  bool     // the trace was converted as it was read: the file of the user has its operations at other places

	r       io.ReaderAt
	size    int64
	index   int64 // place of the first entry
	entries int64
	held    []byte // the index in memory; nil if it is read entry by entry
	ends    int64  // place behind the last block
}

// record is a record in a file.
type record struct {
	kind           byte
	at, begin, end int64 // its place, that of its payload, and that behind it
	payload        []byte
}

// readRecord reads the record at a place, which ends before limit, with its payload unless it is longer than most.
func readRecord(r io.ReaderAt, at, limit, most int64) (record, string) {
	head := make([]byte, min(int64(headBytes), max(limit-at, 0)))
	if n, err := r.ReadAt(head, at); n < len(head) {
		return record{}, fmt.Sprintf("%v", err)
	}
	if len(head) < len(mark)+2 || string(head[:len(mark)]) != mark {
		return record{}, "no record begins here"
	}
	length, n := binary.Uvarint(head[len(mark)+1:])
	begin := len(mark) + 1 + n
	if n <= 0 || length > uint64(limit) || at+int64(begin)+int64(length)+sumBytes > limit {
		return record{}, "the record goes beyond the end of the file: the file is torn"
	}
	c := record{kind: head[len(mark)], at: at, begin: at + int64(begin)}
	c.end = c.begin + int64(length) + sumBytes
	if int64(length) > most {
		return c, fmt.Sprintf("the record has %d bytes, more than %d", length, most)
	}
	all := make([]byte, c.end-at)
	if n, err := r.ReadAt(all, at); n < len(all) {
		return c, fmt.Sprintf("%v", err)
	}
	sum := len(all) - sumBytes
	if crc32.Checksum(all[:sum], castagnoli) != binary.LittleEndian.Uint32(all[sum:]) {
		return c, "the checksum does not fit: the record has been changed"
	}
	c.payload = all[begin:sum]
	return c, ""
}

const (
	mostText  = 16 << 20           // bytes of a header or summary
	mostBlock = mostBytes + 64<<10 // of the record of a block
)

// readHeader reads the beginning of a file. It returns the place behind the header.
func readHeader(name string, r io.ReaderAt, size int64) (h Header, warnings []string, at int64, err error) {
	begin := make([]byte, len(beginning))
	if n, _ := r.ReadAt(begin, 0); n < len(begin) || string(begin) != beginning {
		return h, nil, 0, fault(name, 0, "this is no trace of gigarank: it does not begin as one")
	}
	c, problem := readRecord(r, int64(len(beginning)), size, mostText)
	if problem == "" && c.kind != recordHeader {
		problem = "the first record is no header"
	}
	if problem == "" {
		if err := json.Unmarshal(c.payload, &h); err != nil {
			problem = err.Error()
		}
	}
	switch {
	case problem != "":
	case h.Version > Version:
		warnings = append(warnings, fmt.Sprintf("%s: the file has version %d, and this gigarank knows version %d: what it does not know is left out", name, h.Version, Version))
	case h.Version < 1:
		problem = fmt.Sprintf("a file of version %d", h.Version)
	}
	switch {
	case problem != "":
	case h.Tasks < 1 || h.Tasks > mostTasks:
		problem = fmt.Sprintf("%d tasks: they are 1 to %d", h.Tasks, mostTasks)
	case h.Units != units:
		problem = fmt.Sprintf("times in %q and sizes in %q: only %s and %s are known", h.Units.Time, h.Units.Size, units.Time, units.Size)
	}
	if problem != "" {
		return h, nil, 0, fault(name, int64(len(beginning)), "header: %s", problem)
	}
	return h, warnings, c.end, nil
}

// ReadHeader reads the header of a file, which may lack its end. It returns warnings on a file of a later version.
func ReadHeader(name string, r io.ReaderAt, size int64) (Header, []string, error) {
	h, warnings, _, err := readHeader(name, r, size)
	return h, warnings, err
}

// Open reads header, summary and the place of the index of a file.
func Open(name string, r io.ReaderAt, size int64) (*File, error) {
	f := &File{Name: name, r: r, size: size}
	var err error
	var begin int64
	if f.Header, f.Warnings, begin, err = readHeader(name, r, size); err != nil {
		return nil, err
	}
	tail := make([]byte, tailBytes)
	tailAt := size - tailBytes
	if tailAt < begin {
		return nil, damage(name, size, "the file ends behind its header: it is torn")
	}
	if _, err := r.ReadAt(tail, tailAt); err != nil {
		return nil, fault(name, tailAt, "%v", err)
	}
	if string(tail[16:]) != ending {
		return nil, damage(name, tailAt, "the file does not end as a trace does: it is torn")
	}
	indexAt, summaryAt := int64(binary.LittleEndian.Uint64(tail)), int64(binary.LittleEndian.Uint64(tail[8:]))
	if summaryAt < begin || indexAt <= summaryAt || indexAt >= tailAt {
		return nil, damage(name, tailAt, "index and summary lie at %d and %d, outside the file", indexAt, summaryAt)
	}
	s, problem := readRecord(r, summaryAt, indexAt, mostText)
	if problem == "" && s.kind != recordSummary {
		problem = "the record is no summary"
	}
	if problem == "" {
		if err := json.Unmarshal(s.payload, &f.Summary); err != nil {
			problem = err.Error()
		}
	}
	if problem != "" {
		return nil, damage(name, summaryAt, "summary: %s", problem)
	}
	x, problem := readRecord(r, indexAt, tailAt, -1) // its checksum would take reading all of it: a block has its own
	if x.kind != recordIndex || x.end != tailAt {
		return nil, damage(name, indexAt, "index: %s", problem)
	}
	length := x.end - sumBytes - x.begin
	if length%entryBytes != 0 {
		return nil, damage(name, indexAt, "the index does not consist of entries of %d bytes", entryBytes)
	}
	f.index, f.entries, f.ends = x.begin, length/entryBytes, summaryAt
	return f, nil
}

// entry reads an entry of the index.
func (f *File) entry(i int64) (e entry, err error) {
	if f.held != nil {
		e.read(f.held[i*entryBytes:])
		return e, nil
	}
	var b [entryBytes]byte
	if _, err := f.r.ReadAt(b[:], f.index+i*entryBytes); err != nil {
		return e, fault(f.Name, f.index+i*entryBytes, "index: %v", err)
	}
	e.read(b[:])
	return e, nil
}

// find returns the first entry of a task, or where it would be.
func (f *File) find(task int) (i int64, err error) {
	return int64(sort.Search(int(f.entries), func(i int) bool {
		e, failure := f.entry(int64(i))
		if failure != nil {
			err = failure
		}
		return int(e.task) >= task
	})), err
}

// Task returns a cursor at the first operation of a task.
func (f *File) Task(task int) (Cursor, error) {
	if task < 0 || task >= f.Header.Tasks {
		return Cursor{}, fmt.Errorf("%s has tasks 0 to %d, and no task %d", f.Name, f.Header.Tasks-1, task)
	}
	i, err := f.find(task)
	return Cursor{task: int32(task), begin: i, entry: i - 1}, err
}

// Cursor is a place in the operations of a task. It is a value: a copy reads on by itself.
type Cursor struct {
	state state
	begin int64 // first entry of the task in the index
	entry int64 // that of the block
	first int64 // number of the block's first operation
	count int64 // of its operations
	done  int64 // of them, those that are read
	at    int32 // place of the next operation in the block
	last  int32 // place of the operation that was read last
	task  int32
}

// Task returns the task.
func (c *Cursor) Task() int { return int(c.task) }

// Operation returns the number of the operation that was read last, -1 for none.
func (c *Cursor) Operation() int64 { return c.first + c.done - 1 }

// advance goes to the task's next block. It returns false behind the last one.
func (c *Cursor) advance(f *File) (bool, error) {
	i, next := c.entry+1, c.first+c.done
	if i >= f.entries {
		return false, nil
	}
	e, err := f.entry(i)
	if err != nil || int(e.task) != int(c.task) {
		return false, err
	}
	if e.first != next || e.count < 1 {
		x := damage(f.Name, e.place, "the block begins with operation %d, and operation %d is next", e.first, next)
		x.Task, x.Block, x.Operation = int(c.task), i-c.begin, next
		return false, x
	}
	c.entry, c.first, c.count, c.done, c.at, c.state = i, e.first, e.count, 0, 0, state{}
	return true, nil
}

// Next reads the next operation of a task. It returns false behind the last one.
func (c *Cursor) Next(b *Blocks, o *Operation) (bool, error) {
	if c.done == c.count {
		if more, err := c.advance(b.file); !more {
			return false, err
		}
	}
	k, err := b.get(c.entry, c.task)
	if err != nil {
		return false, err
	}
	r := source{data: k.text, at: int(c.at)}
	c.last = c.at
	c.state.decode(&r, o)
	if c.done++; r.problem == "" && c.done == c.count && r.at < len(k.text) {
		r.fail("the block has more operations than it counts")
	}
	if r.problem != "" {
		x := c.Fault(b.file, r.problem)
		x.Damaged = true
		return false, x
	}
	c.at = int32(r.at)
	return true, nil
}

// Current stores the operation that was read last once more, but for the fields that a state does not hold, such as how long it took.
func (c *Cursor) Current(b *Blocks, o *Operation) error {
	k, err := b.get(c.entry, c.task)
	if err != nil {
		return err
	}
	r := source{data: k.text, at: int(c.last)}
	o.Function, o.Form, o.Message, o.Times, o.Took = Function(k.text[c.last]), 0, 0, 0, 0
	for _, f := range layouts[o.Function.Class()] {
		if f < fieldTook {
			*o.scalar(f) = c.state.last[f]
		} else if f < scalars {
			continue
		} else if c.state.again(&r, o, f); r.problem != "" {
			return c.Fault(b.file, r.problem)
		}
	}
	return nil
}

// Fault returns a fault at the operation that was read last.
func (c *Cursor) Fault(f *File, problem string) *Fault {
	x := fault(f.Name, 0, "%s", problem)
	x.Task, x.Operation = int(c.task), c.Operation()
	if x.Operation < 0 || f.Foreign {
		x.Offset = -1
		return x
	}
	x.Block, x.Within = c.entry-c.begin, int64(c.last)
	if e, err := f.entry(c.entry); err == nil {
		x.Offset = e.place
	}
	return x
}

// Blocks keeps blocks that are read, up to a limit of bytes. One goroutine uses it.
type Blocks struct {
	file    *File
	limit   int
	held    int
	ahead   ahead
	decoder *zstd.Decoder
	kept    map[int64]*kept
	latest  *kept // that was wanted last; nil for none
	oldest  *kept // of a ring, in the order of use
}

// kept is the contents of a block.
type kept struct {
	entry        int64
	text         []byte
	older, newer *kept
}

// NewBlocks returns room for the blocks of a file, of some bytes.
func NewBlocks(f *File, limit int) (*Blocks, error) {
	d, err := newDecoder()
	return &Blocks{file: f, limit: limit, ahead: ahead{r: f.r}, decoder: d, kept: map[int64]*kept{}}, err
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(mostBytes))
}

// get returns the contents of the block of an entry, which is a task's.
func (b *Blocks) get(i int64, task int32) (*kept, error) {
	if k := b.latest; k != nil && k.entry == i {
		return k, nil
	}
	if k := b.kept[i]; k != nil {
		b.unlink(k)
		b.link(k)
		b.latest = k
		return k, nil
	}
	e, err := b.file.entry(i)
	if err != nil {
		return nil, err
	}
	k := &kept{entry: i}
	var read Block
	if k.text, read, err = b.file.read(b.ahead.of(&e), &e, b.decoder); err != nil {
		return nil, err
	}
	if read.Task != int(task) || read.First != e.first || read.Count != e.count {
		return nil, b.file.blockFault(int(task), e.place, fmt.Sprintf("the block has %d operations of task %d from %d on, and the index names %d of task %d from %d on",
			read.Count, read.Task, read.First, e.count, task, e.first))
	}
	b.link(k)
	b.latest = k
	b.kept[i], b.held = k, b.held+len(k.text)
	for b.held > b.limit && b.oldest != k {
		old := b.oldest
		b.unlink(old)
		delete(b.kept, old.entry)
		b.held -= len(old.text)
	}
	return k, nil
}

// ahead reads a file in pieces: short blocks of ranks that begin one after another lie one behind another.
type ahead struct {
	r    io.ReaderAt
	at   int64
	have []byte
}

const (
	aheadBytes = 64 << 10
	shortBlock = aheadBytes / 8 // the most bytes of a record that is read by way of a piece
)

// of returns the reader for the block of an entry.
func (a *ahead) of(e *entry) io.ReaderAt {
	if e.length > shortBlock {
		return a.r
	}
	return a
}

// ReadAt implements [io.ReaderAt].
func (a *ahead) ReadAt(b []byte, at int64) (int, error) {
	if at < a.at || at+int64(len(b)) > a.at+int64(len(a.have)) {
		if a.have == nil {
			a.have = make([]byte, 0, aheadBytes)
		}
		n, err := a.r.ReadAt(a.have[:cap(a.have)], at)
		if a.at, a.have = at, a.have[:n]; n < len(b) {
			return copy(b, a.have), err
		}
	}
	return copy(b, a.have[at-a.at:]), nil
}

// link puts a block at the end of the ring.
func (b *Blocks) link(k *kept) {
	if b.oldest == nil {
		b.oldest, k.older, k.newer = k, k, k
		return
	}
	k.older, k.newer = b.oldest.older, b.oldest
	k.older.newer, k.newer.older = k, k
}

// unlink takes a block out of the ring.
func (b *Blocks) unlink(k *kept) {
	if k.newer == k {
		b.oldest = nil
		return
	}
	k.older.newer, k.newer.older = k.newer, k.older
	if b.oldest == k {
		b.oldest = k.newer
	}
}

// blockFault returns a fault of a block at a place.
func (f *File) blockFault(task int, place int64, problem string) *Fault {
	x := damage(f.Name, place, "%s", problem)
	x.Task = task
	if task >= 0 {
		x.Block = 0
		if first, err := f.find(task); err == nil {
			for i := first; i < f.entries; i++ {
				if e, err := f.entry(i); err != nil || e.place == place || int(e.task) != task {
					break
				}
				x.Block++
			}
		}
	}
	return x
}

// read reads the block of an entry and returns its operations.
func (f *File) read(r io.ReaderAt, e *entry, d *zstd.Decoder) ([]byte, Block, error) {
	if e.place < 0 || e.place >= f.ends {
		return nil, Block{}, f.blockFault(int(e.task), e.place, "the index names a place outside the blocks")
	}
	c, problem := readRecord(r, e.place, f.ends, mostBlock)
	if problem == "" && (c.kind != recordBlock || c.end-c.at != int64(e.length)) {
		problem = "the record is not the block that the index names"
	}
	var k Block
	if problem == "" {
		problem = k.parse(c.payload, f.Header.Tasks)
	}
	var text []byte
	if problem == "" {
		text, problem = k.contents(d)
	}
	if problem != "" {
		return nil, k, f.blockFault(int(e.task), e.place, problem)
	}
	return text, k, nil
}

// contents returns the operations of a block.
func (k *Block) contents(d decoder) ([]byte, string) {
	text := k.text
	if k.way == wayZstd {
		var err error
		if text, err = d.DecodeAll(k.text, make([]byte, 0, k.size)); err != nil {
			return nil, "the block cannot be uncompressed: " + err.Error()
		}
	}
	if len(text) != k.size {
		return nil, fmt.Sprintf("the block has %d bytes of operations, and names %d", len(text), k.size)
	}
	return text, ""
}

// decoder is the part of [zstd.Decoder] that reads blocks.
type decoder interface {
	DecodeAll(input, dst []byte) ([]byte, error)
}
