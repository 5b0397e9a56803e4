#include "fork.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../include/mpi.h"
#include "fast_layout.h"
#include "handle_table.h"
#include "names.h"
#include "thread.h"

/*
 * A child of fork has one thread and none of Go's threads, and it shares the memory of windows with
 * its parent. Therefore no MPI call may run in it, neither in Go nor in C. C forgets all handles, so
 * that its fast paths, above all puts into that memory, end.
 */
int halo_forked;

static void child(void) {
	halo_close_all();
	halo_attached = 0;
	halo_forked = 1;
}

__attribute__((constructor)) static void watch(void) { pthread_atfork(NULL, NULL, child); }

/* Reports a call that cannot be made, and returns the error code where errors return. Otherwise it ends
 * the process. */
static int refuse(const char *name, const char *where, const char *why) {
	const char *handler = getenv("HALO_INITIAL_ERRHANDLER");
	if (handler != NULL && strcmp(handler, "mpi_errors_return") == 0)
		return MPI_ERR_OTHER;
	char line[256];
	int n = snprintf(line, sizeof line, "mpi: %s: called in %s, process %d, %s (MPI_ERR_OTHER)\n", name, where, (int)getpid(), why);
	if (write(STDERR_FILENO, line, (size_t)n) < 0) {
		/* the error cannot be reported */
	}
	_exit(MPI_ERR_OTHER);
}

int halo_call_in_handler(int number) {
	return refuse(halo_names[number], "a signal handler", "which has interrupted a send or receive");
}

int halo_call_in_child(int number, word *words) {
	const char *name = halo_names[number];
	/* Destructors call these before they free objects. Here they must not free any. */
	if ((strcmp(name, "MPI_Initialized") == 0 || strcmp(name, "MPI_Finalized") == 0) && words[0] >= HALO_FIRST_PAGE) {
		*(int *)words[0] = 1;
		return MPI_SUCCESS;
	}
	return refuse(name, "a child of fork", "which can only exec another program");
}
