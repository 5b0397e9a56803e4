#define _GNU_SOURCE
#include "fast_put_get.h"

#include <errno.h>
#include <sys/uio.h>

#include "copy.h"
#include "record.h"
#include "window.h"

/*
 * Puts and gets by the kernel: the target's memory belongs to a process of the same host and is not
 * mapped here. internal/rma/kernel_unlocked.go says when that is allowed. If the kernel refuses a
 * copy, the call goes to Go, which repeats it and raises the error.
 */

/* View.unlocked: the address of n bytes in the target's process, or 0 if C must not copy them. */
static uintptr_t place(char **target, const void *local, uint64_t n, int rank, MPI_Aint disp, MPI_Win win) {
	char *view, *t;
	if (n - 1 >= HALO_COPY_LESS - 1 || !HALO_THERE(local))
		return 0;
	if ((view = halo_view(win)) == NULL || (t = *target = halo_opened(view, rank)) == NULL)
		return 0;
	int32_t *may = HALO_AT(int32_t, t, HALO_TARGET_MAY);
	if (__atomic_load_n(may, __ATOMIC_SEQ_CST) <= 0 || HALO_LOAD(uint32_t, view, HALO_VIEW_HOW) & HALO_HOW_IN_ORDER ||
	    HALO_LOAD(uint32_t, POINTER(t, TARGET_GONE), 0) != 0 || (uint64_t)disp >= U64(t, TARGET_END))
		return 0;
	int64_t at = disp * I64(t, TARGET_UNIT);
	if ((int64_t)n > I64(t, TARGET_SIZE) - at || __atomic_fetch_sub(may, 1, __ATOMIC_SEQ_CST) <= 0)
		return 0;
	return (uintptr_t)(U64(t, TARGET_ADDR) + (uint64_t)at);
}

typedef ssize_t copier(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes, unsigned long flags);

static int copied(copier *copy, void *local, uint64_t n, int rank, MPI_Aint disp, MPI_Win win) {
	char *target;
	uintptr_t at = place(&target, local, n, rank, disp, win);
	if (at == 0)
		return 0;
	struct iovec here = {local, n}, there = {(void *)at, n};
	int before = errno;
	if (copy(I32(target, TARGET_PID), &here, 1, &there, 1, 0) == (ssize_t)n)
		return 1;
	errno = before;
	return 0;
}

int halo_kernel_put(const void *origin, uint64_t n, int rank, MPI_Aint disp, MPI_Win win) {
	return copied(process_vm_writev, (void *)origin, n, rank, disp, win);
}

int halo_kernel_get(void *result, uint64_t n, int rank, MPI_Aint disp, MPI_Win win) {
	return copied(process_vm_readv, result, n, rank, disp, win);
}
