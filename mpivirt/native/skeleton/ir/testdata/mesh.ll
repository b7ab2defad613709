; ModuleID = '<stdin>'
source_filename = "FIRModule"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

$_QQclX2F746D702F6769676172616E6B2D73746F7265642F6D6573682E66393000 = comdat any

@edges_ = common global [800 x i8] zeroinitializer, align 8
@gigarank_mpi_constants_ = common local_unnamed_addr global [90 x i8] zeroinitializer, align 4
@_QFEx.0 = internal unnamed_addr global ptr null
@_QQclX2F746D702F6769676172616E6B2D73746F7265642F6D6573682E66393000 = linkonce constant [30 x i8] c"/tmp/gigarank-stored/mesh.f90\00", comdat

; Function Attrs: mustprogress nofree nounwind willreturn allockind("alloc,uninitialized") allocsize(0) memory(inaccessiblemem: readwrite)
declare noalias noundef ptr @malloc(i64 noundef) local_unnamed_addr #0

define void @_QQmain() local_unnamed_addr #1 !dbg !4 {
  %1 = alloca i32, align 4, !dbg !8
  %2 = alloca i32, align 4, !dbg !9
  %3 = alloca double, align 8, !dbg !10
  %4 = alloca i32, align 4, !dbg !11
  %5 = alloca double, align 8, !dbg !12
  %6 = alloca i32, align 4, !dbg !13
  %7 = alloca i32, align 4, !dbg !14
  %8 = alloca i32, align 4, !dbg !15
  %9 = alloca i32, align 4, !dbg !15
  %10 = alloca i32, align 4, !dbg !15
  %11 = alloca i32, align 4, !dbg !15
  %12 = alloca i32, align 4, !dbg !16
  %13 = alloca i32, align 4, !dbg !16
  %14 = alloca i32, align 4, !dbg !16
  %15 = alloca i32, align 4, !dbg !16
  call void @mpi_init_(ptr nonnull %4), !dbg !17
  store i32 257, ptr %6, align 4, !dbg !13, !tbaa !18
  call void @mpi_comm_rank_(ptr nonnull %6, ptr nonnull %2, ptr nonnull %4), !dbg !13
  store i32 257, ptr %7, align 4, !dbg !14, !tbaa !18
  call void @mpi_comm_size_(ptr nonnull %7, ptr nonnull %1, ptr nonnull %4), !dbg !14
  %16 = call dereferenceable_or_null(80000) ptr @malloc(i64 80000), !dbg !22
  store ptr %16, ptr @_QFEx.0, align 8, !dbg !22, !tbaa !23
  %17 = load i32, ptr %2, align 4, !tbaa !18
  %invariant.gep = getelementptr i8, ptr %16, i64 -808, !dbg !25
  %broadcast.splatinsert245 = insertelement <2 x i32> poison, i32 %17, i64 0
  %broadcast.splat246 = shufflevector <2 x i32> %broadcast.splatinsert245, <2 x i32> poison, <2 x i32> zeroinitializer
  br label %.preheader224, !dbg !25

.preheader224:                                    ; preds = %middle.block, %0
  %indvars.iv230 = phi i64 [ 1, %0 ], [ %indvars.iv.next231, %middle.block ]
  %.idx = mul nuw nsw i64 %indvars.iv230, 800
  %gep = getelementptr i8, ptr %invariant.gep, i64 %.idx
  %broadcast.splatinsert = insertelement <2 x i64> poison, i64 %indvars.iv230, i64 0, !dbg !26
  %broadcast.splat = shufflevector <2 x i64> %broadcast.splatinsert, <2 x i64> poison, <2 x i32> zeroinitializer, !dbg !26
  br label %vector.body, !dbg !26

