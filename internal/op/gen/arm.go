package main

import (
	"fmt"
	"strings"
)

// The NEON kernels. Go's assembler lacks most of the instructions, so the generator writes them
// as words, from the Arm Architecture Reference Manual, C4.1 "Advanced SIMD three same". If both
// operands are NaN, the result is Vn, which is a; signaling NaNs come first.
//
// Registers: V0 to V3 are a, V4 to V7 b, V16 scratch.

// size returns the field of an instruction that gives the width of the lanes.
func (l lane) size() uint32 {
	return map[int]uint32{8: 0, 16: 1, 32: 2, 64: 3}[l.bits]
}

// three returns the instruction Vd = Vn op Vm on 128 bits.
func three(mnemonic string, u, size, opcode uint32, d, n, m int) string {
	word := 1<<30 | u<<29 | 0b01110<<24 | size<<22 | 1<<21 | uint32(m)<<16 | opcode<<11 | 1<<10 | uint32(n)<<5 | uint32(d)
	return fmt.Sprintf("WORD $0x%08x // %s V%d, V%d, V%d", word, mnemonic, d, n, m)
}

func neon() machine {
	has := func(what string, l lane) bool { return neonBody(what, l, 0) != nil }
	return machine{"NEON", has, neonFunction, false} // C has no way to call them: abi/lib/kernel_amd64.S
}

// neonBody returns the instructions of an operation on the i-th registers of a and b.
func neonBody(what string, l lane, i int) []string {
	a, b := i, i+4
	bit := func(yes bool) uint32 {
		if yes {
			return 1
		}
		return 0
	}
	plain := func(mnemonic string, u, size, opcode uint32) []string {
		return []string{three(mnemonic, u, size, opcode, a, a, b)}
	}
	sz := bit(l.bits == 64)
	switch {
	case what == "and":
		return plain("AND", 0, 0, 0b00011)
	case what == "or":
		return plain("ORR", 0, 2, 0b00011)
	case what == "xor":
		return plain("EOR", 1, 0, 0b00011)
	case l.float && what == "add":
		return plain("FADD", 0, sz, 0b11010)
	case l.float && what == "mul":
		return plain("FMUL", 1, sz, 0b11011)
	case l.float && what == "max":
		return plain("FMAX", 0, sz, 0b11110)
	case l.float:
		return plain("FMIN", 0, 2|sz, 0b11110)
	case what == "add":
		return plain("ADD", 0, l.size(), 0b10000)
	case what == "mul" && l.bits == 64:
		return nil // NEON has no such instruction
	case what == "mul":
		return plain("MUL", 0, l.size(), 0b10011)
	case l.bits < 64 && what == "max":
		return plain("MAX", bit(!l.signed), l.size(), 0b01100)
	case l.bits < 64:
		return plain("MIN", bit(!l.signed), l.size(), 0b01101)
	}
	// V16 is set where a is greater. BIT copies b into a there, BIF elsewhere.
	greater := three("CMGT", 0, 3, 0b00110, 16, a, b)
	if !l.signed {
		greater = three("CMHI", 1, 3, 0b00110, 16, a, b)
	}
	if what == "min" {
		return []string{greater, three("BIT", 1, 2, 0b00011, a, b, 16)}
	}
	return []string{greater, three("BIF", 1, 3, 0b00011, a, b, 16)}
}

func neonFunction(k kernel, symbol string) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	do := func(i int) {
		for _, s := range neonBody(k.what, k.lane, i) {
			p("\t%s", s)
		}
	}
	p("TEXT ·%s(SB), NOSPLIT, $0-32", symbol)
	p("\tMOVD dst+0(FP), R0\n\tMOVD a+8(FP), R1\n\tMOVD b+16(FP), R2\n\tMOVD n+24(FP), R3")
	p("\tSUBS $64, R3, R3\n\tBLT rest\nfour:")
	p("\tVLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]\n\tVLD1.P 64(R2), [V4.B16, V5.B16, V6.B16, V7.B16]")
	for i := range 4 {
		do(i)
	}
	p("\tVST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)")
	p("\tSUBS $64, R3, R3\n\tBGE four\nrest:\n\tADDS $64, R3, R3\n\tBEQ done\none:")
	p("\tVLD1.P 16(R1), [V0.B16]\n\tVLD1.P 16(R2), [V4.B16]")
	do(0)
	p("\tVST1.P [V0.B16], 16(R0)\n\tSUBS $16, R3, R3\n\tBNE one\ndone:\n\tRET")
	return b.String()
}
