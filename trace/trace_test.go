package trace_test

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/internal/seed"
	"gigarank/trace"
)

// write returns a file with the operations of tasks.
func write(t failing, way trace.Compression, tasks [][]trace.Operation) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, trace.Header{Origin: "simulated", Tasks: len(tasks), Program: "test"}, way)
	if err != nil {
		t.Fatal(err)
	}
	s := trace.Summary{Functions: map[string]int64{}}
	for task, operations := range tasks {
		var stream trace.Stream
		for i := range operations {
			o := &operations[i]
			if err := stream.Append(w, task, o); err != nil {
				t.Fatal(err)
			}
			if o.Function == trace.End {
				s.Ended++
			}
			s.Functions[o.Function.String()] += o.Calls()
			s.Operations++
		}
		if err := stream.Flush(w, task); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns the operations of all tasks of a file, or the first error.
func read(name string, data []byte) ([][]trace.Operation, error) {
	f, err := trace.Open(name, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	if err := f.Verify(); err != nil {
		return nil, err
	}
	blocks, err := trace.NewBlocks(f, 1<<20)
	if err != nil {
		return nil, err
	}
	tasks := make([][]trace.Operation, min(f.Header.Tasks, 1000))
	var again trace.Operation // which keeps what it had
	for task := range tasks {
		c, err := f.Task(task)
		if err != nil {
			return nil, err
		}
		for {
			var o trace.Operation
			more, err := c.Next(blocks, &o)
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			if err := c.Current(blocks, &again); err != nil {
				return nil, err
			}
			if again.Form != o.Form || again.Message != o.Message || again.Times != o.Times {
				return nil, fmt.Errorf("task %d: the operation is %+v, and once more %+v", task, o, again)
			}
			tasks[task] = append(tasks[task], o)
		}
	}
	return tasks, nil
}

// plain returns an operation as a text, in which an empty list is as no list.
func plain(o trace.Operation) string { return fmt.Sprintf("%+v", o) }

// drawOperation returns a random operation that has values in the fields of its function only.
func drawOperation(t *rapid.T, label string) trace.Operation {
	all := trace.Functions()
	o := trace.Operation{Function: all[rapid.IntRange(0, len(all)-1).Draw(t, label)]}
	n := rapid.OneOf(rapid.Int64Range(-4, 9), rapid.Int64())
	list := func() (l []int64) {
		for range rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(60, 70)).Draw(t, "length") {
			l = append(l, n.Draw(t, "element"))
		}
		return l
	}
	number := func(fields ...*int64) {
		for _, f := range fields {
			*f = n.Draw(t, "field")
		}
	}
	if c := o.Function.Class(); c > trace.ClassEnd && c < trace.ClassDuplicate {
		o.Form = trace.Form(rapid.Int64Range(0, 255).Draw(t, "form"))
	}
	switch o.Function.Class() {
	case trace.ClassBurst:
		number(&o.CPU, &o.Wall)
	case trace.ClassMark:
		o.Name = []byte(rapid.StringN(1, 20, 80).Draw(t, "name"))
	case trace.ClassSend:
		number(&o.Peer, &o.Tag, &o.Bytes, &o.Request, &o.Comm)
	case trace.ClassReceive:
		number(&o.Source, &o.SourceTag, &o.Room, &o.Request, &o.Comm, &o.GotSource, &o.GotTag, &o.Message)
	case trace.ClassSendReceive:
		number(&o.Peer, &o.Tag, &o.Bytes, &o.Source, &o.SourceTag, &o.Room, &o.Request, &o.Comm, &o.GotSource, &o.GotTag)
	case trace.ClassWait:
		o.Requests, o.Completed, o.Matched = list(), list(), list()
	case trace.ClassTest:
		o.Requests, o.Completed, o.Matched, o.Times = list(), list(), list(), n.Draw(t, "times")
	case trace.ClassProbe:
		number(&o.Source, &o.SourceTag, &o.GotSource, &o.GotTag, &o.GotBytes, &o.Comm, &o.Message, &o.Times)
	case trace.ClassCancel:
		o.Requests = list()
	case trace.ClassCollective:
		number(&o.Vector, &o.Root, &o.Comm, &o.Element, &o.Request, &o.Datatype)
		o.Traits = trace.Trait(n.Draw(t, "traits"))
		o.Counts, o.InCounts, o.OutCounts = list(), list(), list()
	case trace.ClassNeighborhood:
		number(&o.Comm, &o.Request)
		o.SendPeers, o.SendTags, o.SendBytes = list(), list(), list()
		o.ReceivePeers, o.ReceiveTags, o.ReceiveRooms = list(), list(), list()
	case trace.ClassCommunicator:
		number(&o.Comm, &o.Made, &o.Color, &o.Key, &o.Context)
		o.Group = list()
	case trace.ClassDuplicate:
		number(&o.Comm, &o.Key, &o.Made)
	case trace.ClassGiven:
		number(&o.Made, &o.Context)
		o.Group = list()
	case trace.ClassFree:
		number(&o.Comm)
	}
	return o
}

// Operations are read as they were written, whatever precedes them.
func TestOperationsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := make([][]trace.Operation, rapid.IntRange(1, 3).Draw(t, "tasks"))
		for i := range tasks {
			for range rapid.IntRange(0, 12).Draw(t, "operations") {
				o := drawOperation(t, "function")
				for range rapid.IntRange(1, 3).Draw(t, "times") {
					tasks[i] = append(tasks[i], o)
				}
			}
		}
		for _, way := range []trace.Compression{trace.Zstd, trace.None} {
			got, err := read("file", write(t, way, tasks))
			if err != nil {
				t.Fatal(err)
			}
			for i := range tasks {
				if len(got[i]) != len(tasks[i]) {
					t.Fatalf("task %d: %d operations, want %d", i, len(got[i]), len(tasks[i]))
				}
				for j := range tasks[i] {
					if g, w := plain(got[i][j]), plain(tasks[i][j]); g != w {
						t.Fatalf("task %d, operation %d:\n got %s\nwant %s", i, j, g, w)
					}
				}
			}
		}
	})
}

