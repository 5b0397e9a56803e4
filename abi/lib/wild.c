#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "attach.h"
#include "copy.h"
#include "environment.h"
#include "fast_type.h"
#include "fork.h"
#include "inside.h"
#include "libc.h"
#include "thread.h"
#include "wild.h"

extern int haloWild(void *frame, int number, int large, void *words, int parameter, char *name, uintptr_t address, int store);

/* The address of an instruction that may fault, and the address where the function continues after
 * a fault, each relative to the word itself. */
struct touch {
	int32_t at, wild;
};

extern const struct touch __start_halo_touch[] __attribute__((weak, visibility("hidden")));
extern const struct touch __stop_halo_touch[] __attribute__((weak, visibility("hidden")));

#if defined __x86_64__
#define PROGRAM_COUNTER(context) ((context)->uc_mcontext.gregs[REG_RIP])
#elif defined __aarch64__
#define PROGRAM_COUNTER(context) ((context)->uc_mcontext.pc)
#endif

static const int signals[] = {SIGSEGV, SIGBUS};
static struct sigaction before[2]; /* the actions from before this library */

/* Restores the action of a signal from before this library, which is the default action: the
 * faulting instruction runs again, and the process ends. */
static void leave(int i) { __sigaction(signals[i], &before[i], NULL); }

static void handler(int number, siginfo_t *info, void *data) {
	(void)data;
#if defined PROGRAM_COUNTER
	ucontext_t *context = data;
	uintptr_t pc = (uintptr_t)PROGRAM_COUNTER(context);
	for (const struct touch *t = __start_halo_touch; t < __stop_halo_touch; t++)
		if ((uintptr_t)&t->at + t->at == pc) {
			PROGRAM_COUNTER(context) = (uintptr_t)&t->wild + t->wild;
			return;
		}
#endif
	leave(number == SIGBUS);
	if (info->si_code <= 0) /* sent by a process: no instruction will run again and fault */
		raise(number);
}

/* Constructors with a priority run before those without, which include Go's runtime. A handler that
 * exists already, such as that of a sanitizer, keeps all faults. */
__attribute__((constructor(102))) static void install(void) {
	for (int i = 0; i < 2; i++) {
		struct sigaction ours = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
		sigemptyset(&ours.sa_mask);
		if (__sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler == SIG_DFL)
			__sigaction(signals[i], &ours, NULL);
	}
}

const void *halo_wild_layout(const void *buf, int64_t count, MPI_Datatype datatype, int store) {
	struct halo_bounds b;
	const char *at = buf;
	char halo_touched;
	if (count <= 0 || (uint64_t)count > HALO_MOST_ELEMENTS || (at != MPI_BOTTOM && !HALO_THERE(at)))
		return NULL;
	if (!halo_bounds(datatype, &b) || b.size == 0 || b.extent < 0)
		return NULL; /* an invalid type, one that only Go knows, or one without bytes */
	at += b.true_lb;
	if (!HALO_THERE(at))
		return NULL;
	if (store) {
		HALO_TOUCH_STORE(at);
		return NULL;
	}
	HALO_TOUCH_LOAD(at);
	int64_t last;
	if (__builtin_mul_overflow(count - 1, b.extent, &last) || __builtin_add_overflow(last, b.true_extent - 1, &last))
		return NULL; /* Go raises the error */
	at += last;
	HALO_TOUCH_LOAD(at);
	return NULL;
wild:
	return at;
}

/* The arguments of halo_fault_at. */
static struct {
	uintptr_t address;
	int store;
} fault;

void halo_fault_at(uintptr_t address, int store) {
	fault.address = address;
	fault.store = store;
}

void halo_end_by_fault(void) {
	for (int i = 0; i < 2; i++)
		leave(i);
	volatile char *at = (volatile char *)fault.address;
	if (fault.store)
		*at = *at;
	else
		(void)*at;
	raise(SIGSEGV); /* the access did not fault: the memory has become accessible meanwhile */
	abort();
}

int halo_wild(int number, int large, void *words, int parameter, const char *name, const void *address, int store) {
	if (!halo_attached && halo_forked)
		return halo_call_in_child(number, words);
	struct halo_stay stay;
	halo_prepare(&stay);
	int outer = halo_in();
	int code = haloWild((char *)__builtin_frame_address(0) + 2 * sizeof(void *), number, large, words, parameter, (char *)name, (uintptr_t)address, store);
	if (code == HALO_FATAL)
		halo_end_by_fault();
	halo_out(outer);
	halo_from_go(&stay);
	return code;
}
