/*
 * handler_timer: a timer interrupts messages, reductions, accesses of windows and files a thousand times a
 * second. Its handler, which has no alternate stack and uses 64 KiB of its stack, runs on threads of the
 * program only, and nothing of a call is changed by it (BRD-01).
 *
 *   handler_timer HOW SECONDS
 *
 * HOW has words: real, prof, thread (a timer for each of two threads) or child (SIGCHLD of children that end) are
 * the signal; early installs the handler before MPI_Init, raw by the system call, onstack with SA_ONSTACK,
 * signal by signal(); with unwind the handler walks the stack, as profilers do.
 */
#define _GNU_SOURCE
#include "check.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOCALS = 64 << 10, WORDS = 3000, PERIOD = 1000000 };

static volatile sig_atomic_t handled, strange, damaged, walks;
static __thread volatile sig_atomic_t own; /* 1 in threads of the program */

/* The values differ with each call, so that a stack that is shared with anything shows. */
static void handle(int number) {
	volatile unsigned char locals[LOCALS];
	unsigned seed = (unsigned)handled * 2654435761u;
	(void)number;
	for (int i = 0; i < LOCALS; i += 8)
		locals[i] = (unsigned char)(seed + (unsigned)i);
	for (int i = 0; i < LOCALS; i += 8)
		if (locals[i] != (unsigned char)(seed + (unsigned)i))
			damaged = 1;
	if (!own)
		strange = 1;
	if (walks) {
		void *frames[64];
		if (backtrace(frames, 64) < 1)
			damaged = 1;
	}
	handled++;
}

/* The structure of the system call. */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

static int has(const char *how, const char *what) { return strstr(how, what) != NULL; }

static int chosen(const char *how) { return has(how, "child") ? SIGCHLD : has(how, "prof") ? SIGPROF : has(how, "thread") ? SIGRTMIN : SIGALRM; }

static void install(const char *how) {
	struct sigaction a, back;
	int number = chosen(how);
	memset(&a, 0, sizeof a);
	a.sa_handler = handle;
	a.sa_flags = SA_RESTART | (has(how, "onstack") ? SA_ONSTACK : 0);
	sigaddset(&a.sa_mask, SIGUSR1);
	if (has(how, "signal"))
		CHECK(signal(number, handle) == SIG_DFL);
	else
		CHECK(sigaction(number, &a, NULL) == 0);
	CHECK(sigaction(number, NULL, &back) == 0);
	CHECK(back.sa_handler == handle && (back.sa_flags & ~0x04000000) == a.sa_flags, "flags %#x instead of %#x", back.sa_flags, a.sa_flags);
	CHECK(sigismember(&back.sa_mask, SIGUSR1) == !has(how, "signal") && !sigismember(&back.sa_mask, SIGUSR2));
	if (has(how, "raw")) {
		struct kernel_action k;
		CHECK(syscall(SYS_rt_sigaction, number, NULL, &k, 8) == 0);
		CHECK(syscall(SYS_rt_sigaction, number, &k, NULL, 8) == 0);
	}
}

static void start(const char *how) {
	struct itimerval often = {{0, PERIOD / 1000}, {0, PERIOD / 1000}};
	struct itimerspec spec = {{0, PERIOD}, {0, PERIOD}};
	struct sigevent event;
	timer_t timer;
	if (has(how, "thread")) {
		memset(&event, 0, sizeof event);
		event.sigev_notify = SIGEV_THREAD_ID;
		event.sigev_signo = SIGRTMIN;
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
		event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
		CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
		CHECK(timer_settime(timer, 0, &spec, NULL) == 0);
	} else if (!has(how, "child")) {
		setitimer(has(how, "prof") ? ITIMER_PROF : ITIMER_REAL, &often, NULL);
	}
}

static void child(const char *how) {
	if (!has(how, "child"))
		return;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	while (waitpid(pid, NULL, 0) < 0)
		;
}

/* Messages to itself on a communicator of its own, by a second thread. */
static void *second(void *how) {
	MPI_Comm self;
	static int out[WORDS], in[WORDS];
	int more = 1;
	sigset_t all;
	own = 1;
	sigfillset(&all);
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	if (has(how, "thread"))
		start(how);
	OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
	while (more) {
		MPI_Request r;
		OK(MPI_Irecv(in, WORDS, MPI_INT, 0, 1, self, &r));
		OK(MPI_Send(out, WORDS, MPI_INT, 0, 1, self));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		OK(MPI_Iprobe(0, 99, MPI_COMM_SELF, &more, MPI_STATUS_IGNORE));
		more = !more;
	}
	OK(MPI_Comm_free(&self));
	return NULL;
}

