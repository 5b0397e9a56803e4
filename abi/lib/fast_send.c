#include "fast_send.h"

#include <sched.h>
#include <stddef.h>

#include "compiler.h"
#include "copy.h"
#include "datatype.h"
#include "engine_lock.h"
#include "planted.h"
#include "proc_null.h"
#include "processor.h"
#include "record.h"
#include "request.h"
#include "ring.h"
#include "way.h"

/*
 * Sends of short messages. The functions do step by step, in the same records, what the functions of Go do that the
 * comments name: internal/p2p/descriptor.go says when C may, and internal/shmfmt/ring.go why the steps of the rings are in
 * this order.
 */

/* Producer.clear */
static inline void clear(char *q, char *data, uint64_t position) {
	if (position > U64(q, PEER_OUT_ZERO)) {
		U64(q, PEER_OUT_ZERO) = position;
		__atomic_store_n(RING_WORD(data, position), 0, __ATOMIC_RELAXED);
	}
}

/* Producer.fetch */
static inline void fetch(char *q, char *data, uint64_t tail, uint64_t size) {
	uint64_t position = U64(q, PEER_OUT_OWNED), end = tail + (HALO_RING_REACH - 1) * HALO_RING_LINE + size;
	if (position < tail + HALO_RING_LINE)
		position = tail + HALO_RING_LINE;
	if (end > position + HALO_RING_FETCH_MAX * HALO_RING_LINE)
		end = position + HALO_RING_FETCH_MAX * HALO_RING_LINE;
	for (; position < end; position += HALO_RING_LINE)
		halo_own(RING_WORD(data, position));
	U64(q, PEER_OUT_OWNED) = position;
}

/* Producer.Put of a frame whose word 0 is kind without the length. Returns 0 if there is no room. It is no fence. */
static inline int put(char *q, uint64_t kind, uint64_t ctx, int tag, uint8_t code, uint64_t sequence, const void *payload, uint64_t n) {
	uint64_t tail = U64(q, PEER_OUT_TAIL), at = tail % HALO_RING_BYTES, need = entry_size(n);
	uint64_t skip = need > HALO_RING_BYTES - at ? HALO_RING_BYTES - at : 0;
	if (tail + skip + need + HALO_RING_LINE - U64(q, PEER_OUT_HEAD) > HALO_RING_BYTES) {
		U64(q, PEER_OUT_HEAD) = HALO_LOAD(uint64_t, POINTER(q, PEER_OUT_CONTROL), HALO_RING_HEAD);
		if (tail + skip + need + HALO_RING_LINE - U64(q, PEER_OUT_HEAD) > HALO_RING_BYTES)
			return 0;
	}
	char *data = POINTER(q, PEER_OUT_DATA);
	uint64_t *polled = (uint64_t *)(data + at), *entry = skip > 0 ? (uint64_t *)data : polled;
	tail += skip;
	clear(q, data, tail + need);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	entry[1] = ctx;
	entry[2] = (uint64_t)(uint32_t)tag | (uint64_t)(HALO_PLANTED(ElementsUntold) ? 0 : code) << 32;
	entry[3] = sequence;
	entry[4] = 0;
	if (n > 0)
		halo_copy((char *)entry + HALO_MESSAGE_HEADER, payload, n);
	__atomic_store_n(&entry[0], kind | n, __ATOMIC_RELEASE); /* publishes; pairs with the loads in Consumer.Next and look */
	if (HALO_UNLIKELY(skip > 0))
		__atomic_store_n(polled, (uint64_t)HALO_RING_PAD << 32, __ATOMIC_RELEASE); /* pairs as above */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	U64(q, PEER_OUT_TAIL) = tail += need;
	fetch(q, data, tail, need);
	if (tail + 2 * HALO_RING_LINE - U64(q, PEER_OUT_HEAD) <= HALO_RING_BYTES)
		clear(q, data, tail + HALO_RING_LINE);
	return 1;
}

int halo_may_pay(const char *process, char *q) {
	uint64_t end = U64(q, PEER_OUT_TAIL) + entry_size(0) + HALO_RING_LINE;
	if (U32(process, PROCESS_SLOW) & HALO_SLOW_QUEUED || !U32(q, PEER_OPEN))
		return 0;
	if (end - U64(q, PEER_OUT_HEAD) > HALO_RING_BYTES)
		U64(q, PEER_OUT_HEAD) = HALO_LOAD(uint64_t, POINTER(q, PEER_OUT_CONTROL), HALO_RING_HEAD);
	return end - U64(q, PEER_OUT_HEAD) <= HALO_RING_BYTES;
}

