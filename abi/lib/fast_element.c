#include "fast_element.h"

#include <string.h>

#include "copy.h"
#include "datatype.h"
#include "environment.h"
#include "fast_combine.h"
#include "record.h"
#include "window.h"

/*
 * Updates of one element: apply.Region.FetchOp and CompareSwap, for aligned elements of 1, 2, 4 and
 * 8 bytes. The functions take the stripe locks step by step as internal/shmfmt/stripes.go does,
 * which explains why that is correct. Nothing here waits: if another process has a stripe, C backs
 * off and Go waits.
 */

/* Finds the first of count contiguous elements, and returns whether C may update them. */
int halo_find_element(struct element *e, MPI_Datatype datatype, int rank, MPI_Aint disp, uint64_t count, MPI_Win win, int loads) {
	struct halo_type type = halo_type(datatype);
	char *view, *target;
	if (type.kind < HALO_BITS || (view = halo_view(win)) == NULL || (target = halo_opened(view, rank)) == NULL)
		return 0;
	e->size = type.size;
	e->kind = type.kind;
	if (type.size > 8 || (e->at = halo_room(target, disp, count * type.size)) == NULL || (uintptr_t)e->at & (type.size - 1))
		return 0;
	uint32_t how = HALO_LOAD(uint32_t, view, HALO_VIEW_HOW);
	halo_ordered(how, loads);
	e->bare = how & HALO_HOW_INTRINSIC || BOOL(target, TARGET_FINE);
	if (e->bare)
		return 1;
	char *stripes = POINTER(target, TARGET_STRIPES);
	int64_t off = e->at - POINTER(target, TARGET_MEM), me = U32(target, TARGET_ME);
	int64_t stripe = off >> HALO_STRIPE_SHIFT & (HALO_STRIPE_COUNT - 1);
	e->more = ((off + (int64_t)((count - 1) * type.size)) >> HALO_STRIPE_SHIFT) - (off >> HALO_STRIPE_SHIFT);
	e->me = (uint64_t)me + 1;
	e->stripes = stripes;
	e->stripe = stripe;
	e->writer = HALO_AT(uint64_t, stripes, stripe * HALO_STRIPE_LINE);
	e->counts = stripes + HALO_STRIPE_COUNT * HALO_STRIPE_LINE + stripe * 8;
	e->readers = HALO_AT(uint64_t, e->counts, me * HALO_STRIPE_LINE);
	e->processes = U32(target, TARGET_LOCALS);
	return 1;
}

/* Stripes.Biased and ClaimBiased: makes this process the writer of the stripe if the stripe is
 * biased to it, and returns whether it did. */
