; ModuleID = '<stdin>'
source_filename = "/tmp/gigarank-stored/stencil.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@.str = private unnamed_addr constant [4 x i8] c"%g\0A\00", align 1

; Function Attrs: nounwind uwtable
define noundef i32 @main(i32 noundef %0, ptr noundef %1) local_unnamed_addr #0 !dbg !8 {
  %3 = alloca i32, align 4
  %4 = alloca ptr, align 8
  %5 = alloca i32, align 4
  %6 = alloca i32, align 4
  %7 = alloca double, align 8
  %8 = alloca double, align 8
  store i32 %0, ptr %3, align 4, !tbaa !12
  store ptr %1, ptr %4, align 8, !tbaa !16
  call void @llvm.lifetime.start.p0(i64 4, ptr nonnull %5) #7, !dbg !18
  call void @llvm.lifetime.start.p0(i64 4, ptr nonnull %6) #7, !dbg !18
  %9 = call i32 @MPI_Init(ptr noundef nonnull %3, ptr noundef nonnull %4) #7, !dbg !19
  %10 = call i32 @MPI_Comm_rank(ptr noundef nonnull inttoptr (i64 257 to ptr), ptr noundef nonnull %5) #7, !dbg !20
  %11 = call i32 @MPI_Comm_size(ptr noundef nonnull inttoptr (i64 257 to ptr), ptr noundef nonnull %6) #7, !dbg !21
  %12 = load i32, ptr %3, align 4, !dbg !22, !tbaa !12
  %13 = icmp sgt i32 %12, 1, !dbg !23
  br i1 %13, label %14, label %20, !dbg !22

14:                                               ; preds = %2
  %15 = load ptr, ptr %4, align 8, !dbg !24, !tbaa !16
  %16 = getelementptr inbounds i8, ptr %15, i64 8, !dbg !24
  %17 = load ptr, ptr %16, align 8, !dbg !24, !tbaa !16
  %18 = call i64 @strtol(ptr nocapture noundef nonnull %17, ptr noundef null, i32 noundef 10) #7, !dbg !25
  %19 = trunc i64 %18 to i32, !dbg !29
  br label %20, !dbg !22

20:                                               ; preds = %2, %14
  %21 = phi i32 [ %19, %14 ], [ 32, %2 ], !dbg !22
  %22 = add nsw i32 %21, 2, !dbg !30
  %23 = sext i32 %22 to i64, !dbg !31
  %24 = shl nsw i64 %23, 9, !dbg !32
  %25 = call noalias ptr @calloc(i64 noundef 1, i64 noundef %24) #8, !dbg !33
  %26 = call noalias ptr @calloc(i64 noundef 1, i64 noundef %24) #8, !dbg !34
  %27 = add nsw i32 %21, 1
  %28 = shl nsw i32 %27, 6
  %29 = sext i32 %28 to i64
  %30 = shl nsw i32 %21, 6
  %31 = sext i32 %30 to i64
  %32 = icmp slt i32 %21, 1
  %33 = zext nneg i32 %27 to i64
  br label %48, !dbg !35

34:                                               ; preds = %92
  %.lcssa3 = phi ptr [ %50, %92 ]
  %.lcssa2 = phi ptr [ %51, %92 ]
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #7, !dbg !36
  %35 = getelementptr inbounds i8, ptr %.lcssa3, i64 512, !dbg !37
  br label %36, !dbg !38

36:                                               ; preds = %36, %34
  %37 = phi i64 [ 0, %34 ], [ %42, %36 ]
  %38 = phi double [ 0.000000e+00, %34 ], [ %41, %36 ]
  %39 = getelementptr inbounds double, ptr %35, i64 %37, !dbg !41
  %40 = load double, ptr %39, align 8, !dbg !41, !tbaa !42
  %41 = fadd double %38, %40, !dbg !44
  %42 = add nuw nsw i64 %37, 1, !dbg !45
  %43 = icmp eq i64 %42, 64, !dbg !46
  br i1 %43, label %44, label %36, !dbg !38, !llvm.loop !47

