#include "fast_win_lock.h"

#include <stddef.h>

#include "attach.h"
#include "compiler.h"
#include "enter.h"
#include "environment.h"
#include "go_lock.h"
#include "planted.h"
#include "processor.h"
#include "record.h"
#include "window.h"

/*
 * Lock and unlock of a target on the node, whose lock nobody else claims. The functions do step by step, in
 * the same records, what View.Lock and View.Unlock of internal/rma do with the lock of
 * internal/shmfmt/window_lock.go, where it says why the steps are in this order. Where anybody else has to do
 * with the lock or with the state of the window, C has changed nothing and Go does the call.
 *
 * The mutex of the window is held for some instructions only. As with the engine's lock, HALO_HOLDS keeps a signal
 * handler that interrupts them from waiting for it.
 */

/* What Go does after a call: see View.AfterC. */
enum { WAKE = 1, UNLOCK = 2 };

/* The lock of the window is not held. */
static __attribute__((noinline, cold)) void finish(MPI_Win win, int rank, int what) {
	struct halo_stay stay;
	halo_prepare(&stay);
	halo_enter_after_lock((uintptr_t)win, rank, what);
	halo_from_go(&stay);
}

/* Window.mu.Lock, if it is free and the thread may enter Go afterwards. */
static inline int enter(char *window) { return halo_try_lock(HALO_AT(uint32_t, window, HALO_WINDOW_MUTEX)); }

/* Window.mu.Unlock, and what else is to be done in Go. */
static inline void leave(char *window, MPI_Win win, int rank, int what) {
	uint32_t held = 1;
	if (HALO_UNLIKELY(!__atomic_compare_exchange_n(HALO_AT(uint32_t, window, HALO_WINDOW_MUTEX), &held, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)))
		what |= UNLOCK;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	halo_released();
	if (HALO_UNLIKELY(what != 0))
		finish(win, rank, what);
}

/* The lock of a target, and the claim of this process. */
struct claim {
	uint64_t *bits;  /* of claimants */
	uint64_t mine;   /* the bit of this process */
	uint64_t *claim; /* a ticket and bits, 0 if there is none */
};

static inline struct claim claim_of(char *target, char *lock) {
	uint32_t me = U32(target, TARGET_ME);
	return (struct claim){HALO_AT(uint64_t, lock, HALO_LOCK_BITS), (uint64_t)1 << me,
	                      HALO_AT(uint64_t, lock, HALO_LOCK_LINES + (int64_t)me * HALO_LOCK_LINE + HALO_LOCK_CLAIM)};
}

/* Lock.retract and leave. Returns whether others claim the lock: they must be woken. */
static inline int retract(const struct claim *c) {
	__atomic_store_n(c->claim, 0, __ATOMIC_RELEASE);
	return (__atomic_fetch_and(c->bits, ~c->mine, __ATOMIC_SEQ_CST) & ~c->mine) != 0 && !HALO_PLANTED(UnlockSilent); /* pairs with AnnounceSleep */
}

/* Lock.Claim and Look. Returns whether the lock is held. If not there is no claim, and *others says whether others
 * must be woken. */
static inline int take(char *lock, const struct claim *c, int exclusive, int *others) {
	if ((__atomic_load_n(c->bits, __ATOMIC_RELAXED) & ~c->mine) != 0 && !HALO_PLANTED(LockUnlooked))
		return 0;
	__atomic_fetch_or(c->bits, c->mine, __ATOMIC_SEQ_CST); /* pairs with the loads in Look */
	uint64_t ticket = __atomic_add_fetch(HALO_AT(uint64_t, lock, HALO_LOCK_TICKETS), 1, __ATOMIC_SEQ_CST);
	uint64_t claim = ticket * HALO_CLAIM_TICKET | (exclusive ? HALO_CLAIM_EXCLUSIVE : 0);
	__atomic_exchange_n(c->claim, claim | HALO_CLAIM_TRYING, __ATOMIC_SEQ_CST); /* pairs with the loads in Look */
	if (((__atomic_load_n(c->bits, __ATOMIC_SEQ_CST) & ~c->mine) != 0 && !HALO_PLANTED(LockUnlooked)) ||
	    HALO_LOAD(uint64_t, lock, HALO_LOCK_ORPHAN) != 0) {
		*others = retract(c);
		return 0;
	}
	__atomic_store_n(c->claim, claim, __ATOMIC_RELEASE);
	return 1;
}

/* View.Lock */
int halo_fast_win_lock(int type, int rank, int assert, MPI_Win win) {
	char *view = halo_view(win), *window, *target, *lock, *process;
	if (view == NULL || (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED) || assert != 0)
		return 0;
	window = halo_window(view);
	if ((target = halo_target(window, rank)) == NULL || (lock = POINTER(target, TARGET_LOCK)) == NULL)
		return 0;
	process = POINTER(window, WINDOW_PROCESS);
	if (HALO_LOAD(uint32_t, window, HALO_WINDOW_NO_LOCKS) != 0 || HALO_LOAD(uint32_t, process, HALO_LOCKING_LOST) != 0 ||
	    HALO_LOAD(uintptr_t, process, HALO_LOCKING_LAZY) != 0 || !enter(window))
		return 0;
	uint32_t *epoch = HALO_AT(uint32_t, window, HALO_WINDOW_EPOCH), *held = HALO_AT(uint32_t, target, HALO_TARGET_HELD);
	struct claim c = claim_of(target, lock);
	int others = 0;
	if ((*epoch != HALO_EPOCH_NONE && *epoch != HALO_EPOCH_LOCK) || *held != HALO_HELD_NOT || !take(lock, &c, type == MPI_LOCK_EXCLUSIVE, &others)) {
		leave(window, win, rank, others ? WAKE : 0);
		return 0;
	}
	*epoch = HALO_EPOCH_LOCK;
	++I32(window, WINDOW_LOCKED);
	BOOL(target, TARGET_BARE) = 0;
	*held = HALO_HELD_LOCKED;
	__atomic_store_n(HALO_AT(uint32_t, target, HALO_TARGET_GATE), HALO_GATE_OPEN | HALO_GATE_LOCKED, __ATOMIC_RELEASE);
	leave(window, win, rank, 0);
	return 1;
}

/* View.Unlock, if all operations are complete */
int halo_fast_win_unlock(int rank, MPI_Win win) {
	char *view = halo_view(win), *window, *target, *lock;
	if (view == NULL)
		return 0;
	window = halo_window(view);
	if ((target = halo_target(window, rank)) == NULL || (lock = POINTER(target, TARGET_LOCK)) == NULL || !enter(window))
		return 0;
	uint32_t *epoch = HALO_AT(uint32_t, window, HALO_WINDOW_EPOCH), *held = HALO_AT(uint32_t, target, HALO_TARGET_HELD);
	if (*epoch != HALO_EPOCH_LOCK || *held != HALO_HELD_LOCKED || HALO_LOAD(uint32_t, target, HALO_TARGET_FRAMED) != 0) {
		leave(window, win, rank, 0);
		return 0;
	}
	int others = 0;
	__atomic_store_n(HALO_AT(uint32_t, target, HALO_TARGET_GATE), 0, __ATOMIC_RELEASE);
	if (BOOL(target, TARGET_BARE))
		halo_fence();
	else {
		struct claim c = claim_of(target, lock);
		others = retract(&c);
	}
	*held = HALO_HELD_NOT;
	if (--I32(window, WINDOW_LOCKED) == 0) /* Window.unlocked: the mode is that of no epoch already */
		*epoch = HALO_EPOCH_NONE;
	leave(window, win, rank, others ? WAKE : 0);
	return 1;
}
