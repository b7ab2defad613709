source_filename = "opcodes.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%pair = type { i32, %inner }
%inner = type <{ i8, double }>

$folded = comdat any

@pair = global %pair { i32 -7, %inner <{ i8 1, double 0x7FF8000000000000 }> }, align 8
@table = internal unnamed_addr constant [3 x ptr] [ptr null, ptr @pair, ptr getelementptr inbounds (i8, ptr @pair, i64 4)]
@text = private constant [5 x i8] c"a\22\\\0A\00", section "odd, section"
@"odd name" = external thread_local(initialexec) global i128
@folded = linkonce_odr hidden global <4 x float> <float 2.500000e+00, float 2.500000e+00, float 2.500000e+00, float 2.500000e+00>, comdat, align 16
@difference = constant i64 sub (i64 ptrtoint (ptr @text to i64), i64 ptrtoint (ptr @pair to i64))
@floats = constant { half, bfloat, float, x86_fp80, fp128 } { half 0xH3C00, bfloat 0xR3F80, float 1.500000e+00, x86_fp80 0xK3FFF8000000000000000, fp128 0xL00000000000000003FFF000000000000 }
@empty = constant { {}, [0 x i32] } undef

@other = alias %pair, ptr @pair

declare i32 @personality(...)

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #0

declare void @variadic(i32 signext, ...)

; Function Attrs: nounwind
declare noalias ptr @maker(i64 noundef, ptr nocapture readonly byval(%pair) align 8) #1

; Function Attrs: noinline
define internal fastcc zeroext i1 @integers(i32 %a, i32 noundef %0) unnamed_addr #2 {
  %2 = add nuw nsw i32 %a, %0
  %3 = sub i32 %2, -4
  %4 = mul nsw i32 %3, %3
  %5 = udiv exact i32 %4, 3
  %6 = sdiv i32 %5, 3
  %7 = urem i32 %6, 5
  %8 = srem i32 %7, 5
  %9 = shl nuw i32 %8, 1
  %10 = lshr exact i32 %9, 1
  %11 = ashr i32 %10, 1
  %12 = and i32 %11, 255
  %13 = or disjoint i32 %12, 256
  %14 = xor i32 %13, -1
  %15 = freeze i32 %14
  %16 = trunc i32 %15 to i8
  %17 = zext nneg i8 %16 to i64
  %18 = sext i8 %16 to i64
  %19 = icmp ult i64 %17, %18
  %20 = select i1 %19, i64 %17, i64 %18
  %21 = inttoptr i64 %20 to ptr
  %22 = ptrtoint ptr %21 to i64
  %23 = trunc i64 %22 to i1
  ret i1 %23
}

define double @floats_of(double %a, float %b) {
start:
  %c = fneg fast double %a
  %d = fadd double %c, 1.000000e+00
  %e = fsub nnan ninf double %d, 1.000000e-01
  %f = fmul contract double %e, %e
  %g = fdiv reassoc double %f, %c
  %h = frem double %g, %a
  %i = fpext float %b to double
  %j = fptrunc double %h to float
  %k = fptosi float %j to i32
  %l = fptoui double %i to i32
  %m = sitofp i32 %k to double
  %n = uitofp nneg i32 %l to double
  %o = fcmp fast olt double %m, %n
  %p = select fast i1 %o, double %m, double %n
  %q = bitcast double %p to i64
  %r = bitcast i64 %q to double
  ret double %r
}

define void @memory(i32 %n, ptr %p) {
  %1 = alloca %pair, align 8
  %2 = alloca i32, i32 %n, align 4
  %3 = load volatile i32, ptr %2, align 4
  store volatile i32 %3, ptr %2, align 4
  %4 = getelementptr inbounds %pair, ptr %1, i64 0, i32 1, i32 1
  store double 0.000000e+00, ptr %4, align 1
  %5 = load { i32, double }, ptr %p, align 8
  %6 = extractvalue { i32, double } %5, 1
  %7 = insertvalue { i32, double } %5, double %6, 1
  store { i32, double } %7, ptr %p, align 8
  %8 = getelementptr i8, ptr %p, <2 x i64> <i64 1, i64 2>
  %9 = extractelement <2 x ptr> %8, i32 0
  %10 = insertelement <2 x i32> poison, i32 %n, i64 1
  %11 = shufflevector <2 x i32> %10, <2 x i32> poison, <4 x i32> zeroinitializer
  %12 = icmp eq <4 x i32> %11, zeroinitializer
  call void @llvm.assume(i1 true) [ "align"(ptr %9, i64 8), "nonnull"(ptr %p) ]
  ret void
}

define i32 @control(i32 %n, ptr %f) personality ptr @personality {
entry:
  switch i32 %n, label %other [
    i32 0, label %zero
    i32 -1, label %loop
  ]

zero:                                             ; preds = %entry
  br label %loop

loop:                                             ; preds = %loop, %zero, %entry
  %i = phi i32 [ 0, %entry ], [ %next, %loop ], [ 1, %zero ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %"odd label", !prof !1

"odd label":                                      ; preds = %loop
  tail call void (i32, ...) @variadic(i32 signext 1, ptr @text, double 1.000000e+00)
  %made = call noalias ptr @maker(i64 noundef 3, ptr byval(%pair) align 8 @pair) #3
  %r = invoke fastcc zeroext i1 @integers(i32 1, i32 noundef 2)
          to label %other unwind label %caught

caught:                                           ; preds = %"odd label"
  %pad = landingpad { ptr, i32 }
          cleanup
          catch ptr @table
          filter [1 x ptr] [ptr @pair]
  resume { ptr, i32 } %pad

other:                                            ; preds = %"odd label", %entry
  %v = call i32 %f(ptr null)
  unreachable
}

attributes #0 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }
attributes #1 = { nounwind "key"="value" }
attributes #2 = { noinline }
attributes #3 = { nounwind }

!named = !{!0}

!0 = !{!"text; no comment", i32 1}
!1 = !{!"branch_weights", i32 1, i32 2}
