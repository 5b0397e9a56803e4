/* Handlers of the program for SIGUSR2, SIGCHLD, SIGPROF and SIGPIPE, set before and after MPI_Init, on
 * the thread's stack and on an alternate stack. Signals arrive during calls, also from a timer, and
 * the program handles its broken pipes itself. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t usr2, chld, prof, pipes, elsewhere;
static char *stack;
enum { stack_size = 1 << 16 };

static void count(int signal) {
	char here;
	if (signal == SIGUSR2) {
		usr2++;
		if (stack && ((uintptr_t)&here < (uintptr_t)stack || (uintptr_t)&here >= (uintptr_t)stack + stack_size)) elsewhere++;
	}
	if (signal == SIGCHLD) chld++;
	if (signal == SIGPROF) prof++;
	if (signal == SIGPIPE) pipes++;
}

static void handle(int signal) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = count;
	a.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(signal, &a, NULL);
}

static int bad, rank, size;

#define CHECK(what) \
	do { \
		if (!(what) && bad++ < 5) fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__, #what); \
	} while (0)

static void talk(int times) {
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int i = 0; i < times; i++) {
		int out[64], in[64];
		for (int k = 0; k < 64; k++) out[k] = rank + i + k;
		MPI_Sendrecv(out, 64, MPI_INT, right, 0, in, 64, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int k = 0; k < 64; k++) CHECK(in[k] == left + i + k);
	}
}

static void signals(void) {
	int was = usr2;
	raise(SIGUSR2);
	CHECK(usr2 == was + 1);
	was = chld;
	pid_t child = fork();
	if (child == 0) _exit(5);
	int status = 0;
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
	CHECK(chld == was + 1);
	was = pipes;
	int ends[2];
	CHECK(pipe(ends) == 0);
	close(ends[0]);
	CHECK(write(ends[1], "x", 1) == -1 && pipes == was + 1);
	close(ends[1]);
}

static void *worker(void *unused) {
	for (int i = 0; i < 50; i++) raise(SIGUSR2);
	return unused;
}

int main(int argc, char **argv) {
	for (int i = 0; i < 2; i++) { /* 0: handlers set before MPI_Init, 1: set again after it */
		handle(SIGUSR2);
		handle(SIGCHLD);
		handle(SIGPROF);
		handle(SIGPIPE);
		if (i == 0) {
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_size(MPI_COMM_WORLD, &size);
		}
		signals();
		/* On an alternate stack, which calls of MPI do not change. */
		stack = malloc(stack_size);
		stack_t mine = {.ss_sp = stack, .ss_size = stack_size}, old, now;
		sigaltstack(&mine, &old);
		talk(20);
		raise(SIGUSR2);
		CHECK(elsewhere == 0);
		sigaltstack(NULL, &now);
		CHECK(now.ss_sp == stack);
		sigaltstack(&old, NULL);
		free(stack);
		stack = NULL;
		/* During calls. */
		struct itimerval often = {{0, 2000}, {0, 2000}}, never;
		memset(&never, 0, sizeof never);
		setitimer(ITIMER_PROF, &often, NULL);
		pthread_t t;
		pthread_create(&t, NULL, worker, NULL);
		talk(300);
		pthread_join(t, NULL);
		for (int enough = 0; !enough;) {
			int mine = prof > i;
			MPI_Allreduce(&mine, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
			talk(50);
		}
		setitimer(ITIMER_PROF, &never, NULL);
	}
	CHECK(usr2 == 2 * (1 + 1 + 50));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	signals();
	return bad != 0;
}
