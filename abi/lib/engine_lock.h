/*
 * The engine's lock.
 *
 * A thread takes the lock only if it is free, and never waits for anything else while it holds the lock but frames for
 * receives, for a short time. A signal handler that interrupts it finds HALO_HOLDS in halo_attached, so that no call of the
 * handler waits for the lock: see halo_call_noted.
 */
#ifndef HALO_ENGINE_LOCK_H
#define HALO_ENGINE_LOCK_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach.h"
#include "compiler.h"
#include "enter.h"
#include "environment.h"
#include "go_lock.h"
#include "record.h"

/* Proc.Lock, if the lock is free and the thread may enter Go afterwards. */
static inline int lock(char *process) { return halo_try_lock(HALO_AT(uint32_t, process, HALO_PROCESS_LOCK)); }

/* Proc.Unlock. It is a full fence. It is always inlined: where a file has few calls
 * of it, the compiler would not inline it. */
HALO_INLINE void unlock(char *process) {
	__atomic_exchange_n(HALO_AT(uint32_t, process, HALO_PROCESS_LOCK), 0, __ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	halo_released();
	/* threadQueue.wakeLocker */
	if (HALO_UNLIKELY(HALO_LOAD(uint32_t, process, HALO_PROCESS_ASLEEP) != 0)) {
		uint32_t *freed = HALO_AT(uint32_t, process, HALO_PROCESS_FREED);
		__atomic_add_fetch(freed, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, freed, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
	}
}

/* Returns 0 after giving the lock up: Go does the call. */
static inline int leave(char *process) {
	unlock(process);
	return 0;
}

/* Engine.Wake: the lock is not held. */
static __attribute__((noinline, cold)) void wake(int32_t local, int room) {
	struct halo_stay stay;
	halo_prepare(&stay);
	halo_enter_wake(local, room);
	halo_from_go(&stay);
}

#endif
