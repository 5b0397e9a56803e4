#include "fast_receive.h"

#include <stddef.h>

#include "compiler.h"
#include "copy.h"
#include "datatype.h"
#include "dtype_code.h"
#include "engine_lock.h"
#include "fast_frame.h"
#include "fast_queue.h"
#include "handle_table.h"
#include "planted.h"
#include "proc_null.h"
#include "record.h"
#include "request.h"
#include "ring.h"
#include "way.h"

/*
 * Receives of short messages, by the steps of the functions of Go that the comments name: internal/p2p/descriptor.go says
 * when C may.
 */

/* A receive. */
struct pattern {
	uint64_t ctx, word, mask;
	void *buf;
	uint64_t room;
	uint8_t code; /* of the elements */
};

static inline struct pattern pattern_of(const struct way *w, void *buf, uint64_t room, uint8_t code, int tag) {
	return (struct pattern){U64(w->comm, COMM_CTX), (uint64_t)(uint32_t)w->local << 32 | (uint32_t)tag,
	                        tag == MPI_ANY_TAG ? ~(uint64_t)UINT32_MAX : ~(uint64_t)0, buf, room, code};
}

/* The oldest unexpected message that a receive matches, NULL if there is none. */
static inline char *arrived(char *p, const struct pattern *v) {
	return U32(p, PROCESS_SLOW) & HALO_SLOW_UNEXPECTED ? find(unexpected_messages(p), v->ctx, v->word, v->mask) : NULL;
}

/* Receives an unexpected message. Returns 0, and changes nothing, if Go must: it is longer than the buffer, or of other
 * elements, or credit is due. */
static inline int deliver(char *p, char *m, const struct pattern *v, int32_t *tag, uint64_t *received) {
	char *q = peer_at(POINTER(POINTER(p, PROCESS_REQUESTS), REQUESTS_PEERS), (int32_t)(U64(m, RECORD_WORD) >> 32));
	uint64_t n = U32(m, UNEXPECTED_SIZE);
	int64_t cost = (int64_t)n + HALO_MESSAGE_OVERHEAD;
	if (n > v->room || halo_differ(U32(m, UNEXPECTED_AUX), n, v->code) || I64(q, PEER_CREDIT_OWED) + cost >= HALO_MESSAGE_CREDIT_DUE)
		return 0;
	I64(q, PEER_CREDIT_OWED) += cost;
	if (n > 0)
		halo_copy(v->buf, m + HALO_UNEXPECTED_DATA, n);
	*tag = (int32_t)U64(m, RECORD_WORD);
	*received = n;
	unlist_record(unexpected_messages(p), m);
	free_record(unexpected_messages(p), m);
	return 1;
}

/* Takes a record for a receive. Returns NULL if all are in use. */
static inline char *new_receive(char *p, const struct pattern *v, int source) {
	char *r = use_record(posted_receives(p));
	if (r == NULL)
		return NULL;
	uint32_t number = U32(r, RECEIVE_NUMBER) + HALO_RECEIVES_MOST;
	if (number < 2 * HALO_RECEIVES_MOST || number >> HALO_RECEIVE_BITS != 0)
		number = HALO_RECEIVES_MOST + slot_of(posted_receives(p), r); /* the first number, and the one that follows the last */
	U64(r, RECORD_CTX) = v->ctx;
	U64(r, RECORD_WORD) = v->word;
	U64(r, RECEIVE_MASK) = v->mask;
	POINTER(r, RECEIVE_BUFFER) = v->buf;
	U32(r, RECEIVE_ROOM) = (uint32_t)v->room;
	U8(r, RECEIVE_CODE) = v->code;
	U32(r, RECEIVE_NUMBER) = number;
	I32(r, RECEIVE_SOURCE) = source;
	return r;
}

/* Posts a receive behind all others. */
static inline void post(char *p, char *r) {
	U16(r, RECEIVE_STATE) = HALO_RECEIVE_POSTED;
	I32(r, RECEIVE_TAG) = (int32_t)U64(r, RECORD_WORD);
	list_record(posted_receives(p), r);
}

