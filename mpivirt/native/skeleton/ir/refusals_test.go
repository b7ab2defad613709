package ir_test

import (
	"fmt"
	"strings"
	"testing"

	"gigarank/mpivirt/native/skeleton/ir"
)

// TestRefusals: text that is not understood is an error with its line.
func TestRefusals(t *testing.T) {
	in := func(line string) string {
		return "define void @f(i32 %a, ptr %p, double %d) {\n  " + line + "\n  ret void\n}\n"
	}
	for _, c := range []struct{ text, want string }{
		{in("fence seq_cst"), "m.ll:2: the opcode fence (threads)"},
		{in("%x = atomicrmw add ptr %p, i32 1 seq_cst, align 4"), "m.ll:2: the opcode atomicrmw (threads)"},
		{in("%x = load atomic i32, ptr %p seq_cst, align 4"), "m.ll:2: an atomic load"},
		{in(`call void asm sideeffect "nop", ""()`), "m.ll:2: inline assembly"},
		{in("%x = frobnicate i32 %a"), "m.ll:2: frobnicate is no opcode"},
		{in("%x = add i32 %a, %b"), "m.ll:2: %b is used and not there"},
		{in("%x = add i32 %a, 1.5"), "m.ll:2: 1.5 is no number of type i32"},
		{in("%x = fadd double %d, 1"), "m.ll:2: 1 is no number of type double"},
		{in("%x = fadd double %d, %a"), "m.ll:2: %a has type i32 and is used as double"},
		{in("%a = add i32 1, 1"), "m.ll:2: %a is defined twice"},
		{in("store i32 %a, i32 %a"), "m.ll:2: %a is no pointer"},
		{in("br label %there\nx:"), "m.ll:2: the block there is used and not there"},
		{in("br i1 %a, label %x, label %x"), "m.ll:2: %a has type i32"},
		{in("br label %0\nx:"), "m.ll:2: a jump to the first block"},
		{in("call void @g()"), "m.ll:2: @g is used and not there"},
		{in("call i32 @f(i32 1, ptr null, double 0.0)"), "m.ll:2: the result of call has no name"},
		{in("%x = store i32 %a, ptr %p"), "m.ll:2: store has no result"},
		{in("%x = extractvalue { i32, ptr } zeroinitializer, 2"), "has no part 2"},
		{in("%x = load i32, i32* %p"), "a pointer with a type"},
		{in("%x = load <vscale x 2 x i32>, ptr %p"), "a vector whose length only the processor knows"},
		{in("%x = getelementptr i32, ptr %p, ptr blockaddress(@f, %b)"), "the address of a block"},
		{in("ret i32 1\nx:"), "m.ll:2: ret of i32 in a function that returns void"},
		{in("%3 = add i32 1, 1\n  %2 = add i32 1, 1"), "m.ll:3: 2 stands for a name where the number 4"},
		{in("%x = add i32 %a, 1\n  %y = phi i32 [ 1, %0 ]"), "m.ll:3: phi stands behind"},
		{`module asm "nop"`, "m.ll:1: inline assembly of a module"},
		{"@a = global i32 1\n@a = global i32 1", "m.ll:2: @a is defined twice"},
		{"@a = global [2 x i32] [i32 1]", "m.ll:1: [2 x i32] has 2 elements, and 1 stand here"},
		{"@a = global [2 x i8] c\"abc\"", "m.ll:1: a text of 3 bytes stands for [2 x i8]"},
		{"@a = global ptr @b", "m.ll:1: @b is used and not there"},
		{"@a = ifunc void (), ptr @b", "m.ll:1: @a is no variable and no alias"},
		{"%t = type { i32 }\n%t = type { i64 }", "m.ll:2: %t is defined twice"},
		{"uselistorder ptr @a, { 1, 0 }", "m.ll:1: \"uselistorder\" begins no part"},
		{"define void @f() {\n", "stands where an instruction is wanted"},
		{"@a = global i32 \"", "m.ll:1: a text in quotes does not end"},
		{"target datalayout = \"p:x:8\"", "m.ll:1: the data layout has \"p:x:8\""},
		{"target datalayout = \"e-:8\"", "which begins with no letter"},
		{"@a = global " + strings.Repeat("[1 x ", 1000) + "i8", "nested more than"},
	} {
		if _, err := ir.Parse("m.ll", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v, and not %s", c.text, err, c.want)
		}
	}
}

// TestRefusalsNameTheSource: if the instruction has a line, the error has it.
func TestRefusalsNameTheSource(t *testing.T) {
	const text = `define void @f() !dbg !3 {
  fence seq_cst, !dbg !4
  ret void
}
!1 = !DIFile(filename: "src/a, b.c", directory: "/")
!3 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 7)
!4 = !DILocation(line: 8, column: 2, scope: !5, inlinedAt: !6)
!5 = distinct !DILexicalBlock(scope: !3, file: !1, line: 8)
!6 = distinct !DILocation(line: 9, column: 2, scope: !3)
`
	_, err := ir.Parse("m.ll", text)
	if want := "src/a, b.c:8, inlined in src/a, b.c:9: the opcode fence (threads): skeletons do not take it (m.ll:2)"; err == nil || err.Error() != want {
		t.Errorf("%v, and not %s", err, want)
	}
	// clang 19 has /home/you/src/a.c and, compiled in /home/you/src, b/c.c so; flang 19 has the second in its own directory.
	for _, c := range []struct{ compiled, file, want string }{
		{`filename: "/home/you/src/a.c", directory: "/home/you/build"`, `filename: "src/a.c", directory: "/home/you"`, "/home/you/src/a.c:8: "},
		{`filename: "b/c.c", directory: "/home/you/src"`, `filename: "b/c.c", directory: "/home/you/src"`, "b/c.c:8: "},
		{`filename: "b/c.f90", directory: "/home/you/src"`, `filename: "c.f90", directory: "/home/you/src/b"`, "b/c.f90:8: "},
	} {
		text := fmt.Sprintf(`define void @f() !dbg !3 {
  fence seq_cst, !dbg !4
  ret void
}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(%s)
!2 = !DIFile(%s)
!3 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 7, unit: !0)
!4 = !DILocation(line: 8, column: 2, scope: !3)
`, c.compiled, c.file)
		if _, err := ir.Parse("m.ll", text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, and not %s", err, c.want)
		}
	}
}

// FuzzParse: the reader refuses a text, or the writer's text is read as the same module.
func FuzzParse(f *testing.F) {
	for _, text := range modules(f) {
		f.Add(text)
	}
	f.Add("define i32 @f(ptr %0) {\n  %2 = load i32, ptr %0\n  br label %3\n3:\n  ret i32 %2\n}")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ir.Parse("m.ll", text)
		if err != nil {
			return
		}
		for _, g := range m.Globals() {
			if size, err := m.Layout.Size(g.Type); err == nil && size < 0 {
				t.Errorf("%s has %d bytes", g.Type, size)
			}
		}
		written := m.String()
		again, err := ir.Parse("m.ll", written)
		if err != nil {
			t.Fatalf("the writer's text is refused: %v\n%s", err, written)
		}
		if again.String() != written {
			t.Errorf("the writer's text is read as another module:\n%s\n%s", written, again)
		}
	})
}
