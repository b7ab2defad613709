package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"gigarank/internal/spelling"
)

// heldIndex is the most bytes of an index that stays in memory.
const heldIndex = 64 << 20

// Verify compares the index with its checksum, and its length with the blocks that the file has by its summary. An index that is not too long
// stays in memory. It is called before cursors read.
func (f *File) Verify() error {
	at := f.index
	for at--; ; at-- { // the mark lies at most so many bytes before the first entry
		var b [len(mark)]byte
		if _, err := f.r.ReadAt(b[:], at); err != nil || f.index-at > int64(headBytes) {
			return damage(f.Name, f.index, "the index has no beginning")
		}
		if string(b[:]) == mark {
			break
		}
	}
	end := f.index + f.entries*entryBytes
	sum := crc32.New(castagnoli)
	var err error
	if end-f.index <= heldIndex {
		all := make([]byte, end-at)
		if _, err = io.ReadFull(io.NewSectionReader(f.r, at, end-at), all); err == nil {
			_, err = sum.Write(all)
			f.held = all[f.index-at:]
		}
	} else {
		_, err = io.Copy(sum, io.NewSectionReader(f.r, at, end-at))
	}
	if err != nil {
		return fault(f.Name, at, "index: %v", err)
	}
	var b [sumBytes]byte
	if _, err := f.r.ReadAt(b[:], end); err != nil || binary.LittleEndian.Uint32(b[:]) != sum.Sum32() {
		return damage(f.Name, at, "index: the checksum does not fit: it has been changed")
	}
	if f.entries != f.Summary.Blocks {
		return damage(f.Name, at, "the index has %s, the summary %d", spelling.Count(f.entries, "block"), f.Summary.Blocks)
	}
	return nil
}

// Found is the result of a walk.
type Found struct {
	Header   Header
	Summary  *Summary // nil if there is none
	Complete bool     // the file ends as a trace does
	Faults   []*Fault // the first of the damages
	Damages  int      // their number
	Unknown  int      // records of types that are not known
	Size     int64    // of the file
	Packed   int64    // bytes of the blocks' records
}

// mostFaults is the most faults that a walk returns.
const mostFaults = 20

func (x *Found) damage(f *Fault) {
	if x.Damages++; len(x.Faults) < mostFaults {
		x.Faults = append(x.Faults, f)
	}
}

// Walk reads a file from its beginning to its end without its index, and calls a function for each block that is sound, with
// its operations, and another one, unless it is nil, for each note. The memory is valid during the call. A record that is damaged is left out, and the next sound one is
// looked for behind it.
func Walk(name string, r io.ReaderAt, size int64, each func(k *Block, operations []byte) error, note func(*Note) error) (*Found, error) {
	x := &Found{Size: size}
	h, _, at, err := readHeader(name, r, size)
	if err != nil {
		return nil, err
	}
	x.Header = h
	d, err := newDecoder()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for at < size {
		if size-at == tailBytes && endsAt(r, at) {
			x.Complete = true
			break
		}
		c, problem := readRecord(r, at, size, mostOf(r, at))
		if problem == "" {
			if problem, err = x.take(&c, d, each, note); err != nil {
				return nil, err
			}
		}
		if problem == "" {
			at = c.end
			continue
		}
		damaged := fault(name, at, "%s", problem)
		if c.kind == recordBlock && c.payload != nil {
			var k Block
			if k.parse(c.payload, h.Tasks) == "" {
				damaged.Task, damaged.Operation = k.Task, k.First
			}
		}
		x.damage(damaged)
		if at = next(r, at+1, size); at < 0 {
			break
		}
	}
	if !x.Complete && x.Damages == 0 {
		x.damage(fault(name, size, "the file has no end: it is torn"))
	}
	return x, nil
}

// endsAt reports whether the end of a file begins at a place.
func endsAt(r io.ReaderAt, at int64) bool {
	var b [tailBytes]byte
	_, err := r.ReadAt(b[:], at)
	return err == nil && string(b[16:]) == ending
}

// mostOf returns the most bytes of the record at a place: only an index may be longer than a block.
func mostOf(r io.ReaderAt, at int64) int64 {
	var b [len(mark) + 1]byte
	if _, err := r.ReadAt(b[:], at); err == nil && b[len(mark)] == recordIndex {
		return mostIndex
	}
	return max(mostBlock, mostText)
}

// mostIndex is the most bytes of an index.
const mostIndex = 1 << 36