44:                                               ; preds = %36
  %.lcssa = phi double [ %41, %36 ], !dbg !44
  store double %.lcssa, ptr %7, align 8, !dbg !51, !tbaa !42
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #7, !dbg !36
  %45 = call i32 @MPI_Reduce(ptr noundef nonnull %7, ptr noundef nonnull %8, i32 noundef 1, ptr noundef nonnull inttoptr (i64 532 to ptr), ptr noundef nonnull inttoptr (i64 33 to ptr), i32 noundef 0, ptr noundef nonnull inttoptr (i64 257 to ptr)) #7, !dbg !52
  %46 = load i32, ptr %5, align 4, !dbg !53, !tbaa !12
  %47 = icmp eq i32 %46, 0, !dbg !54
  br i1 %47, label %95, label %98, !dbg !53

48:                                               ; preds = %20, %92
  %49 = phi i32 [ 0, %20 ], [ %93, %92 ]
  %50 = phi ptr [ %26, %20 ], [ %51, %92 ]
  %51 = phi ptr [ %25, %20 ], [ %50, %92 ]
  %52 = load i32, ptr %5, align 4, !dbg !55
  %53 = icmp sgt i32 %52, 0, !dbg !56
  %54 = add nsw i32 %52, -1, !dbg !55
  %55 = select i1 %53, i32 %54, i32 -3, !dbg !55
  %56 = load i32, ptr %6, align 4, !dbg !57, !tbaa !12
  %57 = add nsw i32 %56, -1, !dbg !58
  %58 = icmp slt i32 %52, %57, !dbg !59
  %59 = add nsw i32 %52, 1, !dbg !60
  %60 = select i1 %58, i32 %59, i32 -3, !dbg !60
  %61 = getelementptr inbounds i8, ptr %51, i64 512, !dbg !61
  %62 = getelementptr inbounds double, ptr %51, i64 %29, !dbg !64
  %63 = call i32 @MPI_Sendrecv(ptr noundef nonnull %61, i32 noundef 64, ptr noundef nonnull inttoptr (i64 532 to ptr), i32 noundef %55, i32 noundef 0, ptr noundef %62, i32 noundef 64, ptr noundef nonnull inttoptr (i64 532 to ptr), i32 noundef %60, i32 noundef 0, ptr noundef nonnull inttoptr (i64 257 to ptr), ptr noundef null) #7, !dbg !65
  %64 = getelementptr inbounds double, ptr %51, i64 %31, !dbg !66
  %65 = call i32 @MPI_Sendrecv(ptr noundef %64, i32 noundef 64, ptr noundef nonnull inttoptr (i64 532 to ptr), i32 noundef %60, i32 noundef 1, ptr noundef %51, i32 noundef 64, ptr noundef nonnull inttoptr (i64 532 to ptr), i32 noundef %55, i32 noundef 1, ptr noundef nonnull inttoptr (i64 257 to ptr), ptr noundef null) #7, !dbg !67
  br i1 %32, label %92, label %.preheader, !dbg !68

.preheader:                                       ; preds = %48
  br label %66, !dbg !68

66:                                               ; preds = %.preheader, %71
  %67 = phi i64 [ %72, %71 ], [ 1, %.preheader ]
  %68 = shl nuw nsw i64 %67, 6
  %69 = getelementptr inbounds double, ptr %51, i64 %68
  %70 = getelementptr inbounds double, ptr %50, i64 %68
  br label %74, !dbg !71

71:                                               ; preds = %74
  %72 = add nuw nsw i64 %67, 1, !dbg !72
  %73 = icmp eq i64 %72, %33, !dbg !73
  br i1 %73, label %.loopexit, label %66, !dbg !68, !llvm.loop !74

