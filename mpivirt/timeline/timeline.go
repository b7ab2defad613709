package timeline

import (
	"bufio"
	"fmt"
	"strings"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Timeline is what a picture shows.
type Timeline struct {
	Program, Machine string
	Ranks            int   // of the run
	Shown            []int // ranks, ascending
	From, To         vtime.Time
	Slices           []Slice // by rank, then in the order of its program
	Parts            []Part
	Messages         []Message            // by the instants of their sends
	Path             []kernel.PathSegment // the critical path, if it was followed
	Comms            map[uint64]Comm      // of calls and messages, by context
	node             func(rank int) int   // nil if no call was made
	native           bool
}

// Comm is a communicator.
type Comm struct {
	Name          string
	Size          int     // members, shown or not
	Members       []int32 // ranks that are shown, in the order of the group; of SELF none
	Remote        uint64  // of an intercommunicator: context by which the remote group knows it
	RemoteMembers []int32
}

// Slice is a call of a rank, or computing.
type Slice struct {
	Begin, End vtime.Time
	Bytes      int64
	Obtained   int64  // bytes that a blocking collective gives the rank
	Context    uint64 // of the communicator, 0 for none
	Rank       int32
	Root       int32 // of a blocking collective, in WORLD; world.Root and world.ProcNull on an intercommunicator
	parts      int32
	Procedure  uint8
	count      uint8
	Collective bool // a blocking collective
}

// Part is a part of a slice that passes for a cause.
type Part struct {
	Cause kernel.Cause
	Time  vtime.Duration
}

// Message is a message point to point.
type Message struct {
	Sent, Received vtime.Time
	Posted         vtime.Time // the receive was posted
	Departed       vtime.Time // a nonblocking send was complete, 0 if it was at once
	Bytes          int64
	Context        uint64
	From, To       int32
	Tag            int32
	Requested      bool // the receive was nonblocking
}

// PartsOf returns the parts of a slice, in the order in which they pass.
func (t *Timeline) PartsOf(s *Slice) []Part { return t.Parts[s.parts : int(s.parts)+int(s.count)] }

// NameOf returns the name of the function of a slice.
func (t *Timeline) NameOf(procedure uint8) string {
	p := world.Procedure(procedure)
	switch {
	case p == world.Compute:
		return kernel.OutsideMPI
	case t.native:
		return "MPI_" + p.NameInC()
	}
	return p.String()
}

// IsComputing reports whether a slice is computing, and no call.
func (s *Slice) IsComputing() bool { return world.Procedure(s.Procedure) == world.Compute }

// processorCause is the cause of work for MPI.
const processorCause = kernel.NumberOfCauses - 1

// colors are the colours of causes, as red, green and blue.
var colors = map[string][3]uint8{
	"computing": {96, 168, 96}, "late sender": {214, 69, 65}, "late receiver": {231, 126, 34}, "wait at barrier": {155, 60, 150},
	"wait at n-to-n": {190, 90, 190}, "late root": {200, 80, 110}, "late member": {170, 60, 90}, "network": {70, 120, 200}, "interface": {40, 80, 150},
	"bus": {30, 60, 120}, "link": {20, 90, 130}, "memory": {20, 130, 130}, "processor": {230, 190, 60},
}

// Format is a format of pictures.
type Format struct {
	Ending, Tool                        string
	sliceBytes, partBytes, messageBytes int64                   // of its files, about
	check                               func(t *Timeline) error // nil if it holds any
	Files                               []File
	Folder                              bool                     // a folder with the name without the ending has more files
	more                                func(t *Timeline) []File // all files, in the order of writing; nil if Files are all
}

// FilesOf returns the files of a picture, in the order in which they are written.
func (f *Format) FilesOf(t *Timeline) []File {
	if f.more == nil {
		return f.Files
	}
	return f.more(t)
}

// File is a file of a format.
type File struct {
	Ending string
	write  func(w *bufio.Writer, t *Timeline) // an error is that of the writer, which keeps its first
}

// Formats are all formats, by the ending of the first file.
var Formats = []*Format{
	{Ending: ".json", Tool: "Perfetto and chrome://tracing", sliceBytes: 120, partBytes: 110, messageBytes: 190, Files: []File{{".json", writeJSON}}},
	{Ending: ".html", Tool: "a browser", sliceBytes: 30, partBytes: 12, messageBytes: 50, check: checkPage, Files: []File{{".html", writePage}}},
	{Ending: ".paje", Tool: "Paje, ViTE and pj_dump", sliceBytes: 32, partBytes: 36, messageBytes: 90, Files: []File{{".paje", writePaje}}},
	{Ending: ".prv", Tool: "Paraver", sliceBytes: 62, partBytes: 32, messageBytes: 62, Files: []File{{".prv", writeParaver}, {".pcf", writeColours}, {".row", writeRows}}},
	{Ending: ".otf2", Tool: "Vampir, otf2-print and other tools for OTF2", sliceBytes: 40, partBytes: 10, messageBytes: 60, check: checkOTF2, Files: []File{{Ending: ".otf2"}, {Ending: ".def"}}, Folder: true, more: otf2Files},
}

// FormatOf returns the format of a file with a name, nil for none.
func FormatOf(name string) *Format {
	for _, f := range Formats {
		if strings.HasSuffix(name, f.Ending) {
			return f
		}
	}
	return nil
}

// Check returns an error if the format does not hold a picture.
func (f *Format) Check(t *Timeline) error {
	if f.check == nil {
		return nil
	}
	return f.check(t)
}

// Size returns the number of bytes that the files of a picture take, about.
func (f *Format) Size(t *Timeline) int64 {
	return int64(len(t.Slices))*f.sliceBytes + int64(len(t.Parts))*f.partBytes + int64(len(t.Messages))*f.messageBytes
}

// Write writes a file of a picture.
func (f *File) Write(w *bufio.Writer, t *Timeline) error {
	f.write(w, t)
	return w.Flush()
}

// put writes text to a writer, which keeps its first error.
func put(w *bufio.Writer, format string, arguments ...any) {
	_, _ = fmt.Fprintf(w, format, arguments...)
}
