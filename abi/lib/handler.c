#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "libc.h"
#include "run_handler.h"
#include "signal_mask.h"
#include "stkflt.h"

/*
 * The library's sigaction, signal and so on come before those of the C library, unless it is loaded late. They install
 * an entry in place of a handler, which calls the handler with the same stack, mask and arguments, so that a siglongjmp of
 * the handler can return from it first (jump.c). What they return is what the program has set. Handlers that are
 * installed otherwise run without an entry.
 *
 * An entry belongs to one handler for ever, whatever its signal. So whoever learns of an entry, from the system call or
 * from the C library's own functions, may install it again, or call it as the handler before: both reach
 * the same handler. One entry for each signal, whose handler is in a table, would not do: two handlers of which each
 * calls the one before it would call each other for ever. A program that has more handlers than there are entries
 * installs the others as they are.
 */

#define SIGNALS 65

/* INFORMATION marks handlers with three parameters: no address has that bit. */
#define INFORMATION ((uintptr_t)1 << 63)

/* The numbers of entries are octal, with two digits. */
#define ROW(of, r) of(r##0) of(r##1) of(r##2) of(r##3) of(r##4) of(r##5) of(r##6) of(r##7)
#define EACH(of) ROW(of, 0) ROW(of, 1) ROW(of, 2) ROW(of, 3) ROW(of, 4) ROW(of, 5) ROW(of, 6) ROW(of, 7)
#define ENTRIES 64

static uintptr_t handlers[ENTRIES]; /* by entry; 0 where the entry has none yet */

/* The handler with one parameter that was set last for each signal, if it is reset by its signal. */
static char resets[SIGNALS];

const char halo_handler_linked = 1; /* see attach.c */

typedef void function(int, siginfo_t *, void *);

static int is_handler(const struct sigaction *a) { return a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN; }

/*
 * Whether the kernel has called the function whose frame begins at start: what it passes is where it has put it on the
 * stack then. A handler that calls the one before it may pass one argument only.
 */
static inline int from_kernel(siginfo_t *information, void *context, void *start) {
#if defined __x86_64__
	(void)information;
	return context == start;
#else
	(void)context;
	return (void *)information == start;
#endif
}

/*
 * The first thread of Go's runtime has the mask of the program from its start until the runtime sets another one, and on
 * a busy machine that may be after the program has installed a handler and started a timer. Such a thread blocks the
 * signal, and sends it to the process again, so that another thread handles it. It handles the signal itself if that was sent
 * to this thread, and if the kernel has reset the action: the signal would end the process now.
 */
static int left_to_others(int number, siginfo_t *information, void *context) {
	int before = errno;
	struct sigaction now;
	if (!halo_of_runtime || information->si_code == SI_TKILL || halo_is_fault(number) || __sigaction(number, NULL, &now) != 0 || !is_handler(&now))
		return 0;
	sigaddset(&((ucontext_t *)context)->uc_sigmask, number);
	/* The kernel lets only the first thread of the program send information that is the kernel's own. */
	if (syscall(SYS_rt_sigqueueinfo, getpid(), number, information) != 0)
		kill(getpid(), number);
	errno = before;
	return 1;
}

static void enter(int entry, int number, siginfo_t *information, void *context, void *start) {
	uintptr_t to = __atomic_load_n(&handlers[entry], __ATOMIC_ACQUIRE) & ~INFORMATION;
	int by_kernel = from_kernel(information, context, start);
	if (by_kernel && left_to_others(number, information, context))
		return;
	if (by_kernel)
		halo_run_handler(to, number, information, context);
	else
		((function *)to)(number, information, context);
}

#define ENTRY(k) \
	static void entry_##k(int number, siginfo_t *information, void *context) { enter(0##k, number, information, context, __builtin_dwarf_cfa()); }
EACH(ENTRY)

#define NAME(k) entry_##k,
static function *const entries[ENTRIES] = {EACH(NAME)};

/* The number of an entry, or -1. */
static int entry_of(function *f) {
	for (int k = 0; k < ENTRIES; k++)
		if (entries[k] == f)
			return k;
	return -1;
}

/* The entry of a handler, or -1 if all have others. */
static int entry_for(uintptr_t handler) {
	for (int k = 0; k < ENTRIES; k++) {
		uintptr_t has = 0;
		if (__atomic_compare_exchange_n(&handlers[k], &has, handler, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || has == handler)
			return k;
	}
	return -1;
}

static int set(int number, const struct sigaction *act, struct sigaction *old) {
	struct sigaction ours, was;
	char reset = 0, before;
	int k;
	if (number == SIGSTKFLT)
		return halo_stkflt(act, old);
	if (number <= 0 || number >= SIGNALS)
		return __sigaction(number, act, old);
	before = __atomic_load_n(&resets[number], __ATOMIC_RELAXED);
	if (act != NULL && is_handler(act)) {
		ours = *act;
		k = entry_of(act->sa_sigaction);
		if (k < 0 && (k = entry_for((uintptr_t)act->sa_sigaction | (act->sa_flags & SA_SIGINFO ? INFORMATION : 0))) >= 0)
			ours.sa_sigaction = entries[k];
		if (k >= 0) {
			reset = act->sa_flags & (int)SA_RESETHAND && !(act->sa_flags & SA_SIGINFO);
			ours.sa_flags |= SA_SIGINFO;
		}
		act = &ours;
	}
	if (__sigaction(number, act, &was) != 0)
		return -1;
	if (act != NULL)
		__atomic_store_n(&resets[number], reset, __ATOMIC_RELAXED);
	if (old == NULL)
		return 0;
	*old = was;
	if (is_handler(&was) && (k = entry_of(was.sa_sigaction)) >= 0) {
		uintptr_t handler = __atomic_load_n(&handlers[k], __ATOMIC_ACQUIRE);
		old->sa_sigaction = (function *)(handler & ~INFORMATION);
		if (!(handler & INFORMATION))
			old->sa_flags &= ~SA_SIGINFO;
	} else if (was.sa_handler == SIG_DFL && before) {
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

/* Of System V: SIG_HOLD blocks the signal, and any other action unblocks it. */
WEAK sighandler_t sigset(int number, sighandler_t handler) {
	struct sigaction act = {.sa_handler = handler}, old;
	sigset_t one, before;
	if (handler == SIG_ERR || number <= 0 || number >= SIGNALS) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigemptyset(&one);
	sigaddset(&one, number);
	if (set(number, handler == SIG_HOLD ? NULL : &act, &old) != 0)
		return SIG_ERR;
	if (pthread_sigmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) != 0)
		return SIG_ERR;
	return sigismember(&before, number) ? SIG_HOLD : old.sa_handler;
}

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
