/* MPI_Accumulate and MPI_Get_accumulate of contiguous elements: see fast.go. */
#ifndef HALO_FAST_ACCUMULATE_H
#define HALO_FAST_ACCUMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "fast_element.h"

/* Updates several contiguous elements. It does not fetch them if old is NULL. */
HALO_HIDDEN int halo_update_many(const void *values, void *old, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win);

static inline int halo_fast_accumulate(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	if (count != target_count || datatype != target_datatype || op == MPI_NO_OP)
		return 0;
	return count == 1 ? halo_update(origin, NULL, datatype, rank, disp, op, win)
	                  : halo_update_many(origin, NULL, count, datatype, rank, disp, op, win);
}

static inline int halo_fast_get_accumulate(const void *origin, int64_t count, MPI_Datatype datatype, void *result, int64_t result_count, MPI_Datatype result_datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	if (count != target_count || count != result_count || datatype != target_datatype || datatype != result_datatype || result == NULL)
		return 0;
	return count == 1 ? halo_update(origin, result, datatype, rank, disp, op, win)
	                  : halo_update_many(origin, result, count, datatype, rank, disp, op, win);
}

#endif
