// Command gen writes the vector kernels of package op, assembly and the Go files that choose a kernel: run go
// generate in internal/op. Nothing else calls it, and its output is committed.
//
// The instructions are in x86.go (AVX2, AVX-512) and arm.go (NEON). kernel.go has the parts that are the same for all
// machines: the list of kernels and the Go file that chooses one.
//
// The trap: the loops in Go define the results, and a kernel must give the same bits, those of NaNs and signs of zeros
// included. An instruction with the right name may not do that: minimum and maximum of x86 return their second
// source for two zeros and for NaNs. The tests of package op compare the kernels that the machine has, and those of
// other machines only where the tests run on one.
package main
