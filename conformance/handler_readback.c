/*
 * handler_readback: what a program sets by sigaction, signal, sigset and sigaltstack it reads back, before MPI_Init,
 * after it and behind calls, and a handler that is large finds its place on an alternate stack that the program has not made
 * (BRD-01).
 */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>

enum { LOCALS = 64 << 10 };

static volatile sig_atomic_t handled;

static void plain(int number) {
	volatile char locals[LOCALS];
	(void)number;
	for (int i = 0; i < LOCALS; i += 64)
		locals[i] = 1;
	handled += locals[0];
}

static void full(int number, siginfo_t *info, void *context) {
	(void)context;
	CHECK(info->si_signo == number);
	plain(number);
}

static void set_and_read(void) {
	static const int numbers[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD, SIGPROF, SIGVTALRM, SIGSEGV, SIGBUS, SIGFPE, SIGPIPE, SIGURG, SIGXFSZ, SIGSTKFLT};
	static const int flags[] = {0, SA_RESTART, SA_NODEFER, SA_RESETHAND, SA_ONSTACK, SA_ONSTACK | SA_RESTART};
	for (size_t s = 0; s < sizeof numbers / sizeof *numbers; s++)
		for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
			for (int information = 0; information < 2; information++) {
				struct sigaction a, b, before;
				memset(&a, 0, sizeof a);
				if (information)
					a.sa_sigaction = full;
				else
					a.sa_handler = plain;
				a.sa_flags = flags[f] | (information ? SA_SIGINFO : 0);
				sigaddset(&a.sa_mask, SIGWINCH);
				CHECK(sigaction(numbers[s], &a, &before) == 0);
				int x = 1, all;
				int ready, gone;
				MPI_Initialized(&ready);
				MPI_Finalized(&gone);
				if (ready && !gone)
					OK(MPI_Allreduce(&x, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
				int was = handled;
				if (numbers[s] != SIGURG) /* which the library sends itself */
					raise(numbers[s]);
				CHECK(numbers[s] == SIGURG || handled == was + 1, "signal %d, flags %#x", numbers[s], a.sa_flags);
				CHECK(sigaction(numbers[s], &before, &b) == 0);
				if (flags[f] == (int)SA_RESETHAND && numbers[s] != SIGURG)
					CHECK(b.sa_handler == SIG_DFL);
				else if (flags[f] != (int)SA_RESETHAND)
					CHECK(b.sa_handler == a.sa_handler, "signal %d, flags %#x", numbers[s], a.sa_flags);
				CHECK((b.sa_flags & ~0x04000000) == a.sa_flags, "signal %d: flags %#x instead of %#x", numbers[s], b.sa_flags, a.sa_flags);
				CHECK(sigismember(&b.sa_mask, SIGWINCH) && !sigismember(&b.sa_mask, SIGUSR1));
			}
	for (int i = 0; i < 2; i++) {
		CHECK(signal(SIGUSR1, plain) == SIG_DFL);
		CHECK(signal(SIGUSR1, SIG_IGN) == plain);
		CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	}
}

static char own[128 << 10];

int main(int argc, char **argv) {
	stack_t mine = {.ss_sp = own, .ss_size = sizeof own}, old, back;
	struct sigaction a;
	set_and_read();
	begin(&argc, &argv);
	set_and_read();
	memset(&a, 0, sizeof a);
	a.sa_handler = plain;
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &a, NULL);
	for (int i = 0; i < 20; i++) {
		int x = 1, all;
		CHECK(sigaltstack(&mine, &old) == 0);
		OK(MPI_Allreduce(&x, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		raise(SIGUSR2);
		CHECK(sigaltstack(NULL, &back) == 0 && back.ss_sp == own && back.ss_size == sizeof own && back.ss_flags == 0);
		CHECK(sigaltstack(&old, NULL) == 0);
		OK(MPI_Barrier(MPI_COMM_WORLD));
		raise(SIGUSR2);
	}
	return done();
}
