//go:build !race

#include "textflag.h"

// func swap16(p unsafe.Pointer, oldLo, oldHi, newLo, newHi uint64) (lo, hi uint64)
//
// The two halves that LDAXP loads are one value only if a store to the same address succeeds
// after it. Therefore there is a store in any case.
TEXT ·swap16(SB), NOSPLIT, $0-56
	MOVD p+0(FP), R0
	MOVD oldLo+8(FP), R1
	MOVD oldHi+16(FP), R2
	MOVD newLo+24(FP), R3
	MOVD newHi+32(FP), R4
again:
	LDAXP (R0), (R5, R6)
	CMP R1, R5
	BNE keep
	CMP R2, R6
	BNE keep
	STLXP (R3, R4), (R0), R7
	CBNZ R7, again
	B done
keep:
	STLXP (R5, R6), (R0), R7
	CBNZ R7, again
done:
	MOVD R5, lo+40(FP)
	MOVD R6, hi+48(FP)
	RET