vector.body:                                      ; preds = %vector.body, %.preheader224
  %index = phi i64 [ 0, %.preheader224 ], [ %index.next, %vector.body ]
  %vec.ind = phi <2 x i64> [ <i64 1, i64 2>, %.preheader224 ], [ %vec.ind.next, %vector.body ]
  %step.add = add <2 x i64> %vec.ind, <i64 2, i64 2>
  %offset.idx = or disjoint i64 %index, 1, !dbg !26
  %18 = mul nuw nsw <2 x i64> %vec.ind, %broadcast.splat, !dbg !27
  %19 = mul nuw nsw <2 x i64> %step.add, %broadcast.splat, !dbg !27
  %20 = trunc <2 x i64> %18 to <2 x i32>, !dbg !27
  %21 = trunc <2 x i64> %19 to <2 x i32>, !dbg !27
  %22 = add <2 x i32> %broadcast.splat246, %20, !dbg !27
  %23 = add <2 x i32> %broadcast.splat246, %21, !dbg !27
  %24 = sitofp <2 x i32> %22 to <2 x double>, !dbg !27
  %25 = sitofp <2 x i32> %23 to <2 x double>, !dbg !27
  %26 = getelementptr double, ptr %gep, i64 %offset.idx, !dbg !27
  %27 = getelementptr i8, ptr %26, i64 16, !dbg !27
  store <2 x double> %24, ptr %26, align 8, !dbg !27, !tbaa !28
  store <2 x double> %25, ptr %27, align 8, !dbg !27, !tbaa !28
  %index.next = add nuw nsw i64 %index, 4
  %vec.ind.next = add <2 x i64> %vec.ind, <i64 4, i64 4>
  %28 = icmp eq i64 %index.next, 100
  br i1 %28, label %middle.block, label %vector.body, !llvm.loop !31

middle.block:                                     ; preds = %vector.body
  %indvars.iv.next231 = add nuw nsw i64 %indvars.iv230, 1, !dbg !34
  %exitcond233.not = icmp eq i64 %indvars.iv.next231, 101, !dbg !25
  br i1 %exitcond233.not, label %.preheader223.preheader, label %.preheader224, !dbg !25

.preheader223.preheader:                          ; preds = %middle.block
  %scevgep258 = getelementptr inbounds i8, ptr %3, i64 8, !dbg !35
  br label %.preheader223, !dbg !35

.preheader223:                                    ; preds = %69, %.preheader223.preheader
  %.0147227 = phi i32 [ %72, %69 ], [ 1, %.preheader223.preheader ]
  %.unpack = load ptr, ptr @_QFEx.0, align 8, !dbg !35, !tbaa !23
  %29 = getelementptr i8, ptr %.unpack, i64 16, !dbg !35
  %wide.load3 = load <2 x double>, ptr %.unpack, align 8, !dbg !35, !tbaa !28
  %wide.load2544 = load <2 x double>, ptr %29, align 8, !dbg !35, !tbaa !28
  store <2 x double> %wide.load3, ptr @edges_, align 8, !dbg !35, !tbaa !36
  store <2 x double> %wide.load2544, ptr getelementptr inbounds (i8, ptr @edges_, i64 16), align 8, !dbg !35, !tbaa !36
  br label %vector.body251.1

vector.body251.1:                                 ; preds = %.preheader223, %vector.body251.1
  %index2525 = phi i64 [ 0, %.preheader223 ], [ %index.next255.1, %vector.body251.1 ]
  %index.next255 = or disjoint i64 %index2525, 4
  %30 = shl nsw i64 %index.next255, 3, !dbg !35
  %31 = getelementptr i8, ptr %.unpack, i64 %30, !dbg !35
  %32 = getelementptr i8, ptr %31, i64 16, !dbg !35
  %wide.load.1 = load <2 x double>, ptr %31, align 8, !dbg !35, !tbaa !28
  %wide.load254.1 = load <2 x double>, ptr %32, align 8, !dbg !35, !tbaa !28
  %33 = getelementptr double, ptr @edges_, i64 %index.next255, !dbg !35
  %34 = getelementptr i8, ptr %33, i64 16, !dbg !35
  store <2 x double> %wide.load.1, ptr %33, align 8, !dbg !35, !tbaa !36
  store <2 x double> %wide.load254.1, ptr %34, align 8, !dbg !35, !tbaa !36
  %index.next255.1 = add nuw nsw i64 %index2525, 8
  %35 = shl nsw i64 %index.next255.1, 3, !dbg !35
  %36 = getelementptr i8, ptr %.unpack, i64 %35, !dbg !35
  %37 = getelementptr i8, ptr %36, i64 16, !dbg !35
  %wide.load = load <2 x double>, ptr %36, align 8, !dbg !35, !tbaa !28
  %wide.load254 = load <2 x double>, ptr %37, align 8, !dbg !35, !tbaa !28
  %38 = getelementptr double, ptr @edges_, i64 %index.next255.1, !dbg !35
  %39 = getelementptr i8, ptr %38, i64 16, !dbg !35
  store <2 x double> %wide.load, ptr %38, align 8, !dbg !35, !tbaa !36
  store <2 x double> %wide.load254, ptr %39, align 8, !dbg !35, !tbaa !36
  %40 = icmp eq i64 %index.next255.1, 96
  br i1 %40, label %middle.block247, label %vector.body251.1, !llvm.loop !39

