#include "fast_receive.h"

/*
 * Receives that C posts, in a shmfmt.ReceiveQueue, and the calls that complete them. internal/p2p/received.go
 * says how Go takes the queue over. C matches the frames of the rings with the posted receives, in the order
 * of the posts. A frame that matches none of them stays in its ring, and all behind it, and C enters Go.
 */

/* Record 0 is the queue itself: the anchor of the list of posted receives. */
static inline char *record_at(char *queue, uint32_t slot) { return queue + (uint64_t)slot * HALO_RECEIVE_BYTES; }

/* The record of a request, NULL if it has ended: ReceiveQueue.Find. */
static inline char *record_of(char *queue, MPI_Request request) {
	uint32_t number = (uint32_t)((uintptr_t)request >> 4);
	char *r = record_at(queue, number % HALO_RECEIVES_MOST);
	return r != queue && U32(r, RECEIVE_NUMBER) == number && U32(r, RECEIVE_STATE) != HALO_RECEIVE_FREE ? r : NULL;
}

/* Posts a receive behind all others. Returns NULL if all records are in use. */
static inline char *post(const struct way *w, void *buf, uint64_t room, int source, int tag) {
	char *queue = POINTER(POINTER(w->process, PROCESS_REQUESTS), REQUESTS_RECEIVES), *r;
	uint32_t slot = U32(queue, RECEIVES_FREE);
	if (slot != 0) {
		r = record_at(queue, slot);
		U32(queue, RECEIVES_FREE) = U32(r, RECEIVE_NEXT);
	} else if ((slot = U32(queue, RECEIVES_HIGH)) < HALO_RECEIVES_MOST) {
		r = record_at(queue, slot);
		U32(queue, RECEIVES_HIGH) = slot + 1;
	} else {
		return NULL;
	}
	U32(queue, RECEIVES_USED)++;
	uint32_t last = U32(queue, RECEIVE_PREV), number = U32(r, RECEIVE_NUMBER) + HALO_RECEIVES_MOST;
	if (number < 2 * HALO_RECEIVES_MOST || number >> HALO_RECEIVE_BITS != 0)
		number = HALO_RECEIVES_MOST + slot; /* the first number, and the one that follows the last */
	U64(r, RECEIVE_CTX) = U64(w->comm, COMM_CTX);
	U64(r, RECEIVE_WORD) = (uint64_t)(uint32_t)w->local << 32 | (uint32_t)tag;
	U64(r, RECEIVE_MASK) = tag == MPI_ANY_TAG ? ~(uint64_t)UINT32_MAX : ~(uint64_t)0;
	POINTER(r, RECEIVE_BUFFER) = buf;
	U32(r, RECEIVE_ROOM) = (uint32_t)room;
	U32(r, RECEIVE_NUMBER) = number;
	U32(r, RECEIVE_STATE) = HALO_RECEIVE_POSTED;
	U32(r, RECEIVE_NEXT) = 0;
	U32(r, RECEIVE_PREV) = last;
	I32(r, RECEIVE_SOURCE) = source;
	I32(r, RECEIVE_TAG) = tag;
	U32(record_at(queue, last), RECEIVE_NEXT) = slot;
	U32(queue, RECEIVE_PREV) = slot;
	U32(queue, RECEIVES_POSTED)++;
	U32(w->process, PROCESS_SLOW) |= HALO_SLOW_IMPORT;
	return r;
}

/* Takes a receive out of the posted ones. */
static inline void unpost(char *p, char *queue, char *r) {
	uint32_t next = U32(r, RECEIVE_NEXT), prev = U32(r, RECEIVE_PREV);
	U32(record_at(queue, prev), RECEIVE_NEXT) = next;
	U32(record_at(queue, next), RECEIVE_PREV) = prev;
	if (--U32(queue, RECEIVES_POSTED) == 0)
		U32(p, PROCESS_SLOW) &= ~(uint32_t)HALO_SLOW_IMPORT;
}

