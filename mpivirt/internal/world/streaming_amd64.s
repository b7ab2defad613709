//go:build !race

#include "textflag.h"

// pageAhead is how far before its use the line of a source is fetched: the processor itself fetches ahead up to
// the end of a page only.
#define pageAhead 4096

// func streamLines(to, from []byte)
TEXT ·streamLines(SB), NOSPLIT, $0-48
	MOVQ to_base+0(FP), DI
	MOVQ to_len+8(FP), CX
	MOVQ from_base+24(FP), SI
	SHRQ $6, CX
	JZ   done

line:
	PREFETCHNTA pageAhead(SI)
	VMOVDQU64   (SI), Z0
	VMOVNTDQ    Z0, (DI)
	ADDQ        $64, SI
	ADDQ        $64, DI
	DECQ        CX
	JNZ         line
	VZEROUPPER

done:
	RET

// func streamHalves(to, from []byte)
TEXT ·streamHalves(SB), NOSPLIT, $0-48
	MOVQ to_base+0(FP), DI
	MOVQ to_len+8(FP), CX
	MOVQ from_base+24(FP), SI
	SHRQ $6, CX
	JZ   done

line:
	PREFETCHNTA pageAhead(SI)
	VMOVDQU     (SI), Y0
	VMOVDQU     32(SI), Y1
	VMOVNTDQ    Y0, (DI)
	VMOVNTDQ    Y1, 32(DI)
	ADDQ        $64, SI
	ADDQ        $64, DI
	DECQ        CX
	JNZ         line
	VZEROUPPER

done:
	RET

// func Fence()
TEXT ·Fence(SB), NOSPLIT, $0-0
	SFENCE
	RET
