#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "signal_stack.h"

/*
 * Handlers that are installed with SA_ONSTACK run on the alternate stack of the thread. Go's own are. If a thread has
 * no alternate stack when it enters Go for the first time, the runtime gives it one of 32 KiB in the middle of Go's
 * heap, and the handlers of the program would run there, too. Therefore each thread that enters Go gets a stack
 * that has room for a large handler and ends at a page that faults. A program that sets an alternate stack
 * of its own keeps it.
 */

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum {
	iterations = 4,    /* _POSIX_THREAD_DESTRUCTOR_ITERATIONS */
	room = 256 << 10,  /* for handlers, beyond what the kernel stores; only pages that handlers use take memory */
	frame = 16 << 10,  /* what the kernel stores, where it does not say: registers of AVX-512 and AMX are 11 KiB */
};

struct stack {
	void *start; /* NULL if there is none */
	size_t size; /* with the page that faults */
	int turns;   /* how often the destructor has run */
};

static __thread struct stack mine __attribute__((tls_model("initial-exec")));
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

/*
 * Go's runtime detaches from the thread in a destructor, too, and other destructors may call MPI. Therefore this one
 * asks to be called again as long as the C library does that for certain.
 */
static void leave(void *unused) {
	if (++mine.turns < iterations && pthread_setspecific(key, unused) == 0)
		return;
	mine.turns = 0;
	halo_signal_stack_end();
}

static void start(void) { pthread_key_create(&key, leave); }

void halo_signal_stack(void) {
	stack_t now;
	if (mine.start != NULL || sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
		return;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), least = getauxval(AT_MINSIGSTKSZ);
	size_t size = room + (least > frame ? least : frame) + page;
	size = (size + page - 1) / page * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (memory == MAP_FAILED)
		return; /* the runtime takes its own */
	stack_t stack = {.ss_sp = memory + page, .ss_size = size - page};
	if (mprotect(memory, page, PROT_NONE) != 0 || sigaltstack(&stack, NULL) != 0) {
		munmap(memory, size);
		return;
	}
	mine.start = memory;
	mine.size = size;
	pthread_once(&once, start);
	pthread_setspecific(key, &mine);
}

void halo_signal_stack_end(void) {
	stack_t now, none = {.ss_flags = SS_DISABLE};
	if (mine.start == NULL)
		return;
	if (sigaltstack(NULL, &now) == 0 && (char *)now.ss_sp > (char *)mine.start && (char *)now.ss_sp < (char *)mine.start + mine.size &&
	    sigaltstack(&none, NULL) != 0)
		return; /* a handler is still running on it */
	munmap(mine.start, mine.size);
	mine.start = NULL;
}