/* ReceiveQueue.Release */
static inline void release(char *queue, char *r) {
	U32(r, RECEIVE_STATE) = HALO_RECEIVE_FREE;
	if (--U32(queue, RECEIVES_USED) == 0) {
		U32(queue, RECEIVES_FREE) = 0;
		U32(queue, RECEIVES_HIGH) = 1;
		return;
	}
	U32(r, RECEIVE_NEXT) = U32(queue, RECEIVES_FREE);
	U32(queue, RECEIVES_FREE) = U32(r, RECEIVE_NUMBER) % HALO_RECEIVES_MOST;
}

/* The oldest posted receive that a message matches, NULL if there is none. */
static inline char *match(char *queue, uint64_t ctx, uint64_t word) {
	const uint64_t way = HALO_PLANTED(PostedBackwards) ? HALO_RECEIVE_PREV : HALO_RECEIVE_NEXT;
	for (uint32_t slot = *HALO_AT(uint32_t, queue, way); slot != 0;) {
		char *r = record_at(queue, slot);
		if (((U64(r, RECEIVE_CTX) ^ ctx) | ((U64(r, RECEIVE_WORD) ^ word) & U64(r, RECEIVE_MASK))) == 0)
			return r;
		slot = *HALO_AT(uint32_t, r, way);
	}
	return NULL;
}

/* What a call receives, with the lock held. */
struct intake {
	char *process, *requests, *queue;
	int32_t waits; /* the process that waits for room in its ring, -1 if there is none */
	int blocked;   /* C must not receive the next frame */
};

/* Waits a short time for a frame of a process, and receives all frames that have arrived, in order. Returns
 * 0 if none arrives, or if C must not receive the next one. */
static int receive_frames(struct intake *in, int32_t local, int32_t looks) {
	char *p = in->process, *q = peer_at(POINTER(in->requests, REQUESTS_PEERS), local), *data = POINTER(q, PEER_IN_DATA);
	uint64_t at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES, *entry = (uint64_t *)(data + at), first = look(p, entry, looks);
	if (first == 0)
		return 0;
	do {
		uint64_t n = (uint32_t)first;
		int32_t tag = (int32_t)entry[2];
		char *r = NULL;
		if (may_take(q, first, at) && tag >= 0)
			r = match(in->queue, entry[1], (uint64_t)(uint32_t)local << 32 | (uint32_t)tag);
		if (r == NULL || n > U32(r, RECEIVE_ROOM)) {
			in->blocked = 1;
			return 0;
		}
		int waits = take(q, entry, n, POINTER(r, RECEIVE_BUFFER));
		unpost(p, in->queue, r);
		U32(r, RECEIVE_STATE) = HALO_RECEIVE_COMPLETE;
		I32(r, RECEIVE_TAG) = tag;
		U32(r, RECEIVE_RECEIVED) = (uint32_t)n;
		if (HALO_UNLIKELY(waits)) {
			in->waits = local;
			in->blocked = 1;
			return 0;
		}
		if (U32(in->queue, RECEIVES_POSTED) == 0) /* another load would fetch a line from the sender */
			return 1;
		at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES;
		entry = (uint64_t *)(data + at);
		first = __atomic_load_n(entry, __ATOMIC_ACQUIRE); /* pairs with the stores in Producer.Put and put */
	} while (first != 0);
	return 1;
}

/* Waits a short time for a posted receive. Returns whether it is complete. */
static int await_receive(struct intake *in, const char *r, int32_t looks) {
	while (U32(r, RECEIVE_STATE) == HALO_RECEIVE_POSTED)
		if (!receive_frames(in, (int32_t)(U64(r, RECEIVE_WORD) >> 32), looks))
			break;
	return U32(r, RECEIVE_STATE) == HALO_RECEIVE_COMPLETE;
}

static struct intake start(char *process) {
	char *requests = POINTER(process, PROCESS_REQUESTS);
	return (struct intake){process, requests, POINTER(requests, REQUESTS_RECEIVES), -1, 0};
}

/* Gives the lock up after frames were received. */
static void finish(const struct intake *in) {
	unlock(in->process);
	if (HALO_UNLIKELY(in->waits >= 0))
		wake(in->waits, 1);
}

