/*
 * handler_first: a signal that arrives while the library starts, and that the only thread of the program blocks, is
 * handled by that thread once it does not block it any more (BRD-01). With "reset" the action is one for a single signal:
 * then it is handled once, by any thread, and the program goes on.
 */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <unistd.h>

static __thread volatile sig_atomic_t own; /* 1 in the thread of the program */
static volatile sig_atomic_t handled, elsewhere;

static void handle(int number) {
	(void)number;
	handled++;
	if (!own)
		elsewhere = 1;
}

int main(int argc, char **argv) {
	int reset = argc > 1 && strcmp(argv[1], "reset") == 0;
	struct sigaction a;
	sigset_t one;
	own = 1;
	sigemptyset(&one);
	sigaddset(&one, SIGALRM);
	sigprocmask(SIG_BLOCK, &one, NULL);
	memset(&a, 0, sizeof a);
	a.sa_handler = handle;
	a.sa_flags = reset ? (int)SA_RESETHAND : 0;
	sigaction(SIGALRM, &a, NULL);
	kill(getpid(), SIGALRM);
	begin(&argc, &argv);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	CHECK(handled == 1, "%d times", (int)handled);
	CHECK(reset || !elsewhere, "a thread that is none of the program's has handled it");
	return done();
}
