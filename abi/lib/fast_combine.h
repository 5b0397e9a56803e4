/* The predefined operations on two elements: the only definition for all operands that C combines. */
#ifndef HALO_FAST_COMBINE_H
#define HALO_FAST_COMBINE_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"

/* An operation on two integers of up to 8 bytes. The bits above their size are undefined, in the
 * operands and in the result. a_less and b_less say which operand is less, signed or unsigned as
 * the type is. For a constant op this compiles to one instruction. */
static inline __attribute__((always_inline)) uint64_t halo_whole(MPI_Op op, uint64_t a, uint64_t b, int a_less, int b_less) {
	if (op == MPI_SUM)
		return a + b;
	if (op == MPI_PROD)
		return a * b;
	if (op == MPI_MIN)
		return b_less ? b : a;
	if (op == MPI_MAX)
		return a_less ? b : a;
	if (op == MPI_BAND)
		return a & b;
	if (op == MPI_BOR)
		return a | b;
	return a ^ b; /* MPI_BXOR */
}

/* An operation on n elements of a type with a kind from HALO_BITS on, of 1, 2, 4 or 8 bytes: to may
 * be a or b. For floating-point types it returns 0 if a result is a NaN, or if the minimum or
 * maximum of two elements depends on the sign of a zero: Go defines these results. */
HALO_HIDDEN int halo_combine(int kind, int size, MPI_Op op, void *to, const void *a, const void *b, size_t n);

#endif
