/*
 * What the functions for short messages share: the way to a member, the engine's lock, and the consumers of
 * the rings. The functions do step by step, in the same records, what the functions of Go do that the
 * comments name: internal/p2p/descriptor.go says when C may, and internal/shmfmt/ring.go why the steps of
 * the rings are in this order.
 *
 * A thread takes the engine's lock only if it is free, and never waits for anything else while it holds
 * the lock but frames for receives, for a short time. A signal handler that interrupts it finds
 * HALO_HOLDS in halo_attached, so that no call of the handler waits for the lock: see halo_call_noted.
 *
 * Included by fast_message.c and fast_receive.c.
 */
#ifndef HALO_FAST_ENGINE_H
#define HALO_FAST_ENGINE_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

/* Fields of the records. */
#define U64(base, place) (*HALO_AT(uint64_t, base, HALO_##place))
#define I64(base, place) (*HALO_AT(int64_t, base, HALO_##place))
#define U32(base, place) (*HALO_AT(uint32_t, base, HALO_##place))
#define U16(base, place) (*HALO_AT(uint16_t, base, HALO_##place))
#define U8(base, place) (*HALO_AT(uint8_t, base, HALO_##place))
#define I32(base, place) (*HALO_AT(int32_t, base, HALO_##place))
#define POINTER(base, place) (*HALO_AT(char *, base, HALO_##place))

/* The PeerRecord of a process of the node. */
static inline char *peer_at(char *peers, int32_t local) { return peers + (int64_t)local * HALO_PEER_BYTES; }

/* What a message travels between. */
struct way {
	struct halo_entry *entry;
	char *comm;    /* its shmfmt.CommRecord */
	char *process; /* the shmfmt.ProcessRecord */
	char *peer;    /* the shmfmt.PeerRecord of the other process */
	int32_t local; /* index of that process in the node */
};

/* Finds the way to a member. Returns 0 if there is none in memory. */
static inline int find_way(struct way *w, MPI_Comm comm, int rank) {
	struct halo_entry *e = w->entry = halo_comm(comm);
	if (e == NULL || (w->comm = e->messages) == NULL || (unsigned)rank >= (unsigned)e->size)
		return 0;
	w->local = ((const int32_t *)POINTER(w->comm, COMM_LOCALS))[rank];
	if (w->local < 0)
		return 0;
	w->process = POINTER(w->comm, COMM_PROCESS);
	w->peer = peer_at(POINTER(w->comm, COMM_PEERS), w->local);
	return 1;
}

/* Whether C may receive messages with a tag: one, or any. */
static inline int may_receive(const struct way *w, int tag) {
	return tag >= 0 || (tag == MPI_ANY_TAG && HALO_LOAD(uint32_t, w->comm, HALO_COMM_ANY_TAG) != 0);
}

/* Proc.Lock, if the lock is free and the thread may enter Go afterwards. */
static inline int lock(char *process) { return halo_try_lock(HALO_AT(uint32_t, process, HALO_PROCESS_LOCK)); }

