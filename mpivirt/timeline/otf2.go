package timeline

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// An archive of OTF2 has a file NAME.otf2, which says what the archive has, the definitions in NAME.def, and for each rank, a location of the
// archive, its events in NAME/N.evt and definitions of its own, none, in NAME/N.def. Times are picoseconds. A slice is a region that the rank enters and leaves.
// The leave has attributes: the picoseconds of the slice by cause, and those that are on the critical path.

// archive is an archive that is being written.
type archive struct {
	*Timeline
	events   []uint64         // of each rank shown, once its file is written
	comms    []uint64         // contexts of communicators, by their numbers in the archive
	numbers  map[uint64]int32 // of contexts; both contexts of an intercommunicator have one number
	places   map[uint64]map[int32]uint32
	sends    [][]int32 // by place of the rank: its messages
	gets     [][]int32
	path     [][]span       // by place of the rank: where it is on the critical path
	defined  uint64         // definitions
	regionOf [1 << 8]uint32 // by procedure
	end      vtime.Time
}

// span is a part of virtual time.
type span struct{ from, to vtime.Time }

// mostLocations is the greatest number of ranks of an archive: a definition lists them, and takes at most a chunk.
const mostLocations = 100_000

// checkOTF2 returns an error if an archive does not hold a picture.
func checkOTF2(t *Timeline) error {
	if len(t.Shown) > mostLocations {
		return fmt.Errorf("%d ranks, and an archive of OTF2 shows at most %d: give fewer --ranks-shown", len(t.Shown), mostLocations)
	}
	return nil
}

// otf2Files returns the files of an archive, in the order in which they are written: those of ranks tell how many events there are.
func otf2Files(t *Timeline) (files []File) {
	a := &archive{Timeline: t, events: make([]uint64, len(t.Shown)), numbers: map[uint64]int32{}, places: map[uint64]map[int32]uint32{}, end: t.last()}
	for i, p := range t.procedures() {
		a.regionOf[p] = uint32(i)
	}
	a.numberComms()
	a.index()
	for place, rank := range t.Shown {
		files = append(files,
			File{fmt.Sprintf("/%d.evt", rank), func(w *bufio.Writer, _ *Timeline) { a.writeEvents(w, place) }},
			File{fmt.Sprintf("/%d.def", rank), func(w *bufio.Writer, _ *Timeline) { newOTF2File(w, otf2Definitions).close() }})
	}
	return append(files,
		File{".def", func(w *bufio.Writer, _ *Timeline) { a.writeDefinitions(w) }},
		File{".otf2", func(w *bufio.Writer, _ *Timeline) { a.writeAnchor(w) }})
}

// numberComms numbers the communicators of the picture, WORLD first.
func (a *archive) numberComms() {
	used := map[uint64]bool{world.WorldContext: true}
	for i := range a.Slices {
		used[a.Slices[i].Context] = true
	}
	for i := range a.Messages {
		used[a.Messages[i].Context] = true
	}
	delete(used, world.NoContext)
	for _, context := range slices.Sorted(maps.Keys(used)) {
		c := a.Comms[context]
		if number, known := a.numbers[c.Remote]; known && c.Remote != 0 {
			a.numbers[context] = number
		} else {
			a.numbers[context] = int32(len(a.comms))
			a.comms = append(a.comms, context)
		}
		place := map[int32]uint32{}
		for i, rank := range a.members(context) {
			place[rank] = uint32(i)
		}
		a.places[context] = place
	}
}

// members returns the members of a communicator that are shown.
func (a *archive) members(context uint64) []int32 {
	c, known := a.Comms[context]
	if !known && context == world.WorldContext {
		for _, rank := range a.Shown {
			c.Members = append(c.Members, int32(rank))
		}
	}
	return c.Members
}

// index finds the messages and the parts of the critical path of each rank.
func (a *archive) index() {
	n := len(a.Shown)
	a.sends, a.gets, a.path = make([][]int32, n), make([][]int32, n), make([][]span, n)
	for i := range a.Messages {
		from, _ := slices.BinarySearch(a.Shown, int(a.Messages[i].From))
		to, _ := slices.BinarySearch(a.Shown, int(a.Messages[i].To))
		a.sends[from], a.gets[to] = append(a.sends[from], int32(i)), append(a.gets[to], int32(i))
	}
	for _, p := range a.Path {
		if place, shown := slices.BinarySearch(a.Shown, p.Rank); shown {
			a.path[place] = append(a.path[place], span{p.From, p.To})
		}
	}
	for _, spans := range a.path {
		slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	}
}

// Attributes of slices are numbered as causes; the critical path comes behind them.
func (a *archive) attributesOf(s *Slice, onPath vtime.Duration) (list []byte) {
	if s.IsComputing() && onPath == 0 {
		return nil
	}
	var times [processorCause + 2]vtime.Duration
	if !s.IsComputing() {
		for _, p := range a.PartsOf(s) {
			times[p.Cause] += p.Time
		}
	}
	times[processorCause+1] = onPath
	count, fields := uint32(0), []byte(nil)
	for number, d := range times {
		if d > 0 {
			count++
			fields = append(append32(fields, uint32(number)), otf2Uint64)
			fields = append64(fields, uint64(d))
		}
	}
	if count == 0 {
		return nil
	}
	return appendRecord(nil, otf2AttributeList, append(append32(nil, count), fields...))
}

// otf2Uint64 is the type of a number of 64 bits without sign.
const otf2Uint64 = 4

// writeAnchor writes the file that says what the archive has.
func (a *archive) writeAnchor(w *bufio.Writer) {
	b := appendText([]byte{otf2ChunkHeader, otf2LittleEndian}, "OTF2")
	b = append(b, 3, 2, 3, 0, 0) // the formats of this file and of traces, and the version of OTF2 whose records the archive has
	for _, size := range []uint64{otf2EventChunk, otf2Definitions} {
		b = binary.LittleEndian.AppendUint64(b, size)
	}
	b = append(b, 1, 1) // POSIX files, uncompressed
	b = binary.LittleEndian.AppendUint64(b, uint64(len(a.Shown)))
	b = binary.LittleEndian.AppendUint64(b, a.defined)
	b = appendText(appendText(appendText(b, a.Machine), "gigarank"), a.Program)
	b = binary.LittleEndian.AppendUint32(b, 0) // properties
	identity := fnv.New64a()
	_, _ = identity.Write(b)
	for _, n := range a.events {
		_, _ = identity.Write(binary.LittleEndian.AppendUint64(nil, n))
	}
	b = binary.LittleEndian.AppendUint64(b, identity.Sum64())
	b = binary.LittleEndian.AppendUint64(b, 0) // snapshots, thumbnails
	_, _ = w.Write(append(b, otf2EndOfFile, otf2EndOfBuffer, 0))
}