middle.block247:                                  ; preds = %vector.body251.1
  %41 = load i32, ptr %1, align 4, !dbg !15, !tbaa !18
  %42 = srem i32 %.0147227, %41, !dbg !15
  store i32 100, ptr %8, align 4, !dbg !15, !tbaa !18
  store i32 540, ptr %9, align 4, !dbg !15, !tbaa !18
  store i32 %42, ptr %10, align 4, !dbg !15, !tbaa !18
  store i32 257, ptr %11, align 4, !dbg !15, !tbaa !18
  call void @mpi_bcast_(ptr nonnull @edges_, ptr nonnull %8, ptr nonnull %9, ptr nonnull %10, ptr nonnull %11, ptr nonnull %4), !dbg !15
  store double 0.000000e+00, ptr %3, align 8, !dbg !40, !tbaa !18
  %.unpack175 = load ptr, ptr @_QFEx.0, align 8, !tbaa !23
  %invariant.gep270 = getelementptr i8, ptr %.unpack175, i64 800, !dbg !41
  %invariant.gep272 = getelementptr i8, ptr %.unpack175, i64 1600, !dbg !41
  %invariant.gep274 = getelementptr i8, ptr %.unpack175, i64 -800, !dbg !41
  br label %.lver.check, !dbg !41

.lver.check:                                      ; preds = %.loopexit259, %middle.block247
  %indvar = phi i64 [ 0, %middle.block247 ], [ %indvar.next, %.loopexit259 ]
  %indvars.iv239 = phi i64 [ 2, %middle.block247 ], [ %indvars.iv.next240, %.loopexit259 ]
  %43 = mul nuw nsw i64 %indvar, 800
  %gep271 = getelementptr i8, ptr %invariant.gep270, i64 %43
  %gep273 = getelementptr i8, ptr %invariant.gep272, i64 %43
  %.idx262 = mul nuw nsw i64 %indvars.iv239, 800
  %gep275 = getelementptr i8, ptr %invariant.gep274, i64 %.idx262
  %gep226 = getelementptr double, ptr getelementptr (i8, ptr @edges_, i64 -8), i64 %indvars.iv239
  %44 = load double, ptr %gep226, align 8, !tbaa !36
  %bound0 = icmp ult ptr %gep271, %scevgep258, !dbg !42
  %bound1 = icmp ult ptr %3, %gep273, !dbg !42
  %found.conflict = and i1 %bound0, %bound1, !dbg !42
  br i1 %found.conflict, label %.ph.lver.orig.preheader, label %.ph, !dbg !42

.ph.lver.orig.preheader:                          ; preds = %.lver.check
  %invariant.gep266 = getelementptr i8, ptr %gep275, i64 -16, !dbg !42
  %invariant.gep268 = getelementptr i8, ptr %gep275, i64 -8, !dbg !42
  br label %.ph.lver.orig, !dbg !42

