//go:build !race

#include "textflag.h"

// func swap16(p unsafe.Pointer, oldLo, oldHi, newLo, newHi uint64) (lo, hi uint64)
TEXT ·swap16(SB), NOSPLIT, $0-56
	MOVQ p+0(FP), DI
	MOVQ oldLo+8(FP), AX
	MOVQ oldHi+16(FP), DX
	MOVQ newLo+24(FP), BX
	MOVQ newHi+32(FP), CX
	LOCK
	CMPXCHG16B (DI)
	MOVQ AX, lo+40(FP)
	MOVQ DX, hi+48(FP)
	RET
