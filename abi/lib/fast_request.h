/*
 * Requests of operations that are complete when the call that starts them returns: MPI_Rput and
 * the like on mapped memory, and MPI_Isend of short messages. Those of one-sided operations all have one
 * handle, HALO_REQUEST_DONE. Sends to MPI_PROC_NULL have HALO_REQUEST_NOWHERE, which may be cancelled, and receives from
 * there HALO_REQUEST_NOTHING, whose status says so. That of a send to a process contains its number (shmfmt.SentRecord). Such handles are in no
 * table, so that the completing calls do not enter Go. If another call gets one, abi/bind makes a request
 * for it (Lib.undone). The handle of a receive that C has posted contains its number, too
 * (shmfmt.ReceiveRecord), and abi/bind finds the request by it (Lib.receive).
 *
 * Included by fast.h.
 */
#ifndef HALO_FAST_REQUEST_H
#define HALO_FAST_REQUEST_H

#define HALO_REQUEST_DONE ((MPI_Request)0x7f5) /* requestDone of abi/bind */
#define HALO_REQUEST_NOTHING ((MPI_Request)0x7f6) /* requestNothing of abi/bind */
#define HALO_REQUEST_NOWHERE ((MPI_Request)0x7f7) /* requestNowhere of abi/bind */
#define HALO_KIND_SENT 13                      /* kindSent of abi/bind */
#define HALO_KIND_RECEIVED 14                  /* kindReceived of abi/bind */

/* isDone of abi/bind: whether a request is complete and has no object. */
static inline int halo_done(MPI_Request request) {
	uintptr_t h = (uintptr_t)request;
	return (request >= HALO_REQUEST_DONE && request <= HALO_REQUEST_NOWHERE) || ((h & 15) == HALO_KIND_SENT && h >> 4 >= HALO_SENT_FIRST && h >> 4 < (uintptr_t)1 << HALO_SENT_BITS);
}

/* isReceived of abi/bind: whether a request is that of a receive that C has posted. */
static inline int halo_received(MPI_Request request) {
	uintptr_t h = (uintptr_t)request;
	return (h & 15) == HALO_KIND_RECEIVED && h >> 4 < (uintptr_t)1 << HALO_RECEIVE_BITS;
}

/* Whether a rank of a window is locked by MPI_Win_lock or MPI_Win_lock_all: only in such an epoch
 * operations with requests are allowed. */
static inline int halo_passive(int rank, MPI_Win win) {
	char *view = halo_view(win), *window, *target;
	if (view == NULL || (target = halo_target(window = halo_window(view), rank)) == NULL)
		return 0;
	return ((HALO_LOAD(uint32_t, window, HALO_WINDOW_MODE) & HALO_MODE_LOCK_ALL) |
	        (HALO_LOAD(uint32_t, target, HALO_TARGET_GATE) & HALO_GATE_LOCKED)) != 0;
}

/* An operation with a request: the operation without one, in a passive target epoch. */
#define HALO_REQUESTED(operation)                                              \
	((uintptr_t)request >= HALO_FIRST_PAGE && halo_passive(rank, win) && (operation) && \
	 (*request = HALO_REQUEST_DONE, 1))

static inline int halo_fast_rput(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
	return HALO_REQUESTED(halo_fast_put(origin, count, datatype, rank, disp, target_count, target_datatype, win));
}

static inline int halo_fast_rget(void *result, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
	return HALO_REQUESTED(halo_fast_get(result, count, datatype, rank, disp, target_count, target_datatype, win));
}

static inline int halo_fast_raccumulate(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
	return HALO_REQUESTED(halo_fast_accumulate(origin, count, datatype, rank, disp, target_count, target_datatype, op, win));
}

static inline int halo_fast_rget_accumulate(const void *origin, int64_t count, MPI_Datatype datatype, void *result, int64_t result_count, MPI_Datatype result_datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
	return HALO_REQUESTED(halo_fast_get_accumulate(origin, count, datatype, result, result_count, result_datatype, rank, disp, target_count, target_datatype, op, win));
}

/* status.store of abi/bind, for a request that is done, or null: source, tag, the cancelled flag and the number of
 * bytes. */
static inline void halo_done_status(MPI_Request request, MPI_Status *status) {
	if ((uintptr_t)status < HALO_FIRST_PAGE)
		return;
	status->MPI_SOURCE = request == HALO_REQUEST_NOTHING ? MPI_PROC_NULL : MPI_ANY_SOURCE;
	status->MPI_TAG = MPI_ANY_TAG;
	memset(status->MPI_internal, 0, 3 * sizeof status->MPI_internal[0]);
}

/* Lib.wait and, below, Lib.test of abi/bind. */
static inline int halo_fast_wait(MPI_Request *request, MPI_Status *status) {
	if ((uintptr_t)request < HALO_FIRST_PAGE)
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
	if ((uintptr_t)flag < HALO_FIRST_PAGE || (uintptr_t)request < HALO_FIRST_PAGE)
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
	if (count <= 0 || (uintptr_t)requests < HALO_FIRST_PAGE)
		return 0;
	for (int i = 0; i < count; i++)
		if (halo_received(requests[i]))
			receives++;
		else if (!halo_done(requests[i]) && requests[i] != MPI_REQUEST_NULL)
			return 0;
	if (receives > 0)
		return halo_complete(count, requests, statuses, flag);
	for (int i = 0; i < count; i++) {
		halo_done_status(requests[i], (uintptr_t)statuses < HALO_FIRST_PAGE ? NULL : &statuses[i]);
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
	return (uintptr_t)flag >= HALO_FIRST_PAGE && halo_complete_all(count, requests, statuses, flag);
}

#endif
