/* MPI_Wait, MPI_Waitall, MPI_Test and MPI_Testall: see fast.go. */
#ifndef HALO_FAST_WAIT_H
#define HALO_FAST_WAIT_H

#include <stddef.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "copy.h"
#include "request.h"

/*
 * Completes requests of receives that C has posted, and of operations that were complete when they were
 * started, among which may be MPI_REQUEST_NULL. If flag is NULL it waits a short time for them. Returns
 * whether it has done all of the call: if not it may have received messages, but has completed no request.
 */
HALO_HIDDEN int halo_complete(int count, MPI_Request requests[], MPI_Status statuses[], int *flag);

/* Lib.wait and, below, Lib.test of abi/bind. */
static inline int halo_fast_wait(MPI_Request *request, MPI_Status *status) {
	if (!HALO_THERE(request))
		return 0;
	if (halo_received(*request))
		return halo_complete(1, request, status, NULL);
	if (!halo_done(*request))
		return 0;
	halo_done_status(*request, status);
	*request = MPI_REQUEST_NULL;
	return 1;
}

static inline int halo_fast_test(MPI_Request *request, int *flag, MPI_Status *status) {
	if (!HALO_THERE(flag) || !HALO_THERE(request))
		return 0;
	if (halo_received(*request))
		return halo_complete(1, request, status, flag);
	if (!halo_fast_wait(request, status))
		return 0;
	*flag = 1;
	return 1;
}

/* Lib.waitall or, with flag, Lib.testall of abi/bind, if C knows all requests. */
static inline int halo_complete_all(int count, MPI_Request requests[], MPI_Status statuses[], int *flag) {
	int receives = 0;
	if (count <= 0 || !HALO_THERE(requests))
		return 0;
	for (int i = 0; i < count; i++)
		if (halo_received(requests[i]))
			receives++;
		else if (!halo_done(requests[i]) && requests[i] != MPI_REQUEST_NULL)
			return 0;
	if (receives > 0)
		return halo_complete(count, requests, statuses, flag);
	for (int i = 0; i < count; i++) {
		halo_done_status(requests[i], !HALO_THERE(statuses) ? NULL : &statuses[i]);
		requests[i] = MPI_REQUEST_NULL;
	}
	if (flag != NULL)
		*flag = 1;
	return 1;
}

static inline int halo_fast_waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
	return halo_complete_all(count, requests, statuses, NULL);
}

static inline int halo_fast_testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	return HALO_THERE(flag) && halo_complete_all(count, requests, statuses, flag);
}

#endif
