#include <stdlib.h>

#include "fast.h"

struct halo_table halo_wins, halo_comms;
struct halo_type halo_types[256];
struct halo_entry halo_world;

/* The entry of a handle that is about to be there, NULL without memory for it. */
static struct halo_entry *open_entry(struct halo_table *table, uintptr_t handle) {
	size_t number = handle >> 4 & (((size_t)HALO_CHUNKS << HALO_CHUNK_SHIFT) - 1);
	struct halo_entry **chunk = &table->chunks[number >> HALO_CHUNK_SHIFT];
	if (*chunk == NULL) {
		struct halo_entry *fresh = calloc(1 << HALO_CHUNK_SHIFT, sizeof *fresh);
		if (fresh == NULL)
			return NULL;
		__atomic_store_n(chunk, fresh, __ATOMIC_RELEASE); /* pairs with the load in halo_find */
		if (table->used <= number >> HALO_CHUNK_SHIFT)
			table->used = (number >> HALO_CHUNK_SHIFT) + 1;
	}
	return &(*chunk)[number & ((1 << HALO_CHUNK_SHIFT) - 1)];
}

void halo_open_win(uintptr_t handle, uintptr_t descriptor, uint64_t layout) {
	struct halo_entry *e;
	if (layout != HALO_LAYOUT || descriptor == 0 || (e = open_entry(&halo_wins, handle)) == NULL)
		return;
	e->view = (char *)descriptor;
	__atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE); /* pairs with the load in halo_find */
}

void halo_open_comm(uintptr_t handle, int rank, int size) {
	struct halo_entry *e = handle == (uintptr_t)MPI_COMM_WORLD ? &halo_world : open_entry(&halo_comms, handle);
	if (e == NULL)
		return;
	e->rank = rank;
	__atomic_store_n(&e->size, size, __ATOMIC_RELEASE); /* pairs with the load in halo_comm */
	__atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE); /* pairs with the load in halo_find */
}

void halo_know_type(uintptr_t handle, int size, int kind) {
	uintptr_t i = handle - 0x200;
	if (i < 256 && 0 < size && size < 256)
		halo_types[i] = (struct halo_type){(uint8_t)size, (uint8_t)kind};
}

static void close_entry(struct halo_table *table, uintptr_t handle) {
	struct halo_entry *e = halo_find(table, handle);
	if (e != NULL)
		__atomic_store_n(&e->handle, 0, __ATOMIC_SEQ_CST);
}

void halo_close_win(uintptr_t handle) { close_entry(&halo_wins, handle); }
void halo_close_comm(uintptr_t handle) { close_entry(&halo_comms, handle); }

static void close_table(struct halo_table *table) {
	for (size_t i = 0; i < table->used; i++)
		if (table->chunks[i] != NULL)
			for (size_t k = 0; k < 1 << HALO_CHUNK_SHIFT; k++)
				__atomic_store_n(&table->chunks[i][k].handle, 0, __ATOMIC_SEQ_CST);
}

/* The end: from now on Go finds whatever is wrong. */
void halo_close_all(void) {
	close_table(&halo_wins);
	close_table(&halo_comms);
	__atomic_store_n(&halo_world.size, 0, __ATOMIC_SEQ_CST);
	memset(halo_types, 0, sizeof halo_types);
}

/*
 * One element: apply.Region.FetchOp and CompareSwap, for elements of 1, 2, 4 and 8 bytes at
 * their alignment. The rest of this file is their way through the stripes
 * (internal/shmfmt/stripes.go, which says why it is right), step by step. Nothing here waits:
 * before a writer it steps back, and Go waits.
 */

/* An element that is about to be updated. */
struct element {
	char *at;
	int size, kind;
	uint64_t *writer;  /* word of its stripe */
	uint64_t *readers; /* how many of the own process are in it */
	uint64_t me;       /* 1 + the local index of the own process */
	char *counts;      /* of that stripe, of the first process */
	int64_t processes;
	int alone;         /* no element of the row is in another stripe */
	int bare;          /* by atomic operations of the processor alone */
};

#define FAVOUR(e) ((e)->me << HALO_STRIPE_FAVOUR)

