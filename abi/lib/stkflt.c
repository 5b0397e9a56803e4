#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "jump.h"
#include "libc.h"
#include "run_handler.h"
#include "stkflt.h"

/*
 * The library needs SIGSTKFLT itself (signal_mask.c, jump.c), whatever the program does with it: a program that has one
 * handler for all signals would otherwise have its timers interrupt the threads of Go. Therefore the kernel always has
 * on_stkflt, and the action of the program is kept here. on_stkflt runs the program's handler if the signal is not
 * the library's own. sigaction and signal know of that (handler.c). An action that the program has installed otherwise is
 * found when the next thread enters Go, and is replaced then.
 */

/* The action of the program. Each part is atomic by itself, since no kernel sends the signal. */
static uintptr_t handler = (uintptr_t)SIG_DFL;
static int flags;
static uint64_t mask;

/* Set in a thread that has asked for go_needs: see signal_mask.c. */
static __thread int asked __attribute__((tls_model("initial-exec")));

#define BIT(number) ((uint64_t)1 << ((number)-1))

/* The signals that threads of Go do not block, as the kernel's set: see signal_mask.c. They are those of faults of the thread
 * itself, what the runtime sends to its threads, and what the C library does (32 and 33). */
static const uint64_t go_needs = BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) | BIT(SIGSYS) | BIT(SIGSTKFLT) | BIT(SIGURG) | BIT(32) | BIT(33);

/* The kernel's set has 64 bits, the C library's type is larger than that. */
static uint64_t *bits(sigset_t *set) { return (uint64_t *)set; }

static void run_theirs(int number, siginfo_t *info, ucontext_t *context) {
	uintptr_t theirs = __atomic_load_n(&handler, __ATOMIC_ACQUIRE);
	int how = __atomic_load_n(&flags, __ATOMIC_RELAXED);
	sigset_t blocked = context->uc_sigmask;
	if (theirs == (uintptr_t)SIG_IGN)
		return;
	if (theirs == (uintptr_t)SIG_DFL) {
		struct sigaction none = {.sa_handler = SIG_DFL};
		__sigaction(number, &none, NULL);
		raise(number); /* it is blocked until this handler returns */
		return;
	}
	if (how & (int)SA_RESETHAND)
		__atomic_store_n(&handler, (uintptr_t)SIG_DFL, __ATOMIC_RELEASE);
	*bits(&blocked) |= __atomic_load_n(&mask, __ATOMIC_RELAXED) | (how & SA_NODEFER ? 0 : BIT(SIGSTKFLT));
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	halo_run_handler(theirs, number, info, context);
}

static void on_stkflt(int number, siginfo_t *info, void *context) {
	if (asked) {
		asked = 0;
		*bits(&((ucontext_t *)context)->uc_sigmask) |= ~go_needs;
		return;
	}
	if (!halo_leave_again(context))
		run_theirs(number, info, context);
}

static int ours(const struct sigaction *now) { return now->sa_flags & SA_SIGINFO && now->sa_sigaction == on_stkflt; }

static void keep(const struct sigaction *theirs) {
	sigset_t set = theirs->sa_mask;
	__atomic_store_n(&flags, theirs->sa_flags, __ATOMIC_RELAXED);
	__atomic_store_n(&mask, *bits(&set), __ATOMIC_RELAXED);
	__atomic_store_n(&handler, (uintptr_t)theirs->sa_handler, __ATOMIC_RELEASE);
}

static void take(void) {
	struct sigaction own = {.sa_sigaction = on_stkflt, .sa_flags = SA_SIGINFO | SA_ONSTACK}, now;
	sigfillset(&own.sa_mask);
	if (__sigaction(SIGSTKFLT, NULL, &now) != 0 || ours(&now))
		return;
	if (__sigaction(SIGSTKFLT, &own, &now) == 0 && !ours(&now))
		keep(&now);
}

int halo_stkflt(const struct sigaction *act, struct sigaction *old) {
	struct sigaction before;
	take();
	memset(&before, 0, sizeof before);
	before.sa_handler = (sighandler_t)__atomic_load_n(&handler, __ATOMIC_ACQUIRE);
	before.sa_flags = __atomic_load_n(&flags, __ATOMIC_RELAXED);
	*bits(&before.sa_mask) = __atomic_load_n(&mask, __ATOMIC_RELAXED);
	if (act != NULL)
		keep(act);
	if (old != NULL)
		*old = before;
	return 0;
}

void halo_ask(void) {
	take();
	asked = 1;
	raise(SIGSTKFLT);
}

void halo_asked_no_more(void) { asked = 0; }

/* Before Go's runtime starts its threads, which a constructor without priority does. */
__attribute__((constructor(101))) static void install(void) { take(); }
