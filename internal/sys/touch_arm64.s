#include "textflag.h"

// func touch(p *byte)
TEXT ·touch(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
again:
	LDAXRB (R0), R1
	STLXRB R1, (R0), R2
	CBNZ R2, again
	RET
