/*
 * Receives that C has posted, and the frames for them. internal/p2p/received.go says how Go takes the queues over. C
 * matches the frames of the rings with the posted receives, in the order of the posts. A short message that matches none
 * of them becomes an unexpected one, with which later receives are matched first, in the order of arrival. Any other frame
 * stays in its ring, and all behind it, and C enters Go.
 */
#ifndef HALO_FAST_FRAME_H
#define HALO_FAST_FRAME_H

#include <stdint.h>

#include "compiler.h"
#include "engine_lock.h"
#include "fast_queue.h"
#include "record.h"

/* Receives a message of n bytes in the buffer of a record. */
static inline void complete(char *r, int32_t tag, uint64_t n) {
	U16(r, RECEIVE_STATE) = HALO_RECEIVE_COMPLETE;
	I32(r, RECEIVE_TAG) = tag;
	U32(r, RECEIVE_RECEIVED) = (uint32_t)n;
}

/* ReceiveQueue.Release */
static inline void release(char *p, char *r) {
	U16(r, RECEIVE_STATE) = HALO_RECEIVE_FREE;
	free_record(posted_receives(p), r);
}

/* What a call receives, with the lock held. */
struct intake {
	char *process;
	int32_t waits; /* the process that waits for room in its ring, or sleeps although it has got credit; -1 if there is none */
	int blocked;   /* C must not receive the next frame */
};

/* Gives the lock up after frames were received. */
static inline void finish(const struct intake *in) {
	unlock(in->process);
	if (HALO_UNLIKELY(in->waits >= 0))
		wake(in->waits, 1);
}

/* Waits a short time for a frame of a process, and receives all frames that have arrived, in order: those that match no
 * receive only while awaited is not complete. Returns 0 if none arrives, or if C must not receive the next one. */
HALO_HIDDEN int halo_receive_frames(struct intake *in, int32_t local, const char *awaited, int32_t looks);

/* Waits a short time for a posted receive. Returns whether it is complete. */
static inline int await_receive(struct intake *in, const char *r, int32_t looks) {
	while (U16(r, RECEIVE_STATE) == HALO_RECEIVE_POSTED)
		if (!halo_receive_frames(in, (int32_t)(U64(r, RECORD_WORD) >> 32), r, looks))
			break;
	return U16(r, RECEIVE_STATE) == HALO_RECEIVE_COMPLETE;
}

#endif
