/* What predefined operations make of two elements: once, for all that C combines by itself. */
#ifndef HALO_FAST_COMBINE_H
#define HALO_FAST_COMBINE_H

#include "fast.h"

/* An operation on two integers of up to 8 bytes, of which the bits above their size mean nothing,
 * nor do those of the result. a_less and b_less say which one is less, by the sign that they have.
 * Where op is a constant one instruction is left of it. */
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
 * be a or b. Of floating point types it fails at a NaN, and where only the sign of a zero tells the
 * least or greatest of two apart: what comes of these, Go knows. */
HALO_HIDDEN int halo_combine(int kind, int size, MPI_Op op, void *to, const void *a, const void *b, size_t n);

#endif