/* Finds an element, the first of some in a row, and reports whether it may be updated here. */
static int find(struct element *e, MPI_Datatype datatype, int rank, MPI_Aint disp, uint64_t count, MPI_Win win, int loads) {
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
	e->bare = how & HALO_HOW_INTRINSIC || *HALO_AT(uint8_t, target, HALO_TARGET_FINE);
	if (e->bare)
		return 1;
	char *stripes = *HALO_AT(char *, target, HALO_TARGET_STRIPES);
	char *mem = *HALO_AT(char *, stripes, HALO_STRIPES_MEM);
	int64_t off = e->at - *HALO_AT(char *, target, HALO_TARGET_MEM), me = *HALO_AT(int64_t, target, HALO_TARGET_ME);
	int64_t stripe = off >> HALO_STRIPE_SHIFT & (HALO_STRIPE_COUNT - 1);
	e->alone = (off + (int64_t)((count - 1) * type.size)) >> HALO_STRIPE_SHIFT == off >> HALO_STRIPE_SHIFT;
	e->me = (uint64_t)me + 1;
	e->writer = HALO_AT(uint64_t, mem, stripe * HALO_STRIPE_LINE);
	e->counts = mem + HALO_STRIPE_COUNT * HALO_STRIPE_LINE + stripe * 8;
	e->readers = HALO_AT(uint64_t, e->counts, me * HALO_STRIPE_LINE);
	e->processes = *HALO_AT(int64_t, stripes, HALO_STRIPES_N);
	return 1;
}

