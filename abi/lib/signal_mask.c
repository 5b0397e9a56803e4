#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "shim.h"
#include "signal_stack.h"

/*
 * Signals of the program must not arrive on the threads of Go's runtime. A handler without SA_ONSTACK would run on the
 * stack of a goroutine, which has a few hundred bytes left. A signal that the program blocks in all of its threads,
 * because it waits for it with sigwait, would be delivered to a thread of Go. So these threads block all signals
 * that the runtime does not need.
 *
 * Where the runtime starts a thread it blocks all signals, and at the end unblocks those that its table has as
 * such: SIGPROF, SIGCHLD and the first one for real-time use (34) are among them. It does so in threads of the
 * program, too, when they enter Go for the first time. It calls the kernel itself for that, so the library cannot
 * replace the call. But SIGSTKFLT, which no kernel sends, is one of those signals. If it is pending when the
 * runtime unblocks it, its handler runs at once, and changes the mask that holds after the handler.
 *
 * The mask that the runtime has noted for the thread stays as it was, and a program that it starts from there gets that.
 */

static __thread int asked __attribute__((tls_model("initial-exec")));

#define BIT(number) ((uint64_t)1 << ((number)-1))

/* Faults of the thread itself, what the runtime sends to its threads, and what the C library does (32 and 33). */
static const uint64_t needed = BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) | BIT(SIGSYS) | BIT(SIGSTKFLT) | BIT(SIGURG) | BIT(32) | BIT(33);

static void on_stkflt(int number, siginfo_t *info, void *context) {
	struct sigaction none = {.sa_handler = SIG_DFL};
	(void)info;
	if (asked) {
		asked = 0;
		/* The kernel's set has 64 bits, the C library's type is larger than that. */
		*(uint64_t *)&((ucontext_t *)context)->uc_sigmask |= ~needed;
		return;
	}
	if (halo_leave_again(context))
		return;
	/* Another process has sent it: the default is to end. The signal is blocked until the handler returns. */
	__sigaction(number, &none, NULL);
	raise(number);
}

/* Before Go's runtime starts its threads, which a constructor without priority does. */
__attribute__((constructor(101))) static void install(void) {
	struct sigaction own = {.sa_sigaction = on_stkflt, .sa_flags = SA_SIGINFO | SA_ONSTACK}, now;
	sigfillset(&own.sa_mask);
	if (__sigaction(SIGSTKFLT, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
		__sigaction(SIGSTKFLT, &own, NULL);
}

const char halo_signal_mask_linked = 1; /* see thread.c */

void halo_block_after_go(sigset_t *before) {
	sigset_t one;
	struct sigaction now;
	sigemptyset(&one);
	sigaddset(&one, SIGSTKFLT);
	pthread_sigmask(SIG_BLOCK, &one, before);
	/* The program may have a handler of its own for all signals. */
	if (__sigaction(SIGSTKFLT, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_stkflt) {
		asked = 1;
		raise(SIGSTKFLT);
	}
}

void halo_unblock(const sigset_t *before) {
	static const int always[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSTKFLT, SIGURG};
	sigset_t mask = *before;
	asked = 0;
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		sigdelset(&mask, always[i]);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/*
 * In the library the linker replaces pthread_create by halo_pthread_create (--wrap), and objcopy does so in the
 * library for static linking. Of all that is linked into the library only Go's runtime calls it.
 */
struct begin {
	void *(*function)(void *);
	void *argument;
};

static void *begin(void *p) {
	struct begin b = *(struct begin *)p;
	free(p);
	halo_signal_stack();
	halo_block_after_go(NULL);
	void *result = b.function(b.argument);
	halo_signal_stack_end();
	return result;
}

extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) __attribute__((weak));

HALO_HIDDEN int halo_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
	struct begin *b = malloc(sizeof *b);
	if (b == NULL)
		return __real_pthread_create(thread, attributes, function, argument);
	*b = (struct begin){function, argument};
	int code = __real_pthread_create(thread, attributes, begin, b);
	if (code != 0)
		free(b);
	return code;
}

HALO_HIDDEN extern __typeof__(halo_pthread_create) __wrap_pthread_create __attribute__((alias("halo_pthread_create")));