.ph.lver.orig:                                    ; preds = %.ph.lver.orig, %.ph.lver.orig.preheader
  %indvars.iv235.lver.orig = phi i64 [ %indvars.iv.next236.lver.orig, %.ph.lver.orig ], [ 2, %.ph.lver.orig.preheader ]
  %gep267 = getelementptr double, ptr %invariant.gep266, i64 %indvars.iv235.lver.orig, !dbg !43
  %45 = load double, ptr %gep267, align 8, !dbg !43, !tbaa !28
  %indvars.iv.next236.lver.orig = add nuw nsw i64 %indvars.iv235.lver.orig, 1, !dbg !43
  %46 = getelementptr double, ptr %gep275, i64 %indvars.iv235.lver.orig, !dbg !43
  %47 = load double, ptr %46, align 8, !dbg !43, !tbaa !28
  %48 = fadd contract double %45, %47, !dbg !43
  %gep225.lver.orig = getelementptr double, ptr getelementptr (i8, ptr @edges_, i64 -8), i64 %indvars.iv235.lver.orig, !dbg !43
  %49 = load double, ptr %gep225.lver.orig, align 8, !dbg !43, !tbaa !36
  %50 = fadd contract double %48, %49, !dbg !43
  %51 = fadd contract double %50, %44, !dbg !43
  %52 = fmul contract double %51, 2.500000e-01, !dbg !43
  %gep269 = getelementptr double, ptr %invariant.gep268, i64 %indvars.iv235.lver.orig, !dbg !43
  store double %52, ptr %gep269, align 8, !dbg !43, !tbaa !28
  %53 = call contract double @llvm.fabs.f64(double %52), !dbg !44
  %54 = load double, ptr %3, align 8, !dbg !44, !tbaa !18
  %55 = fcmp contract ogt double %54, %53, !dbg !44
  %56 = select i1 %55, double %54, double %53, !dbg !44
  store double %56, ptr %3, align 8, !dbg !44, !tbaa !18
  %exitcond238.not.lver.orig = icmp eq i64 %indvars.iv.next236.lver.orig, 100, !dbg !42
  br i1 %exitcond238.not.lver.orig, label %.loopexit259.loopexit, label %.ph.lver.orig, !dbg !42

.ph:                                              ; preds = %.lver.check
  %load_initial = load double, ptr %gep271, align 8
  %invariant.gep264 = getelementptr i8, ptr %gep275, i64 -8, !dbg !42
  br label %57, !dbg !42

57:                                               ; preds = %57, %.ph
  %store_forwarded = phi double [ %load_initial, %.ph ], [ %64, %57 ], !dbg !43
  %indvars.iv235 = phi i64 [ 2, %.ph ], [ %indvars.iv.next236, %57 ]
  %indvars.iv.next236 = add nuw nsw i64 %indvars.iv235, 1, !dbg !43
  %58 = getelementptr double, ptr %gep275, i64 %indvars.iv235, !dbg !43
  %59 = load double, ptr %58, align 8, !dbg !43, !tbaa !28
  %60 = fadd contract double %store_forwarded, %59, !dbg !43
  %gep225 = getelementptr double, ptr getelementptr (i8, ptr @edges_, i64 -8), i64 %indvars.iv235, !dbg !43
  %61 = load double, ptr %gep225, align 8, !dbg !43, !tbaa !36
  %62 = fadd contract double %60, %61, !dbg !43
  %63 = fadd contract double %62, %44, !dbg !43
  %64 = fmul contract double %63, 2.500000e-01, !dbg !43
  %gep265 = getelementptr double, ptr %invariant.gep264, i64 %indvars.iv235, !dbg !43
  store double %64, ptr %gep265, align 8, !dbg !43, !tbaa !28
  %65 = call contract double @llvm.fabs.f64(double %64), !dbg !44
  %66 = load double, ptr %3, align 8, !dbg !44, !tbaa !18
  %67 = fcmp contract ogt double %66, %65, !dbg !44
  %68 = select i1 %67, double %66, double %65, !dbg !44
  store double %68, ptr %3, align 8, !dbg !44, !tbaa !18
  %exitcond238.not = icmp eq i64 %indvars.iv.next236, 100, !dbg !42
  br i1 %exitcond238.not, label %.loopexit259.loopexit2, label %57, !dbg !42

.loopexit259.loopexit:                            ; preds = %.ph.lver.orig
  br label %.loopexit259, !dbg !45

.loopexit259.loopexit2:                           ; preds = %57
  br label %.loopexit259, !dbg !45

.loopexit259:                                     ; preds = %.loopexit259.loopexit2, %.loopexit259.loopexit
  %indvars.iv.next240 = add nuw nsw i64 %indvars.iv239, 1, !dbg !45
  %exitcond242.not = icmp eq i64 %indvars.iv.next240, 100, !dbg !41
  %indvar.next = add nuw nsw i64 %indvar, 1, !dbg !41
  br i1 %exitcond242.not, label %69, label %.lver.check, !dbg !41

