#ifndef HALO_FAST_SLOT_H
#define HALO_FAST_SLOT_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../include/mpi.h"
#include "attach.h"
#include "compiler.h"
#include "copy.h"
#include "enter.h"
#include "environment.h"
#include "handle_table.h"
#include "processor.h"
#include "record.h"

/*
 * The slot of a communicator, for fast_coll.c and fast_coll_exchange.c. The functions do step by step, in
 * the same records, what the functions of internal/coll/slot do that the comments name; slot.go, and
 * busy.go of internal/coll for occupancy, explain why that is correct.
 */

_Static_assert(HALO_COPY_LESS <= HALO_SLOT_MOST + 1, "what halo_bytes tells the length of takes one piece or step");
_Static_assert(HALO_SLOT_MOST < 1 << 16, "the digest of a length that C gives is the length");

/* A slot as a member sees it. */
struct slot {
	MPI_Comm comm;
	char *at;   /* its shmfmt.SlotState */
	char *head; /* its shmfmt.SlotHead */
	uint64_t idle; /* the word of a slot in which no call is at work */
	uint32_t digest; /* what the caller states about its contribution: terms.digest */
	int rank, size;
};

/* Returns from the function with the error of a call, if there is one. */
#define TRY(call)                         \
	do {                                  \
		int code_ = (call);               \
		if (code_ != MPI_SUCCESS)         \
			return code_;                 \
	} while (0)

/* Engine.short: whether a communicator has a slot to use. */
static inline int find_slot(struct slot *s, MPI_Comm comm) {
	struct halo_entry *e = halo_comm(comm);
	if (e == NULL || e->descriptor == NULL || U8(e->descriptor, SLOT_BROKEN))
		return 0;
	s->comm = comm;
	s->at = e->descriptor;
	s->head = POINTER(s->at, SLOT_HEAD);
	s->rank = e->rank;
	s->size = e->size;
	return 1;
}

/* occupancy.enter: returns whether no other call is in the slot. It also records the kind of the
 * collective. */
