package main

import (
	"fmt"
	"strings"
)

// The x86 kernels. Operands are in Go's order: second source, first source, destination. If both
// operands of a sum or product are NaN, the result is the first source, which is a.
//
// Registers: V0 and V1 are a and b, V2 to V4 scratch, V15 a constant. In the unrolled loop of an operation
// of one instruction, V0 to V3 are four vectors of a.

// unrolled is the number of vectors in an iteration of the unrolled loop.
const unrolled = 4

// x86 returns the machine with vectors V of width bytes. body returns the instructions before
// the loops and the instructions of an operation on one vector.
func x86(name, v string, width int, move string, body func(what string, l lane) (setup, body []string)) machine {
	has := func(what string, l lane) bool {
		_, text := body(what, l)
		return text != nil
	}
	return machine{name, has, func(k kernel, symbol string) string {
		setup, text := body(k.what, k.lane)
		var b strings.Builder
		p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		name := func(s string) string { return strings.NewReplacer("V.", v).Replace(s) }
		one := func(offset int) {
			p("\t%s %d(SI)(AX*1), %s0", move, offset, v)
			p("\t%s %d(DX)(AX*1), %s1", move, offset, v)
			for _, s := range text {
				p("\t%s", name(s))
			}
			p("\t%s %s0, %d(DI)(AX*1)", move, v, offset)
		}
		p("TEXT ·%s(SB), NOSPLIT, $0-32", symbol)
		p("\tMOVQ dst+0(FP), DI\n\tMOVQ a+8(FP), SI\n\tMOVQ b+16(FP), DX\n\tMOVQ n+24(FP), CX")
		for _, s := range setup {
			p("\t%s", name(s))
		}
		p("\tXORQ AX, AX\n\tMOVQ CX, BX\n\tANDQ $-%d, BX\n\tJEQ rest\n\tPCALIGN $32\nfour:", unrolled*width)
		if instruction, simple := strings.CutSuffix(text[0], " V.1, V.0, V.0"); simple && len(text) == 1 {
			for i := range unrolled {
				p("\t%s %d(SI)(AX*1), %s%d", move, i*width, v, i)
			}
			for i := range unrolled {
				p("\t%s %d(DX)(AX*1), %s%d, %s%d", instruction, i*width, v, i, v, i)
			}
			for i := range unrolled {
				p("\t%s %s%d, %d(DI)(AX*1)", move, v, i, i*width)
			}
		} else {
			for i := range unrolled {
				one(i * width)
			}
		}
		p("\tADDQ $%d, AX\n\tCMPQ AX, BX\n\tJLT four\nrest:\n\tCMPQ AX, CX\n\tJGE done\none:", unrolled*width)
		one(0)
		p("\tADDQ $%d, AX\n\tCMPQ AX, CX\n\tJLT one\ndone:\n\tVZEROUPPER\n\tRET", width)
		return b.String()
	}, true}
}

// suffix returns the letter of a lane in integer instructions.
func (l lane) suffix() string {
	return map[int]string{8: "B", 16: "W", 32: "D", 64: "Q"}[l.bits]
}

// letter returns the last letter of floating-point instructions.
func (l lane) letter() string { return map[int]string{32: "S", 64: "D"}[l.bits] }

// sign returns the letter of a lane in the instructions for minima and maxima.
func (l lane) sign() string {
	if l.signed {
		return "S"
	}
	return "U"
}

func avx2() machine {
	return x86("AVX2", "Y", 32, "VMOVDQU", avx2Body)
}

