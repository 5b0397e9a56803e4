/*
 * The rings that messages between processes of a node go through, as the receiver sees them, and what the sender shares
 * with it. internal/shmfmt/ring.go says why the steps are in this order.
 */
#ifndef HALO_RING_H
#define HALO_RING_H

#include <stdint.h>

#include "compiler.h"
#include "copy.h"
#include "planted.h"
#include "processor.h"
#include "quiet.h"
#include "record.h"

/* The bytes of an entry with n bytes of data. */
static inline uint64_t entry_size(uint64_t n) { return (HALO_MESSAGE_HEADER + n + HALO_RING_LINE - 1) & ~(uint64_t)(HALO_RING_LINE - 1); }

/* A word of a ring at a position. */
#define RING_WORD(data, position) ((uint64_t *)((data) + (position) % HALO_RING_BYTES))

/* The beginning of Proc.Peek: whether frames of a peer may be received without the poller now, if there are no other
 * reasons against it than those given. Now and then the poller must poll the rest, unless that is quiet. */
static inline int may_look(char *process, const char *peer, uint32_t *armed, uint32_t reasons) {
	if (((U32(process, PROCESS_SLOW) & ~reasons) != 0 && !HALO_PLANTED(SlowPassed)) ||
	    (U64(process, PROCESS_TURNS) % HALO_MESSAGE_TURNS == HALO_MESSAGE_TURNS - 1 && !halo_quiet(process, peer)))
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
				halo_pause();
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

/* Collects credit that the peer returns, if the next frame does that, as Engine.Frame does. Returns 0, and changes nothing,
 * if Go must: for more credit than it has taken, and if the producer might have to be told of the room. */
static inline int collect(char *q, uint64_t at) {
	uint64_t credit = ((const volatile uint64_t *)(POINTER(q, PEER_IN_DATA) + at))[3]; /* loaded once: the peer may change it */
	if (credit > (uint64_t)(HALO_MESSAGE_CREDIT_MAX - I64(q, PEER_CREDIT)) || I64(q, PEER_EAGER_MAX) < 0 ||
	    U64(q, PEER_IN_HEAD) + entry_size(0) - U64(q, PEER_IN_TOLD) >= HALO_RING_LAG)
		return 0;
	I64(q, PEER_CREDIT) += (int64_t)credit;
	U64(q, PEER_IN_HEAD) += entry_size(0);
	return 1;
}

/* Passes over padding, and collects credit. Returns word 0 of the frame behind them, 0 if there is none yet. */
static inline uint64_t pass(char *q, uint64_t first, uint64_t *at) {
	first = pass_padding(q, first, at);
	while (HALO_UNLIKELY(first == HALO_MESSAGE_CREDIT) && collect(q, *at)) {
		*at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES;
		first = pass_padding(q, __atomic_load_n((uint64_t *)(POINTER(q, PEER_IN_DATA) + *at), __ATOMIC_ACQUIRE), at); /* pairs with the stores in Producer.Put and put */
	}
	return first;
}

/* Whether halo_pay can return the credit that is owed to a peer. */
HALO_HIDDEN int halo_may_pay(const char *process, char *q);

/* Engine.sendCredit, after halo_may_pay. Returns whether the peer must be woken, when the lock has been given up. */
HALO_HIDDEN int halo_pay(char *q);

/* Whether C may receive the frame whose word 0 is first, as recvNext does: a complete eager message that
 * the credit covers. If credit is due then, C returns it. */
static inline int may_take(const char *process, char *q, uint64_t first, uint64_t at) {
	uint64_t n = (uint32_t)first;
	int64_t cost = (int64_t)n + HALO_MESSAGE_OVERHEAD;
	return first - n == HALO_MESSAGE_EAGER && entry_size(n) <= HALO_RING_BYTES - at && cost <= I64(q, PEER_ALLOWANCE) &&
	       (I64(q, PEER_CREDIT_OWED) + cost < HALO_MESSAGE_CREDIT_DUE || halo_may_pay(process, q));
}

/* Takes a message of n bytes from a ring. The credit for it is still to be returned. Returns whether the producer
 * waits for room and must be woken. */
static inline int take_unpaid(char *q, const uint64_t *entry, uint64_t n, void *buf) {
	I64(q, PEER_ALLOWANCE) -= (int64_t)n + HALO_MESSAGE_OVERHEAD;
	if (n > 0)
		halo_copy(buf, (const char *)entry + HALO_MESSAGE_HEADER, n);
	return done(q, entry_size(n));
}

/* Receives a message of n bytes from a ring, and returns credit if it is due. Returns whether the producer waits for room,
 * or sleeps, and must be woken. */
static inline int take(char *q, const uint64_t *entry, uint64_t n, void *buf) {
	int64_t owed = I64(q, PEER_CREDIT_OWED) += (int64_t)n + HALO_MESSAGE_OVERHEAD;
	int waits = take_unpaid(q, entry, n, buf);
	return HALO_UNLIKELY(owed >= HALO_MESSAGE_CREDIT_DUE) ? halo_pay(q) | waits : waits;
}

#endif
