#include "textflag.h"

// func fetch(buffer []byte)
TEXT ·fetch(SB), NOSPLIT, $0-24
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

// func fetchToWrite(buffer []byte)
TEXT ·fetchToWrite(SB), NOSPLIT, $0-24
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
