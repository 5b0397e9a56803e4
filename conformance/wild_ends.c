/*
 * wild_ends: buffers without memory, by the name of the call, while errors are fatal. Memory is
 * missing at the first byte, or in the middle ("long_"), where the call faults; "window" cannot be
 * written where another rank puts. "own" and "handled" are faults of the program itself.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { part = 65536, whole = 3 * part };

static int rank;

static void handler(int number) {
	(void)number;
	(void)!write(2, "the program's handler\n", 22);
	_exit(7);
}

static void fails_here(const char *how) {
	char *nowhere = (void *)0x200000, *hole, *there = malloc(whole);
	int counts[] = {part, part}, places[] = {0, part};
	MPI_Comm c;
	MPI_Win w;
	memset(there, 1, whole);
	hole = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(hole + part, part, PROT_NONE);
	if (!strcmp(how, "send")) MPI_Send(nowhere, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
	if (!strcmp(how, "recv")) MPI_Recv(nowhere, 4, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(how, "bcast")) MPI_Bcast(nowhere, 4, MPI_INT, 0, MPI_COMM_WORLD);
	if (!strcmp(how, "reduce")) MPI_Reduce(nowhere, there, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!strcmp(how, "win_create")) MPI_Win_create(nowhere, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	if (!strcmp(how, "window")) {
		mprotect(hole, part, PROT_READ);
		MPI_Win_create(hole, part, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
		MPI_Win_fence(0, w);
		MPI_Win_fence(0, w);
	}
	if (!strcmp(how, "long_recv")) MPI_Recv(hole, whole, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(how, "long_send")) MPI_Send(hole, whole, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
	if (!strcmp(how, "long_reduce_local")) MPI_Reduce_local(hole, there, whole, MPI_CHAR, MPI_MAX);
	if (!strcmp(how, "gatherv")) MPI_Gatherv(there, part, MPI_CHAR, nowhere, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (!strcmp(how, "result")) MPI_Comm_dup(MPI_COMM_SELF, (MPI_Comm *)nowhere);
	if (!strcmp(how, "own")) *(volatile int *)nowhere = 1;
	if (!strcmp(how, "handled")) {
		signal(SIGSEGV, handler);
		*(volatile int *)nowhere = 1;
	}
	(void)c;
}

int main(int argc, char **argv) {
	static char data[whole];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		fails_here(argv[1]);
		fprintf(stderr, "not reached\n");
	} else if (!strcmp(argv[1], "window")) {
		MPI_Win w;
		MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
		MPI_Win_fence(0, w);
		MPI_Put(data, part, MPI_CHAR, 0, 0, part, MPI_CHAR, w);
		MPI_Win_fence(0, w);
	} else if (!strcmp(argv[1], "long_recv")) {
		MPI_Send(data, whole, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
	} else if (!strcmp(argv[1], "long_send")) {
		MPI_Recv(data, whole, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (!strcmp(argv[1], "gatherv")) {
		MPI_Gatherv(data, part, MPI_CHAR, NULL, NULL, NULL, MPI_CHAR, 0, MPI_COMM_WORLD);
	}
	pause();
	return 0;
}