static void messages(int turn) {
	static int out[WORDS], in[WORDS];
	int to = (rank + 1) % size, from = (rank + size - 1) % size, n = turn % 3 == 0 ? 1 : turn % 3 == 1 ? 100 : WORDS;
	for (int i = 0; i < n; i++)
		out[i] = rank + turn + i;
	MPI_Request r[2];
	OK(MPI_Irecv(in, n, MPI_INT, from, 5, MPI_COMM_WORLD, &r[0]));
	OK(MPI_Isend(out, n, MPI_INT, to, 5, MPI_COMM_WORLD, &r[1]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	for (int i = 0; i < n; i++)
		CHECK(in[i] == from + turn + i, "%d at %d", in[i], i);
}

static void reductions(int turn) {
	static double mine[WORDS], all[WORDS];
	int n = turn % 2 ? WORDS : 2;
	for (int i = 0; i < n; i++)
		mine[i] = rank + i;
	OK(MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	for (int i = 0; i < n; i++)
		CHECK(all[i] == size * (size - 1) / 2 + (double)size * i, "%g at %d", all[i], i);
}

static void windows(MPI_Win win, long *memory) {
	long one = 1, old;
	OK(MPI_Win_fence(0, win));
	for (int to = 0; to < size; to++)
		OK(MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	CHECK(memory[0] % size == 0, "%ld", memory[0]);
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
	OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 1, MPI_SUM, win));
	OK(MPI_Win_unlock(0, win));
}

static void files(MPI_File f, int turn) {
	static int out[WORDS], in[WORDS];
	MPI_Status st;
	int n = 0;
	for (int i = 0; i < WORDS; i++)
		out[i] = rank * turn + i;
	OK(MPI_File_write_at(f, (MPI_Offset)rank * (MPI_Offset)sizeof out, out, WORDS, MPI_INT, &st));
	OK(MPI_File_read_at(f, (MPI_Offset)rank * (MPI_Offset)sizeof out, in, WORDS, MPI_INT, &st));
	OK(MPI_Get_count(&st, MPI_INT, &n));
	CHECK(n == WORDS && memcmp(in, out, sizeof in) == 0, "%d words", n);
}

int main(int argc, char **argv) {
	const char *how = argc > 1 ? argv[1] : "real";
	double seconds = argc > 2 ? atof(argv[2]) : 2;
	char name[128];
	int level, enough = 0, turns = 0;
	long *memory, one = 1;
	MPI_Win win;
	MPI_File f;
	pthread_t thread;
	own = 1;
	if (has(how, "unwind")) {
		void *frames[4];
		walks = backtrace(frames, 4); /* which loads the unwinder */
	}
	if (has(how, "early")) {
		install(how);
		start(how);
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	snprintf(name, sizeof name, "/tmp/halo-handler-timer-%ld", (long)getpid());
	OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
	if (!has(how, "early")) {
		install(how);
		start(how);
	}
	/* The handler must not run in the thread before that says that it is the program's. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_create(&thread, NULL, second, (void *)how);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	memset(memory, 0, 64);
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	double until = MPI_Wtime() + seconds;
	while (!enough) {
		int mine = MPI_Wtime() > until && handled > 100;
		for (int i = 0; i < 20; i++, turns++) {
			messages(turns);
			reductions(turns);
			windows(win, memory);
			files(f, turns);
		}
		child(how);
		OK(MPI_Allreduce(&mine, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
	}
	OK(MPI_Send(&one, 1, MPI_LONG, 0, 99, MPI_COMM_SELF));
	pthread_join(thread, NULL);
	OK(MPI_Recv(&one, 1, MPI_LONG, 0, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE));
	OK(MPI_File_close(&f));
	OK(MPI_Win_free(&win));
	CHECK(!damaged, "the handler's stack is shared with something");
	CHECK(!strange, "the handler ran on a thread that is none of the program's");
	if (argc > 3 && rank == 0)
		printf("%d signals, %d turns\n", (int)handled, turns);
	return done();
}
