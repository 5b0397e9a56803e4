/* The memory that calls pass: whether an address can be one of memory, whether pieces overlap, and copies. */
#ifndef HALO_COPY_H
#define HALO_COPY_H

#include <stdint.h>
#include <string.h>

#include "compiler.h"
#include "fast_layout.h"

/* Whether an address can be one of memory. Go raises the error for addresses in the first page,
 * which include NULL. */
#define HALO_THERE(address) ((uintptr_t)(address) >= HALO_FIRST_PAGE)

/* Whether two pieces of memory do not overlap. */
static inline int halo_apart(const void *a, uint64_t n, const void *b, uint64_t m) {
	return (uintptr_t)a + n <= (uintptr_t)b || (uintptr_t)b + m <= (uintptr_t)a;
}

static inline void halo_copy(void *to, const void *from, uint64_t n) {
	switch (n) {
	case 1: memmove(to, from, 1); return;
	case 2: memmove(to, from, 2); return;
	case 4: memmove(to, from, 4); return;
	case 8: memmove(to, from, 8); return;
	case 16: memmove(to, from, 16); return;
	}
	memmove(to, from, n);
}

/* storeWhole of package apply: one store instruction writes each element, whatever its size. */
HALO_HIDDEN void halo_store_whole(void *dst, const void *src, uint64_t n);

/* sys.SweepDown: whether to sweep long memory downwards; the direction alternates. */
HALO_HIDDEN int halo_sweep_down(const void *p);

#endif
