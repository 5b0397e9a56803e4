#include "fast_frame.h"

#include <stddef.h>

#include "compiler.h"
#include "dtype_code.h"
#include "fast_queue.h"
#include "record.h"
#include "ring.h"
#include "way.h"

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

int halo_receive_frames(struct intake *in, int32_t local, const char *awaited, int32_t looks) {
	char *p = in->process, *q = peer_at(POINTER(POINTER(p, PROCESS_REQUESTS), REQUESTS_PEERS), local), *data = POINTER(q, PEER_IN_DATA);
	const struct queue posted = posted_receives(p);
	if (HALO_UNLIKELY(in->waits >= 0)) { /* somebody is to be woken before this thread waits */
		looks = 1;
		in->blocked = 1;
		if (in->waits != local)
			return 0;
	}
	uint64_t at = U64(q, PEER_IN_HEAD) % HALO_RING_BYTES, first = look(p, (uint64_t *)(data + at), looks);
	if (first == 0 && (looks == 1 || (first = halo_look_on(p, q, (uint64_t *)(data + at))) == 0))
		return 0;
	first = pass(q, first, &at);
	if (first == 0)
		return 1;
	do {
		const uint64_t *entry = (const uint64_t *)(data + at);
		uint64_t n = (uint32_t)first, word = (uint64_t)(uint32_t)local << 32 | (uint32_t)entry[2];
		int32_t tag = (int32_t)entry[2];
		char *r = NULL;
		int takes = may_take(p, q, first, at) && tag >= 0, waits = 0;
		if (takes)
			r = match(posted, entry[1], word);
		if (r != NULL && n <= U32(r, RECEIVE_ROOM) && !halo_differ((uint32_t)(entry[2] >> 32), n, U8(r, RECEIVE_CODE))) {
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
		first = pass(q, first, &at);
	} while (first != 0);
	return 1;
}
