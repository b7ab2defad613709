//go:build amd64 || arm64

package sync

// fetch has the processor load the cache lines of a buffer, all at a time: one after another, as a reader
// comes to them, each would take as long as the caches of two processors are apart. It reads no data.
//
//go:noescape
func fetch(buffer []byte)

// fetchToWrite is fetch for a buffer that is written to next. Other processors' caches give its lines up.
//
//go:noescape
func fetchToWrite(buffer []byte)
