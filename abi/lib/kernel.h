/*
 * Kernels: functions of Go's assembly with vector instructions. Those of internal/op combine elements of a predefined
 * type by a predefined operation, and those of internal/dtype move bytes (fast_pack.c).
 */
#ifndef HALO_KERNEL_H
#define HALO_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "environment.h"

/*
 * The kernels that combine elements of a predefined type by a predefined operation: see Kernel in
 * package mpi. Types of one representation share a row, so that the table takes few pages; row 0
 * is for types without kernels.
 */
#define HALO_ROW 16
#define HALO_ROWS 32
HALO_HIDDEN extern uint8_t halo_kernel_rows[256];                   /* from handle 0x200 on */
HALO_HIDDEN extern const void *halo_kernels[HALO_ROWS][HALO_ROW]; /* from handle 0x20 on */

static inline const void *halo_kernel_of(MPI_Datatype datatype, MPI_Op op) {
	uintptr_t i = (uintptr_t)datatype - 0x200, k = (uintptr_t)op - 0x20;
	return i < 256 && k < HALO_ROW ? halo_kernels[halo_kernel_rows[i]][k] : NULL;
}

/* Whether C may call a kernel in the environment of the thread: see halo_environment_fits. */
static inline int halo_kernel_fits(MPI_Op op) { return halo_environment_fits(op == MPI_SUM || op == MPI_PROD); }

/*
 * Calls a kernel. Kernels take words, return nothing, and do not use Go's runtime. Their addresses are NULL if the
 * machine lacks the instructions.
 */
#if defined __x86_64__
HALO_HIDDEN void halo_kernel(const void *function, const uintptr_t words[6]); /* in kernel_amd64.S */
#else
static inline void halo_kernel(const void *function, const uintptr_t words[6]) { (void)function, (void)words; } /* never called */
#endif

/* op.Kernel.Apply: combines long operands by a kernel. If old is not NULL, the former contents of dst are copied to it. */
HALO_HIDDEN void halo_apply(const void *kernel, void *dst, const void *left, const void *right, uint64_t n, void *old);

/* Go calls this for each type that has kernels: see Fast in abi/bind. */
HALO_HIDDEN void halo_know_kernels(uintptr_t datatype, const uintptr_t functions[HALO_ROW]);

#endif