69:                                               ; preds = %.loopexit259
  store i32 1, ptr %12, align 4, !dbg !16, !tbaa !18
  store i32 540, ptr %13, align 4, !dbg !16, !tbaa !18
  store i32 35, ptr %14, align 4, !dbg !16, !tbaa !18
  store i32 257, ptr %15, align 4, !dbg !16, !tbaa !18
  call void @mpi_allreduce_(ptr nonnull %3, ptr nonnull %5, ptr nonnull %12, ptr nonnull %13, ptr nonnull %14, ptr nonnull %15, ptr nonnull %4), !dbg !16
  %70 = load double, ptr %5, align 8, !dbg !46, !tbaa !18
  %71 = fcmp contract olt double %70, 1.000000e-09, !dbg !46
  %72 = add nuw nsw i32 %.0147227, 1
  %exitcond243.not = icmp eq i32 %72, 11
  %or.cond = select i1 %71, i1 true, i1 %exitcond243.not, !dbg !46
  br i1 %or.cond, label %73, label %.preheader223, !dbg !46

73:                                               ; preds = %69
  %.lcssa = phi double [ %70, %69 ], !dbg !46
  %74 = fcmp contract uno double %.lcssa, 0.000000e+00, !dbg !47
  br i1 %74, label %75, label %77, !dbg !47

75:                                               ; preds = %73
  %76 = call {} @_FortranAStopStatement(i32 3, i1 false, i1 false), !dbg !48
  unreachable, !dbg !48

77:                                               ; preds = %73
  %78 = load i32, ptr %2, align 4, !dbg !49, !tbaa !18
  %79 = icmp eq i32 %78, 0, !dbg !49
  br i1 %79, label %80, label %85, !dbg !49

80:                                               ; preds = %77
  %81 = call ptr @_FortranAioBeginExternalListOutput(i32 6, ptr nonnull @_QQclX2F746D702F6769676172616E6B2D73746F7265642F6D6573682E66393000, i32 33), !dbg !50
  %82 = load double, ptr %5, align 8, !dbg !51, !tbaa !18
  %83 = call i1 @_FortranAioOutputReal64(ptr %81, double %82), !dbg !51
  %84 = call i32 @_FortranAioEndIoStatement(ptr %81), !dbg !50
  br label %85, !dbg !49

85:                                               ; preds = %80, %77
  call void @mpi_finalize_(ptr nonnull %4), !dbg !52
  ret void, !dbg !53
}

declare !dbg !54 void @mpi_init_(ptr) local_unnamed_addr

declare !dbg !58 void @mpi_comm_rank_(ptr, ptr, ptr) local_unnamed_addr

declare !dbg !61 void @mpi_comm_size_(ptr, ptr, ptr) local_unnamed_addr

declare !dbg !62 void @mpi_bcast_(ptr, ptr, ptr, ptr, ptr, ptr) local_unnamed_addr

declare !dbg !69 void @mpi_allreduce_(ptr, ptr, ptr, ptr, ptr, ptr, ptr) local_unnamed_addr

declare !dbg !72 {} @_FortranAStopStatement(i32, i1 zeroext, i1 zeroext) local_unnamed_addr

declare !dbg !76 ptr @_FortranAioBeginExternalListOutput(i32, ptr, i32) local_unnamed_addr

declare !dbg !80 zeroext i1 @_FortranAioOutputReal64(ptr, double) local_unnamed_addr

declare !dbg !83 i32 @_FortranAioEndIoStatement(ptr) local_unnamed_addr

declare !dbg !86 void @mpi_finalize_(ptr) local_unnamed_addr

declare !dbg !87 void @_FortranAProgramStart(i32, ptr, ptr, ptr) local_unnamed_addr

declare !dbg !90 void @_FortranAProgramEndStatement() local_unnamed_addr

define noundef i32 @main(i32 %0, ptr %1, ptr %2) local_unnamed_addr #1 !dbg !92 {
  tail call void @_FortranAProgramStart(i32 %0, ptr %1, ptr %2, ptr null), !dbg !93
  tail call void @_QQmain(), !dbg !93
  tail call void @_FortranAProgramEndStatement(), !dbg !93
  ret i32 0, !dbg !93
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #2

