; ModuleID = '<stdin>'
source_filename = "/tmp/gigarank-stored/objects.cc"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@_ZTISt9exception = external constant ptr

; Function Attrs: mustprogress norecurse uwtable
define noundef range(i32 7, 10) i32 @main() local_unnamed_addr #0 personality ptr @__gxx_personality_v0 !dbg !8 {
  %1 = invoke noalias noundef nonnull dereferenceable(4) ptr @_Znwm(i64 noundef 4) #4
          to label %2 unwind label %5, !dbg !12

2:                                                ; preds = %0
  store i32 9, ptr %1, align 4, !dbg !31, !tbaa !36
  %3 = getelementptr inbounds i8, ptr %1, i64 4, !dbg !40
  %4 = ptrtoint ptr %3 to i64, !dbg !41
  br label %13, !dbg !46

5:                                                ; preds = %0
  %6 = landingpad { ptr, i32 }
          cleanup
          catch ptr @_ZTISt9exception, !dbg !47
  %7 = extractvalue { ptr, i32 } %6, 1, !dbg !47
  %8 = tail call i32 @llvm.eh.typeid.for.p0(ptr nonnull @_ZTISt9exception) #5, !dbg !48
  %9 = icmp eq i32 %7, %8, !dbg !48
  br i1 %9, label %10, label %22, !dbg !48

10:                                               ; preds = %5
  %11 = extractvalue { ptr, i32 } %6, 0, !dbg !47
  %12 = tail call ptr @__cxa_begin_catch(ptr %11) #5, !dbg !48
  tail call void @__cxa_end_catch(), !dbg !49
  br label %13

13:                                               ; preds = %10, %2
  %14 = phi i64 [ %4, %2 ], [ 0, %10 ], !dbg !50
  %15 = phi ptr [ %1, %2 ], [ null, %10 ], !dbg !50
  %16 = phi i32 [ 9, %2 ], [ 7, %10 ], !dbg !51
  %17 = icmp eq ptr %15, null, !dbg !52
  br i1 %17, label %21, label %18, !dbg !52

18:                                               ; preds = %13
  %19 = ptrtoint ptr %15 to i64, !dbg !41
  %20 = sub i64 %14, %19, !dbg !41
  tail call void @_ZdlPvm(ptr noundef %15, i64 noundef %20) #6, !dbg !55
  br label %21, !dbg !60

21:                                               ; preds = %13, %18
  ret i32 %16, !dbg !61

22:                                               ; preds = %5
  resume { ptr, i32 } %6, !dbg !61
}

declare i32 @__gxx_personality_v0(...)

; Function Attrs: nobuiltin nounwind
declare void @_ZdlPvm(ptr noundef, i64 noundef) local_unnamed_addr #1

; Function Attrs: nounwind memory(none)
declare i32 @llvm.eh.typeid.for.p0(ptr) #2

declare ptr @__cxa_begin_catch(ptr) local_unnamed_addr

declare void @__cxa_end_catch() local_unnamed_addr

; Function Attrs: nobuiltin allocsize(0)
declare noundef nonnull ptr @_Znwm(i64 noundef) local_unnamed_addr #3

