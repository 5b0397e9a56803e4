#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "environment.h"
#include "inside.h"
#include "jump.h"
#include "thread.h"

/*
 * A handler of the program may leave by siglongjmp what it has interrupted, also a call of MPI. Go cannot be left at any
 * instruction: the thread would keep what the runtime and the engine have given it. Therefore siglongjmp returns from
 * the handler first. Go continues to where it returns to C, or to where it waits with no lock held
 * (proc.Proc.Wait), which leaves by a call of halo_leave; there the thread jumps. The frames of a goroutine
 * that waited are lost, as those behind a function of the program that does not return to MPI.
 *
 * C that holds a lock of Go jumps when it has given the lock up.
 */

__thread int halo_inside, halo_leaving;
__thread struct halo_handler *halo_handler;

static __thread sigjmp_buf *target;
static __thread int value;

/* How many threads want to leave: Go looks at it where it waits. */
uint32_t halo_leavers;

static void (*real)(sigjmp_buf, int) __attribute__((noreturn));
extern void __libc_siglongjmp(sigjmp_buf, int) __attribute__((noreturn, weak));

__attribute__((constructor(101))) static void find(void) {
	*(void **)&real = dlsym(RTLD_NEXT, "siglongjmp");
	if (real == NULL)
		real = __libc_siglongjmp; /* in a program that is linked statically */
}

/*
 * Whether the target is in the handler, which runs at lower addresses of the same stack: libraries that it calls may
 * use setjmp. The C library hides the stack pointer of the target, except on amd64 in a known way; elsewhere the address of
 * the buffer tells.
 */
static int in_handler(sigjmp_buf env) {
	uintptr_t to = (uintptr_t)env, here = (uintptr_t)__builtin_frame_address(0);
#if defined __x86_64__
	uintptr_t guard;
	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	to = (uintptr_t)env->__jmpbuf[6];
	to = (to >> 17 | to << 47) ^ guard;
#endif
	return to >= here && to <= (uintptr_t)halo_handler;
}

/* Whether the thread is in Go, or in C that holds a lock, so that it must return there before it jumps. */
static int must_return(sigjmp_buf env) {
	return (halo_inside || halo_attached == HALO_HOLDS) && halo_handler != NULL && !halo_handler->fault && !in_handler(env);
}

static void want(sigjmp_buf env, int with) {
	if (!halo_leaving)
		__atomic_add_fetch(&halo_leavers, 1, __ATOMIC_RELAXED);
	halo_leaving = 1;
	target = (sigjmp_buf *)env;
	value = with;
}

enum { PERIOD = 10000000 }; /* of the timer, in nanoseconds */

static void stop(void);

void halo_jump(void) {
	sigjmp_buf *to = target;
	stop();
	halo_leaving = 0;
	__atomic_sub_fetch(&halo_leavers, 1, __ATOMIC_RELAXED);
	halo_inside = 0;
	halo_environment_leave();
	halo_handler = NULL;
	real(*to, value);
}

int halo_leaves(void) { return halo_leaving; }

/* It returns if another thread wants to leave. */
void halo_leave(void) {
	if (halo_leaving)
		halo_jump();
}

/*
 * A signal that comes just before the wait does not end it. So a timer repeats SIGSTKFLT until the thread has left: see
 * signal_mask.c.
 */
static __thread int timer;
static __thread int timed;

static void repeat(void) {
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGSTKFLT};
	struct itimerspec often = {{0, PERIOD}, {0, PERIOD}};
	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (timed || syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0)
		return;
	timed = 1;
	syscall(SYS_timer_settime, timer, 0, &often, NULL);
}

static void stop(void) {
	if (timed)
		syscall(SYS_timer_delete, timer);
	timed = 0;
}

/* Makes a wait of Go for a word of memory end, which the kernel would start again after the handler. */
static void interrupt(ucontext_t *context) {
#if defined __x86_64__
	greg_t *r = context->uc_mcontext.gregs;
	if (halo_inside && r[REG_RAX] == SYS_futex && memcmp((void *)r[REG_RIP], "\x0f\x05", 2) == 0) {
		r[REG_RIP] += 2;
		r[REG_RAX] = -EINTR;
	}
#elif defined __aarch64__
	static const uint32_t svc = 0xd4000001;
	mcontext_t *m = &context->uc_mcontext;
	if (halo_inside && m->regs[8] == SYS_futex && memcmp((void *)m->pc, &svc, sizeof svc) == 0) {
		m->pc += 4;
		m->regs[0] = (unsigned long long)-EINTR;
	}
#endif
}

int halo_leave_again(void *context) {
	if (!timed)
		return 0;
	if (halo_leaving)
		interrupt(context);
	return 1;
}

static __attribute__((noreturn)) void jump(sigjmp_buf env, int with) {
	if (!must_return(env)) {
		if (halo_handler != NULL && !in_handler(env))
			halo_handler = NULL;
		real(env, with);
	}
	want(env, with);
	interrupt(halo_handler->context);
	if (halo_inside)
		repeat();
	__builtin_longjmp(halo_handler->place, 1);
}

#define JUMP(name) \
	extern void name(sigjmp_buf, int) __attribute__((noreturn, weak)); \
	void name(sigjmp_buf env, int with) { jump(env, with); }

#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
JUMP(siglongjmp)
JUMP(longjmp)
JUMP(_longjmp)
JUMP(__longjmp_chk)