int halo_pay(char *q) {
	uint64_t owed = U64(q, PEER_CREDIT_OWED);
	if (!HALO_PLANTED(CreditUnpaid))
		put(q, HALO_MESSAGE_CREDIT, 0, 0, 0, owed, NULL, 0);
	I64(q, PEER_ALLOWANCE) += (int64_t)owed;
	I64(q, PEER_CREDIT_OWED) = 0;
	halo_fence(); /* as in send_short: pairs with Arm */
	return __atomic_load_n((const uint32_t *)POINTER(q, PEER_ARMED), __ATOMIC_SEQ_CST) != 0;
}

/* Collects credit that the peer has returned, if that is what it has sent next. */
static __attribute__((noinline, cold)) void replenish(char *q) {
	if (POINTER(q, PEER_IN_DATA) == NULL)
		return;
	uint64_t at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES;
	pass(q, __atomic_load_n((uint64_t *)(POINTER(q, PEER_IN_DATA) + at), __ATOMIC_ACQUIRE), &at); /* pairs with the stores in Producer.Put and put */
}

/* Engine.Send in standard mode. If request is not NULL the message has a sequence number, and the number of
 * the request is stored there. It is always inlined, so that a
 * send without a request contains no test for one. */
HALO_INLINE int send_short(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, uint64_t *request) {
	struct way w;
	uint64_t n = halo_bytes(count, datatype), sequence = 0;
	if (n >= HALO_COPY_LESS || (n > 0 && !HALO_THERE(buf)) || tag < 0 || !find_way(&w, comm, dest) || !lock(w.process))
		return 0;
	char *p = w.process, *q = w.peer;
	int64_t cost = (int64_t)n + HALO_MESSAGE_OVERHEAD;
	const uint32_t *armed = (const uint32_t *)POINTER(q, PEER_ARMED);
	uint32_t before = 0;
	if (HALO_PLANTED(ArmedFirst)) {
		before = __atomic_load_n(armed, __ATOMIC_SEQ_CST);
		sched_yield(); /* gives the receiver the time that otherwise is a matter of luck */
	}
	if (HALO_UNLIKELY(cost > I64(q, PEER_CREDIT)))
		replenish(q);
	if (request != NULL)
		sequence = HALO_PLANTED(SentUnnumbered) ? 0 : U64(q, PEER_NUMBERED) + 1;
	if (U32(p, PROCESS_SLOW) & HALO_SLOW_QUEUED || !U32(q, PEER_OPEN) || (int64_t)n > I64(q, PEER_EAGER_MAX) || cost > I64(q, PEER_CREDIT) ||
	    !put(q, HALO_MESSAGE_EAGER, U64(w.comm, COMM_CTX), tag, halo_type(datatype).code, sequence, buf, n))
		return leave(p);
	I64(q, PEER_CREDIT) -= cost;
	if (request != NULL) {
		uint32_t number = (uint32_t)(HALO_SENT_FIRST + U64(p, PROCESS_SENT)++ % (((uint64_t)1 << HALO_SENT_BITS) - HALO_SENT_FIRST));
		char *s = POINTER(p, PROCESS_REQUESTS) + HALO_REQUESTS_RECENT + (uint64_t)(number % HALO_SENT_MOST) * HALO_SENT_BYTES;
		U64(q, PEER_NUMBERED) = U64(s, SENT_SEQUENCE) = sequence;
		U64(s, SENT_CTX) = U64(w.comm, COMM_CTX);
		U32(s, SENT_TAG) = (uint32_t)tag;
		I32(s, SENT_PEER) = w.local;
		U32(s, SENT_NUMBER) = number;
		*request = number;
	}
	unlock(p);
	/* Fabric.Send: either this process sees the peer armed, or the peer sees the frame in the poll that
	 * follows its Arm, since unlock is a full fence. */
	if (HALO_UNLIKELY((HALO_PLANTED(ArmedFirst) ? before : __atomic_load_n(armed, __ATOMIC_SEQ_CST)) != 0))
		wake(w.local, 0);
	return 1;
}

int halo_fast_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_short(buf, count, datatype, dest, tag, comm, NULL) || halo_send_nothing(buf, count, datatype, dest, tag, comm);
}

/* Engine.Isend in standard mode: the request is complete. */
int halo_fast_isend(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
	uint64_t number;
	if (!HALO_THERE(request))
		return 0;
	if (send_short(buf, count, datatype, dest, tag, comm, &number))
		*request = (MPI_Request)(uintptr_t)(number << 4 | HALO_KIND_SENT);
	else if (halo_send_nothing(buf, count, datatype, dest, tag, comm))
		*request = HALO_REQUEST_NOWHERE;
	else
		return 0;
	return 1;
}
