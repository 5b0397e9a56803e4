// Package op implements the reduction operations (MPI-5, 6.9): the predefined ones on all types of the standard's ABI on
// which they are defined, and those of programs. The package has a small enumeration of element types of its own; For
// maps datatypes to it. Packages coll, apply and rma combine data with it.
//
// Apply carries out an operation by loops in Go, which define the result. Kernel.Apply gives the same results with vector
// instructions, in assembly that the program gen writes. It covers sums, products, minima, maxima and bitwise operations
// on integers of 8 to 64 bits, float32 and float64.
//
// A sum, product, minimum or maximum with a NaN is this NaN, made quiet. If both operands are NaN, the result is the left
// one; on arm64 a signaling NaN comes before a quiet one, as in the processor's instructions. Which NaN a product of
// complex numbers is, and which NaN an operation on numbers gives, depends on the processor. -0 is less than +0. Of equal
// values with an index the result is the one with the lower index (located.go). For logical operations zero is false, and
// any other value true; the standard defines them on integers of C and not on those of Fortran, which CheckFor
// distinguishes.
//
// Go has no types for binary16, the x87's 80 bits and binary128. binary16 is computed in float32, which is exact enough;
// the others in integers, at some 50 ns for each operation. An operation In an Env is computed with another direction of
// rounding, or with subnormal numbers taken for zeros, as a thread of C with this floating-point environment would
// compute it: see Env.
//
// A sum of 1 KiB of doubles takes 0.012 us, of 256 KiB 2.1 us (docs/performance.md, "reduce_local").
//
// The trap: left and right are not the same, although all predefined operations are commutative. Rounding makes sums of
// floating-point numbers depend on the order, and of two NaNs the order determines which is the result. A caller that
// combines partial results passes that of the lower ranks as the left operand. Processes that combine the same values in
// the same order get the same bits, with any kernel.
package op