/* Stripes.Favours and ClaimFavoured: whether this process is favoured, and now the writer. */
static int claim_favoured(struct element *e) {
	uint64_t w = FAVOUR(e);
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

/* Stripes.ReleaseFavoured; Publish is a store with release. */
static void release_favoured(struct element *e) { __atomic_store_n(e->writer, FAVOUR(e), __ATOMIC_RELEASE); }

/* Stripes.Leave */
static void leave(struct element *e) { __atomic_fetch_sub(e->readers, 1, __ATOMIC_SEQ_CST); }

/* Stripes.Enter with enterLate: whether this process is a reader now. */
static int enter(struct element *e) {
	uint64_t count = __atomic_add_fetch(e->readers, HALO_STRIPE_ENTERED, __ATOMIC_SEQ_CST);
	uint64_t w = __atomic_load_n(e->writer, __ATOMIC_SEQ_CST);
	if ((count >> 32) % HALO_STRIPE_FAVOUR_EVERY != 0 && w == 0)
		return 1;
	if ((uint32_t)w != 0) {
		leave(e);
		return 0;
	}
	if (w == 0 && e->processes <= HALO_STRIPE_FAVOUR_MOST)
		__atomic_compare_exchange_n(e->writer, &w, FAVOUR(e), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	else if (w >> HALO_STRIPE_FAVOUR != e->me)
		__atomic_compare_exchange_n(e->writer, &w, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return 1;
}

static int64_t extended(uint64_t v, int size) { return (int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size); }

/* Whether an operation is done here on elements of a kind. */
static int legal(MPI_Op op, int kind) {
	if (op == MPI_REPLACE || op == MPI_NO_OP)
		return 1;
	if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
		return kind != HALO_FLOATING;
	if (op == MPI_MIN || op == MPI_MAX)
		return kind == HALO_SIGNED || kind == HALO_UNSIGNED;
	return op == MPI_SUM && kind != HALO_BITS;
}

/* op.Word: what comes of an element and an operand. It returns 0 for NaNs: which one it
 * is, Go knows. */
static int combine(MPI_Op op, int size, int kind, uint64_t was, uint64_t v, uint64_t *is) {
	if (op == MPI_NO_OP) {
		*is = was;
	} else if (op == MPI_REPLACE) {
		*is = v;
	} else if (op == MPI_BAND) {
		*is = was & v;
	} else if (op == MPI_BOR) {
		*is = was | v;
	} else if (op == MPI_BXOR) {
		*is = was ^ v;
	} else if (op == MPI_MIN || op == MPI_MAX) {
		int less = kind == HALO_SIGNED ? extended(was, size) < extended(v, size) : was < v;
		*is = less == (op == MPI_MIN) ? was : v;
	} else if (kind != HALO_FLOATING) {
		*is = was + v;
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

/* The element as an integer, its upper bytes 0. */
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

/* alone and combineAlone of package apply: for the writer of the stripe. */
static int update_alone(struct element *e, MPI_Op op, uint64_t v, uint64_t *was) {
	uint64_t is;
	*was = value_at(e->at, e->size);
	if (!combine(op, e->size, e->kind, *was, v, &is))
		return 0;
	if (op != MPI_NO_OP)
		set_value(e->at, e->size, is);
	return 1;
}

/* update8, update4 and updateSmall of package apply. Elements of less than 4 bytes change
 * together with what is around them, as there. */
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

/* View.FetchAndOp, and View.Accumulate of one element. */
int halo_update(const void *value, void *old, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win) {
	struct element e;
	uint64_t was, v = 0;
	int done;
	if (op != MPI_NO_OP && (uintptr_t)value < HALO_FIRST_PAGE)
		return 0;
	if (old != NULL && (uintptr_t)old < HALO_FIRST_PAGE)
		return 0;
	if (!find(&e, datatype, rank, disp, 1, win, op == MPI_NO_OP) || !legal(op, e.kind))
		return 0;
	if (op != MPI_NO_OP)
		v = value_at(value, e.size);
	if (e.bare) {
		done = update(&e, op, v, &was);
	} else if (claim_favoured(&e)) {
		done = update_alone(&e, op, v, &was);
		release_favoured(&e);
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

/*
 * Several elements in a row: apply.Region.bulk, as the writer of their stripe, as long as they
 * are few and have one stripe. What comes of them is computed beside, so that nothing has
 * changed where a NaN leaves it to Go, and no process that is killed leaves half an element.
 */
#define MANY_BYTES 1024

/* Stripes.Claim with Occupant: whether this process is the writer, and nobody else is inside. */
static int claim(struct element *e) {
	uint64_t w = 0, next = e->me;
	if (!__atomic_compare_exchange_n(e->writer, &w, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		if (w == FAVOUR(e))
			next |= w;
		if ((uint32_t)w != 0 || !__atomic_compare_exchange_n(e->writer, &w, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return 0;
	}
	for (int64_t i = 0; i < e->processes; i++)
		if ((uint32_t)__atomic_load_n(HALO_AT(uint64_t, e->counts, i * HALO_STRIPE_LINE), __ATOMIC_SEQ_CST) != 0) {
			__atomic_store_n(e->writer, next & ~(uint64_t)UINT32_MAX, __ATOMIC_RELEASE);
			return 0;
		}
	return 1;
}

/* Stripes.Release */
static void release(struct element *e) {
	uint64_t w = __atomic_load_n(e->writer, __ATOMIC_SEQ_CST);
	__atomic_store_n(e->writer, w & ~(uint64_t)UINT32_MAX, __ATOMIC_RELEASE);
}

#define EACH(expression)               \
	for (int64_t i = 0; i < n; i++)    \
		v[i] = (expression);           \
	return 1;

/* Operations on n elements of an integer type at p and v, with the results in v. */
#define WHOLE(name, type)                                      \
	static int name(MPI_Op op, const type *p, type *v, int64_t n) { \
		if (op == MPI_SUM) { EACH((type)(p[i] + v[i])) }       \
		if (op == MPI_BAND) { EACH((type)(p[i] & v[i])) }      \
		if (op == MPI_BOR) { EACH((type)(p[i] | v[i])) }       \
		if (op == MPI_BXOR) { EACH((type)(p[i] ^ v[i])) }      \
		if (op == MPI_MIN) { EACH(v[i] < p[i] ? v[i] : p[i]) } \
		if (op == MPI_MAX) { EACH(p[i] < v[i] ? v[i] : p[i]) } \
		return op == MPI_REPLACE;                              \
	}

/* The same of a floating point type: it fails at a NaN. */
#define FLOATING(name, type)                                   \
	static int name(MPI_Op op, const type *p, type *v, int64_t n) { \
		int good = 1;                                          \
		if (op == MPI_SUM)                                     \
			for (int64_t i = 0; i < n; i++) {                  \
				v[i] = p[i] + v[i];                            \
				good &= v[i] == v[i];                          \
			}                                                  \
		return good;                                           \
	}

WHOLE(many_s1, int8_t)
WHOLE(many_s2, int16_t)
WHOLE(many_u1, uint8_t)
WHOLE(many_u2, uint16_t)
WHOLE(many_u4, uint32_t)
WHOLE(many_u8, uint64_t)
FLOATING(many_f4, float)
FLOATING(many_f8, double)

/* Signed ones whose sums must wrap. */
static int many_s4(MPI_Op op, const int32_t *p, int32_t *v, int64_t n) {
	if (op == MPI_MIN) { EACH(v[i] < p[i] ? v[i] : p[i]) }
	if (op == MPI_MAX) { EACH(p[i] < v[i] ? v[i] : p[i]) }
	return many_u4(op, (const uint32_t *)p, (uint32_t *)v, n);
}

static int many_s8(MPI_Op op, const int64_t *p, int64_t *v, int64_t n) {
	if (op == MPI_MIN) { EACH(v[i] < p[i] ? v[i] : p[i]) }
	if (op == MPI_MAX) { EACH(p[i] < v[i] ? v[i] : p[i]) }
	return many_u8(op, (const uint64_t *)p, (uint64_t *)v, n);
}

static int combine_many(const struct element *e, MPI_Op op, void *v, int64_t n) {
	const void *p = e->at;
	int is_signed = e->kind == HALO_SIGNED;
	switch (e->size) {
	case 1: return is_signed ? many_s1(op, p, v, n) : many_u1(op, p, v, n);
	case 2: return is_signed ? many_s2(op, p, v, n) : many_u2(op, p, v, n);
	case 4: return e->kind == HALO_FLOATING ? many_f4(op, p, v, n) : is_signed ? many_s4(op, p, v, n) : many_u4(op, p, v, n);
	}
	return e->kind == HALO_FLOATING ? many_f8(op, p, v, n) : is_signed ? many_s8(op, p, v, n) : many_u8(op, p, v, n);
}

/* storeWhole of package apply: elements are stored by whole instructions. */
static void store_many(const struct element *e, const void *v, int64_t n) {
	switch (e->size) {
	case 8: for (int64_t i = 0; i < n; i++) ((volatile uint64_t *)e->at)[i] = ((const uint64_t *)v)[i]; return;
	case 4: for (int64_t i = 0; i < n; i++) ((volatile uint32_t *)e->at)[i] = ((const uint32_t *)v)[i]; return;
	case 2: for (int64_t i = 0; i < n; i++) ((volatile uint16_t *)e->at)[i] = ((const uint16_t *)v)[i]; return;
	}
	memcpy(e->at, v, (size_t)n);
}

/* View.Accumulate and View.GetAccumulate of several elements. */
int halo_update_many(const void *values, void *old, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win) {
	_Alignas(16) char beside[MANY_BYTES];
	struct element e;
	if (count < 2 || op == MPI_NO_OP || (uintptr_t)values < HALO_FIRST_PAGE || (old != NULL && (uintptr_t)old < HALO_FIRST_PAGE))
		return 0;
	size_t bytes = count <= MANY_BYTES ? (size_t)count * halo_type(datatype).size : MANY_BYTES + 1;
	if (bytes > MANY_BYTES || !find(&e, datatype, rank, disp, (uint64_t)count, win, 0) || !legal(op, e.kind) || e.bare || !e.alone)
		return 0;
	memcpy(beside, values, bytes);
	if (!claim(&e))
		return 0;
	int done = combine_many(&e, op, beside, count);
	if (done) {
		if (old != NULL)
			memcpy(old, e.at, bytes);
		store_many(&e, beside, count);
	}
	release(&e);
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
	if ((uintptr_t)value < HALO_FIRST_PAGE || (uintptr_t)compare < HALO_FIRST_PAGE || (uintptr_t)old < HALO_FIRST_PAGE)
		return 0;
	if (!find(&e, datatype, rank, disp, 1, win, 0) || e.kind == HALO_FLOATING)
		return 0;
	v = value_at(value, e.size);
	c = value_at(compare, e.size);
	if (e.bare) {
		was = compare_swap(&e, c, v);
	} else if (claim_favoured(&e)) {
		if ((was = value_at(e.at, e.size)) == c)
			set_value(e.at, e.size, v);
		release_favoured(&e);
	} else {
		if (!enter(&e))
			return 0;
		was = compare_swap(&e, c, v);
		leave(&e);
	}
	set_value(old, e.size, was);
	return 1;
}
