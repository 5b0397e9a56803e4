/*
 * handler_ways: a handler with 64 KiB of locals and no alternate stack interrupts messages, reductions and accesses of
 * windows, however it is installed and whatever timer sends its signal. Each way to install one returns the handler
 * that was installed before, also if that was installed in another way, and a handler that calls the one before it
 * does so once (BRD-01). The argument is the number of seconds for each pair of a way and a timer.
 */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LOCALS = 64 << 10, WORDS = 2000 };

typedef void (*handler)(int);

static volatile sig_atomic_t handled, strange, damaged, again;
static __thread volatile sig_atomic_t own;
static struct itimerval shortly = {{0, 0}, {0, 1000}};

static void handle(int number) {
	volatile unsigned char locals[LOCALS];
	unsigned seed = (unsigned)handled * 2654435761u;
	for (int i = 0; i < LOCALS; i += 8)
		locals[i] = (unsigned char)(seed + (unsigned)i);
	for (int i = 0; i < LOCALS; i += 8)
		if (locals[i] != (unsigned char)(seed + (unsigned)i))
			damaged = 1;
	if (!own)
		strange = 1;
	handled++;
	if (again) { /* the handler of System V is reset by its signal, so that the timer must end, too */
		sysv_signal(number, handle);
		setitimer(ITIMER_REAL, &shortly, NULL);
	}
}

/* The structure of sigvec, which the C library still has for programs that were linked long ago. */
struct vector {
	handler handler;
	int mask, flags;
};

static int (*old_sigvec)(int, const struct vector *, struct vector *);

static int by(int (*action)(int, const struct sigaction *, struct sigaction *), int number, handler h, handler *before) {
	struct sigaction a, was;
	memset(&a, 0, sizeof a);
	a.sa_handler = h;
	a.sa_flags = SA_RESTART;
	if (action == NULL || action(number, &a, &was) != 0)
		return -1;
	*before = was.sa_handler;
	return 0;
}

static int found_by(void *where, int number, handler h, handler *before) {
	int (*action)(int, const struct sigaction *, struct sigaction *);
	*(void **)&action = dlsym(where, "sigaction");
	return by(action, number, h, before);
}

static int simple(handler (*install)(int, handler), int number, handler h, handler *before) {
	*before = install(number, h);
	return *before == SIG_ERR ? -1 : 0;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
enum { ACTION, SIGNAL, BSD, SSIGNAL, SET, SYSV, SYSV_OLD, NEXT, DEFAULT, VECTOR, WAYS };

static const char *const way_names[] = {"sigaction", "signal", "bsd_signal", "ssignal", "sigset", "sysv_signal", "__sysv_signal", "RTLD_NEXT", "RTLD_DEFAULT", "sigvec"};

extern handler bsd_signal(int, handler);

static int install(int way, int number, handler h, handler *before) {
	struct vector v = {h, 0, 0}, was;
	switch (way) {
	case ACTION: return by(sigaction, number, h, before);
	case SIGNAL: return simple(signal, number, h, before);
	case BSD: return simple(bsd_signal, number, h, before);
	case SSIGNAL: return simple(ssignal, number, h, before);
	case SET: return simple(sigset, number, h, before);
	case SYSV: return simple(sysv_signal, number, h, before);
	case SYSV_OLD: return simple(__sysv_signal, number, h, before);
	case NEXT: return found_by(RTLD_NEXT, number, h, before);
	case DEFAULT: return found_by(RTLD_DEFAULT, number, h, before);
	}
	if (old_sigvec(number, &v, &was) != 0)
		return -1;
	*before = was.handler;
	return 0;
}

static int resets(int way) { return way == SYSV || way == SYSV_OLD; }

/* Whether the way does not go through the library, so that it returns what the library has installed. */
static int native(int way) { return way == VECTOR || (way == NEXT && dlsym(RTLD_NEXT, "sigaction") != dlsym(RTLD_DEFAULT, "sigaction")); }

static int there(int way) { return way != VECTOR || old_sigvec != NULL; }

/* What signals and stops. */
enum { REAL, PROF, VIRTUAL, QUEUED, THREAD, OFTEN, TIMERS };

static const char *const timer_names[] = {"ITIMER_REAL", "ITIMER_PROF", "ITIMER_VIRTUAL", "SIGEV_SIGNAL", "SIGEV_THREAD_ID", "10 kHz"};
static const int numbers[] = {SIGALRM, SIGPROF, SIGVTALRM, 0, SIGUSR1, SIGALRM};
static const int intervals[] = {ITIMER_REAL, ITIMER_PROF, ITIMER_VIRTUAL};

static int number_of(int timer) { return timer == QUEUED ? SIGRTMIN + 1 : numbers[timer]; }

static timer_t made;

static void start(int timer) {
	struct itimerval every = {{0, 1000}, {0, 1000}};
	struct itimerspec spec = {{0, timer == OFTEN ? 100000 : 1000000}, {0, 100000}};
	struct sigevent event;
	if (timer <= VIRTUAL) {
		CHECK(setitimer(intervals[timer], again ? &shortly : &every, NULL) == 0);
		return;
	}
	memset(&event, 0, sizeof event);
	event.sigev_notify = timer == QUEUED ? SIGEV_SIGNAL : SIGEV_THREAD_ID;
	event.sigev_signo = number_of(timer);
	if (timer != QUEUED)
		event._sigev_un._tid = (int)syscall(SYS_gettid);
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &made) == 0 && timer_settime(made, 0, &spec, NULL) == 0);
}

