#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

/*
 * Short messages between processes of a node. The functions do step by step, in the same records, what
 * the functions of Go do that the comments name: internal/p2p/descriptor.go says when C may, and
 * internal/shmfmt/ring.go why the steps of the rings are in this order.
 *
 * A thread takes the engine's lock only if it is free, and never waits for anything else while it holds
 * the lock but the frame of a receive, for a short time. A signal handler that interrupts it finds
 * HALO_HOLDS in halo_attached, so that no call of the handler waits for the lock: see halo_call_noted.
 */

/* Known bugs, for a test of the tests: see fast_test.go. */
#ifndef HALO_PLANTED
#define HALO_PLANTED(fault) 0
#endif

/* Fields of the records. */
#define U64(base, place) (*HALO_AT(uint64_t, base, HALO_##place))
#define I64(base, place) (*HALO_AT(int64_t, base, HALO_##place))
#define U32(base, place) (*HALO_AT(uint32_t, base, HALO_##place))
#define POINTER(base, place) (*HALO_AT(char *, base, HALO_##place))

/* What a message travels between. */
struct way {
	char *comm;    /* its shmfmt.CommRecord */
	char *process; /* the shmfmt.ProcessRecord */
	char *peer;    /* the shmfmt.PeerRecord of the other process */
};

/* Finds the way to a member. Returns 0 if there is none in memory, or if an argument is not valid. */
static inline int find_way(struct way *w, MPI_Comm comm, int rank, int tag) {
	struct halo_entry *e = halo_comm(comm);
	if (e == NULL || (w->comm = e->messages) == NULL || (unsigned)rank >= (unsigned)e->size || tag < 0)
		return 0;
	int32_t local = ((const int32_t *)POINTER(w->comm, COMM_LOCALS))[rank];
	if (local < 0)
		return 0;
	w->process = POINTER(w->comm, COMM_PROCESS);
	w->peer = POINTER(w->comm, COMM_PEERS) + (int64_t)local * HALO_PEER_BYTES;
	return 1;
}