/* Engine.Irecv. No frame is looked at: the receive may be the first of many. */
int halo_fast_irecv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request) {
	struct way w;
	uint64_t room = halo_bytes(count, datatype), n;
	if (HALO_UNLIKELY(source == MPI_PROC_NULL) && HALO_THERE(request) && halo_receive_nothing(buf, count, datatype, source, tag, comm)) {
		*request = HALO_REQUEST_NOTHING;
		return 1;
	}
	if (room >= HALO_COPY_LESS || (room > 0 && !HALO_THERE(buf)) || !HALO_THERE(request) || !find_way(&w, comm, source) || !may_receive(&w, tag) || !lock(w.process))
		return 0;
	char *p = w.process, *r, *m;
	struct pattern v = pattern_of(&w, buf, room, halo_type(datatype).code, tag);
	int32_t sent;
	/* Engine.CloseDescriptor comes after the entry is closed, and takes the lock. */
	if ((U32(p, PROCESS_SLOW) & ~(uint32_t)HALO_SLOW_IMPORT) != 0 || posted_receives(p).at == NULL || POINTER(w.peer, PEER_IN_DATA) == NULL || halo_comm(comm) != w.entry || (r = new_receive(p, &v, source)) == NULL)
		return leave(p);
	if ((m = HALO_PLANTED(UnexpectedPassed) ? NULL : arrived(p, &v)) == NULL) {
		post(p, r);
	} else if (deliver(p, m, &v, &sent, &n)) {
		complete(r, sent, n);
	} else {
		release(p, r);
		return leave(p);
	}
	uint64_t number = U32(r, RECEIVE_NUMBER);
	unlock(p);
	*request = (MPI_Request)(uintptr_t)(number << 4 | HALO_KIND_RECEIVED);
	return 1;
}

/* Receives a message by the queues of C: one that has arrived, or one that comes for a receive behind those that C has
 * posted. The lock is held, and is given up. The function finds the way again, so that the caller need not keep it for a call
 * that is rare where the latency counts: its other variables then stay in registers. */
static __attribute__((noinline)) int receive_queued(char *p, void *buf, uint64_t room, uint8_t code, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct way w;
	if (!find_way(&w, comm, source))
		return leave(p);
	char *r, *m;
	struct pattern v = pattern_of(&w, buf, room, code, tag);
	int32_t sent;
	uint64_t n;
	if (posted_receives(p).at == NULL || POINTER(w.peer, PEER_IN_DATA) == NULL)
		return leave(p);
	if ((m = arrived(p, &v)) != NULL) {
		if (!deliver(p, m, &v, &sent, &n))
			return leave(p);
		unlock(p);
		halo_store_status(status, source, sent, n);
		return 1;
	}
	uint64_t at = U64(w.peer, PEER_IN_HEAD) % HALO_RING_BYTES, first = __atomic_load_n((uint64_t *)(POINTER(w.peer, PEER_IN_DATA) + at), __ATOMIC_ACQUIRE);
	first = pass(w.peer, first, &at);
	if (first != 0 && !may_take(p, w.peer, first, at)) /* a long message, for example: nothing is posted in vain */
		return leave(p);
	if (!may_look(p, w.peer, (uint32_t *)POINTER(w.comm, COMM_ARMED), HALO_SLOW_IMPORT) || (r = new_receive(p, &v, source)) == NULL)
		return leave(p);
	post(p, r);
	struct intake in = {p, -1, 0};
	int received = await_receive(&in, r, I32(p, PROCESS_LOOKS));
	if (!received)
		unlist_record(posted_receives(p), r);
	else
		halo_store_status(status, source, I32(r, RECEIVE_TAG), U32(r, RECEIVE_RECEIVED));
	release(p, r);
	finish(&in);
	return received;
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
	if (data == NULL || !may_look(p, q, (uint32_t *)POINTER(w.comm, COMM_ARMED), 0)) {
		uint32_t slow = U32(p, PROCESS_SLOW);
		if (slow == 0 || (slow & ~(uint32_t)HALO_SLOW_IMPORT) != 0)
			return leave(p);
		return receive_queued(p, buf, room, code, source, tag, comm, status);
	}
again:;
	uint64_t at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES;
	const uint64_t *entry = (const uint64_t *)(data + at);
	/* This is may_take with the conditions in another order: with the order of may_take a round trip on cores
	 * that share a cache takes a quarter longer. */
	uint64_t first = look(p, entry, I32(p, PROCESS_LOOKS)), n = (uint32_t)first, size = entry_size(n);
	int64_t cost = (int64_t)n + HALO_MESSAGE_OVERHEAD;
	if (first - n != HALO_MESSAGE_EAGER || n > room || size > HALO_RING_BYTES - at || entry[1] != U64(w.comm, COMM_CTX) ||
	    cost > I64(q, PEER_ALLOWANCE) || (I64(q, PEER_CREDIT_OWED) + cost >= HALO_MESSAGE_CREDIT_DUE && !halo_may_pay(p, q))) {
		if (first == 0 ? halo_look_on(p, q, entry) != 0 : first == HALO_MESSAGE_CREDIT && collect(q, at))
			goto again;
		return first == 0 ? leave(p) : receive_queued(p, buf, room, code, source, tag, comm, status);
	}
	int sent = (int32_t)entry[2];
	if ((HALO_UNLIKELY(sent != tag) && (tag != MPI_ANY_TAG || sent < 0)) || halo_differ((uint32_t)(entry[2] >> 32), n, code))
		return receive_queued(p, buf, room, code, source, tag, comm, status);
	int waits = take(q, entry, n, buf);
	unlock(p);
	if (HALO_UNLIKELY(waits))
		wake(w.local, 1);
	halo_store_status(status, source, sent, n);
	return 1;
}
