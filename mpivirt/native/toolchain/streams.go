package toolchain

import "path/filepath"

// streamsName is the archive with the standard streams of C++.
const streamsName = "streams.a"

// streamFlags compile the standard streams.
var streamFlags = []string{"-c", "-O2", "-fPIC", "-fno-strict-aliasing"}

// openStreams has the standard streams of C++ in a directory of the cache.
func (l *Library) openStreams() (err error) {
	l.streams, err = l.compileOnce(CXX, "streams", streamFlags, streamsName, [][]string{
		{filepath.Join(l.include, "runtime", "libc", "streams.cc"), "-o", "streams.o"},
		{filepath.Join(l.include, "runtime", "libc", "streams.cc"), "-DWIDE", "-o", "wide.o"},
	})
	return err
}
