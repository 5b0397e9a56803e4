#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Go's runtime starts before main. In a process without enough address space it ends with traces
 * that do not tell the cause. This constructor reports the cause first: constructors with a
 * priority run before those without.
 */
enum { wanted = 1856 }; /* MiB, found by trying: for Go's reservations at its start and stacks of threads; most stays unused */

__attribute__((constructor(101))) static void halo_limits(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	void *try = mmap(NULL, (size_t)wanted << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (try != MAP_FAILED) {
		munmap(try, (size_t)wanted << 20);
		return;
	}
	fprintf(stderr, "halo: too little address space: %llu KiB are allowed (ulimit -v), the library reserves some %d KiB\n",
		(unsigned long long)limit.rlim_cur >> 10, wanted << 10);
	_exit(1);
}

const char halo_limits_linked = 1; /* see attach.c */
