/*
 * rma_target_ends: puts and gets by rank 1 of memory of rank 0 that the kernel copies, when that
 * memory is unmapped ("unmapped") or that process killed ("killed") at the same time. Rank 1 does
 * "put" or "get", rank 0 "waits" or "computes" meanwhile. If the process is killed, and the launcher
 * allows it, rank 1 prints the class that its call has returned.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { bytes = 65536, at = 16, before = 2000 };

static MPI_Win win;
static int gets, target;
static volatile long copies;

/* Puts or gets until one call fails, at most so many times. */
static int copy(long most) {
	long value = 0;
	int e = MPI_SUCCESS;
	for (long i = 0; i < most && e == MPI_SUCCESS; i++) {
		e = gets ? MPI_Get(&value, 8, MPI_BYTE, 0, at, 8, MPI_BYTE, win) : MPI_Put(&value, 8, MPI_BYTE, 0, at, 8, MPI_BYTE, win);
		if (e == MPI_SUCCESS) e = MPI_Win_flush(0, win);
		copies++;
	}
	return e;
}

static void *killer(void *unused) {
	while (copies < 2 * before)
		;
	kill(target, SIGKILL);
	return unused;
}

int main(int argc, char **argv) {
	int rank, provided, me = getpid();
	if (argc < 4) return 2;
	gets = !strcmp(argv[1], "get");
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MPI_Win_create(mem, rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "counters");
	MPI_Allreduce(&(int){rank == 0 ? me : 0}, &target, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	if (rank == 1) copy(before); /* some of these take the fast path in C, without a lock */
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(argv[3], "unmapped")) {
		if (rank == 0) munmap(mem, bytes);
		MPI_Barrier(MPI_COMM_WORLD);
	} else {
		MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	}
	if (rank == 1) {
		pthread_t t;
		int class, n;
		char text[MPI_MAX_ERROR_STRING];
		if (!strcmp(argv[3], "killed")) pthread_create(&t, NULL, killer, NULL);
		int e = copy(1L << 40);
		MPI_Error_class(e, &class);
		MPI_Error_string(e, text, &n);
		fprintf(stderr, "%s: %s\n", class == MPIX_ERR_PROC_FAILED ? "failed" : "another class", text);
		_exit(1);
	}
	if (!strcmp(argv[2], "computes"))
		for (;;) /* no call of MPI */
			;
	MPI_Barrier(MPI_COMM_WORLD);
	return 0;
}
