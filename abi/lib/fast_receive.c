#include "fast_receive.h"

#include "fast_queue.h"

/*
 * Receives that C posts, and the calls that complete them. internal/p2p/received.go says how Go takes the queues
 * over. C matches the frames of the rings with the posted receives, in the order of the posts. A short message that
 * matches none of them becomes an unexpected one, with which later receives are matched first, in the order of
 * arrival. Any other frame stays in its ring, and all behind it, and C enters Go.
 */

/* The record of a request, NULL if it has ended: ReceiveQueue.Find. */
static inline char *record_of(struct queue posted, MPI_Request request) {
	uint32_t number = (uint32_t)((uintptr_t)request >> 4);
	char *r = record_at(posted, number % HALO_RECEIVES_MOST);
	return r != posted.at && U32(r, RECEIVE_NUMBER) == number && U16(r, RECEIVE_STATE) != HALO_RECEIVE_FREE ? r : NULL;
}

/* Receives a message of n bytes in the buffer of a record. */
static inline void complete(char *r, int32_t tag, uint64_t n) {
	U16(r, RECEIVE_STATE) = HALO_RECEIVE_COMPLETE;
	I32(r, RECEIVE_TAG) = tag;
	U32(r, RECEIVE_RECEIVED) = (uint32_t)n;
}

/* log2 of the size of an element, and whether it is a floating-point number or made of two of them. */
static inline unsigned width_of(uint8_t code, int *floats) {
	unsigned kind = code >> 4, width = code & 7;
	*floats = kind == HALO_CODE_FLOATING || kind == HALO_CODE_COMPLEX;
	if (*floats && width > HALO_CODE_EXTENDED)
		width = HALO_CODE_EXTENDED; /* formats are in the order of their sizes, the last two of one size */
	return width + (kind == HALO_CODE_COMPLEX);
}

int halo_clash(uint8_t sent, uint8_t own) {
	int a, b;
	return width_of(sent, &a) == width_of(own, &b) && a != b;
}

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
	if (n > v->room || differ(U32(m, UNEXPECTED_AUX), n, v->code) || I64(q, PEER_CREDIT_OWED) + cost >= HALO_MESSAGE_CREDIT_DUE)
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

/* ReceiveQueue.Release */
static inline void release(char *p, char *r) {
	U16(r, RECEIVE_STATE) = HALO_RECEIVE_FREE;
	free_record(posted_receives(p), r);
}

/* Makes a frame that matches no posted receive an unexpected message. Returns 0, and changes nothing, if it is too
 * long or all records are in use. */
static inline int keep(char *p, char *q, const uint64_t *entry, uint64_t n, uint64_t word, int *waits) {
	char *m;
	if (n > HALO_UNEXPECTED_MAX || (m = use_record(unexpected_messages(p))) == NULL)
		return 0;
	U64(m, RECORD_CTX) = entry[1];
	U64(m, RECORD_WORD) = word;
	U64(m, UNEXPECTED_ARG) = entry[3];
	U32(m, UNEXPECTED_AUX) = (uint32_t)(entry[2] >> 32);
	U32(m, UNEXPECTED_SIZE) = (uint32_t)n;
	list_record(unexpected_messages(p), m);
	*waits = take_unpaid(q, entry, n, m + HALO_UNEXPECTED_DATA);
	return 1;
}

/* What a call receives, with the lock held. */
struct intake {
	char *process;
	int32_t waits; /* the process that waits for room in its ring, -1 if there is none */
	int blocked;   /* C must not receive the next frame */
};

/* Gives the lock up after frames were received. */
static void finish(const struct intake *in) {
	unlock(in->process);
	if (HALO_UNLIKELY(in->waits >= 0))
		wake(in->waits, 1);
}

/* Waits a short time for a frame of a process, and receives all frames that have arrived, in order: those that match no
 * receive only while awaited is not complete. Returns 0 if none arrives, or if C must not receive the next one. */
static int receive_frames(struct intake *in, int32_t local, const char *awaited, int32_t looks) {
	char *p = in->process, *q = peer_at(POINTER(POINTER(p, PROCESS_REQUESTS), REQUESTS_PEERS), local), *data = POINTER(q, PEER_IN_DATA);
	const struct queue posted = posted_receives(p);
	uint64_t at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES, first = look(p, (uint64_t *)(data + at), looks);
	first = pass_padding(q, first, &at);
	if (first == 0)
		return 0;
	do {
		const uint64_t *entry = (const uint64_t *)(data + at);
		uint64_t n = (uint32_t)first, word = (uint64_t)(uint32_t)local << 32 | (uint32_t)entry[2];
		int32_t tag = (int32_t)entry[2];
		char *r = NULL;
		int takes = may_take(q, first, at) && tag >= 0, waits = 0;
		if (takes)
			r = match(posted, entry[1], word);
		if (r != NULL && n <= U32(r, RECEIVE_ROOM) && !differ((uint32_t)(entry[2] >> 32), n, U8(r, RECEIVE_CODE))) {
			waits = take(q, entry, n, POINTER(r, RECEIVE_BUFFER));
			unlist_record(posted, r);
			complete(r, tag, n);
		} else if (takes && r == NULL && U16(awaited, RECEIVE_STATE) == HALO_RECEIVE_COMPLETE) {
			return 1;
		} else if (!takes || r != NULL || !keep(p, q, entry, n, word, &waits)) {
			in->blocked = 1;
			return 0;
		}
		if (HALO_UNLIKELY(waits)) {
			in->waits = local;
			in->blocked = 1;
			return 0;
		}
		if (U32(posted.at, QUEUE_LISTED) == 0) /* another load would fetch a line from the sender */
			return 1;
		at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES;
		first = __atomic_load_n((uint64_t *)(data + at), __ATOMIC_ACQUIRE); /* pairs with the stores in Producer.Put and put */
		first = pass_padding(q, first, &at);
	} while (first != 0);
	return 1;
}

