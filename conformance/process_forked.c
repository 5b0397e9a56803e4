/*
 * process_forked: a child of fork that calls MPI. "put", "send", "barrier", "init" and
 * "wild" (a window over memory that is not mapped) call it, and the child ends or, if the first
 * error handler returns, gets MPI_ERR_OTHER; "exit" only asks whether MPI must be finalised. The
 * parent is not affected.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int *base, rank;
static MPI_Win w;

static void in_child(const char *how) {
	int x = 99, code = MPI_SUCCESS, flag = 0, class;
	if (!strcmp(how, "put")) code = MPI_Put(&x, 1, MPI_INT, rank, 0, 1, MPI_INT, w);
	if (!strcmp(how, "send")) code = MPI_Send(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
	if (!strcmp(how, "barrier")) code = MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "init")) code = MPI_Init(NULL, NULL);
	if (!strcmp(how, "wild")) code = MPI_Win_create((void *)0x200000, 4, 4, MPI_INFO_NULL, MPI_COMM_SELF, &w);
	if (!strcmp(how, "exit")) {
		MPI_Finalized(&flag);
		_exit(flag ? 40 : 41);
	}
	class = code;
	_exit(class == MPI_ERR_OTHER ? 42 : 43);
}

int main(int argc, char **argv) {
	int status, size, x = 7, sum = 0;
	pid_t child;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	MPI_Win_lock_all(0, w);
	MPI_Put(&x, 1, MPI_INT, rank, 0, 1, MPI_INT, w);
	MPI_Win_flush(rank, w);
	child = fork();
	if (child == 0) in_child(argv[1]);
	waitpid(child, &status, 0);
	if (rank == 0) printf("the child's status is %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	if (*base != 7) printf("the window has %d\n", *base);
	MPI_Put(&x, 1, MPI_INT, rank, 0, 1, MPI_INT, w);
	MPI_Win_unlock_all(w);
	MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (sum != 7 * size) printf("the sum is %d\n", sum);
	fflush(stdout);
	MPI_Win_free(&w);
	MPI_Finalize();
	return 0;
}
