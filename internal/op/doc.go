// Package op holds the built-in reduction operations (MPI-5, 6.9.2) on the
// built-in element types.
//
// # Order
//
// All operations are commutative, but rounding makes sums and products of
// floating-point numbers depend on the order, and even an operation on two
// numbers may depend on it: which of two NaNs comes out. Apply therefore takes
// a left and a right operand; who combines partial results puts that of the
// lower ranks to the left. Processes that combine the same values in the same
// order get the same bits, because they run the same loop.
//
// # Minimum and maximum of floating-point numbers
//
// As in Go: a NaN on either side makes the result a NaN, and -0 is less than +0.
//
// # Logical operations
//
// Zero is false, everything else is true; results are 0 and 1.
package op
