/* MPI_Rput, MPI_Rget, MPI_Raccumulate and MPI_Rget_accumulate: see fast.go. Their requests are complete at once. */
#ifndef HALO_FAST_RPUT_H
#define HALO_FAST_RPUT_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "copy.h"
#include "fast_accumulate.h"
#include "fast_put_get.h"
#include "request.h"
#include "window.h"

/* Whether a rank of a window is locked: only in such an epoch operations with requests are allowed. */
static inline int halo_passive(int rank, MPI_Win win) {
	char *view = halo_view(win), *window, *target;
	return view != NULL && (target = halo_target(window = halo_window(view), rank)) != NULL && halo_locked(window, target);
}

/* An operation with a request: the operation without one, in a passive target epoch. */
#define HALO_REQUESTED(operation)                                              \
	(HALO_THERE(request) && halo_passive(rank, win) && (operation) && \
	 (*request = HALO_REQUEST_DONE, 1))

static inline int halo_fast_rput(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
	return HALO_REQUESTED(halo_fast_put(origin, count, datatype, rank, disp, target_count, target_datatype, win));
}

static inline int halo_fast_rget(void *result, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
	return HALO_REQUESTED(halo_fast_get(result, count, datatype, rank, disp, target_count, target_datatype, win));
}

static inline int halo_fast_raccumulate(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
	return HALO_REQUESTED(halo_fast_accumulate(origin, count, datatype, rank, disp, target_count, target_datatype, op, win));
}

static inline int halo_fast_rget_accumulate(const void *origin, int64_t count, MPI_Datatype datatype, void *result, int64_t result_count, MPI_Datatype result_datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
	return HALO_REQUESTED(halo_fast_get_accumulate(origin, count, datatype, result, result_count, result_datatype, rank, disp, target_count, target_datatype, op, win));
}

#endif
