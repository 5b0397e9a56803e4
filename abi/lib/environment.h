/*
 * The floating-point environment of threads that come from C: the control words of the processor
 * for rounding, subnormal numbers and traps. Go code, its runtime included, assumes the default
 * environment, and a thread that Go starts inherits the words of the thread that starts it.
 * Therefore a thread has Go's environment while it is in Go, and its own environment while it is
 * in C, including callbacks from Go. Go gets the part of the thread's environment that affects
 * results (op.Env), and operands are combined in that environment, wherever that happens.
 */
#ifndef HALO_ENVIRONMENT_H
#define HALO_ENVIRONMENT_H

#include <stdint.h>

#include "compiler.h"
#include "word.h"

struct halo_environment {
	uint32_t main;
	uint32_t x87; /* the control word for long double on amd64 */
};

#if defined __x86_64__
#define HALO_ENV_MASKED 0x1f80u /* MXCSR in Go: all exceptions are masked */
#define HALO_ENV_ZEROS 0x40u    /* subnormal operands count as zeros */
#define HALO_ENV_MAIN 0xffc0u   /* all bits but the exception flags */
#define HALO_ENV_X87 0x0f3fu
#define HALO_ENV_X87_GO 0x033fu

static inline struct halo_environment halo_environment(void) {
	struct halo_environment e;
	uint16_t x87;
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(e.main), "=m"(x87));
	e.x87 = x87;
	return e;
}

static inline int halo_environment_odd(struct halo_environment e) {
	return (e.main & HALO_ENV_MAIN) != HALO_ENV_MASKED || (e.x87 & HALO_ENV_X87) != HALO_ENV_X87_GO;
}

/*
 * Whether C may combine numbers itself. With traps enabled it may not, and Go does it without
 * traps. Sums and products are allowed in environments that treat subnormal operands as zeros;
 * other operations are not, because they must distinguish subnormal numbers from zeros.
 */
static inline int halo_environment_fits(int arithmetic) {
	uint32_t main;
	__asm__ volatile("stmxcsr %0" : "=m"(main));
	return (main & (arithmetic ? HALO_ENV_MASKED : HALO_ENV_MASKED | HALO_ENV_ZEROS)) == HALO_ENV_MASKED;
}
#elif defined __aarch64__
#define HALO_ENV_MAIN 0x07c89f07u /* alternative formats, NaNs, flushing, direction, traps */
#define HALO_ENV_TRAPS 0x00009f00u
#define HALO_ENV_FLUSH 0x01000000u

static inline struct halo_environment halo_environment(void) {
	uint64_t word;
	__asm__ volatile("mrs %0, fpcr" : "=r"(word));
	return (struct halo_environment){(uint32_t)word, 0};
}

static inline int halo_environment_odd(struct halo_environment e) { return (e.main & HALO_ENV_MAIN) != 0; }

static inline int halo_environment_fits(int arithmetic) {
	return (halo_environment().main & (arithmetic ? HALO_ENV_TRAPS : HALO_ENV_TRAPS | HALO_ENV_FLUSH)) == 0;
}
#else
static inline struct halo_environment halo_environment(void) { return (struct halo_environment){0, 0}; }
static inline int halo_environment_odd(struct halo_environment e) { (void)e; return 0; }
static inline int halo_environment_fits(int arithmetic) { (void)arithmetic; return 1; }
#endif

/*
 * A stay of a thread in Go. halo_to_go saves the environment of the thread and sets Go's if they
 * differ, and halo_from_go restores it.
 */
struct halo_stay {
	struct halo_environment own;
	struct halo_stay *outer; /* the stay around this one, if a callback from Go has called MPI */
	int odd;
};

/* Converts an environment to an op.Env. */
HALO_HIDDEN int halo_environment_code(struct halo_environment e);

HALO_HIDDEN void halo_stay_begin(struct halo_stay *stay);
HALO_HIDDEN void halo_stay_end(struct halo_stay *stay);

static inline void halo_to_go(struct halo_stay *stay) {
	stay->own = halo_environment();
	stay->odd = halo_environment_odd(stay->own);
	if (__builtin_expect(stay->odd, 0))
		halo_stay_begin(stay);
}

static inline void halo_from_go(struct halo_stay *stay) {
	if (__builtin_expect(stay->odd, 0))
		halo_stay_end(stay);
}

/* Sets the floating-point environment of the program, for a thread that leaves all stays in Go. */
HALO_HIDDEN void halo_environment_leave(void);

/* haloInvoke for calls from Go: the function runs in the environment of the thread. */
int haloInvokeIn(int callback, uintptr_t function, word *words);

#endif