static int claim_biased(struct element *e) {
	uint64_t w = BIASED(e);
	if (__atomic_load_n(e->writer, __ATOMIC_SEQ_CST) != w)
		return 0;
	if (!__atomic_compare_exchange_n(e->writer, &w, w | e->me, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return 0;
	for (int64_t i = 0; i < e->processes; i++)
		if ((uint32_t)__atomic_load_n(HALO_AT(uint64_t, e->counts, i * HALO_STRIPE_LINE), __ATOMIC_SEQ_CST) != 0) {
			__atomic_store_n(e->writer, 0, __ATOMIC_RELEASE);
			return 0;
		}
	return 1;
}

/* Stripes.ReleaseBiased; Publish in Go is a release store. */
static void release_biased(struct element *e) { __atomic_store_n(e->writer, BIASED(e), __ATOMIC_RELEASE); }

/* Stripes.Leave */
static void leave(struct element *e) { __atomic_fetch_sub(e->readers, 1, __ATOMIC_SEQ_CST); }

/* Stripes.Enter with enterLate: makes this process a reader, and returns whether it did. */
static int enter(struct element *e) {
	uint64_t count = __atomic_add_fetch(e->readers, HALO_STRIPE_ENTERED, __ATOMIC_SEQ_CST);
	uint64_t w = __atomic_load_n(e->writer, __ATOMIC_SEQ_CST);
	if ((count >> 32) % HALO_STRIPE_BIAS_EVERY != 0 && w == 0)
		return 1;
	if ((uint32_t)w != 0) {
		leave(e);
		return 0;
	}
	if (w == 0 && e->processes <= HALO_STRIPE_BIAS_MOST)
		__atomic_compare_exchange_n(e->writer, &w, BIASED(e), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	else if (w >> HALO_STRIPE_BIAS != e->me)
		__atomic_compare_exchange_n(e->writer, &w, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return 1;
}

static int64_t extended(uint64_t v, int size) { return (int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size); }

/* Whether C carries out an operation on elements of a kind. */
int halo_legal(MPI_Op op, int kind) {
	if (op == MPI_REPLACE || op == MPI_NO_OP)
		return 1;
	if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
		return kind != HALO_FLOATING;
	if (op == MPI_MIN || op == MPI_MAX)
		return kind == HALO_SIGNED || kind == HALO_UNSIGNED;
	return op == MPI_SUM && kind != HALO_BITS;
}

/* op.Word: combines an element and an operand. It returns 0 if the result is a NaN, because Go
 * defines which NaN it is. */
static int combine(MPI_Op op, int size, int kind, uint64_t was, uint64_t v, uint64_t *is) {
	if (op == MPI_NO_OP) {
		*is = was;
	} else if (op == MPI_REPLACE) {
		*is = v;
	} else if (kind != HALO_FLOATING) {
		int was_less = kind == HALO_SIGNED ? extended(was, size) < extended(v, size) : was < v;
		int v_less = kind == HALO_SIGNED ? extended(v, size) < extended(was, size) : v < was;
		*is = halo_whole(op, was, v, was_less, v_less);
	} else if (size == 8) {
		double a, b;
		memcpy(&a, &was, 8);
		memcpy(&b, &v, 8);
		a += b;
		memcpy(is, &a, 8);
		return a == a;
	} else if (size == 4) {
		float a, b;
		uint32_t low = (uint32_t)was, other = (uint32_t)v;
		memcpy(&a, &low, 4);
		memcpy(&b, &other, 4);
		a += b;
		memcpy(&low, &a, 4);
		*is = low;
		return a == a;
	} else {
		return 0;
	}
	return 1;
}

/* The element as an integer, zero-extended. */
static uint64_t value_at(const void *p, int size) {
	uint64_t v = 0;
	uint32_t v4;
	uint16_t v2;
	switch (size) {
	case 8: memcpy(&v, p, 8); return v;
	case 4: memcpy(&v4, p, 4); return v4;
	case 2: memcpy(&v2, p, 2); return v2;
	}
	return *(const uint8_t *)p;
}

static void set_value(void *p, int size, uint64_t v) {
	uint32_t v4 = (uint32_t)v;
	uint16_t v2 = (uint16_t)v;
	switch (size) {
	case 8: memcpy(p, &v, 8); return;
	case 4: memcpy(p, &v4, 4); return;
	case 2: memcpy(p, &v2, 2); return;
	}
	*(uint8_t *)p = (uint8_t)v;
}

/* alone and combineAlone of package apply, for the writer of the stripe. */
static int update_alone(struct element *e, MPI_Op op, uint64_t v, uint64_t *was) {
	uint64_t is;
	*was = value_at(e->at, e->size);
	if (!combine(op, e->size, e->kind, *was, v, &is))
		return 0;
	if (op != MPI_NO_OP)
		set_value(e->at, e->size, is);
	return 1;
}

/* update8, update4 and updateSmall of package apply. An element of less than 4 bytes is updated by
 * a compare-and-swap of the aligned 4 bytes around it, as in Go. */
static int update(struct element *e, MPI_Op op, uint64_t v, uint64_t *was) {
	uint64_t is;
	if (e->size == 8) {
		uint64_t *p = (uint64_t *)e->at;
		if (op == MPI_REPLACE) {
			*was = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
			return 1;
		}
		if (op == MPI_SUM && e->kind != HALO_FLOATING) {
			*was = __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
			return 1;
		}
		*was = __atomic_load_n(p, __ATOMIC_SEQ_CST);
		do {
			if (op == MPI_NO_OP)
				return 1;
			if (!combine(op, 8, e->kind, *was, v, &is))
				return 0;
		} while (!__atomic_compare_exchange_n(p, was, is, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
		return 1;
	}
	unsigned up = (unsigned)((uintptr_t)e->at & 3) * 8;
	uint32_t mask = e->size == 4 ? ~(uint32_t)0 : ((uint32_t)1 << 8 * e->size) - 1;
	uint32_t *p = (uint32_t *)((uintptr_t)e->at & ~(uintptr_t)3), all, next;
	if (e->size == 4 && op == MPI_REPLACE) {
		*was = __atomic_exchange_n(p, (uint32_t)v, __ATOMIC_SEQ_CST);
		return 1;
	}
	if (e->size == 4 && op == MPI_SUM && e->kind != HALO_FLOATING) {
		*was = __atomic_fetch_add(p, (uint32_t)v, __ATOMIC_SEQ_CST);
		return 1;
	}
	all = __atomic_load_n(p, __ATOMIC_SEQ_CST);
	do {
		*was = all >> up & mask;
		if (op == MPI_NO_OP)
			return 1;
		if (!combine(op, e->size, e->kind, *was, v, &is))
			return 0;
		next = (all & ~(mask << up)) | ((uint32_t)is & mask) << up;
	} while (!__atomic_compare_exchange_n(p, &all, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return 1;
}

/* View.Fetched, and View.Accumulated of one element. */
int halo_update(const void *value, void *old, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win) {
	struct element e;
	uint64_t was, v = 0;
	int done;
	if (op != MPI_NO_OP && !HALO_THERE(value))
		return 0;
	if (old != NULL && !HALO_THERE(old))
		return 0;
	if (!halo_find_element(&e, datatype, rank, disp, 1, win, op == MPI_NO_OP) || !halo_legal(op, e.kind))
		return 0;
	if (e.kind == HALO_FLOATING && !halo_environment_fits(1))
		return 0;
	if (op != MPI_NO_OP)
		v = value_at(value, e.size);
	if (e.bare) {
		done = update(&e, op, v, &was);
	} else if (claim_biased(&e)) {
		done = update_alone(&e, op, v, &was);
		release_biased(&e);
	} else {
		if (!enter(&e))
			return 0;
		done = update(&e, op, v, &was);
		leave(&e);
	}
	if (done && old != NULL)
		set_value(old, e.size, was);
	return done;
}

/* compareSwap8, 4 and Small of package apply. */
static uint64_t compare_swap(struct element *e, uint64_t compare, uint64_t v) {
	if (e->size == 8) {
		__atomic_compare_exchange_n((uint64_t *)e->at, &compare, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		return compare;
	}
	unsigned up = (unsigned)((uintptr_t)e->at & 3) * 8;
	uint32_t mask = e->size == 4 ? ~(uint32_t)0 : ((uint32_t)1 << 8 * e->size) - 1;
	uint32_t *p = (uint32_t *)((uintptr_t)e->at & ~(uintptr_t)3), all = __atomic_load_n(p, __ATOMIC_SEQ_CST), next;
	do {
		uint32_t was = all >> up & mask;
		if (was != (uint32_t)compare)
			return was;
		next = (all & ~(mask << up)) | (uint32_t)v << up;
	} while (!__atomic_compare_exchange_n(p, &all, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return compare;
}

/* View.CompareAndSwap */
int halo_fast_compare_and_swap(const void *value, const void *compare, void *old, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win) {
	struct element e;
	uint64_t v, c, was;
	if (!HALO_THERE(value) || !HALO_THERE(compare) || !HALO_THERE(old))
		return 0;
	if (!halo_find_element(&e, datatype, rank, disp, 1, win, 0) || e.kind == HALO_FLOATING)
		return 0;
	v = value_at(value, e.size);
	c = value_at(compare, e.size);
	if (e.bare) {
		was = compare_swap(&e, c, v);
	} else if (claim_biased(&e)) {
		if ((was = value_at(e.at, e.size)) == c)
			set_value(e.at, e.size, v);
		release_biased(&e);
	} else {
		if (!enter(&e))
			return 0;
		was = compare_swap(&e, c, v);
		leave(&e);
	}
	set_value(old, e.size, was);
	return 1;
}