func avx2Body(what string, l lane) (setup, body []string) {
	plain := func(instruction string) ([]string, []string) {
		return nil, []string{instruction + " V.1, V.0, V.0"}
	}
	upper := strings.ToUpper(what)
	switch {
	case what == "and" || what == "or" || what == "xor":
		return plain("VP" + upper)
	case l.float && (what == "add" || what == "mul"):
		return plain("V" + upper + "P" + l.letter())
	case l.float:
		// For two zeros, or if an operand is NaN, the instruction returns its second source. So
		// it is executed with both orders. Of zeros with different signs, OR gives -0 and AND
		// gives +0. The sum of a and b is a NaN exactly if the result has to be one, and it is
		// the right NaN.
		join := map[string]string{"min": "VORP", "max": "VANDP"}[what] + l.letter()
		f := "V" + upper + "P" + l.letter()
		return nil, []string{
			f + " V.1, V.0, V.2",
			f + " V.0, V.1, V.3",
			join + " V.2, V.3, V.2",
			"VCMPP" + l.letter() + " $3, V.1, V.0, V.3", // unordered
			"VADDP" + l.letter() + " V.1, V.0, V.4",
			"VBLENDVP" + l.letter() + " V.3, V.4, V.2, V.0",
		}
	case what == "add":
		return plain("VPADD" + l.suffix())
	case what == "mul":
		return multiply(l, false)
	case l.bits < 64:
		return plain("VP" + upper + l.sign() + l.suffix())
	}
	// Lanes of 64 bits are compared as signed numbers; the top bit of unsigned ones is flipped
	// before. V3 is set where a is greater.
	x, y := "V.0", "V.1"
	if !l.signed {
		setup = []string{"VPCMPEQD V.15, V.15, V.15", "VPSLLQ $63, V.15, V.15"}
		body = []string{"VPXOR V.15, V.0, V.3", "VPXOR V.15, V.1, V.4"}
		x, y = "V.3", "V.4"
	}
	body = append(body, fmt.Sprintf("VPCMPGTQ %s, %s, V.3", y, x))
	if what == "min" {
		return setup, append(body, "VBLENDVPD V.3, V.1, V.0, V.0")
	}
	return setup, append(body, "VBLENDVPD V.3, V.0, V.1, V.0")
}

// multiply returns the product of integers; wide is for AVX-512.
func multiply(l lane, wide bool) (setup, body []string) {
	switch l.bits {
	case 8: // by products of 16 bits: of the even bytes, then of the odd ones
		setup = []string{"VPCMPEQD V.15, V.15, V.15", "VPSRLW $8, V.15, V.15"}
		and, or := "VPAND", "VPOR"
		if wide {
			setup[0] = "VPTERNLOGD $255, V.15, V.15, V.15"
			and, or = "VPANDQ", "VPORQ"
		}
		return setup, []string{
			"VPMULLW V.1, V.0, V.2",
			"VPSRLW $8, V.0, V.0",
			"VPSRLW $8, V.1, V.1",
			"VPMULLW V.1, V.0, V.0",
			"VPSLLW $8, V.0, V.0",
			and + " V.15, V.2, V.2",
			or + " V.2, V.0, V.0",
		}
	case 16:
		return nil, []string{"VPMULLW V.1, V.0, V.0"}
	case 32:
		return nil, []string{"VPMULLD V.1, V.0, V.0"}
	}
	if wide {
		return nil, []string{"VPMULLQ V.1, V.0, V.0"}
	}
	return nil, []string{ // low * low, to whose upper half the two products low * high are added
		"VPSHUFD $177, V.1, V.2",
		"VPMULLD V.2, V.0, V.2",
		"VPSRLQ $32, V.2, V.3",
		"VPADDD V.3, V.2, V.2",
		"VPSLLQ $32, V.2, V.2",
		"VPMULUDQ V.1, V.0, V.0",
		"VPADDQ V.2, V.0, V.0",
	}
}

func avx512() machine {
	return x86("AVX512", "Z", 64, "VMOVDQU64", avx512Body)
}

func avx512Body(what string, l lane) (setup, body []string) {
	plain := func(instruction string) ([]string, []string) {
		return nil, []string{instruction + " V.1, V.0, V.0"}
	}
	upper := strings.ToUpper(what)
	switch {
	case what == "and" || what == "or" || what == "xor":
		return plain("VP" + upper + "Q")
	case l.float && (what == "add" || what == "mul"):
		return plain("V" + upper + "P" + l.letter())
	case l.float:
		// VRANGE orders zeros by their signs, but prefers numbers to NaNs. The sum of a and b is
		// a NaN exactly if the result has to be one, and it is the right NaN.
		control := map[string]int{"min": 4, "max": 5}[what]
		return nil, []string{
			fmt.Sprintf("VRANGEP%s $%d, V.1, V.0, V.2", l.letter(), control),
			"VCMPP" + l.letter() + " $3, V.1, V.0, K1", // unordered
			"VADDP" + l.letter() + " V.1, V.0, K1, V.2",
			"VMOVDQA64 V.2, V.0",
		}
	case what == "add":
		return plain("VPADD" + l.suffix())
	case what == "mul":
		return multiply(l, true)
	}
	return plain("VP" + upper + l.sign() + l.suffix())
}