74:                                               ; preds = %74, %66
  %75 = phi i64 [ 1, %66 ], [ %90, %74 ]
  %76 = getelementptr inbounds double, ptr %69, i64 %75, !dbg !76
  %77 = getelementptr inbounds i8, ptr %76, i64 -8, !dbg !77
  %78 = load double, ptr %77, align 8, !dbg !77, !tbaa !42
  %79 = getelementptr inbounds i8, ptr %76, i64 8, !dbg !78
  %80 = load double, ptr %79, align 8, !dbg !78, !tbaa !42
  %81 = fadd double %78, %80, !dbg !79
  %82 = getelementptr inbounds i8, ptr %76, i64 -512, !dbg !80
  %83 = load double, ptr %82, align 8, !dbg !80, !tbaa !42
  %84 = fadd double %81, %83, !dbg !81
  %85 = getelementptr inbounds i8, ptr %76, i64 512, !dbg !82
  %86 = load double, ptr %85, align 8, !dbg !82, !tbaa !42
  %87 = fadd double %84, %86, !dbg !83
  %88 = fmul double %87, 2.500000e-01, !dbg !84
  %89 = getelementptr inbounds double, ptr %70, i64 %75, !dbg !85
  store double %88, ptr %89, align 8, !dbg !86, !tbaa !42
  %90 = add nuw nsw i64 %75, 1, !dbg !87
  %91 = icmp eq i64 %90, 63, !dbg !88
  br i1 %91, label %71, label %74, !dbg !71, !llvm.loop !89

.loopexit:                                        ; preds = %71
  br label %92, !dbg !90

92:                                               ; preds = %.loopexit, %48
  %93 = add nuw nsw i32 %49, 1, !dbg !90
  %94 = icmp eq i32 %93, 10, !dbg !91
  br i1 %94, label %34, label %48, !dbg !35, !llvm.loop !92

95:                                               ; preds = %44
  %96 = load double, ptr %8, align 8, !dbg !94, !tbaa !42
  %97 = call i32 (ptr, ...) @printf(ptr noundef nonnull dereferenceable(1) @.str, double noundef %96), !dbg !95
  br label %98, !dbg !95

98:                                               ; preds = %95, %44
  call void @free(ptr noundef %.lcssa3) #7, !dbg !96
  call void @free(ptr noundef %.lcssa2) #7, !dbg !97
  %99 = call i32 @MPI_Finalize() #7, !dbg !98
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #7, !dbg !99
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #7, !dbg !99
  call void @llvm.lifetime.end.p0(i64 4, ptr nonnull %6) #7, !dbg !99
  call void @llvm.lifetime.end.p0(i64 4, ptr nonnull %5) #7, !dbg !99
  ret i32 0, !dbg !100
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

declare !dbg !101 i32 @MPI_Init(ptr noundef, ptr noundef) local_unnamed_addr #2

declare !dbg !103 i32 @MPI_Comm_rank(ptr noundef, ptr noundef) local_unnamed_addr #2

