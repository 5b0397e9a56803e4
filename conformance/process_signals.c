/* A program's own handlers of SIGSEGV and SIGUSR1, set before MPI_Init and after it, get the
 * signals of the program, on any thread, and communication continues. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t users, faults;
static sigjmp_buf back;

static void user(int signal) {
	(void)signal;
	users++;
}

static void fault(int signal, siginfo_t *info, void *context) {
	(void)signal;
	(void)info;
	(void)context;
	faults++;
	siglongjmp(back, 1);
}

static void handle(int signal, void (*simple)(int), void (*full)(int, siginfo_t *, void *)) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	sigemptyset(&a.sa_mask);
	a.sa_flags = SA_ONSTACK | SA_RESTART;
	a.sa_handler = simple;
	if (full) {
		a.sa_flags |= SA_SIGINFO;
		a.sa_sigaction = full;
	}
	sigaction(signal, &a, NULL);
}

static void try_both(void) {
	raise(SIGUSR1);
	if (sigsetjmp(back, 1) == 0) *(volatile int *)8 = 1;
}

static void *thread(void *unused) {
	raise(SIGUSR1);
	return unused;
}

int main(int argc, char **argv) {
	handle(SIGUSR1, user, NULL);
	handle(SIGSEGV, NULL, fault);
	int level, rank, size, token = -1;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	try_both();
	handle(SIGUSR1, user, NULL);
	handle(SIGSEGV, NULL, fault);
	try_both();
	pthread_t t;
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int i = 0; i < 50; i++) {
		raise(SIGUSR1);
		MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	int bad = users != 53 || faults != 2 || token != left;
	if (bad) fprintf(stderr, "%d user signals, %d faults, token %d\n", (int)users, (int)faults, token);
	MPI_Finalize();
	return bad;
}
