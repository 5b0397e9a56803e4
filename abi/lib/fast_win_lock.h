/* MPI_Win_lock, MPI_Win_unlock, MPI_Win_flush, MPI_Win_flush_local and MPI_Win_sync: see fast.go. */
#ifndef HALO_FAST_WIN_LOCK_H
#define HALO_FAST_WIN_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "processor.h"
#include "record.h"
#include "window.h"

/* View.Lock and Unlock of a target on the node whose lock nobody else claims. */
HALO_HIDDEN int halo_fast_win_lock(int type, int rank, int assert, MPI_Win win);
HALO_HIDDEN int halo_fast_win_unlock(int rank, MPI_Win win);

/* View.Flush, and View.FlushLocal, which does the same here. If no operation went by frames, there
 * is nothing to wait for: the calling process itself has carried out its operations. */
static inline int halo_fast_flush(int rank, MPI_Win win) {
	char *view = halo_view(win);
	if (view == NULL)
		return 0;
	char *window = halo_window(view), *target = halo_target(window, rank);
	if (target == NULL)
		return 0;
	if (!halo_locked(window, target) || !BOOL(target, TARGET_NEAR) || HALO_LOAD(uint32_t, target, HALO_TARGET_FRAMED) != 0)
		return 0;
	halo_fence();
	return 1;
}

/* View.Sync, in epochs of MPI_Win_lock_all. */
static inline int halo_fast_win_sync(MPI_Win win) {
	char *view = halo_view(win);
	if (view == NULL || !(HALO_LOAD(uint32_t, halo_window(view), HALO_WINDOW_MODE) & HALO_MODE_LOCK_ALL))
		return 0;
	halo_fence();
	return 1;
}

#endif
