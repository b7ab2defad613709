package trace

import "io"

// Foreign is a format of traces of another tool, which its reader converts. Each reader has a room of its own.
type Foreign struct {
	Name    string // of the format, for headers
	Summary string // one line
	// Begins reports whether a file of the format begins with some bytes.
	Begins func(first []byte) bool
	// Convert reads a file, perhaps several times. It begins the trace with a header, and writes the operations of all tasks. It returns the summary, whose
	// Note says what was left out.
	Convert func(name string, r io.ReadSeeker, begin func(Header) (*Writer, error)) (*Writer, Summary, error)
}
