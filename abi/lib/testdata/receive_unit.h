/* What the tests of the queues of C share: receives of process 1, and messages of process 0. */
#include "message_unit.h"

#define MANY 600

static MPI_Request requests[MANY];
static MPI_Status statuses[MANY];
static uint64_t values[MANY];

/* Posts receive i of process 1. */
static int post(int i, int room, int tag) { return halo_fast_irecv(&values[i], room, MPI_BYTE, 0, tag, of(1), &requests[i]); }
static int wait_for(int i) { return halo_fast_wait(&requests[i], &statuses[i]); }
static uint32_t posted(void) { return GET(uint32_t, queues[1], HALO_QUEUE_LISTED); }
static uint32_t unexpected(void) { return GET(uint32_t, kept[1], HALO_QUEUE_LISTED); }
static uint32_t slow(void) { return GET(uint32_t, process[1].record, HALO_PROCESS_SLOW); }
static uint32_t used(void) { return GET(uint32_t, queues[1], HALO_QUEUE_USED); }

/* A blocking receive of process 1. */
static int receive(void *value, int room, int tag, MPI_Status *s) { return halo_fast_recv(value, room, MPI_BYTE, 0, tag, of(1), s); }

static int send_value(uint64_t value, int tag) { return halo_fast_send(&value, 8, MPI_BYTE, 1, tag, of(0)); }

static int flag_of(int i) {
	int flag = -1;
	EXPECT(1, halo_fast_test(&requests[i], &flag, &statuses[i]));
	return flag;
}

static char *record(int i) {
	return queues[1] + (uintptr_t)requests[i] / 16 % HALO_RECEIVES_MOST * HALO_RECEIVE_BYTES;
}

static void got(int i, uint64_t value, int tag) {
	int64_t n;
	memcpy(&n, &statuses[i].MPI_internal[1], sizeof n);
	EXPECT(MPI_REQUEST_NULL, requests[i]);
	EXPECT(value, values[i]);
	EXPECT(0, statuses[i].MPI_SOURCE);
	EXPECT(tag, statuses[i].MPI_TAG);
	EXPECT(8, n);
}