static inline int enter(struct slot *s, int kind, int call) {
	uint64_t *busy = HALO_AT(uint64_t, s->at, HALO_SLOT_BUSY);
	s->idle = __atomic_load_n(busy, __ATOMIC_RELAXED) & ~(uint64_t)HALO_BUSY_CALL;
	uint64_t idle = s->idle;
	if (!__atomic_compare_exchange_n(busy, &idle, s->idle + (uint64_t)call, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return 0;
	U8(s->at, SLOT_KIND) = (uint8_t)kind;
	return 1;
}

/* occupancy.leave, with the code that the call returns */
static inline int leave(struct slot *s, int code) {
	__atomic_store_n(HALO_AT(uint64_t, s->at, HALO_SLOT_BUSY), s->idle, __ATOMIC_RELEASE);
	return code;
}

static inline int in_cells(struct slot *s) { return U8(s->at, SLOT_FORM) == HALO_FORM_CELLS; }

/* The shmfmt.Cell of a member. */
static inline char *cell(struct slot *s, int r) { return s->head + HALO_HEAD_CELLS + (int64_t)r * HALO_CELL_BYTES; }

static inline uint64_t load(char *word) { return __atomic_load_n((uint64_t *)word, __ATOMIC_SEQ_CST); }

/* shmfmt.Publish */
static inline void publish(char *word, uint64_t n) { __atomic_store_n((uint64_t *)word, n, __ATOMIC_RELEASE); }

/* Slot.await */
static inline int await(struct slot *s, char *word, uint64_t n) {
	for (int64_t i = I64(s->at, SLOT_LOADS); i > 0; i--) {
		if (load(word) >= n)
			return MPI_SUCCESS;
		halo_fence();
	}
	for (int32_t i = I32(s->at, SLOT_YIELDS); i > 0; i--) {
		sched_yield();
		if (load(word) >= n)
			return MPI_SUCCESS;
	}
	struct halo_stay stay;
	halo_prepare(&stay);
	int code = halo_enter_await((uintptr_t)s->comm, word, n);
	halo_from_go(&stay);
	return code;
}

/* Slot.wake */
static inline void wake(struct slot *s) {
	halo_fence();
	if (__atomic_load_n(HALO_AT(uint32_t, s->head, HALO_HEAD_SLEEPERS), __ATOMIC_SEQ_CST) == 0)
		return;
	struct halo_stay stay;
	halo_prepare(&stay);
	halo_enter_ring((uintptr_t)s->comm);
	halo_from_go(&stay);
}

/* Slot.gathered */
static inline int gathered(struct slot *s, uint64_t n) {
	for (int r = 0; r < s->size; r++)
		if (r != s->rank)
			TRY(await(s, cell(s, r) + HALO_CELL_NUMBER, n));
	U64(s->at, SLOT_KNOWN) = n;
	return MPI_SUCCESS;
}

/* Slot.settle */
static inline int settle(struct slot *s) {
	uint64_t before = U64(s->at, SLOT_NUMBER) - 1;
	return U64(s->at, SLOT_KNOWN) < before ? gathered(s, before) : MPI_SUCCESS;
}

/* Whether there is a place for n bytes of each member. Go maps the stages. */
static inline int has_place(struct slot *s, uint64_t n) { return n <= HALO_SLOT_SHORT || POINTER(s->at, SLOT_STAGES) != NULL; }

/* Slot.data and Slot.stage: the place for n bytes of a member. */
static inline char *given(struct slot *s, int r, uint64_t n) {
	uint64_t turn = U64(s->at, SLOT_NUMBER) & 1;
	if (n <= HALO_SLOT_SHORT)
		return cell(s, r) + HALO_CELL_SHORT + turn * HALO_SLOT_SHORT;
	return POINTER(s->at, SLOT_STAGES) + ((uint64_t)r * 2 + turn) * HALO_STAGE_BYTES;
}

/* The digest of the member of a rank for the current collective. */
static inline uint32_t *said(struct slot *s, int r) { return HALO_AT(uint32_t, cell(s, r), HALO_CELL_SAID) + (U64(s->at, SLOT_NUMBER) & 1); }

/* Terms.Say and Slot.state, for a contribution of n bytes: C tells neither types nor roots. The digest is stored with the
 * contribution, before the number. */
static inline void state(struct slot *s, uint64_t n) {
	char *last = s->at + HALO_SLOT_LAST;
	if ((U64(last, STATEMENT_SAID) | (U64(last, STATEMENT_LENGTH) ^ n)) != 0) {
		uint8_t place = U8(s->at, SLOT_LATEST) ^= 1;
		U64(last, STATEMENT_SINCE) = U64(s->at, SLOT_NUMBER);
		U64(last, STATEMENT_SAID) = 0;
		U64(last, STATEMENT_LENGTH) = n;
		memcpy(cell(s, s->rank) + HALO_CELL_STATED + place * HALO_STATEMENT_BYTES, last, HALO_STATEMENT_BYTES);
	}
	*said(s, s->rank) = s->digest = (uint32_t)n << 16;
}

/* Slot.Disagreement, if the digests of members differ: the error code. If this member is the last one to
 * arrive it releases the others with the error. */
static __attribute__((noinline)) int disagreement(struct slot *s, int last) {
	struct halo_stay stay;
	halo_prepare(&stay);
	int code = halo_enter_disagreement((uintptr_t)s->comm, last);
	halo_from_go(&stay);
	return code;
}

/* Slot.judge, with the error code */
static inline int judge(struct slot *s, int last) {
	uint32_t differs = 0;
	for (int r = 0; r < s->size; r++)
		if (r != s->rank)
			differs |= *said(s, r) ^ s->digest;
	return HALO_UNLIKELY(differs != 0) ? disagreement(s, last) : MPI_SUCCESS;
}

/* Slot.give: Cell.PutShort explains why short data are stored by whole words. */
static inline int give(struct slot *s, const void *data, uint64_t n) {
	char *place = given(s, s->rank, n);
	TRY(settle(s));
	state(s, n);
	if (n > HALO_SLOT_SHORT || n == 8) {
		halo_copy(place, data, n);
	} else {
		char whole[HALO_SLOT_SHORT] = {0};
		memcpy(whole, data, n);
		memcpy(place, whole, sizeof whole);
	}
	publish(cell(s, s->rank) + HALO_CELL_NUMBER, U64(s->at, SLOT_NUMBER));
	return MPI_SUCCESS;
}

/* Slot.balance */
static __attribute__((noinline)) void balance(struct slot *s) {
	struct halo_stay stay;
	halo_prepare(&stay);
	halo_enter_balance((uintptr_t)s->comm);
	halo_from_go(&stay);
}

/* Slot.arrive */
static inline int arrive(struct slot *s) {
	uint64_t turns = ++U64(s->at, SLOT_TURNS), all = turns * (uint64_t)s->size;
	if (HALO_UNLIKELY(turns % HALO_SLOT_BALANCE_EVERY == 0) && U64(s->at, SLOT_CORES) > 0)
		balance(s);
	return (U64(s->at, SLOT_ABSENT) = all - __atomic_add_fetch(HALO_AT(uint64_t, s->head, HALO_HEAD_ARRIVED), 1, __ATOMIC_SEQ_CST)) == 0;
}

/* Slot.Release */
static inline void release(struct slot *s) {
	publish(s->head + HALO_HEAD_RELEASE_NUMBER, 2 * U64(s->at, SLOT_TURNS));
	wake(s);
	U64(s->at, SLOT_KNOWN) = U64(s->at, SLOT_NUMBER);
}

/* Slot.spin */
static inline int spin(struct slot *s) {
	uint64_t turns = U64(s->at, SLOT_TURNS), backoff;
	if ((int64_t)U64(s->at, SLOT_ABSENT) >= (int64_t)U64(s->at, SLOT_CORES) || turns < U64(s->at, SLOT_NEXT_POLL))
		return 0;
	for (int i = 0; i < HALO_SLOT_SPINS; i++)
		if (load(s->head + HALO_HEAD_RELEASE_NUMBER) >= 2 * turns) {
			U64(s->at, SLOT_BACKOFF) = 0;
			return 1;
		}
	backoff = 2 * U64(s->at, SLOT_BACKOFF) + 1;
	U64(s->at, SLOT_BACKOFF) = backoff = backoff < HALO_SLOT_BACKOFF_MAX ? backoff : HALO_SLOT_BACKOFF_MAX;
	U64(s->at, SLOT_NEXT_POLL) = turns + 1 + backoff;
	return 0;
}

/* Slot.released. judged says that the last member has compared the digests. */
static inline int released(struct slot *s, int judged) {
	if (!spin(s))
		TRY(await(s, s->head + HALO_HEAD_RELEASE_NUMBER, 2 * U64(s->at, SLOT_TURNS)));
	U64(s->at, SLOT_KNOWN) = U64(s->at, SLOT_NUMBER);
	return judged && HALO_UNLIKELY(load(s->head + HALO_HEAD_RELEASE_NUMBER) & 1) ? disagreement(s, 0) : MPI_SUCCESS;
}

/* Slot.Barrier from the meeting on. C states nothing in a Barrier. */
static inline int meet(struct slot *s) {
	if (in_cells(s)) {
		int code = gathered(s, U64(s->at, SLOT_NUMBER));
		wake(s);
		return code;
	}
	if (!arrive(s))
		return released(s, 0);
	release(s);
	return MPI_SUCCESS;
}

/* Slot.compare */
static inline int compare(struct slot *s) {
	if (in_cells(s)) {
		uint32_t differs = 0; /* taken with each number, as in Slot.take */
		for (int r = 0; r < s->size; r++)
			if (r != s->rank) {
				TRY(await(s, cell(s, r) + HALO_CELL_NUMBER, U64(s->at, SLOT_NUMBER)));
				differs |= *said(s, r) ^ s->digest;
			}
		U64(s->at, SLOT_KNOWN) = U64(s->at, SLOT_NUMBER);
		wake(s);
		return HALO_UNLIKELY(differs != 0) ? disagreement(s, 0) : MPI_SUCCESS;
	}
	if (!arrive(s))
		return released(s, 1);
	TRY(judge(s, 1));
	release(s);
	return MPI_SUCCESS;
}

#endif
