#include "quiet.h"

#include <stddef.h>

#include "planted.h"
#include "processor.h"
#include "record.h"
#include "way.h"

/* Looks between two times that a receive sees whether the rest is quiet: some 5 us. */
#define QUIET_EVERY 128

/* Whether frames travel otherwise than through the rings of the node, a peer has failed, or one has made an offer. After the
 * first offer a process is never quiet again: Go alone knows where offers are. */
static inline int comes_otherwise(const char *process) {
	const uint64_t *senders = (const uint64_t *)POINTER(process, PROCESS_SENDERS);
	if (senders == NULL || HALO_LOAD(uint32_t, process, HALO_PROCESS_ELSEWHERE) != 0)
		return 1;
	if (__atomic_load_n((const uint8_t *)POINTER(process, PROCESS_LOSING), __ATOMIC_SEQ_CST) != 0) /* pairs with the store in Node.Lose */
		return 1;
	for (uint32_t w = 0; w < U32(process, PROCESS_WORDS); w++)
		if (__atomic_load_n(&senders[U32(process, PROCESS_WORDS) + w], __ATOMIC_SEQ_CST) != 0) /* pairs with Segment.Offers */
			return 1;
	return 0;
}

/* Calls visit for the PeerRecord of each process that has sent until it returns 1. */
HALO_INLINE int any_sender(const char *process, int (*visit)(char *peer, const char *but), const char *but) {
	const uint64_t *senders = (const uint64_t *)POINTER(process, PROCESS_SENDERS);
	for (uint32_t w = 0; w < U32(process, PROCESS_WORDS); w++)
		for (uint64_t left = __atomic_load_n(&senders[w], __ATOMIC_SEQ_CST); left != 0; left &= left - 1) /* pairs with Segment.Activate */
			if (visit(peer_at(POINTER(process, PROCESS_PEERS), (int32_t)(64 * w) + __builtin_ctzll(left)), but))
				return 1;
	return 0;
}

/* 1 + the position of the next frame of a peer, 0 if there is none. A peer whose first frame Go has not found yet, or that has
 * failed, has no ring: UINT64_MAX. The words are loaded once, since the watchdog has no lock. */
static inline uint64_t next_frame(const char *peer) {
	const char *data = __atomic_load_n(HALO_AT(char *, peer, HALO_PEER_IN_DATA), __ATOMIC_RELAXED);
	uint64_t head = __atomic_load_n(HALO_AT(uint64_t, peer, HALO_PEER_IN_HEAD), __ATOMIC_RELAXED);
	if (data == NULL)
		return UINT64_MAX;
	return __atomic_load_n((const uint64_t *)(data + head % HALO_RING_BYTES), __ATOMIC_ACQUIRE) != 0 ? head + 1 : 0; /* pairs with the stores in Producer.Put and put */
}

static int sends(char *peer, const char *but) { return peer != but && next_frame(peer) != 0; }

int halo_quiet(const char *process, const char *peer) {
	return HALO_PLANTED(QuietUnlooked) || (!comes_otherwise(process) && !any_sender(process, sends, peer));
}

uint64_t halo_look_on(const char *process, const char *peer, const uint64_t *entry) {
	for (int32_t left = I32(process, PROCESS_LOOKS_QUIET) - I32(process, PROCESS_LOOKS); left > 0 && halo_quiet(process, peer); left -= QUIET_EVERY)
		for (int32_t k = 0; k < QUIET_EVERY; k++) {
			uint64_t first = __atomic_load_n(entry, __ATOMIC_ACQUIRE); /* pairs with the stores in Producer.Put and put */
			if (first != 0)
				return first;
			if (k % HALO_MESSAGE_WANT_EVERY == 0 && !HALO_PLANTED(WantIgnored) && HALO_LOAD(uint32_t, process, HALO_PROCESS_WANT) != 0)
				return 0;
			halo_pause();
		}
	return 0;
}

/* Whether the next frame of a peer is the same as at the last look. */
static int waits(char *peer, const char *unused) {
	(void)unused;
	uint64_t next = next_frame(peer), before = U64(peer, PEER_WAITING);
	U64(peer, PEER_WAITING) = next;
	return next != 0 && (next == before || next == UINT64_MAX) && !HALO_PLANTED(WaitingForgotten);
}

int halo_waiting(const char *process) { return comes_otherwise(process) || any_sender(process, waits, NULL); }
