#include "clock.h"

#include <time.h>

/* The time since the second of the first call: the numbers are small, so that a double has room
 * for the nanoseconds. */
double halo_wtime(void) {
	static time_t start; /* the second of the first call, 0 before it */
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
