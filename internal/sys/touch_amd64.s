#include "textflag.h"

// func touch(p *byte)
TEXT ·touch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	XORL CX, CX
	LOCK
	ORB CX, (AX)
	RET