// failing is a test, or a case of rapid.
type failing interface {
	Helper()
	Fatal(...any)
}

// stencil returns the operations of a rank that exchanges with four neighbours.
func stencil(iterations int) (list []trace.Operation) {
	for range iterations {
		list = append(list, trace.Operation{Function: trace.Burst, CPU: 1_234_567_000, Wall: 1_234_567_000})
		for i, peer := range []int64{7, 9, 0, 16} {
			list = append(list, trace.Operation{Function: trace.Irecv, Source: peer, GotSource: peer, SourceTag: 3, GotTag: 3, Room: 8192, Request: int64(i)})
		}
		for i, peer := range []int64{7, 9, 0, 16} {
			list = append(list, trace.Operation{Function: trace.Isend, Peer: peer, Tag: 3, Bytes: 8192, Request: int64(4 + i)})
		}
		list = append(list, trace.Operation{Function: trace.Waitall, Requests: []int64{0, 1, 2, 3, 4, 5, 6, 7}},
			trace.Operation{Function: trace.Allreduce, Vector: 8, Element: 8, Traits: trace.Data})
	}
	return append(list, trace.Operation{Function: trace.End})
}

// A repeated equal iteration takes at most a byte an operation after compression.
func TestRepeatedIterationsAreShort(t *testing.T) {
	one, many := stencil(1), stencil(1000)
	for _, c := range []struct {
		way   trace.Compression
		limit float64
	}{{trace.Zstd, 1}, {trace.None, 4.5}} {
		short, long := write(t, c.way, [][]trace.Operation{one}), write(t, c.way, [][]trace.Operation{many})
		each := float64(len(long)-len(short)) / float64(len(many)-len(one))
		t.Logf("%v: %.3f bytes an operation", c.way, each)
		if each > c.limit {
			t.Errorf("%v: %.3f bytes an operation, want at most %g", c.way, each, c.limit)
		}
	}
}

// An operation that repeats the latest one of its class but for its form is read once more as it is, whatever forms precede it.
func TestRepeatedOperationsAreReadOnceMore(t *testing.T) {
	var list []trace.Operation
	for i, form := range []trace.Form{trace.Failed, 0, trace.Unsized, 0} {
		peer := int64(i / 2)
		list = append(list, trace.Operation{Function: trace.Send, Peer: peer, Form: form},
			trace.Operation{Function: trace.Recv, Source: peer, GotSource: peer, Form: form, Message: int64(1 - i%2)})
	}
	want := [][]trace.Operation{append(list, trace.Operation{Function: trace.End})}
	got, err := read("file", write(t, trace.None, want)) // which reads each operation once more
	if err != nil || len(got[0]) != len(want[0]) {
		t.Fatalf("%v, %v", got, err)
	}
	for i := range got[0] {
		if plain(got[0][i]) != plain(want[0][i]) {
			t.Errorf("operation %d: %+v, want %+v", i, got[0][i], want[0][i])
		}
	}
}

