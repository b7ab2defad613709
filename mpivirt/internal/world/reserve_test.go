package world

import (
	"reflect"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// Arrays from common blocks are zero, and what is written to one is not seen in another.
func TestPiecesAreApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		announced := 0
		b := NewBlocks(rapid.IntRange(1, 2000).Draw(t, "ranks"), func(memory []byte) { announced += len(memory) })
		var bytes [][]byte
		var words [][]int64
		for i := range rapid.IntRange(1, 40).Draw(t, "arrays") {
			if n := rapid.IntRange(0, 300).Draw(t, "length"); i%2 == 0 {
				bytes = append(bytes, pieceOf[byte](b, n))
			} else {
				words = append(words, pieceOf[int64](b, n))
			}
		}
		for i := range bytes {
			for j, v := range bytes[i] {
				if v != 0 {
					t.Fatalf("byte %d of array %d is %d before it is set", j, i, v)
				}
				bytes[i][j] = byte(i + 1)
			}
		}
		taken := 0
		for i := range words {
			for j, v := range words[i] {
				if v != 0 {
					t.Fatalf("word %d of array %d is %x before it is set", j, i, v)
				}
				words[i][j] = -1
			}
			taken += 8 * len(words[i])
		}
		for i := range bytes {
			for j, v := range bytes[i] {
				if v != byte(i+1) {
					t.Fatalf("byte %d of array %d is %d, want %d", j, i, v, i+1)
				}
			}
			taken += len(bytes[i])
		}
		if taken > announced {
			t.Fatalf("%d bytes of arrays lie in %d that were announced", taken, announced)
		}
	})
}

// Arrays of pointers, and those that are not small, are memory of their own.
func TestPiecesAreSmallAndWithoutPointers(t *testing.T) {
	b := NewBlocks(1000, nil)
	if pieceOf[*int](b, 3) != nil || pieceOf[struct{ n, s any }](b, 3) != nil || pieceOf[[2]string](b, 3) != nil {
		t.Error("an array of pointers lies in a block without")
	}
	if a := pieceOf[struct {
		n uint16
		m [3]float64
	}](b, 3); len(a) != 3 {
		t.Errorf("an array of three values has %d in a block", len(a))
	}
	if pieceOf[byte](b, 3000) != nil {
		t.Error("an array of 3,000 bytes lies in a block of 16,000")
	}
	k := Partition{blocks: b}
	k.EndSetUp()
	before := len(b.rest)
	if Reserve[byte](&k, 5); len(b.rest) != before {
		t.Error("an array lies in a block after the set-up")
	}
	for v, want := range map[any]bool{1: false, 'a': false, 1.5: false, uintptr(1): true, "a": true, unsafe.Pointer(nil): true, [1]bool{}: false} {
		if got := hasPointers(reflect.TypeOf(v)); got != want {
			t.Errorf("a value of type %T may have pointers: %v, want %v", v, got, want)
		}
	}
}
