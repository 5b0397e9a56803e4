/*
 * handler_jump: a handler leaves calls by siglongjmp: calls that wait for what does not come, and any of a stream of
 * short calls. Calls of MPI work afterwards, and the mask is that of sigsetjmp. A jump within the handler stays there
 * (BRD-01). Arguments: on which stack the handler runs ("onstack" or "stack"), and how many jumps.
 */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t armed, jumps;

static void handle(int number) {
	volatile char locals[64 << 10];
	jmp_buf inner;
	(void)number;
	for (size_t i = 0; i < sizeof locals; i += 64)
		locals[i] = (char)i;
	if (setjmp(inner) == 0)
		longjmp(inner, 1);
	if (!armed)
		return;
	armed = 0;
	jumps++;
	siglongjmp(back, locals[1024] + 1);
}

static void once(long microseconds) {
	static __thread timer_t timer;
	static __thread int made;
	struct itimerspec spec = {{0, 0}, {0, microseconds * 1000}};
	if (!made) {
		struct sigevent event;
		memset(&event, 0, sizeof event);
		event.sigev_notify = SIGEV_THREAD_ID;
		event.sigev_signo = SIGALRM;
		event._sigev_un._tid = (int)syscall(SYS_gettid);
		made = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
	}
	CHECK(made && timer_settime(timer, 0, &spec, NULL) == 0);
}

static void unblocked(void) {
	sigset_t mask;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	CHECK(!sigismember(&mask, SIGALRM) && !sigismember(&mask, SIGUSR1));
}

/* Receives the messages whose receive was left before it was posted. */
static void drain(int from, int tag, MPI_Comm comm) {
	static __thread int in[500];
	for (int more = 1; more;) {
		OK(MPI_Iprobe(from, tag, comm, &more, MPI_STATUS_IGNORE));
		if (more)
			OK(MPI_Recv(in, 500, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE));
	}
}

enum { MOST = 100 };

/* Calls that wait until they are left. The receives are still posted then, and MPI_Wait can be called again. */
static void waits(int times, MPI_Comm comm, int other) {
	static __thread int in[MOST];
	static __thread MPI_Request requests[MOST];
	for (volatile int i = 0; i < times; i++) {
		int was = jumps;
		if (sigsetjmp(back, 1) == 0) {
			MPI_Status st;
			requests[i] = MPI_REQUEST_NULL;
			armed = 1;
			once(1 + 400 * (i % 8));
			switch (i % 3) {
			case 0: OK(MPI_Recv(&in[i], 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE)); break;
			case 1:
				OK(MPI_Irecv(&in[i], 1, MPI_INT, other, 1, comm, &requests[i]));
				OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
				break;
			default: OK(MPI_Probe(other, 2, comm, &st));
			}
			CHECK(0, "the call has returned in turn %d", i);
		}
		CHECK(jumps == was + 1, "%d jumps", (int)jumps - was);
		unblocked();
		int x = i, y = -1;
		OK(MPI_Sendrecv(&x, 1, MPI_INT, 0, 3, &y, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
		CHECK(y == i, "%d", y);
	}
	int code, x = 0, y = -1;
	OK(MPI_Barrier(comm));
	for (int i = 0; i < times; i++)
		if (i % 3 != 2)
			OK(MPI_Send(&x, 1, MPI_INT, other, 1, comm));
	code = MPI_Waitall(times, requests, MPI_STATUSES_IGNORE);
	CHECK(code == MPI_SUCCESS, "code %d", code);
	OK(MPI_Sendrecv(&x, 1, MPI_INT, other, 9, &y, 1, MPI_INT, other, 9, comm, MPI_STATUS_IGNORE));
	drain(other, 1, comm);
}

/* Short calls in C and in Go, of which none waits. */
static void shorts(int times, MPI_Comm comm) {
	static __thread char packed[4096];
	static __thread int out[500], in[500], sums[500];
	for (volatile int i = 0; i < times; i++) {
		if (sigsetjmp(back, 1) == 0) {
			armed = 1;
			once(50 + 37 * (i % 20));
			while (armed) {
				int at = 0, flag;
				MPI_Datatype t;
				MPI_Request r;
				OK(MPI_Type_vector(3, 2, 4, MPI_INT, &t));
				OK(MPI_Type_commit(&t));
				OK(MPI_Pack(out, 1, t, packed, sizeof packed, &at, comm));
				OK(MPI_Type_free(&t));
				OK(MPI_Reduce_local(out, sums, 500, MPI_INT, MPI_SUM));
				OK(MPI_Isend(out, i % 2 ? 1 : 500, MPI_INT, 0, 5, comm, &r));
				OK(MPI_Iprobe(0, 5, comm, &flag, MPI_STATUS_IGNORE));
				OK(MPI_Recv(in, 500, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE));
				OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
			}
		}
		unblocked();
	}
	drain(0, 5, comm);
}

static void *second(void *times) {
	MPI_Comm self;
	OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
	waits(*(int *)times, self, 0);
	shorts(*(int *)times, self);
	return NULL;
}

int main(int argc, char **argv) {
	struct sigaction a;
	pthread_t thread;
	MPI_Comm self;
	int level, times = argc > 2 ? atoi(argv[2]) : 60 /* at most MOST */, sum, x = 1;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	memset(&a, 0, sizeof a);
	a.sa_handler = handle;
	a.sa_flags = argc > 1 && strcmp(argv[1], "onstack") == 0 ? SA_ONSTACK | SA_RESTART : SA_RESTART;
	CHECK(sigaction(SIGALRM, &a, NULL) == 0);
	OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
	waits(times, MPI_COMM_WORLD, size - 1 - rank);
	shorts(times, self);
	OK(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == size, "%d", sum);
	pthread_create(&thread, NULL, second, &times);
	waits(times, MPI_COMM_WORLD, size - 1 - rank);
	pthread_join(thread, NULL);
	for (int i = 0; i < 100; i++) {
		OK(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		CHECK(sum == size, "%d", sum);
		int y = -1, z = i + rank;
		OK(MPI_Sendrecv(&z, 1, MPI_INT, (rank + 1) % size, 7, &y, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(y == i + (rank + size - 1) % size, "%d", y);
	}
	return done();
}
