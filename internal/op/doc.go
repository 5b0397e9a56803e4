// Package op holds the reduction operations (MPI-5, 6.9): the predefined ones on
// all types of the standard's ABI on which they are defined, and those of programs.
// It knows elements by a small enumeration of its own; For maps datatypes to it.
//
// Apply does an operation by loops in Go, and says by that what it is. Kernel.Apply
// does the same with vector instructions, in assembly that the program gen writes,
// for sums, products, minima, maxima and bitwise operations on integers of 8 to 64
// bits, float32 and float64.
//
// # Order
//
// All predefined operations are commutative, but rounding makes sums and products
// of floating-point numbers depend on the order, and even an operation on two
// numbers may depend on it: which of two NaNs comes out. Apply therefore takes a
// left and a right operand; who combines partial results puts that of the lower
// ranks to the left. Processes that combine the same values in the same order get
// the same bits, by whatever kernel.
//
// # Floating-point numbers
//
// A sum, product, minimum or maximum with a NaN is that NaN, made quiet; of two
// the left one, but on arm64 a signaling one first, as the instructions of both
// have it. Which NaN a product of complex numbers is, or what comes of operands
// that are numbers, the processor decides. -0 is less than +0.
//
// Go has no types for binary16, the x87's 80 bits and binary128: the first is
// computed in float32, exactly enough, the others in integers, at some 50 ns each.
//
// # Environments
//
// An operation In an Env is computed with another direction of rounding, or with subnormal
// numbers taken for zeros, as the thread of C would that asked for it: see Env.
//
// # Values with an index
//
// Equal values, -0 and +0 among them, are told apart by the lower index. A NaN comes
// before every number, so that it is found.
//
// # Logical operations
//
// Zero is false, everything else is true; results are 0 and 1. The standard defines
// them on C's integers and not on Fortran's, which CheckFor tells apart.
package op