// counting counts the reads of a file.
type counting struct {
	*bytes.Reader
	reads int
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	c.reads++
	return c.Reader.ReadAt(b, at)
}

// The first operation of a task is found in a number of reads that grows with the logarithm of the number of tasks.
func TestTasksAreFoundInFewReads(t *testing.T) {
	for _, tasks := range []int{16, 1 << 14} {
		all := make([][]trace.Operation, tasks)
		for i := range all {
			all[i] = []trace.Operation{{Function: trace.Send, Peer: int64(i)}, {Function: trace.End}}
		}
		file := write(t, trace.Zstd, all)
		r := &counting{Reader: bytes.NewReader(file)}
		f, err := trace.Open("file.grt", r, int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := trace.NewBlocks(f, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		opened := r.reads
		for _, task := range []int{0, tasks / 3, tasks - 1} {
			r.reads = 0
			c, err := f.Task(task)
			if err != nil {
				t.Fatal(err)
			}
			var o trace.Operation
			if _, err := c.Next(blocks, &o); err != nil || o.Peer != int64(task) {
				t.Fatalf("task %d: %+v, %v", task, o, err)
			}
			if most := bits.Len(uint(tasks)) + 5; r.reads > most || opened > 12 {
				t.Errorf("task %d of %d: %d reads, want at most %d; %d to open the file", task, tasks, r.reads, most, opened)
			}
		}
	}
}

// A damaged file is read as it was, or ends with an error that names file and byte.
func TestDamageIsFound(t *testing.T) {
	tasks := [][]trace.Operation{stencil(900), stencil(2), stencil(900)}
	whole := write(t, trace.Zstd, tasks)
	want, err := read("whole", whole)
	if err != nil {
		t.Fatal(err)
	}
	seed := seed.Next()
	random := rand.New(rand.NewPCG(seed, 1))
	for range 400 {
		bad := bytes.Clone(whole)
		at := random.IntN(len(bad))
		what := "flipped"
		if random.IntN(2) == 0 {
			bad[at] ^= 1 << random.IntN(8)
		} else {
			bad, what = bad[:at], "torn"
		}
		got, err := read("bad.grt", bad)
		if err == nil {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: %s at %d: read without an error, with other operations", seed, what, at)
			} else if what == "torn" {
				t.Errorf("seed %d: torn at %d: read without an error", seed, at)
			}
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, "bad.grt: ") || !strings.Contains(text, "byte ") {
			t.Errorf("seed %d: %s at %d: %v", seed, what, at, err)
		}
	}
}

// A repair keeps of each task all operations up to the first one that is missing.
func TestRepairKeepsWhatIsSound(t *testing.T) {
	tasks := [][]trace.Operation{stencil(5000), stencil(2), stencil(5000)}
	whole := write(t, trace.None, tasks)
	seed := seed.Next()
	random := rand.New(rand.NewPCG(seed, 1))
	for range 6 {
		bad := bytes.Clone(whole)
		at := 300 + random.IntN(len(bad)-300)
		torn := random.IntN(2) == 0
		if torn {
			bad = bad[:at]
		} else {
			bad[at] ^= 0x10
		}
		var mended bytes.Buffer
		_, cuts, err := trace.Repair("bad.grt", bytes.NewReader(bad), int64(len(bad)), &mended)
		if err != nil {
			if torn && at < 67_000 {
				continue // not even a block is left
			}
			t.Fatalf("seed %d, byte %d: %v", seed, at, err)
		}
		got, err := read("mended", mended.Bytes())
		if err != nil {
			t.Fatalf("seed %d, byte %d: %v", seed, at, err)
		}
		lost := 0
		for i := range tasks {
			if len(got[i]) > 0 && !reflect.DeepEqual(got[i], tasks[i][:len(got[i])]) {
				t.Fatalf("seed %d, byte %d: task %d has other operations", seed, at, i)
			}
			if n := len(got[i]); n < len(tasks[i]) {
				lost++
				found := false
				for _, c := range cuts {
					found = found || c.Task == i && c.Operation == int64(n)
				}
				if !found {
					t.Errorf("seed %d, byte %d: task %d is cut at %d, cuts %v", seed, at, i, n, cuts)
				}
			}
		}
		if lost != len(cuts) || !torn && lost > 1 {
			t.Errorf("seed %d, byte %d: %d tasks have lost operations, cuts %v", seed, at, lost, cuts)
		}
	}
}

// A file of a later version opens with a warning; records and operations of unknown types are skipped.
func TestLaterVersionsAreRead(t *testing.T) {
	whole := write(t, trace.None, [][]trace.Operation{stencil(1)})
	later := trace.LaterVersion(whole)
	f, err := trace.Open("later", bytes.NewReader(later), int64(len(later)))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "version 2") {
		t.Errorf("warnings %q", f.Warnings)
	}
	x, err := trace.Walk("later", bytes.NewReader(later), int64(len(later)), func(*trace.Block, []byte) error { return nil }, nil)
	if err != nil || x.Unknown != 1 || x.Damages != 0 {
		t.Errorf("scan: %+v, %v", x, err)
	}
}

