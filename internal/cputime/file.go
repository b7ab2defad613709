package cputime

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"strings"
)

// Header is the first line of a recording: the run that was recorded. A recording has one file for
// each process, from 0 to Processes-1.
type Header struct {
	Format    string   `json:"format"`            // always FormatName
	Program   string   `json:"program"`           // a name without directories
	Arguments []string `json:"arguments"`         // of the program; with Ranks they decide on its computing
	Digest    string   `json:"executable_sha256"` // in hexadecimal; empty if the program is part of the simulator
	Ranks     int      `json:"ranks"`             // of the run
	Process   int      `json:"process"`
	Processes int      `json:"processes"`
	Run       uint64   `json:"run"` // a number that the files of one run share, and no others; 0 if it is unknown
}

// FormatName names the format of recordings. All its versions begin with formatFamily.
const (
	FormatName   = formatFamily + "2"
	formatFamily = "gigarank-cpu-"
)

// Write writes the file of a process: the header as a line of JSON, then for each rank its
// number, the length of its bursts and the bursts as they are in [Log], all as
// variable-length integers, and at the end the CRC-32 of all that in 4 bytes.
func Write(w io.Writer, h Header, logs []*Log) error {
	h.Format = FormatName
	sum := crc32.NewIEEE()
	out := bufio.NewWriter(io.MultiWriter(w, sum))
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, _ = out.Write(append(line, '\n')) // Flush returns the error
	var number [2 * binary.MaxVarintLen64]byte
	for _, l := range logs {
		for i, bursts := range l.ranks {
			n := binary.AppendUvarint(number[:0], uint64(l.first+i))
			_, _ = out.Write(binary.AppendUvarint(n, uint64(len(bursts))))
			_, _ = out.Write(bursts)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, sum.Sum32())
}

// readHeader reads the first line of a file, and returns it as it is and what it says.
func readHeader(r *bufio.Reader) (line []byte, h Header, err error) {
	var of struct {
		Format string `json:"format"`
	}
	line, err = r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &of)
	}
	if err == nil && of.Format != FormatName && strings.HasPrefix(of.Format, formatFamily) {
		return nil, h, fmt.Errorf("is a recording in the format %s, which this gigarank does not read: record it again", of.Format)
	}
	if err == nil {
		err = json.Unmarshal(line, &h)
	}
	if err != nil || h.Format != FormatName {
		return nil, h, errors.New("is no recording of CPU times: give a file that --cpu-record has written")
	}
	return line, h, nil
}

// Read reads a file and stores the bursts of its ranks in the logs that hold those ranks.
// Other ranks are left out. Errors: the file is no recording, or it is damaged.
func Read(r io.Reader, logs []*Log) (Header, error) {
	sum := crc32.NewIEEE()
	in := bufio.NewReader(r)
	line, h, err := readHeader(in)
	if err != nil {
		return h, err
	}
	_, _ = sum.Write(line)
	if err := readRanks(in, sum, h.Ranks, logs); err != nil {
		return h, fmt.Errorf("is damaged, or its end is missing: record it again (%w)", err)
	}
	return h, nil
}

// readRanks reads the part of a file after the header, of which sum has the bytes.
func readRanks(in *bufio.Reader, sum hash.Hash32, ranks int, logs []*Log) error {
	// The last four bytes are the checksum: no entry is shorter than two, so that the
	// number of a rank begins an entry only if more than four bytes are left.
	for {
		if rest, err := in.Peek(5); len(rest) == 4 && err != nil {
			if binary.LittleEndian.Uint32(rest) != sum.Sum32() {
				return errors.New("the checksum differs")
			}
			return nil
		}
		rank, err := readNumber(in, sum)
		if err != nil || rank >= uint64(ranks) {
			return cmp.Or(err, errors.New("a rank that the run did not have"))
		}
		n, err := readNumber(in, sum)
		if err != nil || n > math.MaxInt32 {
			return cmp.Or(err, errors.New("a rank is too long"))
		}
		to := io.Writer(io.Discard)
		for _, l := range logs {
			if i := int(rank) - l.first; i >= 0 && i < len(l.ranks) {
				to = (*appender)(&l.ranks[i])
			}
		}
		if _, err := io.CopyN(io.MultiWriter(to, sum), in, int64(n)); err != nil {
			return err
		}
	}
}

// appender is a slice that grows by the bytes that are written to it.
type appender []byte

// Write implements [io.Writer].
func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// readNumber reads a variable-length integer and adds its bytes to the checksum.
func readNumber(in *bufio.Reader, sum io.Writer) (uint64, error) {
	v, err := binary.ReadUvarint(in)
	if err != nil {
		return 0, err
	}
	_, err = sum.Write(binary.AppendUvarint(nil, v))
	return v, err
}
