#include "copy.h"

typedef uint64_t word8 __attribute__((aligned(1), may_alias));
typedef uint32_t word4 __attribute__((aligned(1), may_alias));
typedef uint16_t word2 __attribute__((aligned(1), may_alias));

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

int halo_sweep_down(const void *p) {
	static uint32_t swept[64];
	uint32_t *turn = &swept[(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15) >> 58], down = __atomic_load_n(turn, __ATOMIC_RELAXED);
	__atomic_store_n(turn, 1 - down, __ATOMIC_RELAXED);
	return down != 0;
}
