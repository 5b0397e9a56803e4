/* The library does not interfere with children that run other programs: fork and exec, system
 * and popen, before, between and after calls. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int children(void) {
	int bad = 0;
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		if (child == 0) {
			execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
			_exit(1);
		}
		int status = 0;
		bad += child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3;
	}
	bad += system("exit 4") != 4 << 8;
	FILE *f = popen("echo 17", "r");
	int n = 0;
	bad += !f || fscanf(f, "%d", &n) != 1 || n != 17 || pclose(f) != 0;
	return bad;
}

int main(int argc, char **argv) {
	int bad = children(), rank, size, token = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Request r;
	MPI_Irecv(&token, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &r);
	bad += children();
	MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	bad += token != (rank + size - 1) % size;
	bad += children();
	MPI_Finalize();
	bad += children();
	if (bad) fprintf(stderr, "%d things about children are wrong\n", bad);
	return bad != 0;
}
