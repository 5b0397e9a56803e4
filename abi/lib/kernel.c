#include "kernel.h"

#include <string.h>

#include "copy.h"
#include "fast_layout.h"

uint8_t halo_kernel_rows[256];
const void *halo_kernels[HALO_ROWS][HALO_ROW];

/* If all rows are taken, calls with the type go to Go. */
void halo_know_kernels(uintptr_t datatype, const uintptr_t functions[HALO_ROW]) {
	static const void *const none[HALO_ROW];
	if (datatype - 0x200 >= 256)
		return;
	for (uint8_t row = 0; row < HALO_ROWS; row++) {
		if (row > 0 && memcmp(halo_kernels[row], none, sizeof none) == 0)
			memcpy(halo_kernels[row], functions, sizeof none);
		if (memcmp(halo_kernels[row], functions, sizeof none) == 0) {
			halo_kernel_rows[datatype - 0x200] = row;
			return;
		}
	}
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
