#include "textflag.h"

// func GrowStack()
TEXT ·GrowStack(SB), 0, $300000-0
	RET