// Any bytes are read, scanned and repaired without a panic, in bounded time and memory.
func FuzzFile(f *testing.F) {
	f.Add(write(f, trace.Zstd, [][]trace.Operation{stencil(3), stencil(1)}))
	f.Add(write(f, trace.None, [][]trace.Operation{stencil(2)}))
	f.Add([]byte("\x89grt\r\n\x1a\n"))
	f.Fuzz(func(t *testing.T, data []byte) { readAny(t, data) })
}

// Mutated files are read as any bytes, in 64 MiB of memory and 20 times their size. GIGARANK_DRAWS is their number.
func TestMutatedFilesAreRead(t *testing.T) {
	seeds := [][]byte{write(t, trace.Zstd, [][]trace.Operation{stencil(3), stencil(1)}), write(t, trace.None, [][]trace.Operation{stencil(2)})}
	seed := seed.Next()
	random := rand.New(rand.NewPCG(seed, 1))
	mutations := 1000
	if text := os.Getenv("GIGARANK_DRAWS"); text != "" {
		mutations, _ = strconv.Atoi(text)
	}
	t.Logf("seed %d, %d files", seed, mutations)
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // what is held counts, not what waits for the collector
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	longest := 0
	for range mutations {
		data := bytes.Clone(seeds[random.IntN(len(seeds))])
		for range 1 + random.IntN(4) {
			at := random.IntN(len(data))
			switch random.IntN(4) {
			case 0:
				data[at] ^= 1 << random.IntN(8)
			case 1:
				data[at] = byte(random.Uint32())
			case 2:
				data = append(data[:at], data[min(len(data), at+1+random.IntN(20)):]...)
			default:
				data = append(data[:at:at], append(bytes.Clone(data[at:min(len(data), at+1+random.IntN(20))]), data[at:]...)...)
			}
			if len(data) == 0 {
				break
			}
		}
		readAny(t, data)
		longest = max(longest, len(data))
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys - before.Sys); grown > 64<<20+20*int64(longest) {
		t.Errorf("%d files of at most %d bytes took %d MiB", mutations, longest, grown>>20)
	} else {
		t.Logf("%d MiB more for files of at most %d bytes", grown>>20, longest)
	}
}

// readAny reads, walks, checks and repairs bytes, as they are and with checksums that fit.
func readAny(t *testing.T, data []byte) {
	for _, input := range [][]byte{data, trace.WithChecksums(data)} {
		_, _ = read("fuzz", input)
		x, err := trace.Walk("fuzz", bytes.NewReader(input), int64(len(input)), func(k *trace.Block, operations []byte) error {
			_, err := k.Each(operations, func(int64, *trace.Operation) error { return nil })
			return err
		}, nil)
		if err != nil || x.Header.Tasks > 1000 {
			continue
		}
		if f, err := trace.Open("fuzz", bytes.NewReader(input), int64(len(input))); err == nil && f.Verify() == nil {
			_, _, _ = trace.Check(f, 3)
		}
		var mended bytes.Buffer
		if _, _, err := trace.Repair("fuzz", bytes.NewReader(input), int64(len(input)), &mended); err == nil {
			if _, err := read("mended", mended.Bytes()); err != nil {
				t.Errorf("a repaired file: %v", err)
			}
		}
	}
}
