// Package op implements the reduction operations (MPI-5, 6.9): the predefined ones on all types
// of the standard's ABI on which they are defined, and those of programs. The package has a
// small enumeration of element types of its own; For maps datatypes to it.
//
// Apply carries out an operation by loops in Go, which define the result. Kernel.Apply gives the
// same results with vector instructions, in assembly that the program gen writes. It covers
// sums, products, minima, maxima and bitwise operations on integers of 8 to 64 bits, float32 and
// float64.
//
// # Order
//
// All predefined operations are commutative, but rounding makes sums and products of
// floating-point numbers depend on the order. Even the result of one operation on two numbers
// can depend on the order: if both are NaN, the order determines which NaN is the result.
// Therefore Apply takes a left and a right operand. A caller that combines partial results
// passes that of the lower ranks as the left operand. Processes that combine the same values in
// the same order get the same bits, with any kernel.
//
// # Floating-point numbers
//
// A sum, product, minimum or maximum with a NaN is this NaN, made quiet. If both operands are
// NaN, the result is the left one; on arm64 a signaling NaN comes before a quiet one, as in the
// processor's instructions. Which NaN a product of complex numbers is, and which NaN an
// operation on numbers gives, depends on the processor. -0 is less than +0.
//
// Go has no types for binary16, the x87's 80 bits and binary128. binary16 is computed in
// float32, which is exact enough; the others in integers, at some 50 ns for each operation.
//
// # Environments
//
// An operation In an Env is computed with another direction of rounding, or with subnormal
// numbers taken for zeros, as a thread of C with this floating-point environment would compute
// it: see Env.
//
// # Values with an index
//
// Of equal values, and of -0 and +0, the result is the one with the lower index. A NaN comes
// before all numbers, so that it is found.
//
// # Logical operations
//
// Zero is false, any other value is true; results are 0 and 1. The standard defines the logical
// operations on integers of C and not on those of Fortran; CheckFor distinguishes them.
package op
