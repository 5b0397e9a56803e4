#include "fast.h"

/* Long operations: op.Kernel.Apply, and MPI_Reduce_local, which does nothing else. */

typedef uint64_t word8 __attribute__((aligned(1), may_alias));
typedef uint32_t word4 __attribute__((aligned(1), may_alias));
typedef uint16_t word2 __attribute__((aligned(1), may_alias));

/* storeWhole of package apply: one store instruction writes each element, whatever its size. */
void halo_store_whole(void *dst, const void *src, uint64_t n) {
	char *to = dst;
	const char *from = src;
	for (; n >= 8; n -= 8, to += 8, from += 8)
		*(volatile word8 *)to = *(const word8 *)from;
	if (n & 4) {
		*(volatile word4 *)to = *(const word4 *)from;
		to += 4, from += 4;
	}
	if (n & 2) {
		*(volatile word2 *)to = *(const word2 *)from;
		to += 2, from += 2;
	}
	if (n & 1)
		*(volatile char *)to = *from;
}

static void combine(const void *kernel, void *dst, const void *left, const void *right, uint64_t n) {
	halo_kernel(kernel, (const uintptr_t[6]){(uintptr_t)dst, (uintptr_t)left, (uintptr_t)right, n});
}

/* Kernel.applyUp and applyRest. A rest shorter than a block is combined in a copy, because memory
 * behind the end is not part of the operands. */
static void apply_up(const void *kernel, char *dst, const char *left, const char *right, uint64_t n) {
	uint64_t blocks = n & ~(uint64_t)(HALO_KERNEL_BLOCK - 1);
	if (blocks > 0)
		combine(kernel, dst, left, right, blocks);
	if (n > blocks) {
		char x[HALO_KERNEL_BLOCK] = {0}, y[HALO_KERNEL_BLOCK] = {0};
		memcpy(x, left + blocks, n - blocks);
		memcpy(y, right + blocks, n - blocks);
		combine(kernel, x, x, y, HALO_KERNEL_BLOCK);
		halo_store_whole(dst + blocks, x, n - blocks);
	}
}

void halo_apply(const void *kernel, void *dst, const void *left, const void *right, uint64_t n, void *old) {
	uint64_t pieces = (n + HALO_KERNEL_PIECE - 1) / HALO_KERNEL_PIECE;
	int down = pieces > 2 && halo_sweep_down(dst);
	for (uint64_t i = 0; i < pieces; i++) {
		uint64_t at = (down ? pieces - 1 - i : i) * HALO_KERNEL_PIECE, length = n - at < HALO_KERNEL_PIECE ? n - at : HALO_KERNEL_PIECE;
		if (old != NULL)
			memcpy((char *)old + at, (char *)dst + at, length);
		apply_up(kernel, (char *)dst + at, (const char *)left + at, (const char *)right + at, length);
	}
}

/* mpi.ReduceLocal */
int halo_fast_reduce_local(const void *in, void *inout, int64_t count, MPI_Datatype datatype, MPI_Op op) {
	const void *kernel = halo_kernel_of(datatype, op);
	uint64_t bytes = (uint64_t)count * halo_type(datatype).size;
	if (kernel == NULL || !halo_kernel_fits(op) || count <= 0 || count > (int64_t)1 << 40 || !HALO_THERE(in) || !HALO_THERE(inout) || !halo_apart(in, bytes, inout, bytes))
		return 0;
	halo_apply(kernel, inout, in, inout, bytes, NULL);
	return 1;
}
