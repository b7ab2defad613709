#include "textflag.h"

// func descriptor() uintptr
TEXT ·descriptor(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// func prefetch(top, descriptor, pull, next, yield uintptr)
TEXT ·prefetch(SB), NOSPLIT, $0-40
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

// func prefetchEnds(from, length uintptr)
TEXT ·prefetchEnds(SB), NOSPLIT, $0-16
	MOVQ from+0(FP), AX
	MOVQ length+8(FP), BX
	PREFETCHT0 (AX)
	PREFETCHT0 (AX)(BX*1)
	RET
