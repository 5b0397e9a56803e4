#include "textflag.h"

// Sums and products with another FPCR, which is set and restored here. The left operand of an
// instruction is the second, the result the last.

#define ENTER \
	MOVD dst+0(FP), R0; \
	MOVD a+8(FP), R1; \
	MOVD b+16(FP), R2; \
	MOVD n+24(FP), R3; \
	MOVWU word+32(FP), R4; \
	MOVD FPCR, R5; \
	MOVD R4, FPCR

#define LEAVE \
	MOVD R5, FPCR; \
	RET

// func addFloat32In(dst, a, b *byte, n int, word uint32)
TEXT ·addFloat32In(SB), NOSPLIT, $0-36
	ENTER
each:
	FMOVS.P 4(R1), F0
	FMOVS.P 4(R2), F1
	FADDS F1, F0, F0
	FMOVS.P F0, 4(R0)
	SUBS $4, R3, R3
	BNE each
	LEAVE

// func addFloat64In(dst, a, b *byte, n int, word uint32)
TEXT ·addFloat64In(SB), NOSPLIT, $0-36
	ENTER
each:
	FMOVD.P 8(R1), F0
	FMOVD.P 8(R2), F1
	FADDD F1, F0, F0
	FMOVD.P F0, 8(R0)
	SUBS $8, R3, R3
	BNE each
	LEAVE

// func mulFloat32In(dst, a, b *byte, n int, word uint32)
TEXT ·mulFloat32In(SB), NOSPLIT, $0-36
	ENTER
each:
	FMOVS.P 4(R1), F0
	FMOVS.P 4(R2), F1
	FMULS F1, F0, F0
	FMOVS.P F0, 4(R0)
	SUBS $4, R3, R3
	BNE each
	LEAVE

// func mulFloat64In(dst, a, b *byte, n int, word uint32)
TEXT ·mulFloat64In(SB), NOSPLIT, $0-36
	ENTER
each:
	FMOVD.P 8(R1), F0
	FMOVD.P 8(R2), F1
	FMULD F1, F0, F0
	FMOVD.P F0, 8(R0)
	SUBS $8, R3, R3
	BNE each
	LEAVE

// The product of the complex numbers F0, F1 and F2, F3, in F4 and F6.
#define PRODUCT \
	FMULD F2, F0, F4; \
	FMULD F3, F1, F5; \
	FSUBD F5, F4, F4; \
	FMULD F3, F0, F6; \
	FMULD F2, F1, F7; \
	FADDD F7, F6, F6

// func mulComplex64In(dst, a, b *byte, n int, word uint32)
TEXT ·mulComplex64In(SB), NOSPLIT, $0-36
	ENTER
each:
	FMOVS.P 4(R1), F0
	FMOVS.P 4(R1), F1
	FMOVS.P 4(R2), F2
	FMOVS.P 4(R2), F3
	FCVTSD F0, F0
	FCVTSD F1, F1
	FCVTSD F2, F2
	FCVTSD F3, F3
	PRODUCT
	FCVTDS F4, F4
	FCVTDS F6, F6
	FMOVS.P F4, 4(R0)
	FMOVS.P F6, 4(R0)
	SUBS $8, R3, R3
	BNE each
	LEAVE

// func mulComplex128In(dst, a, b *byte, n int, word uint32)
TEXT ·mulComplex128In(SB), NOSPLIT, $0-36
	ENTER
each:
	FMOVD.P 8(R1), F0
	FMOVD.P 8(R1), F1
	FMOVD.P 8(R2), F2
	FMOVD.P 8(R2), F3
	PRODUCT
	FMOVD.P F4, 8(R0)
	FMOVD.P F6, 8(R0)
	SUBS $16, R3, R3
	BNE each
	LEAVE
