package sys

import "golang.org/x/sys/cpu"

// HasAVX2 reports whether the processor is an x86 with AVX2, and the system saves its registers.
func HasAVX2() bool { return cpu.X86.HasAVX2 }

// HasAVX512 reports the same for AVX-512 with operations on bytes and words (BW), and on numbers of 32 and
// 64 bits (DQ).
func HasAVX512() bool {
	return cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ
}

// HasERMS reports whether the processor is an x86 whose string instructions are fast.
func HasERMS() bool { return cpu.X86.HasERMS }

// HasCX16 reports whether the processor is an x86 with a compare-and-swap of 16 bytes.
func HasCX16() bool { return cpu.X86.HasCX16 }
