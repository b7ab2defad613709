#include "textflag.h"

// func Pair(p unsafe.Pointer)
TEXT ·Pair(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	RET

// func Coroutine(top, descriptor, pull, next, yield uintptr)
TEXT ·Coroutine(SB), NOSPLIT, $0-40
	MOVQ next+24(FP), AX
	PREFETCHT0 (AX)
	MOVQ descriptor+8(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 192(AX)
	PREFETCHT0 384(AX)
	MOVQ pull+16(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 32(AX)
	MOVQ yield+32(FP), AX
	PREFETCHT0 (AX)
	MOVQ top+0(FP), AX
	PREFETCHT0 -192(AX)
	PREFETCHT0 -128(AX)
	PREFETCHT0 -64(AX)
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 192(AX)
	PREFETCHT0 256(AX)
	PREFETCHT0 320(AX)
	PREFETCHT0 384(AX)
	RET

// func Ends(from, length uintptr)
TEXT ·Ends(SB), NOSPLIT, $0-16
	MOVQ from+0(FP), AX
	MOVQ length+8(FP), BX
	PREFETCHT0 (AX)
	PREFETCHT0 (AX)(BX*1)
	RET

// func Buffer(buffer []byte)
TEXT ·Buffer(SB), NOSPLIT, $0-24
	MOVQ buffer_base+0(FP), AX
	MOVQ buffer_len+8(FP), CX
	ADDQ AX, CX

next:
	CMPQ       AX, CX
	JAE        done
	PREFETCHT0 (AX)
	ADDQ       $64, AX
	JMP        next

done:
	RET

// func BufferToWrite(buffer []byte)
TEXT ·BufferToWrite(SB), NOSPLIT, $0-24
	MOVQ buffer_base+0(FP), AX
	MOVQ buffer_len+8(FP), CX
	ADDQ AX, CX

next:
	CMPQ AX, CX
	JAE  done
	BYTE $0x0f // PREFETCHW (AX), which the assembler does not know
	BYTE $0x0d
	BYTE $0x08
	ADDQ $64, AX
	JMP  next

done:
	RET
