package sync

import (
	"encoding/binary"
	"fmt"

	"gigarank/vtime"
)

// A packet is one transport message: a header, then items. All integers are
// little-endian; items are padded to 8 bytes, so that a record is aligned.
//
//	 0  promise   int64   every record sent after this packet concerns this time or a later one
//	 8  credit    uint64  bytes of the receiver's records that the sender has consumed
//	16  cut       uint32  how many rounds the sender had contributed to
//	20  records   uint32  data records in the packet
//	24  magic     uint32
//	28  flags     uint32  the lowest byte; the others: how often the sender has resumed, modulo 2^24
//	32  items: length uint56, kind uint8, the bytes, padding, which a last one may do without
const (
	headerSize     = 32
	itemHeaderSize = 8
	packetMagic    = 0x67724b06 // the last byte is the version of the layout

	firstPacket = 1 << 10  // capacity of a packet just begun
	fullPacket  = 32 << 10 // a packet is sent before it grows past this, unless one record needs more
)

// flagAnswer marks a packet that answers a request.
const flagAnswer = 1

// item kinds
const (
	kindData uint64 = iota + 1
	kindRequest
	kindWant
	kindStart
	kindContribution
	kindResult
	kindStop
	kindGather
	kindFailure
	kindShare
	kindAmendment
)

// kindShift is where the kind lies in the word before an item.
const kindShift = 56

// header is the decoded head of a packet.
type header struct {
	promise vtime.Time
	credit  int64
	cut     uint32
	records uint32
	flags   uint8
	resumed uint32 // modulo resumedModulus
}

// resumedModulus bounds the number in a packet of how often its sender has resumed. It is far more than
// two engines differ by, which is one.
const resumedModulus = 1 << 24

func putHeader(packet []byte, h header) {
	le := binary.LittleEndian
	le.PutUint64(packet[0:], uint64(h.promise))
	le.PutUint64(packet[8:], uint64(h.credit))
	le.PutUint32(packet[16:], h.cut)
	le.PutUint32(packet[20:], h.records)
	le.PutUint32(packet[24:], packetMagic)
	le.PutUint32(packet[28:], uint32(h.flags)|h.resumed<<8)
}

func readHeader(packet []byte) (header, error) {
	le := binary.LittleEndian
	if len(packet) < headerSize || le.Uint32(packet[24:]) != packetMagic {
		return header{}, fmt.Errorf("a message of %d bytes is not a packet of this version: start the same binary on every host", len(packet))
	}
	return header{
		promise: vtime.Time(le.Uint64(packet[0:])),
		credit:  int64(le.Uint64(packet[8:])),
		cut:     le.Uint32(packet[16:]),
		records: le.Uint32(packet[20:]),
		flags:   packet[28],
		resumed: le.Uint32(packet[28:]) >> 8,
	}, nil
}

// nextItem splits the first item off the items of a packet.
func nextItem(items []byte) (kind uint64, body, rest []byte, err error) {
	if len(items) < itemHeaderSize {
		return 0, nil, nil, fmt.Errorf("a packet ends within an item")
	}
	word := binary.LittleEndian.Uint64(items)
	n := int(word & (1<<kindShift - 1))
	kind = word >> kindShift
	if itemHeaderSize+n > len(items) {
		return 0, nil, nil, fmt.Errorf("a packet ends within an item of %d bytes", n)
	}
	return kind, items[itemHeaderSize : itemHeaderSize+n : itemHeaderSize+n], items[min(framed(n), len(items)):], nil
}

// putFrame writes the head of an item of n bytes.
func putFrame(frame []byte, kind uint64, n int) {
	binary.LittleEndian.PutUint64(frame, uint64(n)|kind<<kindShift)
}

// framed returns the number of bytes that an item of n bytes takes in a packet.
func framed(n int) int { return itemHeaderSize + (n+7)&^7 }
