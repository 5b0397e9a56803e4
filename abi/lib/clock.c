#include <time.h>

#include "shim.h"

/* The time since the first call's second, which keeps the nanoseconds of a double. */
double halo_wtime(void) {
	static time_t start; /* the first second seen; two threads that begin at once see the same or the next */
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	time_t first = __atomic_load_n(&start, __ATOMIC_RELAXED);
	if (first == 0) {
		time_t none = 0;
		first = now.tv_sec;
		if (!__atomic_compare_exchange_n(&start, &none, first, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			first = none;
	}
	return (double)(now.tv_sec - first) + 1e-9 * (double)now.tv_nsec;
}
