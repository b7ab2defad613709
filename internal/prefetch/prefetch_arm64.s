#include "textflag.h"

// func Pair(p unsafe.Pointer)
TEXT ·Pair(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	RET

// func Coroutine(top, descriptor, pull, next, yield uintptr)
TEXT ·Coroutine(SB), NOSPLIT, $0-40
	MOVD next+24(FP), R0
	PRFM (R0), PLDL1KEEP
	MOVD descriptor+8(FP), R0
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	PRFM 128(R0), PLDL1KEEP
	PRFM 192(R0), PLDL1KEEP
	PRFM 384(R0), PLDL1KEEP
	MOVD pull+16(FP), R0
	PRFM (R0), PLDL1KEEP
	PRFM 32(R0), PLDL1KEEP
	MOVD yield+32(FP), R0
	PRFM (R0), PLDL1KEEP
	MOVD top+0(FP), R0
	SUB  $192, R0
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	PRFM 128(R0), PLDL1KEEP
	PRFM 192(R0), PLDL1KEEP
	PRFM 256(R0), PLDL1KEEP
	PRFM 320(R0), PLDL1KEEP
	PRFM 384(R0), PLDL1KEEP
	PRFM 448(R0), PLDL1KEEP
	PRFM 512(R0), PLDL1KEEP
	PRFM 576(R0), PLDL1KEEP
	RET

// func Ends(from, length uintptr)
TEXT ·Ends(SB), NOSPLIT, $0-16
	MOVD from+0(FP), R0
	MOVD length+8(FP), R1
	PRFM (R0), PLDL1KEEP
	ADD  R1, R0
	PRFM (R0), PLDL1KEEP
	RET

// func Buffer(buffer []byte)
TEXT ·Buffer(SB), NOSPLIT, $0-24
	MOVD buffer_base+0(FP), R0
	MOVD buffer_len+8(FP), R1
	ADD  R0, R1

next:
	CMP  R1, R0
	BHS  done
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	B    next

done:
	RET

// func BufferToWrite(buffer []byte)
TEXT ·BufferToWrite(SB), NOSPLIT, $0-24
	MOVD buffer_base+0(FP), R0
	MOVD buffer_len+8(FP), R1
	ADD  R0, R1

next:
	CMP  R1, R0
	BHS  done
	PRFM (R0), PSTL1KEEP
	ADD  $64, R0
	B    next

done:
	RET
