/* What the tests of short messages in C share: two processes that are threads or functions here, with the
 * records of Go. */
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../datatype.h"
#include "../environment.h"
#include "../fast_integer.h"
#include "../fast_receive.h"
#include "../fast_send.h"
#include "../fast_wait.h"
#include "../handle_table.h"
#include "../inside.h"
#include "../record.h"
#include "../request.h"
#include "../thread.h"
#include "expect.h"

#define SET(type, base, place, value) (*HALO_AT(type, base, place) = (value))
#define GET(type, base, place) (*HALO_AT(type, base, place))

#define CREDIT 100000
#define HANDLES {(uintptr_t)5 << 31 | 300 << 4 | 1, (uintptr_t)5 << 31 | 301 << 4 | 1}

/* Two processes, ranks 0 and 1 of a communicator. Ring i is filled by process i. */
static struct {
	_Alignas(64) char record[128], comm[64], peers[2 * HALO_PEER_BYTES];
	int32_t locals[2];
	_Alignas(64) uint32_t armed;
	_Alignas(64) uint32_t bell;
} process[2];
static struct {
	_Alignas(64) char control[128], data[HALO_RING_BYTES];
} ring[2];
static _Alignas(64) char requests_of[2][HALO_REQUESTS_RECENT + HALO_SENT_MOST * HALO_SENT_BYTES], queues[2][HALO_RECEIVES_MOST * HALO_RECEIVE_BYTES],
    kept[2][HALO_UNEXPECTED_MOST * HALO_UNEXPECTED_BYTES];
static const uintptr_t handles[2] = HANDLES;

static MPI_Comm of(int i) { return (MPI_Comm)handles[i]; }
static char *way(int i) { return process[i].peers + (1 - i) * HALO_PEER_BYTES; } /* of process i to the other one */

/* What the library has elsewhere. */
__thread int halo_attached = 1;
__thread int halo_leaving;

void halo_jump(void) { abort(); }
int halo_forked;
static int woken[2], rooms;

void halo_attach(void) { abort(); }
void halo_stay_begin(struct halo_stay *stay) { (void)stay; }
void halo_stay_end(struct halo_stay *stay) { (void)stay; }

/* node.Ring and node.RingUnarmed */
void halo_enter_wake(int local, int room) {
	EXPECT(0, GET(uint32_t, process[1 - local].record, HALO_PROCESS_LOCK) & (uint32_t)room); /* the caller has given up the lock */
	rooms += room;
	if (room || __atomic_exchange_n(&process[local].armed, 0, __ATOMIC_SEQ_CST) != 0) {
		woken[local]++;
		__atomic_add_fetch(&process[local].bell, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &process[local].bell, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void reset(void) {
	memset(process, 0, sizeof process);
	memset(ring, 0, sizeof ring);
	memset(queues, 0, sizeof queues);
	memset(kept, 0, sizeof kept);
	for (int i = 0; i < 2; i++) {
		char *q = way(i), *c = process[i].comm;
		SET(int32_t, process[i].record, HALO_PROCESS_LOOKS, 100);
		SET(char *, process[i].record, HALO_PROCESS_REQUESTS, requests_of[i]);
		SET(char *, requests_of[i], HALO_REQUESTS_RECEIVES, queues[i]);
		SET(char *, requests_of[i], HALO_REQUESTS_UNEXPECTED, kept[i]);
		SET(char *, requests_of[i], HALO_REQUESTS_PEERS, process[i].peers);
		SET(uint32_t *, requests_of[i], HALO_REQUESTS_ARMED, &process[i].armed);
		SET(uint32_t, queues[i], HALO_QUEUE_HIGH, 1);
		SET(uint32_t, kept[i], HALO_QUEUE_HIGH, 1);
		SET(uint64_t, c, HALO_COMM_CTX, 40);
		SET(uint32_t, c, HALO_COMM_ANY_TAG, 1);
		SET(char *, c, HALO_COMM_PROCESS, process[i].record);
		SET(char *, c, HALO_COMM_PEERS, process[i].peers);
		SET(uint32_t *, c, HALO_COMM_ARMED, &process[i].armed);
		SET(int32_t *, c, HALO_COMM_LOCALS, process[i].locals);
		process[i].locals[i] = -1;
		process[i].locals[1 - i] = 1 - i;
		SET(char *, q, HALO_PEER_OUT_CONTROL, ring[i].control);
		SET(char *, q, HALO_PEER_OUT_DATA, ring[i].data);
		SET(uint32_t *, q, HALO_PEER_ARMED, &process[1 - i].armed);
		SET(uint32_t, q, HALO_PEER_OPEN, 1);
		SET(char *, q, HALO_PEER_IN_CONTROL, ring[1 - i].control);
		SET(char *, q, HALO_PEER_IN_DATA, ring[1 - i].data);
		SET(int64_t, q, HALO_PEER_CREDIT, CREDIT);
		SET(int64_t, q, HALO_PEER_EAGER_MAX, 8192);
		SET(int64_t, q, HALO_PEER_ALLOWANCE, CREDIT);
		halo_open_comm(handles[i], i, 2, 0, 0, 0, (uintptr_t)c, HALO_MESSAGE_LAYOUT);
	}
}

static char in[10000], out[10000];

static int send_tag(int n, int tag) { return halo_fast_send(out, n, MPI_BYTE, 1, tag, of(0)); }
static int send_bytes(int n) { return send_tag(n, 3); }

/* Expects that a call is left to Go and that it changes neither records nor rings but the counters of
 * calls, and that the lock is free. */
#define LEFT(call)                                                             \
	do {                                                                       \
		static char before[sizeof process], rings[sizeof ring];                \
		memcpy(before, process, sizeof process);                               \
		memcpy(rings, ring, sizeof ring);                                      \
		EXPECT(0, call);                                                       \
		for (int i_ = 0; i_ < 2; i_++) {                                       \
			size_t at_ = (size_t)(process[i_].record - (char *)process);       \
			memcpy(before + at_ + HALO_PROCESS_TURNS, process[i_].record + HALO_PROCESS_TURNS, 16); \
		}                                                                      \
		EXPECT(0, memcmp(before, process, sizeof process));                    \
		EXPECT(0, memcmp(rings, ring, sizeof ring));                           \
	} while (0)

/* LEFT with a value in a record, and that C does the call with the former one. */
#define WITH(type, base, place, value, call)             \
	do {                                                 \
		type was_ = GET(type, base, HALO_##place);       \
		SET(type, base, HALO_##place, value);            \
		LEFT(call);                                      \
		SET(type, base, HALO_##place, was_);             \
		EXPECT(1, call);                                 \
	} while (0)
