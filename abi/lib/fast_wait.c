#include "fast_wait.h"

#include <stdint.h>

#include "copy.h"
#include "engine_lock.h"
#include "fast_frame.h"
#include "fast_queue.h"
#include "handle_table.h"
#include "record.h"
#include "request.h"
#include "ring.h"
#include "way.h"

/* The record of a request, NULL if it has ended: ReceiveQueue.Find. */
static inline char *record_of(struct queue posted, MPI_Request request) {
	uint32_t number = (uint32_t)((uintptr_t)request >> 4);
	char *r = record_at(posted, number % HALO_RECEIVES_MOST);
	return r != posted.at && U32(r, RECEIVE_NUMBER) == number && U16(r, RECEIVE_STATE) != HALO_RECEIVE_FREE ? r : NULL;
}

int halo_complete(int count, MPI_Request requests[], MPI_Status statuses[], int *flag) {
	char *p = __atomic_load_n(&halo_process, __ATOMIC_ACQUIRE); /* pairs with the store in halo_open_comm */
	if (p == NULL || !lock(p))
		return 0;
	struct intake in = {p, -1, 0};
	const struct queue posted = posted_receives(p);
	if (posted.at == NULL) /* the handles are invalid */
		return leave(p);
	int32_t looks = flag != NULL ? 1 : I32(p, PROCESS_LOOKS);
	int all = 1, looked = 0;
	for (int i = 0; i < count && all; i++) {
		if (!halo_received(requests[i]))
			continue;
		const char *r = record_of(posted, requests[i]);
		if (r == NULL || U16(r, RECEIVE_STATE) == HALO_RECEIVE_IMPORTED)
			all = 0, in.blocked = 1;
		else if (U16(r, RECEIVE_STATE) == HALO_RECEIVE_POSTED) {
			if (!looked && !may_look(p, peer_at(POINTER(POINTER(p, PROCESS_REQUESTS), REQUESTS_PEERS), (int32_t)(U64(r, RECORD_WORD) >> 32)), (uint32_t *)POINTER(POINTER(p, PROCESS_REQUESTS), REQUESTS_ARMED), HALO_SLOW_IMPORT))
				all = 0, in.blocked = 1;
			else
				all = await_receive(&in, r, looks);
			looked = 1;
		}
	}
	if (all)
		for (int i = 0; i < count; i++) {
			MPI_Status *status = !HALO_THERE(statuses) ? NULL : &statuses[i];
			char *r = halo_received(requests[i]) ? record_of(posted, requests[i]) : NULL;
			if (r == NULL) {
				halo_done_status(requests[i], status);
			} else {
				halo_store_status(status, I32(r, RECEIVE_SOURCE), I32(r, RECEIVE_TAG), U32(r, RECEIVE_RECEIVED));
				release(p, r);
			}
			requests[i] = MPI_REQUEST_NULL;
		}
	finish(&in);
	if (flag == NULL)
		return all;
	if (!all && in.blocked)
		return 0;
	*flag = all;
	return 1;
}