declare !dbg !104 i32 @MPI_Comm_size(ptr noundef, ptr noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nofree nounwind willreturn allockind("alloc,zeroed") allocsize(0,1) memory(inaccessiblemem: readwrite)
declare !dbg !105 noalias noundef ptr @calloc(i64 noundef, i64 noundef) local_unnamed_addr #3

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

declare !dbg !106 i32 @MPI_Reduce(ptr noundef, ptr noundef, i32 noundef, ptr noundef, ptr noundef, i32 noundef, ptr noundef) local_unnamed_addr #2

; Function Attrs: nofree nounwind
declare !dbg !107 noundef i32 @printf(ptr nocapture noundef readonly, ...) local_unnamed_addr #4

; Function Attrs: mustprogress nounwind willreturn allockind("free") memory(argmem: readwrite, inaccessiblemem: readwrite)
declare !dbg !109 void @free(ptr allocptr nocapture noundef) local_unnamed_addr #5

declare !dbg !110 i32 @MPI_Finalize() local_unnamed_addr #2

; Function Attrs: mustprogress nofree nounwind willreturn
declare !dbg !111 i64 @strtol(ptr noundef readonly, ptr nocapture noundef, i32 noundef) local_unnamed_addr #6

declare !dbg !112 i32 @MPI_Sendrecv(ptr noundef, i32 noundef, ptr noundef, i32 noundef, i32 noundef, ptr noundef, i32 noundef, ptr noundef, i32 noundef, i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #2

attributes #0 = { nounwind uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { mustprogress nofree nounwind willreturn allockind("alloc,zeroed") allocsize(0,1) memory(inaccessiblemem: readwrite) "alloc-family"="malloc" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { nofree nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { mustprogress nounwind willreturn allockind("free") memory(argmem: readwrite, inaccessiblemem: readwrite) "alloc-family"="malloc" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #6 = { mustprogress nofree nounwind willreturn "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { nounwind }
attributes #8 = { nounwind allocsize(0,1) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "Debian clang version 19.1.7 (3~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "/tmp/gigarank-stored/stencil.c", directory: "/tmp/gigarank-stored")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"uwtable", i32 2}
!7 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
!8 = distinct !DISubprogram(name: "main", scope: !9, file: !9, line: 36, type: !10, scopeLine: 36, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!9 = !DIFile(filename: "stencil.c", directory: "/tmp/gigarank-stored")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{!13, !13, i64 0}
!13 = !{!"int", !14, i64 0}
!14 = !{!"omnipotent char", !15, i64 0}
!15 = !{!"Simple C/C++ TBAA"}
!16 = !{!17, !17, i64 0}
!17 = !{!"any pointer", !14, i64 0}
!18 = !DILocation(line: 37, column: 2, scope: !8)
!19 = !DILocation(line: 38, column: 2, scope: !8)
!20 = !DILocation(line: 39, column: 2, scope: !8)
!21 = !DILocation(line: 40, column: 2, scope: !8)
!22 = !DILocation(line: 41, column: 23, scope: !8)
!23 = !DILocation(line: 41, column: 28, scope: !8)
!24 = !DILocation(line: 41, column: 39, scope: !8)
!25 = !DILocation(line: 364, column: 16, scope: !26, inlinedAt: !28)
!26 = distinct !DISubprogram(name: "atoi", scope: !27, file: !27, line: 362, type: !10, scopeLine: 363, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!27 = !DIFile(filename: "/usr/include/stdlib.h", directory: "")
!28 = distinct !DILocation(line: 41, column: 34, scope: !8)
!29 = !DILocation(line: 364, column: 10, scope: !26, inlinedAt: !28)
!30 = !DILocation(line: 42, column: 54, scope: !8)
!31 = !DILocation(line: 42, column: 46, scope: !8)
!32 = !DILocation(line: 42, column: 44, scope: !8)
!33 = !DILocation(line: 43, column: 10, scope: !8)
!34 = !DILocation(line: 44, column: 11, scope: !8)
!35 = !DILocation(line: 45, column: 2, scope: !8)
!36 = !DILocation(line: 49, column: 2, scope: !8)
!37 = !DILocation(line: 49, column: 25, scope: !8)
!38 = !DILocation(line: 14, column: 2, scope: !39, inlinedAt: !40)
!39 = distinct !DISubprogram(name: "sum", scope: !9, file: !9, line: 12, type: !10, scopeLine: 12, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!40 = distinct !DILocation(line: 49, column: 15, scope: !8)
!41 = !DILocation(line: 15, column: 8, scope: !39, inlinedAt: !40)
!42 = !{!43, !43, i64 0}
!43 = !{!"double", !14, i64 0}
!44 = !DILocation(line: 15, column: 5, scope: !39, inlinedAt: !40)
!45 = !DILocation(line: 14, column: 26, scope: !39, inlinedAt: !40)
!46 = !DILocation(line: 14, column: 20, scope: !39, inlinedAt: !40)
!47 = distinct !{!47, !38, !48, !49, !50}
!48 = !DILocation(line: 15, column: 13, scope: !39, inlinedAt: !40)
!49 = !{!"llvm.loop.mustprogress"}
!50 = !{!"llvm.loop.unroll.disable"}
!51 = !DILocation(line: 49, column: 9, scope: !8)
!52 = !DILocation(line: 50, column: 2, scope: !8)
!53 = !DILocation(line: 51, column: 6, scope: !8)
!54 = !DILocation(line: 51, column: 11, scope: !8)
!55 = !DILocation(line: 46, column: 16, scope: !8)
!56 = !DILocation(line: 46, column: 21, scope: !8)
!57 = !DILocation(line: 46, column: 60, scope: !8)
!58 = !DILocation(line: 46, column: 65, scope: !8)
!59 = !DILocation(line: 46, column: 58, scope: !8)
!60 = !DILocation(line: 46, column: 53, scope: !8)
!61 = !DILocation(line: 32, column: 22, scope: !62, inlinedAt: !63)
!62 = distinct !DISubprogram(name: "exchange", scope: !9, file: !9, line: 30, type: !10, scopeLine: 30, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!63 = distinct !DILocation(line: 46, column: 3, scope: !8)
!64 = !DILocation(line: 32, column: 56, scope: !62, inlinedAt: !63)
!65 = !DILocation(line: 32, column: 2, scope: !62, inlinedAt: !63)
!66 = !DILocation(line: 33, column: 22, scope: !62, inlinedAt: !63)
!67 = !DILocation(line: 33, column: 2, scope: !62, inlinedAt: !63)
!68 = !DILocation(line: 20, column: 2, scope: !69, inlinedAt: !70)
!69 = distinct !DISubprogram(name: "step", scope: !9, file: !9, line: 19, type: !10, scopeLine: 19, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!70 = distinct !DILocation(line: 47, column: 3, scope: !8)
!71 = !DILocation(line: 21, column: 3, scope: !69, inlinedAt: !70)
!72 = !DILocation(line: 20, column: 33, scope: !69, inlinedAt: !70)
!73 = !DILocation(line: 20, column: 20, scope: !69, inlinedAt: !70)
!74 = distinct !{!74, !68, !75, !49, !50}
!75 = !DILocation(line: 24, column: 3, scope: !69, inlinedAt: !70)
!76 = !DILocation(line: 22, column: 46, scope: !69, inlinedAt: !70)
!77 = !DILocation(line: 23, column: 47, scope: !69, inlinedAt: !70)
!78 = !DILocation(line: 23, column: 55, scope: !69, inlinedAt: !70)
!79 = !DILocation(line: 23, column: 53, scope: !69, inlinedAt: !70)
!80 = !DILocation(line: 23, column: 62, scope: !69, inlinedAt: !70)
!81 = !DILocation(line: 23, column: 60, scope: !69, inlinedAt: !70)
!82 = !DILocation(line: 23, column: 79, scope: !69, inlinedAt: !70)
!83 = !DILocation(line: 23, column: 77, scope: !69, inlinedAt: !70)
!84 = !DILocation(line: 23, column: 44, scope: !69, inlinedAt: !70)
!85 = !DILocation(line: 23, column: 4, scope: !69, inlinedAt: !70)
!86 = !DILocation(line: 23, column: 32, scope: !69, inlinedAt: !70)
!87 = !DILocation(line: 21, column: 40, scope: !69, inlinedAt: !70)
!88 = !DILocation(line: 21, column: 21, scope: !69, inlinedAt: !70)
!89 = distinct !{!89, !71, !75, !49, !50}
!90 = !DILocation(line: 45, column: 27, scope: !8)
!91 = !DILocation(line: 45, column: 20, scope: !8)
!92 = distinct !{!92, !35, !93, !49, !50}
!93 = !DILocation(line: 48, column: 2, scope: !8)
!94 = !DILocation(line: 52, column: 18, scope: !8)
!95 = !DILocation(line: 52, column: 3, scope: !8)
!96 = !DILocation(line: 53, column: 2, scope: !8)
!97 = !DILocation(line: 54, column: 2, scope: !8)
!98 = !DILocation(line: 55, column: 2, scope: !8)
!99 = !DILocation(line: 57, column: 1, scope: !8)
!100 = !DILocation(line: 56, column: 2, scope: !8)
!101 = !DISubprogram(name: "MPI_Init", scope: !102, file: !102, line: 332, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!102 = !DIFile(filename: "mpi.h", directory: "")
!103 = !DISubprogram(name: "MPI_Comm_rank", scope: !102, file: !102, line: 370, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!104 = !DISubprogram(name: "MPI_Comm_size", scope: !102, file: !102, line: 371, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!105 = !DISubprogram(name: "calloc", scope: !27, file: !27, line: 556, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!106 = !DISubprogram(name: "MPI_Reduce", scope: !102, file: !102, line: 498, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!107 = !DISubprogram(name: "printf", scope: !108, file: !108, line: 356, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!108 = !DIFile(filename: "/usr/include/stdio.h", directory: "")
!109 = !DISubprogram(name: "free", scope: !27, file: !27, line: 568, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!110 = !DISubprogram(name: "MPI_Finalize", scope: !102, file: !102, line: 335, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!111 = !DISubprogram(name: "strtol", scope: !27, file: !27, line: 177, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!112 = !DISubprogram(name: "MPI_Sendrecv", scope: !102, file: !102, line: 441, type: !10, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
