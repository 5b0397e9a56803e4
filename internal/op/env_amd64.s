#include "textflag.h"

// Sums and products with another MXCSR, which is set and restored here. The operands of an
// instruction are in Go's order: the last is the destination and left operand.

#define ENTER \
	MOVQ dst+0(FP), DI; \
	MOVQ a+8(FP), SI; \
	MOVQ b+16(FP), DX; \
	MOVQ n+24(FP), CX; \
	MOVL word+32(FP), AX; \
	STMXCSR 0(SP); \
	MOVL AX, 4(SP); \
	LDMXCSR 4(SP); \
	XORQ AX, AX

#define LEAVE \
	LDMXCSR 0(SP); \
	RET

// Lanes of 16 bytes, four at a time, then one by one.
#define LANES(OPERATION) \
	MOVQ CX, BX; \
	ANDQ $-64, BX; \
	JEQ rest; \
four: \
	MOVUPS 0(SI)(AX*1), X0; \
	MOVUPS 16(SI)(AX*1), X1; \
	MOVUPS 32(SI)(AX*1), X2; \
	MOVUPS 48(SI)(AX*1), X3; \
	MOVUPS 0(DX)(AX*1), X4; \
	MOVUPS 16(DX)(AX*1), X5; \
	MOVUPS 32(DX)(AX*1), X6; \
	MOVUPS 48(DX)(AX*1), X7; \
	OPERATION X4, X0; \
	OPERATION X5, X1; \
	OPERATION X6, X2; \
	OPERATION X7, X3; \
	MOVUPS X0, 0(DI)(AX*1); \
	MOVUPS X1, 16(DI)(AX*1); \
	MOVUPS X2, 32(DI)(AX*1); \
	MOVUPS X3, 48(DI)(AX*1); \
	ADDQ $64, AX; \
	CMPQ AX, BX; \
	JLT four; \
rest: \
	CMPQ AX, CX; \
	JGE done; \
one: \
	MOVUPS 0(SI)(AX*1), X0; \
	MOVUPS 0(DX)(AX*1), X4; \
	OPERATION X4, X0; \
	MOVUPS X0, 0(DI)(AX*1); \
	ADDQ $16, AX; \
	CMPQ AX, CX; \
	JLT one; \
done: \
	LEAVE

// func addFloat32In(dst, a, b *byte, n int, word uint32)
TEXT ·addFloat32In(SB), NOSPLIT, $8-36
	ENTER
	LANES(ADDPS)

// func addFloat64In(dst, a, b *byte, n int, word uint32)
TEXT ·addFloat64In(SB), NOSPLIT, $8-36
	ENTER
	LANES(ADDPD)

// func mulFloat32In(dst, a, b *byte, n int, word uint32)
TEXT ·mulFloat32In(SB), NOSPLIT, $8-36
	ENTER
	LANES(MULPS)

// func mulFloat64In(dst, a, b *byte, n int, word uint32)
TEXT ·mulFloat64In(SB), NOSPLIT, $8-36
	ENTER
	LANES(MULPD)

// The product of the complex numbers X0, X1 and X2, X3, in X4 and X0.
#define PRODUCT \
	MOVAPD X0, X4; \
	MOVAPD X1, X5; \
	MULSD X2, X4; \
	MULSD X3, X5; \
	SUBSD X5, X4; \
	MULSD X3, X0; \
	MULSD X2, X1; \
	ADDSD X1, X0

// func mulComplex64In(dst, a, b *byte, n int, word uint32)
TEXT ·mulComplex64In(SB), NOSPLIT, $8-36
	ENTER
each:
	CVTSS2SD 0(SI)(AX*1), X0
	CVTSS2SD 4(SI)(AX*1), X1
	CVTSS2SD 0(DX)(AX*1), X2
	CVTSS2SD 4(DX)(AX*1), X3
	PRODUCT
	CVTSD2SS X4, X4
	CVTSD2SS X0, X0
	MOVSS X4, 0(DI)(AX*1)
	MOVSS X0, 4(DI)(AX*1)
	ADDQ $8, AX
	CMPQ AX, CX
	JLT each
	LEAVE

// func mulComplex128In(dst, a, b *byte, n int, word uint32)
TEXT ·mulComplex128In(SB), NOSPLIT, $8-36
	ENTER
each:
	MOVSD 0(SI)(AX*1), X0
	MOVSD 8(SI)(AX*1), X1
	MOVSD 0(DX)(AX*1), X2
	MOVSD 8(DX)(AX*1), X3
	PRODUCT
	MOVSD X4, 0(DI)(AX*1)
	MOVSD X0, 8(DI)(AX*1)
	ADDQ $16, AX
	CMPQ AX, CX
	JLT each
	LEAVE
