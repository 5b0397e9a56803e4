/* Declarations that the C files of the library share. */
#ifndef HALO_SHIM_H
#define HALO_SHIM_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "enter.h"
#include "environment.h"
#include "jump.h"
#include "wild.h"

/* Known bugs, for a test of the tests: see fast_test.go. */
#ifndef HALO_PLANTED
#define HALO_PLANTED(fault) 0
#endif

/* The C library's sigaction, where the library's own (handler.c) is not meant. */
struct sigaction;
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

/* An argument of a call to Go: numbers are extended to 64 bits. */
typedef uintptr_t word;

#define W(x) ((word)(intptr_t)(x))

/* MPI_X is a weak name of PMPI_X. */
#define ALIAS(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)));

/* The handle whose lower 31 bits are n, 0 if the table does not know it: MPI_X_fromint. */
static inline uintptr_t halo_known(struct halo_table *table, int n) {
	struct halo_entry *e = halo_slot_entry(table, (unsigned)n);
	uintptr_t handle = e == NULL ? 0 : __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE);
	return (handle & 0x7fffffff) == (uintptr_t)n ? handle : 0;
}

/*
 * 0 until the calling thread is attached to Go. Then 1, or 2 in checking mode, where every call
 * goes through halo_call_noted. HALO_HOLDS while the thread holds a lock of Go in C, the engine's or a window's: then
 * only a signal handler can call, and its call is refused, since it could wait for the lock. As cheap to read
 * as Go's own thread-local words.
 */
extern __thread int halo_attached __attribute__((tls_model("initial-exec")));

#define HALO_HOLDS 3

/* Takes a lock of Go, whose word is 0 while it is free, if it is free and the thread may enter Go afterwards. */
static inline int halo_try_lock(uint32_t *word) {
	uint32_t expected = 0;
	if (HALO_UNLIKELY(halo_attached != 1))
		return 0;
	halo_attached = HALO_HOLDS;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(word, &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return 1;
	halo_attached = 1;
	return 0;
}

/* Says that the thread has given up the lock, and jumps if a handler has asked for it meanwhile: see jump.c. */
static inline void halo_released(void) {
	halo_attached = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (HALO_UNLIKELY(halo_leaving))
		halo_jump();
}

/* Attaches the calling thread to Go, one thread at a time: see thread.c. */
HALO_HIDDEN void halo_attach(void);

/* Prepares a call of Go: attaches the thread, and sets Go's environment until halo_from_go. */
static inline void halo_prepare(struct halo_stay *stay) {
	halo_to_go(stay);
	if (__builtin_expect(!halo_attached, 0))
		halo_attach();
}

/* Set in a child of fork: see fork.c. There the only thread is not attached, so that only threads
 * that are not attached need to check this. */
HALO_HIDDEN extern int halo_forked;

/* Reports a call in a child of fork, or in a signal handler that has interrupted a call which holds a
 * lock, and returns the error code or ends the process. */
HALO_HIDDEN __attribute__((cold)) int halo_call_in_child(int number, word *words);
HALO_HIDDEN __attribute__((cold)) int halo_call_in_handler(int number);

/* The names of the procedures of the table. */
HALO_HIDDEN extern const char *const halo_names[];

/* haloCall for a thread that is not attached or whose environment is not Go's, and in checking mode.
 * It records the return address of the call. */
int halo_call_noted(int number, int large, void *words, void *caller);

/* The return address that halo_call_noted has recorded for this thread, 0 outside of such calls. */
uintptr_t halo_caller(void);

/* Calls a procedure by its number in the table, and returns the error code. It is always inlined,
 * so that __builtin_return_address is the return address of the procedure. */
static inline __attribute__((always_inline)) int haloCall(int number, int large, void *words) {
	if (__builtin_expect(halo_attached != 1 || halo_environment_odd(halo_environment()), 0))
		return halo_call_noted(number, large, words, __builtin_return_address(0));
	return halo_enter_run(number, large, words);
}

/* Calls a function of the program by the number of its type in callbacks.csv. */
int haloInvoke(int callback, uintptr_t function, word *words);

/* haloInvoke for calls from Go: the function runs in the environment of the thread. */
int haloInvokeIn(int callback, uintptr_t function, word *words);

double halo_wtime(void);

/* The number of the calling thread: from 0 on, and different from those of all other threads that
 * exist. It is negative if there is no memory for it. */
int halo_on_valgrind(void);
int halo_thread(void);
void halo_become_main(void);
int halo_is_main(void);

#endif
