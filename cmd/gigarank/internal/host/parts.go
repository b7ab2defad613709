package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// After a run that has ended on all hosts, host 0 reads what the others have written to files of their own machines. The others answer: host 0 asks each for bytes at a
// place, and for the size of the file at the place -1. A request for no bytes ends the answers. Host 0 asks one host at a time, so at most one answer is
// on its way to it.

const (
	requestSize = 16      // bytes: the place and the length
	pieceSize   = 1 << 20 // most bytes of an answer
	sizeAt      = -1      // the place that stands for the size of the file
)

// Part is the file of another host, as host 0 reads it.
type Part struct {
	h    *Processes
	host int
	size int64
	at   int64  // the place of piece
	have []byte // the latest piece
}

// OpenPart returns the file of another host, which answers by AnswerParts.
func (h *Processes) OpenPart(host int) (*Part, error) {
	p := &Part{h: h, host: host}
	text, err := p.ask(sizeAt, requestSize/2)
	if err != nil {
		return nil, err
	}
	p.size = int64(binary.LittleEndian.Uint64(text))
	return p, nil
}

// Size returns the size of the file.
func (p *Part) Size() int64 { return p.size }

// ReadAt implements [io.ReaderAt]. It keeps a piece of the file, so that reads in the order of the file take few messages.
func (p *Part) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		from := at + int64(n)
		if from >= p.size {
			return n, io.EOF
		}
		if from < p.at || from >= p.at+int64(len(p.have)) {
			if p.have, err = p.ask(from, min(pieceSize, p.size-from)); err != nil {
				return n, err
			}
			p.at = from
		}
		n += copy(b[n:], p.have[from-p.at:])
	}
	return n, nil
}

// ask asks for bytes of the file, and waits for them.
func (p *Part) ask(at, length int64) ([]byte, error) {
	if err := p.h.request(p.host, at, length); err != nil {
		return nil, err
	}
	src, message, err := p.h.await()
	if err != nil {
		return nil, err
	}
	defer p.h.talk.Free(message)
	if src != p.host || int64(len(message)) != length {
		return nil, fmt.Errorf("host process %d answers with %d bytes in place of the %d of host process %d", src, len(message), length, p.host)
	}
	return append([]byte(nil), message...), nil
}

func (h *Processes) request(dst int, at, length int64) error {
	message := h.talk.Alloc(requestSize)
	binary.LittleEndian.PutUint64(message, uint64(at))
	binary.LittleEndian.PutUint64(message[8:], uint64(length))
	return h.talk.Send(dst, message)
}

// EndParts ends the answers of all other hosts.
func (h *Processes) EndParts() (err error) {
	for dst := 1; dst < h.Size; dst++ {
		err = errors.Join(err, h.request(dst, 0, 0))
	}
	return err
}

// AnswerParts answers host 0, which reads this host's file, until host 0 has read the files of all hosts. If a read fails, the bytes are zeros, and host
// 0 finds that they are no file; the error is this host's.
func (h *Processes) AnswerParts(file *os.File) (failure error) {
	size := int64(0)
	if info, err := file.Stat(); err != nil {
		failure = err
	} else {
		size = info.Size()
	}
	for {
		_, message, err := h.await()
		if err != nil {
			return err
		}
		at, length := int64(binary.LittleEndian.Uint64(message)), int64(binary.LittleEndian.Uint64(message[8:]))
		h.talk.Free(message)
		if length == 0 {
			return failure
		}
		answer := h.talk.Alloc(int(length))
		if at == sizeAt {
			binary.LittleEndian.PutUint64(answer, uint64(size))
		} else if _, err := file.ReadAt(answer, at); err != nil {
			clear(answer)
			failure = err
		}
		if err := h.talk.Send(0, answer); err != nil {
			return err
		}
	}
}

// await waits for the next message between hosts. The loss of a host is an error.
func (h *Processes) await() (src int, message []byte, err error) {
	for {
		if src, message, err = h.talk.Receive(); message != nil || err != nil {
			return src, message, err
		}
		if err = h.talk.Wait(10 * time.Millisecond); err != nil {
			return 0, nil, err
		}
	}
}
