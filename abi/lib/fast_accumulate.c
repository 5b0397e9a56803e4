#include "fast_accumulate.h"

#include <string.h>

#include "copy.h"
#include "datatype.h"
#include "fast_combine.h"
#include "fast_element.h"
#include "kernel.h"
#include "record.h"

/*
 * Updates of several contiguous elements: apply.Region.bulk, as the writer of all their stripes. A
 * kernel updates the elements in place, as in Go. Without a kernel, C computes the results of a few
 * elements in a buffer, so that nothing has changed if a NaN makes it leave the call to Go.
 */
#define KERNEL_BYTES (64 << 10) /* a limit, because other processes wait for the stripes meanwhile */
#define BESIDE_BYTES 1024
#define LOOP_BYTES 64 /* for fewer bytes a loop is faster than a kernel */

/* Stripes.Claim with Occupant: makes this process the writer of the i-th stripe of the row if no
 * other process is in the stripe, and returns whether it did. */
static int claim(struct element *e, int64_t i) {
	int64_t stripe = (e->stripe + i) & (HALO_STRIPE_COUNT - 1);
	uint64_t *writer = HALO_AT(uint64_t, e->stripes, stripe * HALO_STRIPE_LINE), w = 0, next = e->me;
	char *counts = e->stripes + HALO_STRIPE_COUNT * HALO_STRIPE_LINE + stripe * 8;
	if (!__atomic_compare_exchange_n(writer, &w, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		if (w == BIASED(e))
			next |= w;
		if ((uint32_t)w != 0 || !__atomic_compare_exchange_n(writer, &w, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return 0;
	}
	for (int64_t k = 0; k < e->processes; k++)
		if ((uint32_t)__atomic_load_n(HALO_AT(uint64_t, counts, k * HALO_STRIPE_LINE), __ATOMIC_SEQ_CST) != 0) {
			__atomic_store_n(writer, next & ~(uint64_t)UINT32_MAX, __ATOMIC_RELEASE);
			return 0;
		}
	return 1;
}

/* Stripes.Release of the first n stripes */
static void release(struct element *e, int64_t n) {
	for (int64_t i = 0; i < n; i++) {
		uint64_t *writer = HALO_AT(uint64_t, e->stripes, ((e->stripe + i) & (HALO_STRIPE_COUNT - 1)) * HALO_STRIPE_LINE);
		uint64_t w = __atomic_load_n(writer, __ATOMIC_SEQ_CST);
		__atomic_store_n(writer, w & ~(uint64_t)UINT32_MAX, __ATOMIC_RELEASE);
	}
}

/* Claims all stripes of the row, or none of them. */
static int claim_all(struct element *e) {
	for (int64_t i = 0; i <= e->more; i++)
		if (!claim(e, i)) {
			release(e, i);
			return 0;
		}
	return 1;
}

/* Updates elements without a kernel, or replaces them. */
static int update_beside(struct element *e, const void *values, void *old, int64_t count, size_t bytes, MPI_Op op) {
	_Alignas(16) char beside[BESIDE_BYTES];
	if (bytes > BESIDE_BYTES || !halo_legal(op, e->kind))
		return 0;
	memcpy(beside, values, bytes);
	if (!claim_all(e))
		return 0;
	int done = op == MPI_REPLACE || halo_combine(e->kind, e->size, op, beside, e->at, beside, (size_t)count);
	if (done) {
		if (old != NULL)
			memcpy(old, e->at, bytes);
		halo_store_whole(e->at, beside, bytes);
	}
	release(e, e->more + 1);
	return done;
}

/* View.Accumulated of several elements; old is NULL if there is no result. */
int halo_update_many(const void *values, void *old, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win) {
	struct element e;
	if (count < 2 || op == MPI_NO_OP || !HALO_THERE(values) || (old != NULL && !HALO_THERE(old)))
		return 0;
	size_t bytes = count <= KERNEL_BYTES ? (size_t)count * halo_type(datatype).size : KERNEL_BYTES + 1;
	if (bytes > KERNEL_BYTES || !halo_find_element(&e, datatype, rank, disp, (uint64_t)count, win, 0) || e.bare || !halo_kernel_fits(op))
		return 0;
	const void *kernel = halo_kernel_of(datatype, op);
	if (kernel == NULL || (bytes < LOOP_BYTES && halo_legal(op, e.kind)))
		return update_beside(&e, values, old, count, bytes, op);
	int apart = halo_apart(values, bytes, e.at, bytes) &&
	            (old == NULL || (halo_apart(old, bytes, e.at, bytes) && halo_apart(old, bytes, values, bytes)));
	if (!apart || !claim_all(&e))
		return 0;
	halo_apply(kernel, e.at, e.at, values, bytes, old);
	release(&e, e.more + 1);
	return 1;
}