// take takes a record. It returns its problem, and the error of each or note.
func (x *Found) take(c *record, d decoder, each func(k *Block, operations []byte) error, note func(*Note) error) (problem string, err error) {
	switch c.kind {
	case recordBlock:
		var k Block
		if problem = k.parse(c.payload, x.Header.Tasks); problem != "" {
			return problem, nil
		}
		text, problem := k.contents(d)
		if problem != "" {
			return problem, nil
		}
		x.Packed += c.end - c.at
		return "", each(&k, text)
	case recordNote:
		var n Note
		switch err := json.Unmarshal(c.payload, &n); {
		case err != nil:
			return err.Error(), nil
		case n.Task < 0 || n.Task >= x.Header.Tasks:
			return fmt.Sprintf("the note is of task %d, but the file has %d", n.Task, x.Header.Tasks), nil
		case note != nil:
			return "", note(&n)
		}
	case recordSummary:
		x.Summary = &Summary{}
		if err := json.Unmarshal(c.payload, x.Summary); err != nil {
			x.Summary = nil
			return err.Error(), nil
		}
	case recordIndex, recordHeader:
	default:
		x.Unknown++
	}
	return "", nil
}

// next returns the place of the next mark of a record from a place on, -1 for none.
func next(r io.ReaderAt, at, size int64) int64 {
	b := make([]byte, 64<<10)
	for at < size {
		n, _ := r.ReadAt(b[:min(int64(len(b)), size-at)], at)
		if i := bytes.Index(b[:n], []byte(mark)); i >= 0 {
			return at + int64(i)
		}
		if n < len(mark) || at+int64(n) >= size {
			return -1
		}
		at += int64(n - len(mark) + 1)
	}
	return -1
}

// Each decodes the operations of a block, in order, and calls a function for each. It returns the fault of a block whose bytes are no
// operations, with what is wrong.
func (k *Block) Each(operations []byte, call func(number int64, o *Operation) error) (problem string, err error) {
	var s state
	var o Operation
	r := source{data: operations}
	for i := range k.Count {
		if s.decode(&r, &o); r.problem != "" {
			return fmt.Sprintf("operation %d: %s", k.First+i, r.problem), nil
		}
		if err := call(k.First+i, &o); err != nil {
			return "", err
		}
	}
	if r.at < len(operations) {
		return "the block has more operations than it counts", nil
	}
	return "", nil
}

// Cut is a task that a repair has cut.
type Cut struct {
	Task      int
	Operation int64 // the first that is left out
}

// Repair writes what is sound of a file to a new one: of each task the operations up to the first one that is missing. It returns the tasks
// that are cut there, and those that do not end by [End], in their order.
func Repair(name string, r io.ReaderAt, size int64, w io.Writer) (*Found, []Cut, error) {
	type progress struct {
		next  int64
		ended bool
	}
	var t *Writer
	open := func() error {
		if t != nil {
			return nil
		}
		h, _, _, err := readHeader(name, r, size)
		if err == nil {
			t, err = NewWriter(w, h, Zstd)
		}
		return err
	}
	tasks := map[int]*progress{}
	sum := Summary{Functions: map[string]int64{}}
	x, err := Walk(name, r, size, func(k *Block, operations []byte) error {
		p := tasks[k.Task]
		if p == nil {
			p = &progress{}
			tasks[k.Task] = p
		}
		if k.First != p.next || p.ended {
			return nil // an operation before it is missing
		}
		counts, ended := map[Function]int64{}, false
		problem, _ := k.Each(operations, func(_ int64, o *Operation) error {
			counts[o.Function] += o.Calls()
			ended = o.Function == End
			return nil
		})
		if problem != "" {
			return nil
		}
		if err := open(); err != nil {
			return err
		}
		for f, n := range counts {
			if n > 0 {
				sum.Functions[f.String()] += n
			}
		}
		p.next, p.ended = p.next+k.Count, ended
		sum.Operations += k.Count
		return t.Write(k.Task, k.First, k.Count, operations)
	}, func(n *Note) error {
		if err := open(); err != nil {
			return err
		}
		return t.WriteNote(n)
	})
	if err != nil {
		return nil, nil, err
	}
	if sum.Operations == 0 {
		return x, nil, fault(name, 0, "the file has no sound block")
	}
	if x.Summary != nil {
		sum.Unrecorded, sum.Problems = x.Summary.Unrecorded, x.Summary.Problems
	}
	var cuts []Cut
	for task := range x.Header.Tasks {
		switch p := tasks[task]; {
		case p == nil:
			cuts = append(cuts, Cut{Task: task})
		case !p.ended:
			cuts = append(cuts, Cut{task, p.next})
		default:
			sum.Ended++
		}
	}
	slices.SortFunc(cuts, func(a, b Cut) int { return a.Task - b.Task })
	sum.Note = fmt.Sprintf("repaired: %s cut", spelling.Count(len(cuts), "task"))
	return x, cuts, t.Close(sum)
}
