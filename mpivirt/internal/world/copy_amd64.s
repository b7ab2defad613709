//go:build !race

#include "textflag.h"

// func copyPairs(to, from []byte, pairs int)
TEXT ·copyPairs(SB), NOSPLIT, $0-56
	MOVQ to_base+0(FP), DI
	MOVQ from_base+24(FP), SI
	MOVQ pairs+48(FP), CX

pair:
	MOVQ $32, BX // pieces of 128 bytes in a page

piece:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU 64(SI), Y2
	VMOVDQU 96(SI), Y3
	VMOVDQU 4096(SI), Y4
	VMOVDQU 4128(SI), Y5
	VMOVDQU 4160(SI), Y6
	VMOVDQU 4192(SI), Y7
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	VMOVDQU Y4, 4096(DI)
	VMOVDQU Y5, 4128(DI)
	VMOVDQU Y6, 4160(DI)
	VMOVDQU Y7, 4192(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	DECQ    BX
	JNZ     piece
	ADDQ    $4096, SI
	ADDQ    $4096, DI
	DECQ    CX
	JNZ     pair
	VZEROUPPER
	RET