/* Proc.Lock, if the lock is free and the thread may enter Go afterwards. */
static inline int lock(const struct way *w) {
	if (HALO_UNLIKELY(halo_attached != 1))
		return 0;
	halo_attached = HALO_HOLDS;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	uint32_t expected = 0;
	if (__atomic_compare_exchange_n(HALO_AT(uint32_t, w->process, HALO_PROCESS_LOCK), &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return 1;
	halo_attached = 1;
	return 0;
}

/* Proc.Unlock. It is a full fence. */
static inline void unlock(const struct way *w) {
	__atomic_exchange_n(HALO_AT(uint32_t, w->process, HALO_PROCESS_LOCK), 0, __ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	halo_attached = 1;
	/* threadQueue.wakeLocker */
	if (HALO_UNLIKELY(HALO_LOAD(uint32_t, w->process, HALO_PROCESS_ASLEEP) != 0)) {
		uint32_t *freed = HALO_AT(uint32_t, w->process, HALO_PROCESS_FREED);
		__atomic_add_fetch(freed, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, freed, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
	}
}

/* Returns 0 after giving the lock up: Go does the call. */
static int leave(const struct way *w) {
	unlock(w);
	return 0;
}

/* Engine.Wake: the lock is not held. */
static __attribute__((noinline, cold)) void wake(MPI_Comm comm, int rank, int room) {
	struct halo_stay stay;
	halo_prepare(&stay);
	halo_enter_wake((uintptr_t)comm, rank, room);
	halo_from_go(&stay);
}

static inline uint64_t entry_size(uint64_t n) { return (HALO_MESSAGE_HEADER + n + HALO_RING_LINE - 1) & ~(uint64_t)(HALO_RING_LINE - 1); }

/* A word of a ring at a position. */
#define RING_WORD(data, position) ((uint64_t *)((data) + (position) % HALO_RING_BYTES))

/* Producer.clear */
static inline void clear(char *q, char *data, uint64_t position) {
	if (position > U64(q, PEER_OUT_ZERO)) {
		U64(q, PEER_OUT_ZERO) = position;
		__atomic_store_n(RING_WORD(data, position), 0, __ATOMIC_RELAXED);
	}
}

/* own of internal/shmfmt: fetches a line for a store. */
static inline void own(const void *line) {
#if defined __x86_64__
	__asm__ __volatile__("prefetchw %0" ::"m"(*(const char *)line));
#else
	__builtin_prefetch(line, 1);
#endif
}

/* Producer.fetch */
static inline void fetch(char *q, char *data, uint64_t tail, uint64_t size) {
	uint64_t position = U64(q, PEER_OUT_OWNED), end = tail + (HALO_RING_REACH - 1) * HALO_RING_LINE + size;
	if (position < tail + HALO_RING_LINE)
		position = tail + HALO_RING_LINE;
	if (end > position + HALO_RING_FETCH_MAX * HALO_RING_LINE)
		end = position + HALO_RING_FETCH_MAX * HALO_RING_LINE;
	for (; position < end; position += HALO_RING_LINE)
		own(RING_WORD(data, position));
	U64(q, PEER_OUT_OWNED) = position;
}

/* Producer.Put of an eager message. Returns 0 if there is no room, or if the frame needs padding before
 * it. It is no fence. */
static inline int put(char *q, uint64_t ctx, int tag, uint64_t sequence, const void *payload, uint64_t n) {
	uint64_t tail = U64(q, PEER_OUT_TAIL), at = tail % HALO_RING_BYTES, need = entry_size(n);
	if (need > HALO_RING_BYTES - at)
		return 0;
	if (tail + need + HALO_RING_LINE - U64(q, PEER_OUT_HEAD) > HALO_RING_BYTES) {
		U64(q, PEER_OUT_HEAD) = HALO_LOAD(uint64_t, POINTER(q, PEER_OUT_CONTROL), HALO_RING_HEAD);
		if (tail + need + HALO_RING_LINE - U64(q, PEER_OUT_HEAD) > HALO_RING_BYTES)
			return 0;
	}
	char *data = POINTER(q, PEER_OUT_DATA);
	uint64_t *entry = (uint64_t *)(data + at);
	clear(q, data, tail + need);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	entry[1] = ctx;
	entry[2] = (uint64_t)(uint32_t)tag | (uint64_t)HALO_MESSAGE_CODE << 32;
	entry[3] = sequence;
	entry[4] = 0;
	if (n > 0)
		halo_copy((char *)entry + HALO_MESSAGE_HEADER, payload, n);
	__atomic_store_n(&entry[0], HALO_MESSAGE_EAGER | n, __ATOMIC_RELEASE); /* publishes; pairs with the loads in Consumer.Next and look */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	U64(q, PEER_OUT_TAIL) = tail += need;
	fetch(q, data, tail, need);
	if (tail + 2 * HALO_RING_LINE - U64(q, PEER_OUT_HEAD) <= HALO_RING_BYTES)
		clear(q, data, tail + HALO_RING_LINE);
	return 1;
}

/* Engine.Send in standard mode. If request is not NULL the message has a sequence number, and the number of
 * the request is stored there. */
static inline int send_short(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, uint64_t *request) {
	struct way w;
	uint64_t n = halo_bytes(count, datatype), sequence = 0;
	if (n >= HALO_COPY_LESS || (n > 0 && !HALO_THERE(buf)) || !find_way(&w, comm, dest, tag) || !lock(&w))
		return 0;
	char *p = w.process, *q = w.peer;
	int64_t cost = (int64_t)n + HALO_MESSAGE_OVERHEAD;
	const uint32_t *armed = (const uint32_t *)POINTER(q, PEER_ARMED);
	uint32_t before = 0;
	if (HALO_PLANTED(ArmedFirst)) {
		before = __atomic_load_n(armed, __ATOMIC_SEQ_CST);
		sched_yield(); /* gives the receiver the time that otherwise is a matter of luck */
	}
	if (request != NULL)
		sequence = HALO_PLANTED(SentUnnumbered) ? 0 : U64(q, PEER_NUMBERED) + 1;
	if (U32(p, PROCESS_SLOW) & HALO_SLOW_QUEUED || !U32(q, PEER_OPEN) || (int64_t)n > I64(q, PEER_EAGER_MAX) || cost > I64(q, PEER_CREDIT) ||
	    !put(q, U64(w.comm, COMM_CTX), tag, sequence, buf, n))
		return leave(&w);
	I64(q, PEER_CREDIT) -= cost;
	if (request != NULL) {
		uint32_t number = (uint32_t)(HALO_SENT_FIRST + U64(p, PROCESS_SENT)++ % (((uint64_t)1 << HALO_SENT_BITS) - HALO_SENT_FIRST));
		char *s = POINTER(p, PROCESS_RECENT) + (uint64_t)(number % HALO_SENT_MOST) * HALO_SENT_BYTES;
		U64(q, PEER_NUMBERED) = U64(s, SENT_SEQUENCE) = sequence;
		U64(s, SENT_CTX) = U64(w.comm, COMM_CTX);
		U32(s, SENT_TAG) = (uint32_t)tag;
		U32(s, SENT_PEER) = ((const uint32_t *)POINTER(w.comm, COMM_LOCALS))[dest];
		U32(s, SENT_NUMBER) = number;
		*request = number;
	}
	unlock(&w);
	/* Fabric.Send: either this process sees the peer armed, or the peer sees the frame in the poll that
	 * follows its Arm, since unlock is a full fence. */
	if (HALO_UNLIKELY((HALO_PLANTED(ArmedFirst) ? before : __atomic_load_n(armed, __ATOMIC_SEQ_CST)) != 0))
		wake(comm, dest, 0);
	return 1;
}

int halo_fast_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_short(buf, count, datatype, dest, tag, comm, NULL);
}

/* Engine.Isend in standard mode: the request is complete. */
int halo_fast_isend(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
	uint64_t number;
	if (!HALO_THERE(request) || !send_short(buf, count, datatype, dest, tag, comm, &number))
		return 0;
	*request = (MPI_Request)(uintptr_t)(number << 4 | HALO_KIND_SENT);
	return 1;
}

/* Tells the processor that the caller polls: shmfmt.Pause. */
static inline void pause_polling(void) {
#if defined __x86_64__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ __volatile__("isb" ::: "memory"); /* yield does nothing on most processors */
#endif
}

/* Fabric.Peek: word 0 of the next frame, or 0 if none arrives. */
static inline uint64_t look(const struct way *w, const uint64_t *entry) {
	for (int32_t k = 0, looks = *HALO_AT(int32_t, w->process, HALO_PROCESS_LOOKS); k < looks; k++) {
		uint64_t first = __atomic_load_n(entry, __ATOMIC_ACQUIRE); /* pairs with the stores in Producer.Put and put */
		if (first != 0)
			return first;
		if (k % HALO_MESSAGE_WANT_EVERY == 0 && !HALO_PLANTED(WantIgnored) && HALO_LOAD(uint32_t, w->process, HALO_PROCESS_WANT) != 0)
			return 0;
		if (k < HALO_MESSAGE_SPIN_LOOKS)
			halo_fence();
		else
			pause_polling();
	}
	return 0;
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

/* Engine.recvNext from one source with one tag */
int halo_fast_recv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct way w;
	uint64_t room = halo_bytes(count, datatype);
	if (room >= HALO_COPY_LESS || (room > 0 && !HALO_THERE(buf)) || !find_way(&w, comm, source, tag) || !lock(&w))
		return 0;
	char *p = w.process, *q = w.peer, *data = POINTER(q, PEER_IN_DATA);
	/* Proc.Peek */
	if ((U32(p, PROCESS_SLOW) != 0 && !HALO_PLANTED(SlowPassed)) || U64(p, PROCESS_TURNS) % HALO_MESSAGE_TURNS == HALO_MESSAGE_TURNS - 1 || data == NULL)
		return leave(&w);
	U64(p, PROCESS_TURNS)++;
	U64(p, PROCESS_ACTIVITY)++;
	uint32_t *armed = (uint32_t *)POINTER(w.comm, COMM_ARMED);
	if (HALO_UNLIKELY(__atomic_load_n(armed, __ATOMIC_SEQ_CST) != 0))
		__atomic_store_n(armed, 0, __ATOMIC_SEQ_CST);
	uint64_t at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES;
	const uint64_t *entry = (const uint64_t *)(data + at);
	uint64_t first = look(&w, entry), n = (uint32_t)first, size = entry_size(n);
	int64_t cost = (int64_t)n + HALO_MESSAGE_OVERHEAD;
	if (first - n != HALO_MESSAGE_EAGER || n > room || size > HALO_RING_BYTES - at || entry[1] != U64(w.comm, COMM_CTX) || (int32_t)entry[2] != tag ||
	    cost > I64(q, PEER_ALLOWANCE) || I64(q, PEER_CREDIT_OWED) + cost >= HALO_MESSAGE_CREDIT_DUE)
		return leave(&w);
	I64(q, PEER_ALLOWANCE) -= cost;
	I64(q, PEER_CREDIT_OWED) += cost;
	if (n > 0)
		halo_copy(buf, (const char *)entry + HALO_MESSAGE_HEADER, n);
	int waits = done(q, size);
	unlock(&w);
	if (HALO_UNLIKELY(waits))
		wake(comm, source, 1);
	if ((uintptr_t)status >= HALO_FIRST_PAGE) { /* the struct status of abi/bind */
		status->MPI_SOURCE = source;
		status->MPI_TAG = tag;
		status->MPI_internal[0] = 0; /* not cancelled */
		memcpy(&status->MPI_internal[1], &n, sizeof n);
	}
	return 1;
}