static void stop(int timer) {
	struct itimerval never;
	memset(&never, 0, sizeof never);
	if (timer > VIRTUAL) {
		CHECK(timer_delete(made) == 0);
		return;
	}
	again = 0;
	CHECK(setitimer(intervals[timer], &never, NULL) == 0);
}

static void work(int turn, MPI_Win win, long *memory) {
	static int out[WORDS], in[WORDS];
	static double mine[WORDS], all[WORDS];
	int to = (rank + 1) % size, from = (rank + size - 1) % size, n = turn % 3 == 0 ? 1 : turn % 3 == 1 ? 100 : WORDS;
	long one = 1, old;
	MPI_Request r[2];
	for (int i = 0; i < n; i++)
		out[i] = rank + turn + i, mine[i] = rank + i;
	OK(MPI_Irecv(in, n, MPI_INT, from, 5, MPI_COMM_WORLD, &r[0]));
	OK(MPI_Isend(out, n, MPI_INT, to, 5, MPI_COMM_WORLD, &r[1]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	OK(MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	for (int i = 0; i < n; i++)
		CHECK(in[i] == from + turn + i && all[i] == size * (size - 1) / 2 + (double)size * i, "%d and %g at %d", in[i], all[i], i);
	OK(MPI_Win_fence(0, win));
	for (int p = 0; p < size; p++)
		OK(MPI_Accumulate(&one, 1, MPI_LONG, p, 0, 1, MPI_LONG, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	CHECK(memory[0] == (long)(turn + 1) * size, "%ld in turn %d", memory[0], turn);
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
	OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 1, MPI_SUM, win));
	OK(MPI_Win_unlock(0, win));
	CHECK(old / size <= turn + 1, "%ld in turn %d", old, turn);
}

static void pairs(double seconds) {
	MPI_Win win;
	long *memory;
	int turns = 0;
	OK(MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	memory[0] = memory[1] = 0;
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int way = 0; way < WAYS; way++)
		for (int timer = 0; timer < TIMERS; timer++) {
			handler before;
			int enough = 0;
			if (!there(way) || (resets(way) && timer != REAL))
				continue;
			handled = 0;
			again = resets(way);
			CHECK(install(way, number_of(timer), handle, &before) == 0 && before == SIG_DFL, "by %s, for %s", way_names[way], timer_names[timer]);
			start(timer);
			double until = MPI_Wtime() + seconds;
			while (!enough) {
				int mine = MPI_Wtime() >= until && handled >= 10;
				for (int i = 0; i < 10; i++)
					work(turns++, win, memory);
				OK(MPI_Allreduce(&mine, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
			}
			stop(timer);
			CHECK(install(way, number_of(timer), SIG_IGN, &before) == 0 && before == handle, "by %s, for %s", way_names[way], timer_names[timer]);
			CHECK(install(way, number_of(timer), SIG_DFL, &before) == 0 && before == SIG_IGN);
		}
	OK(MPI_Win_free(&win));
}

static volatile sig_atomic_t depth, first, second, third;
static handler to_first, to_second;

static void one(int number) {
	(void)number;
	first++;
}

static void two(int number) {
	if (++second < 5)
		to_first(number);
}

static void three(int number) {
	if (++third < 5)
		to_second(number);
}

/* Three handlers of which the later call the earlier ones, each installed in its own way. */
static void chains(void) {
	for (int a = 0; a < WAYS; a++)
		for (int b = 0; b < WAYS; b++)
			for (int c = 0; c < WAYS; c++) {
				handler before;
				if (!there(a) || !there(b) || !there(c))
					continue;
				first = second = third = 0;
				CHECK(install(a, SIGUSR2, one, &before) == 0 && before == SIG_DFL);
				CHECK(install(b, SIGUSR2, two, &before) == 0);
				to_first = before;
				CHECK(install(c, SIGUSR2, three, &before) == 0);
				to_second = before;
				raise(SIGUSR2);
				CHECK(first == 1 && second == 1 && third == 1, "%s, %s, %s: %d %d %d", way_names[a], way_names[b], way_names[c], first, second, third);
				CHECK(native(b) || to_first == one, "%s, %s", way_names[a], way_names[b]);
				CHECK(native(c) || to_second == two, "%s, %s", way_names[b], way_names[c]);
				CHECK(install(c, SIGUSR2, SIG_DFL, &before) == 0);
				/* As it was. */
				CHECK(install(a, SIGUSR2, to_first, &before) == 0 && before == SIG_DFL);
				raise(SIGUSR2);
				CHECK(first == 2 && second == 1, "%s, %s, %s: %d %d", way_names[a], way_names[b], way_names[c], first, second);
				CHECK(install(a, SIGUSR2, SIG_DFL, &before) == 0);
			}
}

/* SIG_HOLD of sigset blocks the signal, and returns the handler. */
static void holds(void) {
	CHECK(sigset(SIGUSR2, one) == SIG_DFL);
	CHECK(sigset(SIGUSR2, SIG_HOLD) == one);
	first = 0;
	raise(SIGUSR2);
	CHECK(first == 0);
	second = 0;
	CHECK(sigset(SIGUSR2, two) == SIG_HOLD);
	CHECK(second == 1, "%d", (int)second);
	CHECK(sigset(SIGUSR2, SIG_HOLD) == two);
	CHECK(sigset(SIGUSR2, SIG_DFL) == SIG_HOLD);
	CHECK(sigset(SIGUSR2, SIG_IGN) == SIG_DFL && sigignore(SIGUSR2) == 0);
	CHECK(sigset(SIGUSR2, SIG_DFL) == SIG_IGN);
	CHECK(sigset(0, one) == SIG_ERR && sigset(65, one) == SIG_ERR && sigset(SIGUSR2, SIG_ERR) == SIG_ERR && sigset(SIGKILL, one) == SIG_ERR);
	CHECK(sigset(-1, SIG_HOLD) == SIG_ERR);
}

/* The structure of the system call. */
struct kernel_action {
	handler handler;
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

/* Installs a handler by the system call. */
static void install_raw(int number, handler h) {
	struct kernel_action k;
	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &k, 8) == 0); /* the restorer */
	k.handler = h;
	k.flags &= ~(unsigned long)SA_SIGINFO;
	CHECK(syscall(SYS_rt_sigaction, number, &k, NULL, 8) == 0);
}

/*
 * Before the constructors of all libraries. SIGSTKFLT, which the library uses itself, is the program's, too: it has a
 * handler, or one that was installed by the system call, or it is ignored.
 */
static void earliest(int argc, char **argv) {
	handler before;
	own = 1;
	CHECK(install(ACTION, SIGUSR1, one, &before) == 0 && before == SIG_DFL);
	CHECK(install(SET, SIGHUP, one, &before) == 0 && before == SIG_DFL);
	if (argc > 2)
		install_raw(SIGSTKFLT, strcmp(argv[2], "ignored") == 0 ? SIG_IGN : one);
	else
		CHECK(install(SIGNAL, SIGSTKFLT, one, &before) == 0 && before == SIG_DFL);
	raise(SIGUSR1);
	raise(SIGHUP);
	CHECK(first == 2, "%d", (int)first);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **) = earliest;

int main(int argc, char **argv) {
	handler before, kept = argc > 2 && strcmp(argv[2], "ignored") == 0 ? SIG_IGN : one;
	*(void **)&old_sigvec = dlvsym(RTLD_DEFAULT, "sigvec", "GLIBC_2.2.5");
	CHECK(install(SIGNAL, SIGUSR1, SIG_DFL, &before) == 0 && before == one);
	CHECK(install(SIGNAL, SIGHUP, SIG_DFL, &before) == 0 && before == one);
	begin(&argc, &argv);
	pairs(argc > 1 ? atof(argv[1]) : 1);
	chains();
	holds();
	first = 0;
	raise(SIGSTKFLT);
	CHECK(first == (kept == one));
	CHECK(install(SIGNAL, SIGSTKFLT, SIG_DFL, &before) == 0 && before == kept);
	CHECK(!damaged, "the handler's stack is shared with something");
	CHECK(!strange, "the handler ran on a thread that is none of the program's");
	return done();
}
