#include "textflag.h"

// func fetch(buffer []byte)
TEXT ·fetch(SB), NOSPLIT, $0-24
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

// func fetchToWrite(buffer []byte)
TEXT ·fetchToWrite(SB), NOSPLIT, $0-24
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
