/* MPI_Put and MPI_Get of short contiguous data: see fast.go. */
#ifndef HALO_FAST_PUT_GET_H
#define HALO_FAST_PUT_GET_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "copy.h"
#include "datatype.h"
#include "record.h"
#include "window.h"

/* The address of n bytes of a target, or NULL if C must not access them. local is the origin's
 * memory. */
static inline char *halo_place(const void *local, uint64_t n, int rank, MPI_Aint disp, MPI_Win win, int loads) {
	char *view, *target, *place;
	if (n >= HALO_COPY_LESS || (uintptr_t)local < HALO_FIRST_PAGE)
		return NULL;
	if ((view = halo_view(win)) == NULL)
		return NULL;
	if ((target = halo_opened(view, rank)) == NULL && (target = halo_open(view, rank)) == NULL)
		return NULL;
	if ((place = halo_room(target, disp, n)) == NULL)
		return NULL;
	halo_ordered(HALO_LOAD(uint32_t, view, HALO_VIEW_HOW), loads);
	return place;
}

/* View.putUnlocked and View.getUnlocked: the kernel copies from or to another process. */
HALO_HIDDEN int halo_kernel_put(const void *origin, uint64_t n, int rank, MPI_Aint disp, MPI_Win win);
HALO_HIDDEN int halo_kernel_get(void *result, uint64_t n, int rank, MPI_Aint disp, MPI_Win win);

/* View.PutBytes */
static inline int halo_fast_put(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win) {
	uint64_t n = halo_bytes(count, datatype);
	if (count != target_count || datatype != target_datatype)
		return 0;
	char *place = halo_place(origin, n, rank, disp, win, 0);
	if (place == NULL)
		return halo_kernel_put(origin, n, rank, disp, win);
	halo_copy(place, origin, n);
	return 1;
}

/* View.GetBytes */
static inline int halo_fast_get(void *result, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win) {
	uint64_t n = halo_bytes(count, datatype);
	if (count != target_count || datatype != target_datatype)
		return 0;
	char *place = halo_place(result, n, rank, disp, win, 1);
	if (place == NULL)
		return halo_kernel_get(result, n, rank, disp, win);
	halo_copy(result, place, n);
	return 1;
}

#endif
