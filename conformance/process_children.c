/* A child of fork that runs no other program may do little, as in any program with threads, but that
 * works. It does not affect the parent's communication, with whatever signal or status it ends. The
 * same holds for children of other threads, and for children forked during communication. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int bad;

static void expect(pid_t child, int signal, int status, int line) {
	int s = 0;
	if (child <= 0 || waitpid(child, &s, 0) != child || (signal ? !WIFSIGNALED(s) || WTERMSIG(s) != signal : !WIFEXITED(s) || WEXITSTATUS(s) != status)) {
		fprintf(stderr, "line %d: a child ended with %#x\n", line, s);
		bad++;
	}
}

static void children(void) {
	int ends[2];
	char text[6] = "";
	if (pipe(ends) != 0) bad++;
	pid_t child = fork();
	if (child == 0) { /* the child writes to a pipe, and ends at once */
		ssize_t n = write(ends[1], "hello", 5);
		_exit(n == 5 ? 6 : 1);
	}
	expect(child, 0, 6, __LINE__);
	if (read(ends[0], text, 5) != 5 || strcmp(text, "hello") != 0) bad++;
	close(ends[0]);
	close(ends[1]);
	child = fork();
	if (child == 0) { /* the child allocates memory */
		char *p = malloc(1 << 20);
		memset(p, 1, 1 << 20);
		_exit(p[77] + 1);
	}
	expect(child, 0, 2, __LINE__);
	child = fork();
	if (child == 0) {
		signal(SIGTERM, SIG_DFL);
		kill(getpid(), SIGKILL);
	}
	expect(child, SIGKILL, 0, __LINE__);
	child = fork();
	if (child == 0) { /* the child forks, too */
		pid_t next = fork();
		if (next == 0) _exit(3);
		int s;
		waitpid(next, &s, 0);
		_exit(WEXITSTATUS(s) + 1);
	}
	expect(child, 0, 4, __LINE__);
	char *args[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
	if (posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ) != 0) bad++;
	else expect(child, 0, 7, __LINE__);
	child = vfork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
		_exit(1);
	}
	expect(child, 0, 8, __LINE__);
}

static void *worker(void *unused) {
	children();
	return unused;
}

int main(int argc, char **argv) {
	int rank, size;
	static int in[1 << 16], out[1 << 16];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int i = 0; i < 3; i++) {
		MPI_Request r[2];
		for (int k = 0; k < 1 << 16; k++) out[k] = rank + k + i, in[k] = -1;
		MPI_Irecv(in, 1 << 16, MPI_INT, left, 0, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(out, 1 << 16, MPI_INT, right, 0, MPI_COMM_WORLD, &r[1]);
		children();
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		for (int k = 0; k < 1 << 16; k++) bad += in[k] != left + k + i;
	}
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	for (int i = 0; i < 100; i++) {
		int token = -1;
		MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		bad += token != left;
	}
	pthread_join(t, NULL);
	MPI_Finalize();
	children();
	if (bad) fprintf(stderr, "%d things are wrong\n", bad);
	return bad != 0;
}
