/* The records of windows (shmfmt.ViewRecord, WindowRecord and TargetRecord): which memory of a target an operation may access. */
#ifndef HALO_WINDOW_H
#define HALO_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "handle_table.h"
#include "processor.h"
#include "record.h"

/* The ViewRecord of a window. */
static inline char *halo_view(MPI_Win win) {
	struct halo_entry *e = halo_find(&halo_wins, (uintptr_t)win);
	return e != NULL ? e->descriptor : NULL;
}

static inline char *halo_window(char *view) { return __atomic_load_n(HALO_AT(char *, view, HALO_VIEW_WINDOW), __ATOMIC_ACQUIRE); }

/* The TargetRecord of a rank, if Go has filled it in: Go stores the field end last. */
static inline char *halo_target(char *window, int rank) {
	if ((uint64_t)(int64_t)rank >= U64(window, WINDOW_RANKS))
		return NULL;
	char *target = POINTER(window, WINDOW_TARGETS) + (int64_t)rank * HALO_TARGET_BYTES;
	return HALO_LOAD(uint64_t, target, HALO_TARGET_END) != 0 ? target : NULL;
}

/* View.opened: the target of a rank, if the present epoch allows access to it. */
static inline char *halo_opened(char *view, int rank) {
	char *window = halo_window(view), *target = halo_target(window, rank);
	if (target == NULL)
		return NULL;
	uint32_t open = HALO_LOAD(uint32_t, window, HALO_WINDOW_MODE) | HALO_LOAD(uint32_t, target, HALO_TARGET_GATE);
	return open & HALO_GATE_OPEN ? target : NULL;
}

/* Window.admit of the first operation after a fence: it opens the epoch for all targets. */
static inline char *halo_open(char *view, int rank) {
	uint32_t mode = HALO_MODE_FENCE;
	char *window = halo_window(view), *target = halo_target(window, rank);
	return target != NULL && __atomic_compare_exchange_n(HALO_AT(uint32_t, window, HALO_WINDOW_MODE), &mode, HALO_GATE_OPEN, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
	               ? target
	               : NULL;
}

/* room: the address of n bytes at a displacement, NULL if they are not in the window. */
static inline char *halo_room(char *target, MPI_Aint disp, uint64_t n) {
	if ((uint64_t)disp >= U64(target, TARGET_END))
		return NULL;
	int64_t at = disp * I64(target, TARGET_UNIT);
	if ((int64_t)n > I64(target, TARGET_LEN) - at)
		return NULL;
	char *mem = POINTER(target, TARGET_MEM);
	return mem != NULL ? mem + at : NULL;
}

/* View.ordered: orders an operation of an ordered view after the operations before it. loads says
 * that the operation begins with a load. */
static inline void halo_ordered(uint32_t how, int loads) {
#if defined __x86_64__
	if (loads && how & HALO_HOW_IN_ORDER)
		halo_fence();
#else
	(void)loads;
	if (how & HALO_HOW_IN_ORDER)
		halo_fence();
#endif
}

/* Whether a rank of a window is locked by MPI_Win_lock or MPI_Win_lock_all. */
static inline int halo_locked(char *window, char *target) {
	return ((HALO_LOAD(uint32_t, window, HALO_WINDOW_MODE) & HALO_MODE_LOCK_ALL) |
	        (HALO_LOAD(uint32_t, target, HALO_TARGET_GATE) & HALO_GATE_LOCKED)) != 0;
}

#endif
