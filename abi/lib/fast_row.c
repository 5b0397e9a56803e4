#include "fast_element.h"

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
	if (bytes > MANY_BYTES || !halo_find_element(&e, datatype, rank, disp, (uint64_t)count, win, 0) || !halo_legal(op, e.kind) || e.bare || !e.alone)
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
