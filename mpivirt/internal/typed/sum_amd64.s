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
	JZ   rest

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
	VZEROUPPER

rest:
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
