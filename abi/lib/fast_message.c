#include <sched.h>

#include "fast_engine.h"
#include "fast_receive.h"

/* Short messages between processes of a node: sends, and receives that wait. */

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

/* Producer.Put of an eager message. Returns 0 if there is no room. It is no fence. */
static inline int put(char *q, uint64_t ctx, int tag, uint8_t code, uint64_t sequence, const void *payload, uint64_t n) {
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
	__atomic_store_n(&entry[0], HALO_MESSAGE_EAGER | n, __ATOMIC_RELEASE); /* publishes; pairs with the loads in Consumer.Next and look */
	if (HALO_UNLIKELY(skip > 0))
		__atomic_store_n(polled, (uint64_t)HALO_RING_PAD << 32, __ATOMIC_RELEASE); /* pairs as above */
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
	if (request != NULL)
		sequence = HALO_PLANTED(SentUnnumbered) ? 0 : U64(q, PEER_NUMBERED) + 1;
	if (U32(p, PROCESS_SLOW) & HALO_SLOW_QUEUED || !U32(q, PEER_OPEN) || (int64_t)n > I64(q, PEER_EAGER_MAX) || cost > I64(q, PEER_CREDIT) ||
	    !put(q, U64(w.comm, COMM_CTX), tag, halo_type(datatype).code, sequence, buf, n))
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

/* Whether a message is one to or from MPI_PROC_NULL, and correct: nothing is to be done. */
static int nothing(const void *buf, int64_t count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm) {
	if (peer != MPI_PROC_NULL || tag < 0 || count < 0 || (count > 0 && !HALO_THERE(buf)))
		return 0;
	struct halo_entry *e = halo_comm(comm), *t;
	if (e == NULL || e->messages == NULL)
		return 0;
	return halo_type(datatype).size != 0 ||
	       ((t = halo_find(&halo_datatypes, (uintptr_t)datatype)) != NULL && HALO_LOAD(uint32_t, t->descriptor, HALO_TYPE_COMMITTED) != 0);
}

int halo_fast_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_short(buf, count, datatype, dest, tag, comm, NULL) || nothing(buf, count, datatype, dest, tag, comm);
}

/* Engine.Isend in standard mode: the request is complete. */
int halo_fast_isend(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
	uint64_t number;
	if (!HALO_THERE(request))
		return 0;
	if (send_short(buf, count, datatype, dest, tag, comm, &number))
		*request = (MPI_Request)(uintptr_t)(number << 4 | HALO_KIND_SENT);
	else if (nothing(buf, count, datatype, dest, tag, comm))
		*request = HALO_REQUEST_NOWHERE;
	else
		return 0;
	return 1;
}

int halo_receive_nothing(const void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm) {
	return nothing(buf, count, datatype, source, tag == MPI_ANY_TAG ? 0 : tag, comm);
}

/* Receives a message by the queues of C. It finds the way again, so that the caller need not keep it for a call that
 * is rare where the latency counts: its other variables then stay in registers. */
static __attribute__((noinline)) int receive_queued(char *process, void *buf, uint64_t room, uint8_t code, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct way w;
	return find_way(&w, comm, source) ? halo_receive_queued(&w, buf, room, code, source, tag, status) : leave(process);
}

/* Engine.recvNext from one source. If the queues of C are in use, or the next frame is for another receive, the message
 * comes by the queues. */
int halo_fast_recv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct way w;
	uint64_t room = halo_bytes(count, datatype);
	uint8_t code = halo_type(datatype).code;
	if (HALO_UNLIKELY(source == MPI_PROC_NULL) && halo_receive_nothing(buf, count, datatype, source, tag, comm)) {
		halo_done_status(HALO_REQUEST_NOTHING, status);
		return 1;
	}
	if (room >= HALO_COPY_LESS || (room > 0 && !HALO_THERE(buf)) || !find_way(&w, comm, source) || !may_receive(&w, tag) || !lock(w.process))
		return 0;
	char *p = w.process, *q = w.peer, *data = POINTER(q, PEER_IN_DATA);
	if (data == NULL || !may_look(p, (uint32_t *)POINTER(w.comm, COMM_ARMED), 0)) {
		uint32_t slow = U32(p, PROCESS_SLOW);
		if (slow == 0 || (slow & ~(uint32_t)HALO_SLOW_IMPORT) != 0)
			return leave(p);
		return receive_queued(p, buf, room, code, source, tag, comm, status);
	}
	uint64_t at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES;
	const uint64_t *entry = (const uint64_t *)(data + at);
	/* This is may_take with the conditions in another order: with the order of may_take a round trip on cores
	 * that share a cache takes a quarter longer. */
	uint64_t first = look(p, entry, I32(p, PROCESS_LOOKS)), n = (uint32_t)first, size = entry_size(n);
	int64_t cost = (int64_t)n + HALO_MESSAGE_OVERHEAD;
	if (first - n != HALO_MESSAGE_EAGER || n > room || size > HALO_RING_BYTES - at || entry[1] != U64(w.comm, COMM_CTX) ||
	    cost > I64(q, PEER_ALLOWANCE) || I64(q, PEER_CREDIT_OWED) + cost >= HALO_MESSAGE_CREDIT_DUE)
		return first == 0 ? leave(p) : receive_queued(p, buf, room, code, source, tag, comm, status);
	int sent = (int32_t)entry[2];
	if ((HALO_UNLIKELY(sent != tag) && (tag != MPI_ANY_TAG || sent < 0)) || differ((uint32_t)(entry[2] >> 32), n, code))
		return receive_queued(p, buf, room, code, source, tag, comm, status);
	int waits = take(q, entry, n, buf);
	unlock(p);
	if (HALO_UNLIKELY(waits))
		wake(w.local, 1);
	store_status(status, source, sent, n);
	return 1;
}