/* Proc.Unlock. It is a full fence. */
static inline void unlock(char *process) {
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

static inline uint64_t entry_size(uint64_t n) { return (HALO_MESSAGE_HEADER + n + HALO_RING_LINE - 1) & ~(uint64_t)(HALO_RING_LINE - 1); }

/* A word of a ring at a position. */
#define RING_WORD(data, position) ((uint64_t *)((data) + (position) % HALO_RING_BYTES))

/* Tells the processor that the caller polls: shmfmt.Pause. */
static inline void pause_polling(void) {
#if defined __x86_64__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ __volatile__("isb" ::: "memory"); /* yield does nothing on most processors */
#endif
}

/* The beginning of Proc.Peek: whether frames may be received without the poller now, if there are no other
 * reasons against it than those given. */
static inline int may_look(char *process, uint32_t *armed, uint32_t reasons) {
	if (((U32(process, PROCESS_SLOW) & ~reasons) != 0 && !HALO_PLANTED(SlowPassed)) || U64(process, PROCESS_TURNS) % HALO_MESSAGE_TURNS == HALO_MESSAGE_TURNS - 1)
		return 0;
	U64(process, PROCESS_TURNS)++;
	U64(process, PROCESS_ACTIVITY)++;
	if (HALO_UNLIKELY(__atomic_load_n(armed, __ATOMIC_SEQ_CST) != 0))
		__atomic_store_n(armed, 0, __ATOMIC_SEQ_CST);
	return 1;
}

/* Fabric.Peek: word 0 of the next frame, or 0 if none arrives while the caller looks so often. The inner loop has few
 * branches: with a test for other threads in it a round trip takes up to a third longer, depending on where the linker
 * puts the code. */
static inline uint64_t look(char *process, const uint64_t *entry, int32_t looks) {
	for (int32_t left = looks; left > 0; left -= HALO_MESSAGE_WANT_EVERY) {
		int spins = looks - left < HALO_MESSAGE_SPIN_LOOKS;
		for (int32_t k = left < HALO_MESSAGE_WANT_EVERY ? left : HALO_MESSAGE_WANT_EVERY; k > 0; k--) {
			uint64_t first = __atomic_load_n(entry, __ATOMIC_ACQUIRE); /* pairs with the stores in Producer.Put and put */
			if (first != 0)
				return first;
			if (spins)
				halo_fence();
			else
				pause_polling();
		}
		if (!HALO_PLANTED(WantIgnored) && HALO_LOAD(uint32_t, process, HALO_PROCESS_WANT) != 0)
			return 0;
	}
	return 0;
}

/* Passes over padding, if that is the next frame, as Consumer.Next does. Returns word 0 of the frame behind it, which was
 * published before. */
static inline uint64_t pass_padding(char *q, uint64_t first, uint64_t *at) {
	if (HALO_UNLIKELY(first == (uint64_t)HALO_RING_PAD << 32)) {
		U64(q, PEER_IN_HEAD) += HALO_RING_BYTES - *at;
		*at = 0;
		first = *(const uint64_t *)POINTER(q, PEER_IN_DATA);
	}
	return first;
}

/* Consumer.Done. Returns whether the producer waits for room and must be woken. */
static inline int done(char *q, uint64_t size) {
	uint64_t head = U64(q, PEER_IN_HEAD) += size;
	if (head - U64(q, PEER_IN_TOLD) < HALO_RING_LAG)
		return 0;
	U64(q, PEER_IN_TOLD) = head;
	char *control = POINTER(q, PEER_IN_CONTROL);
	__atomic_store_n(HALO_AT(uint64_t, control, HALO_RING_HEAD), head, __ATOMIC_SEQ_CST); /* pairs with the loads in Producer.room and put */
	return HALO_LOAD(uint32_t, control, HALO_RING_WAIT) != 0 && __atomic_exchange_n(HALO_AT(uint32_t, control, HALO_RING_WAIT), 0, __ATOMIC_SEQ_CST) != 0;
}

/* Whether C may receive the frame whose word 0 is first, as recvNext does: a complete eager message that
 * the credit covers, and for which no credit is due. */
static inline int may_take(const char *q, uint64_t first, uint64_t at) {
	uint64_t n = (uint32_t)first;
	int64_t cost = (int64_t)n + HALO_MESSAGE_OVERHEAD;
	return first - n == HALO_MESSAGE_EAGER && entry_size(n) <= HALO_RING_BYTES - at && cost <= I64(q, PEER_ALLOWANCE) &&
	       I64(q, PEER_CREDIT_OWED) + cost < HALO_MESSAGE_CREDIT_DUE;
}

/* Takes a message of n bytes from a ring. The credit for it is still to be returned. Returns whether the producer
 * waits for room and must be woken. */
static inline int take_unpaid(char *q, const uint64_t *entry, uint64_t n, void *buf) {
	I64(q, PEER_ALLOWANCE) -= (int64_t)n + HALO_MESSAGE_OVERHEAD;
	if (n > 0)
		halo_copy(buf, (const char *)entry + HALO_MESSAGE_HEADER, n);
	return done(q, entry_size(n));
}

/* Receives a message of n bytes from a ring. Returns whether the producer waits for room and must be woken. */
static inline int take(char *q, const uint64_t *entry, uint64_t n, void *buf) {
	I64(q, PEER_CREDIT_OWED) += (int64_t)n + HALO_MESSAGE_OVERHEAD;
	return take_unpaid(q, entry, n, buf);
}

/* status.store of abi/bind, for a message. */
static inline void store_status(MPI_Status *status, int source, int tag, uint64_t n) {
	if ((uintptr_t)status < HALO_FIRST_PAGE)
		return;
	status->MPI_SOURCE = source;
	status->MPI_TAG = tag;
	status->MPI_internal[0] = 0; /* not cancelled */
	memcpy(&status->MPI_internal[1], &n, sizeof n);
}

#endif
