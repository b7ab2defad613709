package trace

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// LaterVersion returns a file as version 2 might have it: with a record of another type behind its header.
func LaterVersion(file []byte) []byte {
	_, _, at, err := readHeader("", bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	head := bytes.Replace(bytes.Clone(file[:at]), []byte(`"version":1`), []byte(`"version":2`), 1)
	head = appendRecord(WithChecksums(head), 'X', []byte("what version 1 does not know"))
	var b bytes.Buffer
	t := Writer{w: &b, at: int64(len(head)), tasks: 1}
	x, err := Walk("", bytes.NewReader(file), int64(len(file)), func(k *Block, _ []byte) error {
		t.add(k)
		return nil
	}, nil)
	if err == nil {
		err = t.Close(*x.Summary)
	}
	if err != nil {
		panic(err)
	}
	return append(head, b.Bytes()...)
}

// WithChecksums returns a file whose records have checksums that fit, as far as there are records.
func WithChecksums(file []byte) []byte {
	file = bytes.Clone(file)
	for at := len(beginning); at < len(file) && bytes.HasPrefix(file[at:], []byte(mark)); {
		n, m := binary.Uvarint(file[min(at+len(mark)+1, len(file)):])
		end := at + len(mark) + 1 + m + int(n&(1<<32-1))
		if m <= 0 || end+sumBytes > len(file) {
			break
		}
		binary.LittleEndian.PutUint32(file[end:], crc32.Checksum(file[at:end], castagnoli))
		at = end + sumBytes
	}
	return file
}