/* Engine.Irecv. No frame is looked at: the receive may be the first of many. */
int halo_fast_irecv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request) {
	struct way w;
	uint64_t room = halo_bytes(count, datatype);
	if (room >= HALO_COPY_LESS || (room > 0 && !HALO_THERE(buf)) || !HALO_THERE(request) || !find_way(&w, comm, source) || !may_receive(&w, tag) || !lock(w.process))
		return 0;
	char *r;
	/* Engine.CloseDescriptor comes after the entry is closed, and takes the lock. */
	if ((U32(w.process, PROCESS_SLOW) & ~(uint32_t)HALO_SLOW_IMPORT) != 0 || POINTER(POINTER(w.process, PROCESS_REQUESTS), REQUESTS_RECEIVES) == NULL || POINTER(w.peer, PEER_IN_DATA) == NULL || halo_comm(comm) != w.entry || (r = post(&w, buf, room, source, tag)) == NULL)
		return leave(w.process);
	uint64_t number = U32(r, RECEIVE_NUMBER);
	unlock(w.process);
	*request = (MPI_Request)(uintptr_t)(number << 4 | HALO_KIND_RECEIVED);
	return 1;
}

int halo_receive_after(const struct way *w, void *buf, uint64_t room, int source, int tag, MPI_Status *status) {
	struct intake in = start(w->process);
	char *r;
	if (!may_look(in.process, (uint32_t *)POINTER(w->comm, COMM_ARMED), HALO_SLOW_IMPORT) || (r = post(w, buf, room, source, tag)) == NULL)
		return leave(in.process);
	int complete = await_receive(&in, r, I32(in.process, PROCESS_LOOKS));
	if (!complete)
		unpost(in.process, in.queue, r);
	else
		store_status(status, I32(r, RECEIVE_SOURCE), I32(r, RECEIVE_TAG), U32(r, RECEIVE_RECEIVED));
	release(in.queue, r);
	finish(&in);
	return complete;
}

int halo_complete(int count, MPI_Request requests[], MPI_Status statuses[], int *flag) {
	char *p = __atomic_load_n(&halo_process, __ATOMIC_ACQUIRE); /* pairs with the store in halo_open_comm */
	if (p == NULL || !lock(p))
		return 0;
	struct intake in = start(p);
	if (in.queue == NULL) /* the handles are invalid */
		return leave(p);
	int32_t looks = flag != NULL ? 1 : I32(p, PROCESS_LOOKS);
	int complete = 1, looked = 0;
	for (int i = 0; i < count && complete; i++) {
		if (!halo_received(requests[i]))
			continue;
		const char *r = record_of(in.queue, requests[i]);
		if (r == NULL || U32(r, RECEIVE_STATE) == HALO_RECEIVE_IMPORTED)
			complete = 0, in.blocked = 1;
		else if (U32(r, RECEIVE_STATE) == HALO_RECEIVE_POSTED) {
			if (!looked && !may_look(p, (uint32_t *)POINTER(in.requests, REQUESTS_ARMED), HALO_SLOW_IMPORT))
				complete = 0, in.blocked = 1;
			else
				complete = await_receive(&in, r, looks);
			looked = 1;
		}
	}
	if (complete)
		for (int i = 0; i < count; i++) {
			MPI_Status *status = (uintptr_t)statuses < HALO_FIRST_PAGE ? NULL : &statuses[i];
			char *r = halo_received(requests[i]) ? record_of(in.queue, requests[i]) : NULL;
			if (r == NULL) {
				halo_done_status(status);
			} else {
				store_status(status, I32(r, RECEIVE_SOURCE), I32(r, RECEIVE_TAG), U32(r, RECEIVE_RECEIVED));
				release(in.queue, r);
			}
			requests[i] = MPI_REQUEST_NULL;
		}
	finish(&in);
	if (flag == NULL)
		return complete;
	if (!complete && in.blocked)
		return 0;
	*flag = complete;
	return 1;
}