/* Waits a short time for a posted receive. Returns whether it is complete. */
static int await_receive(struct intake *in, const char *r, int32_t looks) {
	while (U16(r, RECEIVE_STATE) == HALO_RECEIVE_POSTED)
		if (!receive_frames(in, (int32_t)(U64(r, RECORD_WORD) >> 32), r, looks))
			break;
	return U16(r, RECEIVE_STATE) == HALO_RECEIVE_COMPLETE;
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

int halo_receive_queued(const struct way *w, void *buf, uint64_t room, uint8_t code, int source, int tag, MPI_Status *status) {
	char *p = w->process, *r, *m;
	struct pattern v = pattern_of(w, buf, room, code, tag);
	int32_t sent;
	uint64_t n;
	if (posted_receives(p).at == NULL || POINTER(w->peer, PEER_IN_DATA) == NULL)
		return leave(p);
	if ((m = arrived(p, &v)) != NULL) {
		if (!deliver(p, m, &v, &sent, &n))
			return leave(p);
		unlock(p);
		store_status(status, source, sent, n);
		return 1;
	}
	uint64_t at = U64(w->peer, PEER_IN_HEAD) % HALO_RING_BYTES, first = __atomic_load_n((uint64_t *)(POINTER(w->peer, PEER_IN_DATA) + at), __ATOMIC_ACQUIRE);
	first = pass_padding(w->peer, first, &at);
	if (first != 0 && !may_take(w->peer, first, at)) /* a long message, for example: nothing is posted in vain */
		return leave(p);
	if (!may_look(p, (uint32_t *)POINTER(w->comm, COMM_ARMED), HALO_SLOW_IMPORT) || (r = new_receive(p, &v, source)) == NULL)
		return leave(p);
	post(p, r);
	struct intake in = {p, -1, 0};
	int received = await_receive(&in, r, I32(p, PROCESS_LOOKS));
	if (!received)
		unlist_record(posted_receives(p), r);
	else
		store_status(status, source, I32(r, RECEIVE_TAG), U32(r, RECEIVE_RECEIVED));
	release(p, r);
	finish(&in);
	return received;
}

int halo_complete(int count, MPI_Request requests[], MPI_Status statuses[], int *flag) {
	char *p = __atomic_load_n(&halo_process, __ATOMIC_ACQUIRE); /* pairs with the store in halo_open_comm */
	if (p == NULL || !lock(p))
		return 0;
	struct intake in = {p, -1, 0};
	const struct queue posted = posted_receives(p);
	if (posted.at == NULL) /* the handles are invalid */
		return leave(p);
	int32_t looks = flag != NULL ? 1 : I32(p, PROCESS_LOOKS);
	int all = 1, looked = 0;
	for (int i = 0; i < count && all; i++) {
		if (!halo_received(requests[i]))
			continue;
		const char *r = record_of(posted, requests[i]);
		if (r == NULL || U16(r, RECEIVE_STATE) == HALO_RECEIVE_IMPORTED)
			all = 0, in.blocked = 1;
		else if (U16(r, RECEIVE_STATE) == HALO_RECEIVE_POSTED) {
			if (!looked && !may_look(p, (uint32_t *)POINTER(POINTER(p, PROCESS_REQUESTS), REQUESTS_ARMED), HALO_SLOW_IMPORT))
				all = 0, in.blocked = 1;
			else
				all = await_receive(&in, r, looks);
			looked = 1;
		}
	}
	if (all)
		for (int i = 0; i < count; i++) {
			MPI_Status *status = (uintptr_t)statuses < HALO_FIRST_PAGE ? NULL : &statuses[i];
			char *r = halo_received(requests[i]) ? record_of(posted, requests[i]) : NULL;
			if (r == NULL) {
				halo_done_status(requests[i], status);
			} else {
				store_status(status, I32(r, RECEIVE_SOURCE), I32(r, RECEIVE_TAG), U32(r, RECEIVE_RECEIVED));
				release(p, r);
			}
			requests[i] = MPI_REQUEST_NULL;
		}
	finish(&in);
	if (flag == NULL)
		return all;
	if (!all && in.blocked)
		return 0;
	*flag = all;
	return 1;
}
