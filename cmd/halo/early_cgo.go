//go:build cgo && linux

package main

/*
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

// Go's runtime opens /dev/null in place of closed standard descriptors. If there is no /dev/null,
// or too little address space or too few threads, it ends the process with traces that do not name
// the cause. This happens before main, so a constructor checks first and reports the cause.

enum {
	wanted = 1856, // MiB, found by trying, as for the C library: Go's reservation at its start, and stacks of threads
	threads = 8,   // of a launcher, about
};

static int closed[3];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *pass(void *unused) {
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return unused;
}

// plug opens something in place of the lowest descriptor, which is closed: /dev/null, or
// without it a pipe that nobody writes into, so that a reader is at its end at once.
static void plug(void) {
	int ends[2];
	if (open("/dev/null", O_RDWR) == -1 && pipe(ends) == 0)
		close(ends[1]);
}

__attribute__((constructor(101))) static void early(void) {
	for (int i = 0; i < 3; i++) {
		closed[i] = fcntl(i, F_GETFD) == -1 && errno == EBADF;
		if (closed[i])
			plug();
	}
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1); // each more reserves 64 MiB of addresses, and Go uses none
#endif
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
		void *try = mmap(NULL, (size_t)wanted << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (try == MAP_FAILED) {
			fprintf(stderr, "halo: too little address space: %llu KiB are allowed (ulimit -v), the launcher reserves some %d KiB, "
				"and each rank more\n", (unsigned long long)limit.rlim_cur >> 10, wanted << 10);
			_exit(125);
		}
		munmap(try, (size_t)wanted << 20);
	}
	pthread_t t[threads];
	pthread_attr_t small;
	int n = 0, error = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_mutex_lock(&gate);
	while (n < threads && (error = pthread_create(&t[n], &small, pass, NULL)) == 0)
		n++;
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	if (error == EAGAIN) {
		fprintf(stderr, "halo: too few processes and threads are allowed: the launcher needs some %d threads and got %d "
			"(see ulimit -u, and pids.max of the control group)\n", threads, n);
		_exit(125);
	}
}

static int wasClosed(int fd) { return closed[fd]; }
*/
import "C"

// wasClosed reports whether a standard descriptor was closed when this process was started.
func wasClosed(fd int) bool { return C.wasClosed(C.int(fd)) != 0 }