attributes #0 = { mustprogress norecurse uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { nobuiltin nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { nounwind memory(none) }
attributes #3 = { nobuiltin allocsize(0) "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { builtin allocsize(0) }
attributes #5 = { nounwind }
attributes #6 = { builtin nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "Debian clang version 19.1.7 (3~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "/tmp/gigarank-stored/objects.cc", directory: "/tmp/gigarank-stored")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"uwtable", i32 2}
!7 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
!8 = distinct !DISubprogram(name: "main", scope: !9, file: !9, line: 27, type: !10, scopeLine: 27, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!9 = !DIFile(filename: "objects.cc", directory: "/tmp/gigarank-stored")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !DILocation(line: 137, column: 27, scope: !13, inlinedAt: !15)
!13 = distinct !DISubprogram(name: "allocate", scope: !14, file: !14, line: 112, type: !10, scopeLine: 113, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!14 = !DIFile(filename: "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/new_allocator.h", directory: "")
!15 = distinct !DILocation(line: 464, column: 20, scope: !16, inlinedAt: !18)
!16 = distinct !DISubprogram(name: "allocate", scope: !17, file: !17, line: 463, type: !10, scopeLine: 464, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!17 = !DIFile(filename: "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/alloc_traits.h", directory: "")
!18 = distinct !DILocation(line: 378, column: 20, scope: !19, inlinedAt: !21)
!19 = distinct !DISubprogram(name: "_M_allocate", scope: !20, file: !20, line: 375, type: !10, scopeLine: 376, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!20 = !DIFile(filename: "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/stl_vector.h", directory: "")
!21 = distinct !DILocation(line: 453, column: 33, scope: !22, inlinedAt: !24)
!22 = distinct !DISubprogram(name: "_M_realloc_insert<int>", scope: !23, file: !23, line: 440, type: !10, scopeLine: 447, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!23 = !DIFile(filename: "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/vector.tcc", directory: "")
!24 = distinct !DILocation(line: 123, column: 4, scope: !25, inlinedAt: !26)
!25 = distinct !DISubprogram(name: "emplace_back<int>", scope: !23, file: !23, line: 112, type: !10, scopeLine: 113, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!26 = distinct !DILocation(line: 1294, column: 9, scope: !27, inlinedAt: !28)
!27 = distinct !DISubprogram(name: "push_back", scope: !20, file: !20, line: 1293, type: !10, scopeLine: 1294, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!28 = distinct !DILocation(line: 20, column: 9, scope: !29, inlinedAt: !30)
!29 = distinct !DISubprogram(name: "add", scope: !9, file: !9, line: 18, type: !10, scopeLine: 18, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!30 = distinct !DILocation(line: 30, column: 9, scope: !8)
!31 = !DILocation(line: 175, column: 4, scope: !32, inlinedAt: !33)
!32 = distinct !DISubprogram(name: "construct<int, int>", scope: !14, file: !14, line: 173, type: !10, scopeLine: 175, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!33 = distinct !DILocation(line: 516, column: 8, scope: !34, inlinedAt: !35)
!34 = distinct !DISubprogram(name: "construct<int, int>", scope: !17, file: !17, line: 511, type: !10, scopeLine: 514, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!35 = distinct !DILocation(line: 462, column: 4, scope: !22, inlinedAt: !24)
!36 = !{!37, !37, i64 0}
!37 = !{!"int", !38, i64 0}
!38 = !{!"omnipotent char", !39, i64 0}
!39 = !{!"Simple C++ TBAA"}
!40 = !DILocation(line: 517, column: 53, scope: !22, inlinedAt: !24)
!41 = !DILocation(line: 367, column: 35, scope: !42, inlinedAt: !43)
!42 = distinct !DISubprogram(name: "~_Vector_base", scope: !20, file: !20, line: 364, type: !10, scopeLine: 365, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!43 = distinct !DILocation(line: 733, column: 7, scope: !44, inlinedAt: !45)
!44 = distinct !DISubprogram(name: "~vector", scope: !20, file: !20, line: 728, type: !10, scopeLine: 729, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!45 = distinct !DILocation(line: 31, column: 1, scope: !8)
!46 = !DILocation(line: 24, column: 2, scope: !29, inlinedAt: !30)
!47 = !DILocation(line: 25, column: 1, scope: !29, inlinedAt: !30)
!48 = !DILocation(line: 21, column: 2, scope: !29, inlinedAt: !30)
!49 = !DILocation(line: 23, column: 2, scope: !29, inlinedAt: !30)
!50 = !DILocation(line: 0, scope: !8)
!51 = !DILocation(line: 0, scope: !29, inlinedAt: !30)
!52 = !DILocation(line: 386, column: 6, scope: !53, inlinedAt: !54)
!53 = distinct !DISubprogram(name: "_M_deallocate", scope: !20, file: !20, line: 383, type: !10, scopeLine: 384, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!54 = distinct !DILocation(line: 366, column: 2, scope: !42, inlinedAt: !43)
!55 = !DILocation(line: 158, column: 2, scope: !56, inlinedAt: !57)
!56 = distinct !DISubprogram(name: "deallocate", scope: !14, file: !14, line: 142, type: !10, scopeLine: 143, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!57 = distinct !DILocation(line: 496, column: 13, scope: !58, inlinedAt: !59)
!58 = distinct !DISubprogram(name: "deallocate", scope: !17, file: !17, line: 495, type: !10, scopeLine: 496, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!59 = distinct !DILocation(line: 387, column: 4, scope: !53, inlinedAt: !54)
!60 = !DILocation(line: 387, column: 4, scope: !53, inlinedAt: !54)
!61 = !DILocation(line: 31, column: 1, scope: !8)
