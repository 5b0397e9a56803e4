/*
 * The locks of Go that C takes: the engine's, and those of windows. C takes one only if it is free. While the thread holds
 * it, halo_attached is HALO_HOLDS.
 */
#ifndef HALO_GO_LOCK_H
#define HALO_GO_LOCK_H

#include <stdint.h>

#include "compiler.h"
#include "inside.h"
#include "thread.h"

/* Takes a lock of Go, whose word is 0 while it is free, if it is free and the thread may enter Go afterwards. */
static inline int halo_try_lock(uint32_t *word) {
	uint32_t expected = 0;
	if (HALO_UNLIKELY(halo_attached != 1))
		return 0;
	halo_attached = HALO_HOLDS;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(word, &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return 1;
	halo_attached = 1;
	return 0;
}

/* Says that the thread has given up the lock, and jumps if a handler has asked for it meanwhile: see jump.c. */
static inline void halo_released(void) {
	halo_attached = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (HALO_UNLIKELY(halo_leaving))
		halo_jump();
}

#endif
