//go:build !race

#include "textflag.h"

// func add(into, left, right []float64)
TEXT ·add(SB), NOSPLIT, $0-72
	MOVQ into_base+0(FP), DI
	MOVQ into_len+8(FP), CX
	MOVQ left_base+24(FP), SI
	MOVQ right_base+48(FP), DX
	MOVQ CX, BX
	ANDQ $7, CX
	SHRQ $3, BX
	CMPQ BX, $512 // eight pages and more: the processor fetches ahead over their ends
	JGE  eights

pages:
	CMPQ BX, $128 // two pages are added side by side, see world.CopyContent
	JLT  eights
	MOVQ $64, R8

pair:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VMOVUPD 4096(SI), Y2
	VMOVUPD 4128(SI), Y3
	VADDPD  (DX), Y0, Y0
	VADDPD  32(DX), Y1, Y1
	VADDPD  4096(DX), Y2, Y2
	VADDPD  4128(DX), Y3, Y3
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 4096(DI)
	VMOVUPD Y3, 4128(DI)
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $64, DI
	DECQ    R8
	JNZ     pair
	ADDQ    $4096, SI
	ADDQ    $4096, DX
	ADDQ    $4096, DI
	SUBQ    $128, BX
	JMP     pages

eights:
	TESTQ BX, BX
	JZ    last

eight:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VADDPD  (DX), Y0, Y0
	VADDPD  32(DX), Y1, Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $64, DI
	DECQ    BX
	JNZ     eight

last:
	VZEROUPPER
	TESTQ CX, CX
	JZ    done

one:
	MOVSD (SI), X0
	ADDSD (DX), X0
	MOVSD X0, (DI)
	ADDQ  $8, SI
	ADDQ  $8, DX
	ADDQ  $8, DI
	DECQ  CX
	JNZ   one

done:
	RET
