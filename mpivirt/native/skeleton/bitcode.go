package skeleton

import "encoding/binary"

// producer returns the name and release of the LLVM that has made a bitcode file, as LLVM19.1.7, "" if the file does not tell. They are the
// first record of the first block, as the LLVM Bitcode File Format describes it, section "IDENTIFICATION_BLOCK Contents".
func producer(text []byte) string {
	const (
		enterBlock       = 1
		identification   = 13
		defineAbbrev     = 2
		firstAbbrev      = 4
		magicBits        = 32
		outerWidth       = 2
		arrayOf, char6Of = 3, 4
	)
	b := bitReader{text: text, at: magicBits}
	if b.take(outerWidth) != enterBlock || b.vbr(8) != identification {
		return ""
	}
	width := b.vbr(4)
	b.at = (b.at+31)/32*32 + 32 // the number of words
	if b.take(int(width)) != defineAbbrev {
		return ""
	}
	bits, char6 := 0, false
	for operands := b.vbr(5); operands > 0 && !b.over(); operands-- {
		if b.take(1) == 1 {
			b.vbr(8) // the code of the record
			continue
		}
		switch encoding := b.take(3); encoding {
		case arrayOf:
		case char6Of:
			bits, char6 = 6, true
		default:
			bits = int(b.vbr(5))
		}
	}
	if b.take(int(width)) != firstAbbrev || bits == 0 || bits > 8 {
		return ""
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
	var name []byte
	for n := b.vbr(6); n > 0 && n < 256 && !b.over(); n-- {
		c := byte(b.take(bits))
		if char6 {
			c = letters[c]
		}
		name = append(name, c)
	}
	return string(name)
}

// bitReader reads a stream of bits, the lowest bit of each byte first.
type bitReader struct {
	text []byte
	at   int
}

func (b *bitReader) over() bool { return b.at > len(b.text)*8 }

// take returns the next bits as a number, zeros behind the end.
func (b *bitReader) take(bits int) (n uint64) {
	var word [16]byte
	if first := b.at / 8; first < len(b.text) && bits <= 32 {
		copy(word[:], b.text[first:])
		n = binary.LittleEndian.Uint64(word[:]) >> (b.at % 8) & (1<<bits - 1)
	}
	b.at += bits
	return n
}

// vbr returns a number in pieces of some bits, of which the highest says that another piece follows.
func (b *bitReader) vbr(bits int) (n uint64) {
	for shift := 0; shift < 64; shift += bits - 1 {
		piece := b.take(bits)
		more := piece >> (bits - 1)
		n |= (piece &^ (1 << (bits - 1))) << shift
		if more == 0 {
			break
		}
	}
	return n
}
