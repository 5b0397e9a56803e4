#include "environment.h"

#include <stddef.h>

#include "callbacks.h"
#include "inside.h"

/* Sets the control words of the processor. */
#if defined __x86_64__
static void set(struct halo_environment e) {
	uint16_t x87 = (uint16_t)e.x87;
	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(e.main), "m"(x87));
}

/* Go's environment, with the exception flags of e. */
static struct halo_environment go_from(struct halo_environment e) {
	return (struct halo_environment){HALO_ENV_MASKED | (e.main & ~HALO_ENV_MAIN), HALO_ENV_X87_GO | (e.x87 & ~HALO_ENV_X87)};
}

/* Rounding directions have the same numbers in the code as in the control words. */
int halo_environment_code(struct halo_environment e) {
	return (int)((e.main >> 13 & 3) | (e.main >> 15 & 1) << 2 | (e.main >> 6 & 1) << 3 | (e.x87 >> 10 & 3) << 4 | ((e.x87 >> 8 & 3) ^ 3) << 6);
}
#elif defined __aarch64__
static void set(struct halo_environment e) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)e.main)); }

static struct halo_environment go_from(struct halo_environment e) { return (struct halo_environment){e.main & ~HALO_ENV_MAIN, 0}; }

int halo_environment_code(struct halo_environment e) {
	static const uint8_t direction[] = {0, 2, 1, 3}; /* nearest, up, down, to zero */
	return direction[e.main >> 22 & 3] | (e.main & HALO_ENV_FLUSH ? 12 : 0);
}
#else
static void set(struct halo_environment e) { (void)e; }
static struct halo_environment go_from(struct halo_environment e) { return e; }
int halo_environment_code(struct halo_environment e) { (void)e; return 0; }
#endif

/* The innermost stay of the thread in Go with an environment other than Go's; NULL while the
 * thread is in C. */
static __thread struct halo_stay *inside __attribute__((tls_model("initial-exec")));

void halo_stay_begin(struct halo_stay *stay) {
	stay->outer = inside;
	inside = stay;
	set(go_from(stay->own));
}

void halo_stay_end(struct halo_stay *stay) {
	inside = stay->outer;
	set(stay->own);
}

void halo_environment_leave(void) {
	struct halo_stay *stay = inside;
	if (stay == NULL)
		return;
	while (stay->outer != NULL)
		stay = stay->outer;
	inside = NULL;
	set(stay->own);
}

/* Changes that a callback of the program makes to the environment end when it returns. */
int haloInvokeIn(int callback, uintptr_t function, word *words) {
	struct halo_stay *stay = inside;
	struct halo_environment go = halo_environment();
	int in = halo_inside;
	halo_inside = 0;
	if (stay != NULL) {
		inside = NULL;
		set(stay->own);
	}
	int result = haloInvoke(callback, function, words);
	inside = stay;
	if (stay != NULL || halo_environment_odd(halo_environment()))
		set(go);
	halo_inside = in;
	return result;
}

/*
 * A constructor without priority starts Go's runtime and its first threads when the library is
 * loaded. These threads inherit the environment of the thread that loads the library. Therefore
 * halo_before_go, which has a priority and runs before the runtime, sets Go's environment, and
 * halo_after_go restores that of the thread: among constructors without priority, those of Go run
 * first.
 */
static struct halo_environment loader;

__attribute__((constructor(101))) static void halo_before_go(void) {
	loader = halo_environment();
	if (halo_environment_odd(loader))
		set(go_from(loader));
}

__attribute__((constructor)) static void halo_after_go(void) {
	if (halo_environment_odd(loader))
		set(loader);
}
