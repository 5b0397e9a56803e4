#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "jump.h"
#include "shim.h"

/*
 * The library's sigaction and signal come before those of the C library, unless it is loaded late. They install
 * call in place of a handler, which calls it with the same stack, mask and arguments, so that a siglongjmp of the
 * handler can return from it first (jump.c). What they return is what the program has set. Handlers that are installed
 * otherwise run without call.
 */

#define SIGNALS 65

/* The handlers of the program by signal. INFORMATION marks those with three parameters: no address has that bit. */
static uintptr_t handlers[SIGNALS];

#define INFORMATION ((uintptr_t)1 << 63)

const char halo_handler_linked = 1; /* see thread.c */

static void call(int number, siginfo_t *information, void *context) {
	uintptr_t to = __atomic_load_n(&handlers[number], __ATOMIC_ACQUIRE) & ~INFORMATION;
	int before = errno;
	struct halo_handler own = {halo_handler, context, 0, {0}};
	own.fault = information->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP || number == SIGSYS);
	if (__builtin_setjmp(own.place) == 0) {
		halo_handler = &own;
		/* A handler with one parameter ignores the other two. */
		((void (*)(int, siginfo_t *, void *))to)(number, information, context);
		halo_handler = own.outer;
		return;
	}
	halo_handler = halo_handler->outer;
	errno = before;
}

static int set(int number, const struct sigaction *act, struct sigaction *old) {
	struct sigaction ours, was;
	uintptr_t before = 0, mine = 0;
	if (number <= 0 || number >= SIGNALS)
		return __sigaction(number, act, old);
	if (act != NULL && act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN && act->sa_sigaction != call) {
		ours = *act;
		mine = (uintptr_t)act->sa_sigaction | (act->sa_flags & SA_SIGINFO ? INFORMATION : 0);
		ours.sa_sigaction = call;
		ours.sa_flags |= SA_SIGINFO;
		act = &ours;
		before = __atomic_exchange_n(&handlers[number], mine, __ATOMIC_ACQ_REL);
	} else {
		before = __atomic_load_n(&handlers[number], __ATOMIC_ACQUIRE);
	}
	if (__sigaction(number, act, &was) != 0) {
		if (mine != 0)
			__atomic_store_n(&handlers[number], before, __ATOMIC_RELEASE);
		return -1;
	}
	if (old == NULL)
		return 0;
	*old = was;
	if (was.sa_sigaction == call) {
		old->sa_sigaction = (void (*)(int, siginfo_t *, void *))(before & ~INFORMATION);
		if (!(before & INFORMATION))
			old->sa_flags &= ~SA_SIGINFO;
	} else if (was.sa_handler == SIG_DFL && was.sa_flags & (int)SA_RESETHAND && before != 0 && !(before & INFORMATION)) {
		old->sa_flags &= ~SA_SIGINFO; /* the kernel has reset the handler, and leaves the flags */
	}
	return 0;
}

/* The signals that siginterrupt has named. */
static uint64_t interrupting;

static sighandler_t simple(int number, sighandler_t handler, int flags) {
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
	if (handler == SIG_ERR || number <= 0 || number >= SIGNALS) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (!(flags & SA_NODEFER))
		sigaddset(&act.sa_mask, number);
	return set(number, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static sighandler_t of_bsd(int number, sighandler_t handler) {
	int interrupts = number > 0 && number < SIGNALS && __atomic_load_n(&interrupting, __ATOMIC_RELAXED) >> (number - 1) & 1;
	return simple(number, handler, interrupts ? 0 : SA_RESTART);
}

/* Weak names: a program that is linked with the static library may have its own. */
#define WEAK __attribute__((weak))

WEAK int sigaction(int number, const struct sigaction *act, struct sigaction *old) { return set(number, act, old); }

WEAK sighandler_t signal(int number, sighandler_t handler) { return of_bsd(number, handler); }

WEAK sighandler_t bsd_signal(int number, sighandler_t handler) { return of_bsd(number, handler); }

WEAK sighandler_t ssignal(int number, sighandler_t handler) { return of_bsd(number, handler); }

WEAK sighandler_t sysv_signal(int number, sighandler_t handler) { return simple(number, handler, SA_RESETHAND | SA_NODEFER); }

WEAK sighandler_t __sysv_signal(int number, sighandler_t handler) { return simple(number, handler, SA_RESETHAND | SA_NODEFER); }

WEAK int siginterrupt(int number, int yes) {
	struct sigaction act;
	if (set(number, NULL, &act) != 0)
		return -1;
	uint64_t bit = (uint64_t)1 << (number - 1);
	if (yes) {
		__atomic_or_fetch(&interrupting, bit, __ATOMIC_RELAXED);
		act.sa_flags &= ~SA_RESTART;
	} else {
		__atomic_and_fetch(&interrupting, ~bit, __ATOMIC_RELAXED);
		act.sa_flags |= SA_RESTART;
	}
	return set(number, &act, NULL);
}
