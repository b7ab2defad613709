package host

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	stdsync "sync"
	"testing"

	"gigarank/internal/seed"
)

// Host 0 reads the files of all others as they are, in pieces, in any order, and its reads end where a file does. A host whose file cannot be
// read says so.
func TestPartsOfHosts(t *testing.T) {
	const n = 4
	seed := seed.Next()
	draw := rand.New(rand.NewPCG(seed, 0))
	var files [n]*os.File
	var texts [n][]byte
	for i := 1; i < n; i++ {
		texts[i] = make([]byte, []int{0, 0, 100, 2*pieceSize + 77}[i])
		for at := range texts[i] {
			texts[i][at] = byte(draw.Uint32())
		}
		name := filepath.Join(t.TempDir(), "part")
		if err := os.WriteFile(name, texts[i], 0o666); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.Open(name); err != nil {
			t.Fatal(err)
		}
	}
	check := func(h *Processes) {
		for i := 1; i < n; i++ {
			p, err := h.OpenPart(i)
			if err != nil || p.Size() != int64(len(texts[i])) {
				t.Errorf("host %d: %v, %v", i, p, err)
				continue
			}
			if all, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size())); err != nil || !bytes.Equal(all, texts[i]) {
				t.Errorf("host %d: %d bytes of %d, %v", i, len(all), len(texts[i]), err)
			}
			for range 20 {
				at, length := draw.IntN(len(texts[i])+1), draw.IntN(pieceSize/2)
				b := make([]byte, length)
				got, err := p.ReadAt(b, int64(at))
				want := min(length, len(texts[i])-at)
				if got != want || !bytes.Equal(b[:got], texts[i][at:at+want]) || (err == io.EOF) != (want < length) {
					t.Errorf("seed %d, host %d: %d bytes at %d: %d, %v", seed, i, length, at, got, err)
				}
			}
		}
	}
	var group stdsync.WaitGroup
	for i, h := range connected(n) {
		group.Go(func() {
			if i > 0 {
				if err := h.AnswerParts(files[i]); err != nil {
					t.Errorf("host %d: %v", i, err)
				}
				return
			}
			check(h)
			if err := h.EndParts(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()

	_ = files[1].Close()
	hosts := connected(2)
	group.Go(func() {
		if err := hosts[1].AnswerParts(files[1]); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("a host whose file is closed ends with %v", err)
		}
	})
	if p, err := hosts[0].OpenPart(1); err != nil || p.Size() != 0 {
		t.Errorf("%v, %v", p, err)
	}
	if err := hosts[0].EndParts(); err != nil {
		t.Error(err)
	}
	group.Wait()
}
