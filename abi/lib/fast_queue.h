/*
 * The two queues of C: receives that it has posted (shmfmt.ReceiveQueue), and messages that have arrived before
 * a receive for them was posted (shmfmt.UnexpectedQueue). Their records are used and listed in the same way.
 * No receive of the one matches a message of the other.
 */
#ifndef HALO_FAST_QUEUE_H
#define HALO_FAST_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "planted.h"
#include "record.h"

/* A queue, and what tells it from the other one. */
struct queue {
	char *at;
	uint32_t *slow;  /* of the shmfmt.ProcessRecord */
	uint32_t reason; /* in slow unless the list is empty */
	uint32_t most;   /* 1 + the number of records */
	uint64_t bytes;  /* of a record */
};

/* The queues of a process. Functions call these where they use a queue, so that the compiler knows the numbers. */
static inline struct queue posted_receives(char *process) {
	return (struct queue){POINTER(POINTER(process, PROCESS_REQUESTS), REQUESTS_RECEIVES), HALO_AT(uint32_t, process, HALO_PROCESS_SLOW),
	                      HALO_SLOW_POSTED, HALO_RECEIVES_MOST, HALO_RECEIVE_BYTES};
}

static inline struct queue unexpected_messages(char *process) {
	return (struct queue){POINTER(POINTER(process, PROCESS_REQUESTS), REQUESTS_UNEXPECTED), HALO_AT(uint32_t, process, HALO_PROCESS_SLOW),
	                      HALO_SLOW_UNEXPECTED, HALO_UNEXPECTED_MOST, HALO_UNEXPECTED_BYTES};
}

/* Record 0 is the queue itself: the anchor of the list. */
static inline char *record_at(struct queue s, uint32_t slot) { return s.at + (uint64_t)slot * s.bytes; }
static inline uint32_t slot_of(struct queue s, const char *r) { return (uint32_t)((uint64_t)(r - s.at) / s.bytes); }

/* Returns a record that is in no list, NULL if all are in use. */
static inline char *use_record(struct queue s) {
	char *r;
	uint32_t slot = U32(s.at, QUEUE_FREE);
	if (slot != 0) {
		r = record_at(s, slot);
		U32(s.at, QUEUE_FREE) = U32(r, RECORD_NEXT);
	} else if ((slot = U32(s.at, QUEUE_HIGH)) < s.most) {
		r = record_at(s, slot);
		U32(s.at, QUEUE_HIGH) = slot + 1;
	} else {
		return NULL;
	}
	U32(s.at, QUEUE_USED)++;
	return r;
}

/* ReceiveQueue.Release, but for the state. */
static inline void free_record(struct queue s, char *r) {
	if (--U32(s.at, QUEUE_USED) == 0) {
		U32(s.at, QUEUE_FREE) = 0;
		U32(s.at, QUEUE_HIGH) = 1;
		return;
	}
	U32(r, RECORD_NEXT) = U32(s.at, QUEUE_FREE);
	U32(s.at, QUEUE_FREE) = slot_of(s, r);
}

/* Lists a record behind all others. */
static inline void list_record(struct queue s, char *r) {
	uint32_t last = U32(s.at, RECORD_PREV), slot = slot_of(s, r);
	U32(r, RECORD_NEXT) = 0;
	U32(r, RECORD_PREV) = last;
	U32(record_at(s, last), RECORD_NEXT) = slot;
	U32(s.at, RECORD_PREV) = slot;
	U32(s.at, QUEUE_LISTED)++;
	*s.slow |= s.reason;
}

/* Takes a record out of the list. */
static inline void unlist_record(struct queue s, char *r) {
	uint32_t next = U32(r, RECORD_NEXT), prev = U32(r, RECORD_PREV);
	U32(record_at(s, prev), RECORD_NEXT) = next;
	U32(record_at(s, next), RECORD_PREV) = prev;
	if (--U32(s.at, QUEUE_LISTED) == 0)
		*s.slow &= ~s.reason;
}

/* The oldest posted receive that a message matches, NULL if there is none. */
static inline char *match(struct queue posted, uint64_t ctx, uint64_t word) {
	const uint64_t way = HALO_PLANTED(PostedBackwards) ? HALO_RECORD_PREV : HALO_RECORD_NEXT;
	for (uint32_t slot = *HALO_AT(uint32_t, posted.at, way); slot != 0;) {
		char *r = record_at(posted, slot);
		if (((U64(r, RECORD_CTX) ^ ctx) | ((U64(r, RECORD_WORD) ^ word) & U64(r, RECEIVE_MASK))) == 0)
			return r;
		slot = *HALO_AT(uint32_t, r, way);
	}
	return NULL;
}

/* The oldest unexpected message that a receive matches, NULL if there is none. */
static inline char *find(struct queue unexpected, uint64_t ctx, uint64_t word, uint64_t mask) {
	const uint64_t way = HALO_PLANTED(UnexpectedBackwards) ? HALO_RECORD_PREV : HALO_RECORD_NEXT;
	for (uint32_t slot = *HALO_AT(uint32_t, unexpected.at, way); slot != 0;) {
		char *m = record_at(unexpected, slot);
		if (((U64(m, RECORD_CTX) ^ ctx) | ((U64(m, RECORD_WORD) ^ word) & mask)) == 0)
			return m;
		slot = *HALO_AT(uint32_t, m, way);
	}
	return NULL;
}

#endif
