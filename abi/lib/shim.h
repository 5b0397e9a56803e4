/* What the generated C files have in common. */
#ifndef HALO_SHIM_H
#define HALO_SHIM_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "enter.h"
#include "environment.h"
#include "wild.h"

/* An argument on its way to Go: numbers are extended to 64 bits. */
typedef uintptr_t word;

#define W(x) ((word)(intptr_t)(x))

/* MPI_X is a weak name of PMPI_X. */
#define ALIAS(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)));

/*
 * 1 if the calling thread is known to Go, and nothing but Go is to be called. Go's own
 * thread-local words are as near. In the checking mode it never is 1.
 */
extern __thread int halo_attached __attribute__((tls_model("initial-exec")));

/* Makes it known, one thread after the other: see thread.c. */
HALO_HIDDEN void halo_attach(void);

/* Prepares a call of Go: the thread has Go's environment from now on, until halo_from_go, and is
 * known to Go. */
static inline void halo_prepare(struct halo_stay *stay) {
	halo_to_go(stay);
	if (__builtin_expect(!halo_attached, 0))
		halo_attach();
}

/* The process is a child of fork: see fork.c. No thread is attached then, so that only who is
 * not looks at it. */
HALO_HIDDEN extern int halo_forked;

/* Says that a call was made in a child of fork, and returns the error code or ends the process. */
HALO_HIDDEN __attribute__((cold)) int halo_call_in_child(int number, word *words);

/* The names of the procedures of the table. */
HALO_HIDDEN extern const char *const halo_names[];

/* haloCall of a thread that Go does not know yet, or whose environment is not Go's, or in the
 * checking mode: it notes where the call returns to. */
int halo_call_noted(int number, int large, void *words, void *caller);

/* What halo_call_noted has noted for this thread, NULL outside of calls. */
uintptr_t halo_caller(void);

/* haloCall calls a procedure by its number in the table, and returns the error code. It is
 * always inlined, so that the return address is that of the procedure. */
static inline __attribute__((always_inline)) int haloCall(int number, int large, void *words) {
	if (__builtin_expect(halo_attached != 1 || halo_environment_odd(halo_environment()), 0))
		return halo_call_noted(number, large, words, __builtin_return_address(0));
	return halo_enter_run(number, large, words);
}

/* Calls a function of the program by the number of its type in callbacks.csv. */
int haloInvoke(int callback, uintptr_t function, word *words);

/* The same in the environment of the thread, from Go. */
int haloInvokeIn(int callback, uintptr_t function, word *words);

double halo_wtime(void);

/* A number of the calling thread that no other has at the same time, from 0 on. */
int halo_thread(void);

#endif
