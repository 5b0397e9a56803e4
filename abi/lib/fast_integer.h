/* MPI_X_toint and MPI_X_fromint of handles that have no tables in C. */
#ifndef HALO_FAST_INTEGER_H
#define HALO_FAST_INTEGER_H

#include <stdint.h>

#include "compiler.h"
#include "request.h"

/*
 * The handles that were converted to integers last, by the lower bits of their slot numbers. Fortran
 * passes the integer of a request to the call that completes it, and the integer lacks the generation of
 * the handle, which this gives without entering Go. A handle replaces another one of the same place.
 * Communicators, windows and datatypes have tables instead (halo_known).
 *
 * Rejected: a table for requests, too, which every request that C starts and completes would have to
 * enter and leave.
 */
#define HALO_CONVERTED 1024 /* as many requests as a program has in progress, and 8 KiB */
HALO_HIDDEN extern uintptr_t halo_converted[HALO_CONVERTED];

static inline uintptr_t *halo_place_of(uintptr_t handle) { return &halo_converted[handle >> 4 & (HALO_CONVERTED - 1)]; }

/* MPI_X_toint: the lower 31 bits of a handle. */
static inline int halo_to_int(uintptr_t handle) {
	__atomic_store_n(halo_place_of(handle), handle, __ATOMIC_RELAXED); /* pairs with the load in halo_from_int */
	return (int)(handle & 0x7fffffff);
}

/* MPI_X_fromint: the handle, or 0 if it was not among the last ones that were converted. */
static inline uintptr_t halo_from_int(int n) {
	if ((n & 15) == HALO_KIND_SENT || (n & 15) == HALO_KIND_RECEIVED) /* the integer is all of the handle */
		return (uintptr_t)n;
	uintptr_t handle = __atomic_load_n(halo_place_of((unsigned)n), __ATOMIC_RELAXED); /* pairs with the store in halo_to_int */
	return (handle & 0x7fffffff) == (uintptr_t)n ? handle : 0;
}

#endif
