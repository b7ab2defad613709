package slice_test

import (
	"strings"
	"testing"

	"gigarank/mpivirt/native/skeleton/slice"
)

// TestStoresThatEndOthers: a load needs the last store that covers its bytes and what may write them behind it, and not what has been there before.
// Each store has a number of its own.
func TestStoresThatEndOthers(t *testing.T) {
	for name, c := range map[string]struct{ body, left, gone string }{
		"a store in front of another one": {`
  store i32 111, ptr %x
  store i32 222, ptr %x
  %v = load i32, ptr %x`, "222", "111"},
		"a store of a part": {`
  store i64 111, ptr %x
  store i32 222, ptr %x
  %w = load i64, ptr %x
  %v = trunc i64 %w to i32`, "111 222", ""},
		"a store of more": {`
  %q = getelementptr i8, ptr %x, i64 4
  store i32 111, ptr %q
  store i64 222, ptr %x
  %v = load i32, ptr %q`, "222", "111"},
		"a store beside": {`
  %q = getelementptr i8, ptr %x, i64 4
  store i32 111, ptr %q
  store i32 222, ptr %x
  %v = load i32, ptr %q`, "111", "222"},
		"a store that leaves bits": {`
  store i64 111, ptr %x
  store i24 222, ptr %x
  %v = load i32, ptr %x`, "111 222", ""},
		"a store on one way": {`
  store i32 111, ptr %x
  br i1 %c, label %one, label %two
one:
  store i32 222, ptr %x
  br label %two
two:
  %v = load i32, ptr %x`, "111 222", ""},
		"stores on both ways behind one in front": {`
  store i32 111, ptr %x
  store i32 222, ptr %x
  br i1 %c, label %one, label %two
one:
  store i32 333, ptr %x
  br label %three
two:
  store i32 444, ptr %x
  br label %three
three:
  %v = load i32, ptr %x`, "333 444", "111 222"},
		"a store that the loop brings back": {`
  store i32 111, ptr %x
  store i32 222, ptr %x
  br label %loop
loop:
  %v = load i32, ptr %x
  store i32 333, ptr %x
  store i32 444, ptr %x
  call void @gigarank_compute(double 1.000000e+00)
  %more = icmp slt i32 %v, 9
  br i1 %more, label %loop, label %out
out:`, "222 444", "111 333"},
		"an index makes another address": {`
  %r = load i32, ptr %rank
  store i32 111, ptr %x
  %q = getelementptr i32, ptr %x, i32 %r
  store i32 222, ptr %q
  %v = load i32, ptr %x`, "111 222", ""},
		"the same index, and one between": {`
  %r = load i32, ptr %rank
  %q = getelementptr i32, ptr %x, i32 %r
  store i32 111, ptr %q
  store i32 222, ptr %q
  store i32 333, ptr %x
  %v = load i32, ptr %q`, "222 333", "111"},
		"an address made anew in a loop": {`
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr i32, ptr %x, i32 %n
  store i32 111, ptr %q
  store i32 222, ptr %q
  %next = add i32 %n, 1
  %more = icmp slt i32 %next, 3
  br i1 %more, label %loop, label %out
out:
  %v = load i32, ptr %x`, "111 222", ""},
		"a call that writes": {`
  store i32 111, ptr %x
  store i32 222, ptr %x
  call void @writes(ptr %x)
  %v = load i32, ptr %x`, "222 777", "111"},
		"a call in front": {`
  call void @writes(ptr %x)
  store i32 222, ptr %x
  %v = load i32, ptr %x`, "222", "777"},
		"a message in front": {`
  store i32 111, ptr %y
  %1 = call i32 @MPI_Sendrecv(ptr %y, i32 1, ptr inttoptr (i64 523 to ptr), i32 0, i32 0, ptr %x, i32 1, ptr inttoptr (i64 523 to ptr), i32 0, i32 0, ptr inttoptr (i64 257 to ptr), ptr null)
  store i32 222, ptr %x
  %v = load i32, ptr %x`, "222", "111"},
		"a message behind": {`
  store i32 111, ptr %y
  store i32 222, ptr %x
  %1 = call i32 @MPI_Sendrecv(ptr %y, i32 1, ptr inttoptr (i64 523 to ptr), i32 0, i32 0, ptr %x, i32 1, ptr inttoptr (i64 523 to ptr), i32 0, i32 0, ptr inttoptr (i64 257 to ptr), ptr null)
  %v = load i32, ptr %x`, "111 222", ""},
		"a message that may come later": {`
  store i32 111, ptr %y
  %1 = call i32 @MPI_Irecv(ptr %x, i32 1, ptr inttoptr (i64 523 to ptr), i32 0, i32 0, ptr inttoptr (i64 257 to ptr), ptr %request)
  store i32 222, ptr %x
  %2 = call i32 @MPI_Send(ptr %y, i32 1, ptr inttoptr (i64 523 to ptr), i32 0, i32 0, ptr inttoptr (i64 257 to ptr))
  %3 = call i32 @MPI_Wait(ptr %request, ptr null)
  %v = load i32, ptr %x`, "111 222", ""},
	} {
		m := parse(t, name, `declare i32 @MPI_Comm_rank(ptr, ptr)
declare i32 @MPI_Sendrecv(ptr, i32, ptr, i32, i32, ptr, i32, ptr, i32, i32, ptr, ptr)
declare i32 @MPI_Irecv(ptr, i32, ptr, i32, i32, ptr, ptr)
declare i32 @MPI_Send(ptr, i32, ptr, i32, i32, ptr)
declare i32 @MPI_Wait(ptr, ptr)
declare void @gigarank_compute(double)
define internal void @writes(ptr %p) {
  store i32 777, ptr %p
  ret void
}
define i32 @main() {
entry:
  %x = alloca [4 x i64], align 8
  %y = alloca i32, align 4
  %rank = alloca i32, align 4
  %request = alloca ptr, align 8
  %spare = alloca i32, align 4
  call void @writes(ptr %spare)
  %0 = call i32 @MPI_Comm_rank(ptr inttoptr (i64 257 to ptr), ptr %rank)
  %own = load i32, ptr %rank
  %c = icmp eq i32 %own, 2
`+strings.TrimPrefix(c.body, "\n")+`
  %d = sitofp i32 %v to double
  call void @gigarank_compute(double %d)
  ret i32 0
}
`)
		s, err := slice.Of(m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := s.Emit(); err != nil {
			t.Fatal(err)
		}
		text := m.String()
		for _, n := range strings.Fields(c.left) {
			if !strings.Contains(text, " "+n+", ptr") {
				t.Errorf("%s: the store of %s is gone:\n%s", name, n, text)
			}
		}
		for _, n := range strings.Fields(c.gone) {
			if strings.Contains(text, " "+n+", ptr") {
				t.Errorf("%s: the store of %s is left:\n%s", name, n, text)
			}
		}
	}
}