attributes #0 = { mustprogress nofree nounwind willreturn allockind("alloc,uninitialized") allocsize(0) memory(inaccessiblemem: readwrite) "alloc-family"="malloc" }
attributes #1 = { "target-cpu"="x86-64" }
attributes #2 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{!0, !1}
!llvm.dbg.cu = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = distinct !DICompileUnit(language: DW_LANG_Fortran95, file: !3, producer: "Debian flang version 19.1.7", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!3 = !DIFile(filename: "/tmp/gigarank-stored/mesh.f90", directory: "/tmp/gigarank-stored")
!4 = distinct !DISubprogram(name: "_QQmain", linkageName: "_QQmain", scope: !3, file: !5, line: 2, type: !6, scopeLine: 2, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2)
!5 = !DIFile(filename: "mesh.f90", directory: "/tmp/gigarank-stored")
!6 = !DISubroutineType(cc: DW_CC_program, types: !7)
!7 = !{}
!8 = !DILocation(line: 8, column: 20, scope: !4)
!9 = !DILocation(line: 8, column: 14, scope: !4)
!10 = !DILocation(line: 7, column: 23, scope: !4)
!11 = !DILocation(line: 8, column: 39, scope: !4)
!12 = !DILocation(line: 7, column: 29, scope: !4)
!13 = !DILocation(line: 11, column: 3, scope: !4)
!14 = !DILocation(line: 12, column: 3, scope: !4)
!15 = !DILocation(line: 21, column: 6, scope: !4)
!16 = !DILocation(line: 29, column: 6, scope: !4)
!17 = !DILocation(line: 10, column: 3, scope: !4)
!18 = !{!19, !19, i64 0}
!19 = !{!"any data access", !20, i64 0}
!20 = !{!"any access", !21, i64 0}
!21 = !{!"Flang function root _QQmain"}
!22 = !DILocation(line: 13, column: 3, scope: !4)
!23 = !{!24, !24, i64 0}
!24 = !{!"descriptor member", !20, i64 0}
!25 = !DILocation(line: 14, column: 3, scope: !4)
!26 = !DILocation(line: 15, column: 6, scope: !4)
!27 = !DILocation(line: 16, column: 9, scope: !4)
!28 = !{!29, !29, i64 0}
!29 = !{!"direct data/_QFEx", !30, i64 0}
!30 = !{!"direct data", !19, i64 0}
!31 = distinct !{!31, !32, !33}
!32 = !{!"llvm.loop.isvectorized", i32 1}
!33 = !{!"llvm.loop.unroll.runtime.disable"}
!34 = !DILocation(line: 17, column: 6, scope: !4)
!35 = !DILocation(line: 20, column: 6, scope: !4)
!36 = !{!37, !37, i64 0}
!37 = !{!"global data/edges_", !38, i64 0}
!38 = !{!"global data", !19, i64 0}
!39 = distinct !{!39, !32, !33}
!40 = !DILocation(line: 22, column: 6, scope: !4)
!41 = !DILocation(line: 23, column: 6, scope: !4)
!42 = !DILocation(line: 24, column: 9, scope: !4)
!43 = !DILocation(line: 25, column: 12, scope: !4)
!44 = !DILocation(line: 26, column: 12, scope: !4)
!45 = !DILocation(line: 27, column: 9, scope: !4)
!46 = !DILocation(line: 30, column: 6, scope: !4)
!47 = !DILocation(line: 32, column: 3, scope: !4)
!48 = !DILocation(line: 32, column: 19, scope: !4)
!49 = !DILocation(line: 33, column: 3, scope: !4)
!50 = !DILocation(line: 33, column: 18, scope: !4)
!51 = !DILocation(line: 33, column: 27, scope: !4)
!52 = !DILocation(line: 34, column: 3, scope: !4)
!53 = !DILocation(line: 35, column: 1, scope: !4)
!54 = !DISubprogram(name: "mpi_init", linkageName: "mpi_init_", scope: !3, file: !5, line: 10, type: !55, scopeLine: 10, spFlags: DISPFlagOptimized)
!55 = !DISubroutineType(cc: DW_CC_normal, types: !56)
!56 = !{!57}
!57 = !DIBasicType(name: "integer", size: 32, encoding: DW_ATE_signed)
!58 = !DISubprogram(name: "mpi_comm_rank", linkageName: "mpi_comm_rank_", scope: !3, file: !5, line: 11, type: !59, scopeLine: 11, spFlags: DISPFlagOptimized)
!59 = !DISubroutineType(cc: DW_CC_normal, types: !60)
!60 = !{!57, !57, !57}
!61 = !DISubprogram(name: "mpi_comm_size", linkageName: "mpi_comm_size_", scope: !3, file: !5, line: 12, type: !59, scopeLine: 12, spFlags: DISPFlagOptimized)
!62 = !DISubprogram(name: "mpi_bcast", linkageName: "mpi_bcast_", scope: !3, file: !5, line: 21, type: !63, scopeLine: 21, spFlags: DISPFlagOptimized)
!63 = !DISubroutineType(cc: DW_CC_normal, types: !64)
!64 = !{!65, !57, !57, !57, !57, !57}
!65 = !DICompositeType(tag: DW_TAG_array_type, baseType: !66, elements: !67)
!66 = !DIBasicType(name: "real", size: 64, encoding: DW_ATE_float)
!67 = !{!68}
!68 = !DISubrange(count: 100, lowerBound: 1)
!69 = !DISubprogram(name: "mpi_allreduce", linkageName: "mpi_allreduce_", scope: !3, file: !5, line: 29, type: !70, scopeLine: 29, spFlags: DISPFlagOptimized)
!70 = !DISubroutineType(cc: DW_CC_normal, types: !71)
!71 = !{!66, !66, !57, !57, !57, !57, !57}
!72 = !DISubprogram(name: "_FortranAStopStatement", linkageName: "_FortranAStopStatement", scope: !3, file: !5, line: 32, type: !73, scopeLine: 32, spFlags: DISPFlagOptimized)
!73 = !DISubroutineType(cc: DW_CC_normal, types: !74)
!74 = !{!57, !57, !75, !75}
!75 = !DIBasicType(name: "integer", size: 1, encoding: DW_ATE_signed)
!76 = !DISubprogram(name: "_FortranAioBeginExternalListOutput", linkageName: "_FortranAioBeginExternalListOutput", scope: !3, file: !5, line: 33, type: !77, scopeLine: 33, spFlags: DISPFlagOptimized)
!77 = !DISubroutineType(cc: DW_CC_normal, types: !78)
!78 = !{!57, !57, !79, !57}
!79 = !DIBasicType(name: "integer", size: 8, encoding: DW_ATE_signed)
!80 = !DISubprogram(name: "_FortranAioOutputReal64", linkageName: "_FortranAioOutputReal64", scope: !3, file: !5, line: 33, type: !81, scopeLine: 33, spFlags: DISPFlagOptimized)
!81 = !DISubroutineType(cc: DW_CC_normal, types: !82)
!82 = !{!75, !79, !66}
!83 = !DISubprogram(name: "_FortranAioEndIoStatement", linkageName: "_FortranAioEndIoStatement", scope: !3, file: !5, line: 33, type: !84, scopeLine: 33, spFlags: DISPFlagOptimized)
!84 = !DISubroutineType(cc: DW_CC_normal, types: !85)
!85 = !{!57, !79}
!86 = !DISubprogram(name: "mpi_finalize", linkageName: "mpi_finalize_", scope: !3, file: !5, line: 34, type: !55, scopeLine: 34, spFlags: DISPFlagOptimized)
!87 = !DISubprogram(name: "_FortranAProgramStart", linkageName: "_FortranAProgramStart", scope: !3, file: !5, line: 35, type: !88, scopeLine: 35, spFlags: DISPFlagOptimized)
!88 = !DISubroutineType(cc: DW_CC_normal, types: !89)
!89 = !{!57, !57, !57, !57}
!90 = !DISubprogram(name: "_FortranAProgramEndStatement", linkageName: "_FortranAProgramEndStatement", scope: !3, file: !5, line: 35, type: !91, scopeLine: 35, spFlags: DISPFlagOptimized)
!91 = !DISubroutineType(cc: DW_CC_normal, types: !7)
!92 = distinct !DISubprogram(name: "main", linkageName: "main", scope: !3, file: !5, line: 35, type: !88, scopeLine: 35, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2)
!93 = !DILocation(line: 35, column: 1, scope: !92)
