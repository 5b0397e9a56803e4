#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "compiler.h"
#include "monitor.h"
#include "signal_mask.h"
#include "signal_stack.h"
#include "stkflt.h"

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
 * runtime unblocks it, its handler runs at once, and changes the mask that holds after the handler (stkflt.c).
 *
 * The mask that the runtime has noted for the thread stays as it was, and a program that it starts from there gets that.
 */

const char halo_signal_mask_linked = 1; /* see attach.c */

void halo_block_after_go(sigset_t *before) {
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, SIGSTKFLT);
	pthread_sigmask(SIG_BLOCK, &one, before);
	halo_ask();
}

void halo_unblock(const sigset_t *before) {
	static const int always[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSTKFLT, SIGURG};
	sigset_t mask = *before;
	halo_asked_no_more();
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
	int number;
	sigset_t mask; /* of the thread that has asked for the thread */
};

__thread int halo_of_runtime;

static int begun; /* threads */

static void *begin(void *p) {
	struct begin b = *(struct begin *)p;
	halo_of_runtime = 1;
	free(p);
	halo_signal_stack();
	halo_block_after_go(NULL);
	sigaddset(&b.mask, SIGSTKFLT);
	pthread_sigmask(SIG_SETMASK, &b.mask, NULL); /* from here left_to_others applies (handler.c) */
	halo_monitor(b.number);
	void *result = b.function(b.argument);
	halo_signal_stack_end();
	return result;
}

extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

HALO_HIDDEN int halo_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
	struct begin *b = malloc(sizeof *b);
	if (b == NULL)
		return __real_pthread_create(thread, attributes, function, argument);
	b->function = function;
	b->argument = argument;
	b->number = __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
	/* A new thread takes no signal before it says what it is. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	b->mask = before;
	int code = __real_pthread_create(thread, attributes, begin, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code != 0) { /* the runtime tries again */
		__atomic_sub_fetch(&begun, 1, __ATOMIC_RELAXED);
		free(b);
	}
	return code;
}

HALO_HIDDEN extern __typeof__(halo_pthread_create) __wrap_pthread_create __attribute__((alias("halo_pthread_create")));
