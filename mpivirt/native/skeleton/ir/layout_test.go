package ir_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"gigarank/internal/seed"
)

const layout = `target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"` + "\n"

// TestLayoutAgainstGo: on amd64 and arm64 Go lays out structures of C's types as C does.
func TestLayoutAgainstGo(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("Go's structures are those of C on amd64 and arm64")
	}
	seed := seed.Next()
	random := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		inGo, inLLVM := randomStruct(random, 3)
		m := parse(t, "m.ll", layout+"%t = type "+inLLVM+"\n@a = external global %t\n")
		g := m.Symbol("a").Global.Type
		size, err := m.Layout.Size(g)
		if err != nil || size != int64(inGo.Size()) {
			t.Errorf("seed %d: %s has %d bytes, in Go %d: %v", seed, inLLVM, size, inGo.Size(), err)
		}
		if align, _ := m.Layout.Align(g); align != int64(inGo.Align()) {
			t.Errorf("seed %d: %s is aligned to %d, in Go to %d", seed, inLLVM, align, inGo.Align())
		}
		for n := range inGo.NumField() {
			if offset, err := m.Layout.Field(g, n); err != nil || offset != int64(inGo.Field(n).Offset) {
				t.Errorf("seed %d: field %d of %s is at %d, in Go at %d: %v", seed, n, inLLVM, offset, inGo.Field(n).Offset, err)
			}
		}
	}
}

var scalars = []struct {
	inGo   reflect.Type
	inLLVM string
}{
	{reflect.TypeFor[int8](), "i8"}, {reflect.TypeFor[int16](), "i16"}, {reflect.TypeFor[int32](), "i32"}, {reflect.TypeFor[int64](), "i64"},
	{reflect.TypeFor[float32](), "float"}, {reflect.TypeFor[float64](), "double"}, {reflect.TypeFor[*int](), "ptr"},
}

// randomStruct returns a structure as a type of Go and of LLVM. Go pads behind a last field without a size, and C does not: each field has one.
func randomStruct(random *rand.Rand, depth int) (reflect.Type, string) {
	var fields []reflect.StructField
	var texts []string
	for n := range 1 + random.IntN(6) {
		inGo, inLLVM := randomType(random, depth)
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", n), Type: inGo})
		texts = append(texts, inLLVM)
	}
	return reflect.StructOf(fields), "{ " + strings.Join(texts, ", ") + " }"
}

func randomType(random *rand.Rand, depth int) (reflect.Type, string) {
	switch k := random.IntN(6); {
	case k == 0 && depth > 0:
		return randomStruct(random, depth-1)
	case k == 1 && depth > 0:
		inGo, inLLVM := randomType(random, depth-1)
		n := 1 + random.IntN(4)
		return reflect.ArrayOf(n, inGo), fmt.Sprintf("[%d x %s]", n, inLLVM)
	}
	s := scalars[random.IntN(len(scalars))]
	return s.inGo, s.inLLVM
}

// TestSizes: sizes and alignments of the language reference and the psABI of x86-64, and of the layout's defaults.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		layout, typ string
		size, align int64
	}{
		{layout, "x86_fp80", 16, 16},
		{layout, "fp128", 16, 16},
		{layout, "i128", 16, 16},
		{layout, "i1", 1, 1},
		{layout, "i24", 4, 4},
		{layout, "<3 x i32>", 16, 16},
		{layout, "<4 x i1>", 1, 1},
		{layout, "<{ i8, double }>", 9, 1},
		{layout, "{}", 0, 1},
		{layout, "[0 x double]", 0, 8},
		{layout, "{ i8, <{ i8, i32 }>, i16 }", 8, 2},
		{layout, "ptr addrspace(270)", 4, 4},
		{"", "i64", 8, 4}, // without a layout, 64 bits are aligned to 32
		{"", "ptr", 8, 8},
	} {
		m := parse(t, "m.ll", c.layout+"@a = external global "+c.typ+"\n")
		g := m.Symbol("a").Global.Type
		size, err := m.Layout.Size(g)
		align, _ := m.Layout.Align(g)
		if err != nil || size != c.size || align != c.align {
			t.Errorf("%s has %d bytes, aligned to %d, and not %d to %d: %v", c.typ, size, align, c.size, c.align, err)
		}
	}
	for _, typ := range []string{"[4294967296 x [4294967296 x i8]]", "%t", "{ [281474976710656 x i8], [281474976710656 x i8] }"} {
		m := parse(t, "m.ll", "%t = type { [2 x %u] }\n%u = type opaque\n@a = external global "+typ+"\n")
		if size, err := m.Layout.Size(m.Symbol("a").Global.Type); err == nil {
			t.Errorf("%s has %d bytes", typ, size)
		}
	}
}

// TestOffsets: the example of the language reference, section "getelementptr", with its offsets by hand.
func TestOffsets(t *testing.T) {
	m := parse(t, "m.ll", layout+`%RT = type { i8, [10 x [20 x i32]], i8 }
%ST = type { i32, double, %RT }
define void @f(ptr %s, i64 %n, i64 %k) {
  %a = getelementptr inbounds %ST, ptr %s, i64 1, i32 2, i32 1, i64 5, i64 13
  %b = getelementptr i8, ptr %s, i64 -8
  %c = getelementptr %ST, ptr %s, i64 %n, i32 2, i32 1, i64 %k, i64 3
  ret void
}
`)
	const st = 16 + 808 // int, padding, double; char, padding, 200 ints, char, padding
	for n, want := range []struct {
		constant int64
		strides  []int64
	}{
		{st + 16 + 4 + 5*80 + 13*4, nil},
		{-8, nil},
		{16 + 4 + 3*4, []int64{st, 80}},
	} {
		i := m.Symbol("f").Function.Blocks[0].Instrs[n]
		constant, terms, err := m.Layout.Offset(i.Type, i.Operands[1:])
		if err != nil || constant != want.constant || len(terms) != len(want.strides) {
			t.Errorf("%s adds %d and %v: %v", i, constant, terms, err)
			continue
		}
		for k, term := range terms {
			if term.Stride != want.strides[k] {
				t.Errorf("%s: term %d has stride %d", i, k, term.Stride)
			}
		}
	}
}
