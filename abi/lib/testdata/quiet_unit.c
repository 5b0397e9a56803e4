/* Tests receives of C that wait longer while everything else is quiet, and the credit that C returns and collects, on
 * records with the layouts of Go. Prints errors, and exits with 1 if there are any. */
#include <pthread.h>
#include <sched.h>

#include "../fast_frame.h"
#include "../processor.h"
#include "../quiet.h"
#include "receive_unit.h"

static uint64_t senders[4]; /* two words for processes that have sent, two for those that have made offers */
static uint8_t losing;
static _Alignas(64) char others[128 * HALO_PEER_BYTES];
static char *p = process[1].record;

static uint64_t *frame_of(char *data) { return (uint64_t *)data; }

/* Process 1 has 127 peers, of which 0 is process 0. */
static void reset_quiet(void) {
	reset();
	memset(senders, 0, sizeof senders);
	memset(others, 0, sizeof others);
	losing = 0;
	SET(void *, p, HALO_PROCESS_SENDERS, senders);
	SET(uint32_t, p, HALO_PROCESS_WORDS, 2);
	SET(void *, p, HALO_PROCESS_LOSING, &losing);
	SET(void *, p, HALO_PROCESS_PEERS, others);
	SET(char *, others, HALO_PEER_IN_DATA, ring[0].data);
	senders[0] = 1;
}

/* Each reason why a process is not quiet. */
static void reasons(void) {
	static char data[HALO_RING_BYTES];
	char *last = others + 100 * HALO_PEER_BYTES;
	reset_quiet();
	EXPECT(1, halo_quiet(p, others));
	EXPECT(1, halo_quiet(p, NULL));
#define LOUD(type, place, value)          \
	do {                                  \
		type was_ = (place);              \
		(place) = (value);                \
		EXPECT(0, halo_quiet(p, others)); \
		(place) = was_;                   \
		EXPECT(1, halo_quiet(p, others)); \
	} while (0)
	LOUD(void *, GET(void *, p, HALO_PROCESS_SENDERS), NULL);
	LOUD(uint32_t, GET(uint32_t, p, HALO_PROCESS_ELSEWHERE), 1);
	LOUD(uint8_t, losing, 1);
	LOUD(uint64_t, senders[2], 2);
	LOUD(uint64_t, senders[3], (uint64_t)1 << 63);
	LOUD(uint64_t, senders[1], (uint64_t)1 << 36); /* its ring is not known */
	SET(char *, last, HALO_PEER_IN_DATA, data);
	SET(uint64_t, last, HALO_PEER_IN_HEAD, 3 * HALO_RING_BYTES + 64);
	senders[1] = (uint64_t)1 << 36;
	LOUD(uint64_t, *frame_of(data + 64), HALO_MESSAGE_EAGER);
	LOUD(uint64_t, *frame_of(data + 64), (uint64_t)HALO_RING_PAD << 32);
	*frame_of(data + 128) = HALO_MESSAGE_EAGER; /* behind the next one */
	EXPECT(1, halo_quiet(p, others));
	*frame_of(ring[0].data) = HALO_MESSAGE_EAGER; /* of the peer that is awaited */
	EXPECT(1, halo_quiet(p, others));
	EXPECT(0, halo_quiet(p, last));
	*frame_of(ring[0].data) = 0;
}

/* A full poll is due: C goes on if it would find nothing. */
static void turns(void) {
	MPI_Status s;
	uint64_t value = 0;
	reset_quiet();
	SET(void *, p, HALO_PROCESS_PEERS, process[1].peers);
	for (int i = 0; i < 3 * HALO_MESSAGE_TURNS; i++) {
		EXPECT(1, send_value((uint64_t)i, 3));
		EXPECT(1, i % 2 ? receive(&value, 8, 3, &s) : post(0, 8, 3) && wait_for(0));
		EXPECT(i, i % 2 ? value : values[0]);
	}
	SET(uint64_t, p, HALO_PROCESS_TURNS, HALO_MESSAGE_TURNS - 1);
	losing = 1;
	EXPECT(1, send_value(9, 3));
	LEFT(receive(&value, 8, 3, &s));
	losing = 0;
	EXPECT(1, receive(&value, 8, 3, &s));
	EXPECT(9, value);
}

static int wanted, late;

/* Sends a message, or wants the lock, when process 1 has looked for a while. */
static void *later(void *unused) {
	while (GET(volatile uint32_t, p, HALO_PROCESS_LOCK) == 0)
		sched_yield();
	for (int i = 0; i < 10000; i++)
		halo_pause();
	if (wanted)
		__atomic_store_n(HALO_AT(uint32_t, p, HALO_PROCESS_WANT), 1, __ATOMIC_SEQ_CST);
	else if (late)
		losing = 1;
	else
		send_value(77, 3);
	return unused;
}

/* A receive looks on while everything else is quiet, and nobody wants the lock. */
static void looks_on(void) {
	MPI_Status s;
	uint64_t value = 0;
	pthread_t t;
	for (int i = 0; i < 6; i++) {
		reset_quiet();
		SET(void *, p, HALO_PROCESS_PEERS, process[1].peers);
		SET(int32_t, p, HALO_PROCESS_LOOKS, 2);
		SET(int32_t, p, HALO_PROCESS_LOOKS_QUIET, INT32_MAX);
		wanted = i / 2 == 1;
		late = i / 2 == 2;
		if (i % 2)
			EXPECT(1, post(0, 8, 3));
		pthread_create(&t, NULL, later, NULL);
		EXPECT(!wanted && !late, i % 2 ? wait_for(0) : receive(&value, 8, 3, &s));
		pthread_join(t, NULL);
		if (i < 2)
			EXPECT(77, i % 2 ? values[0] : value);
	}
	reset_quiet();
	SET(int32_t, p, HALO_PROCESS_LOOKS_QUIET, INT32_MAX);
	SET(uint32_t, p, HALO_PROCESS_ELSEWHERE, 1);
	LEFT(receive(&value, 8, 3, &s));
	SET(uint32_t, p, HALO_PROCESS_ELSEWHERE, 0);
	EXPECT(1, post(0, 8, 3));
	EXPECT(0, flag_of(0)); /* a test looks once */
}

/* All credit for messages from process 0 to process 1. */
static void whole(int64_t all) {
	int64_t way_back = 0;
	for (uint64_t at = GET(uint64_t, way(0), HALO_PEER_IN_HEAD); at < GET(uint64_t, way(1), HALO_PEER_OUT_TAIL); at += 64) {
		uint64_t *entry = frame_of(ring[1].data + at % HALO_RING_BYTES);
		way_back += entry[0] == HALO_MESSAGE_CREDIT ? (int64_t)entry[3] : 0;
	}
	EXPECT(all, GET(int64_t, way(0), HALO_PEER_CREDIT) + GET(int64_t, way(1), HALO_PEER_CREDIT_OWED) + way_back);
	EXPECT(all, GET(int64_t, way(1), HALO_PEER_ALLOWANCE) + GET(int64_t, way(1), HALO_PEER_CREDIT_OWED));
}

/* A stream in one direction, which takes all credit three times, in which each receive is of another kind. */
static void streams(void) {
	MPI_Status s;
	reset_quiet();
	SET(void *, p, HALO_PROCESS_PEERS, process[1].peers);
	SET(int64_t, way(0), HALO_PEER_CREDIT, HALO_MESSAGE_CREDIT_MAX);
	SET(int64_t, way(1), HALO_PEER_ALLOWANCE, HALO_MESSAGE_CREDIT_MAX);
	for (int i = 0; i < 3 * HALO_MESSAGE_CREDIT_MAX / 4096 && !failed; i++) {
		EXPECT(1, send_tag(4096, 3));
		if (i % 2) {
			EXPECT(1, halo_fast_recv(in, sizeof in, MPI_BYTE, 0, 3, of(1), &s));
		} else {
			EXPECT(1, halo_fast_irecv(in, sizeof in, MPI_BYTE, 0, 3, of(1), &requests[0]));
			EXPECT(1, wait_for(0));
		}
		whole(HALO_MESSAGE_CREDIT_MAX);
	}
	EXPECT(0, woken[0]);
}

/* Sets the credit so that one message of 8 bytes makes it due, and sends that. */
static void owe(void) {
	reset_quiet();
	SET(int64_t, way(0), HALO_PEER_CREDIT, HALO_MESSAGE_CREDIT_MAX - HALO_MESSAGE_CREDIT_DUE + 8 + HALO_MESSAGE_OVERHEAD);
	SET(int64_t, way(1), HALO_PEER_CREDIT_OWED, HALO_MESSAGE_CREDIT_DUE - 8 - HALO_MESSAGE_OVERHEAD);
	SET(int64_t, way(1), HALO_PEER_ALLOWANCE, HALO_MESSAGE_CREDIT_MAX - HALO_MESSAGE_CREDIT_DUE + 8 + HALO_MESSAGE_OVERHEAD);
	EXPECT(1, send_value(5, 3));
}

/* Credit that C returns, in all conditions, and that the receiver of the credit finds before a message. */
static void returns(void) {
	MPI_Status s;
	uint64_t value = 0;
	for (int i = 0; i < 4; i++) {
		owe();
		woken[0] = 0;
		process[0].armed = (uint32_t)i % 2;
		EXPECT(1, i < 2 ? receive(&value, 8, 3, &s) : post(0, 8, 3) && wait_for(0));
		EXPECT(i % 2, woken[0]);
		EXPECT(0, GET(int64_t, way(1), HALO_PEER_CREDIT_OWED));
		whole(HALO_MESSAGE_CREDIT_MAX);

		value = 6;
		EXPECT(1, halo_fast_send(&value, 8, MPI_BYTE, 0, 4, of(1)));
		uint64_t got = 0;
		MPI_Request r;
		if (i % 2) {
			EXPECT(1, halo_fast_recv(&got, 8, MPI_BYTE, 1, 4, of(0), &s));
		} else {
			EXPECT(1, halo_fast_irecv(&got, 8, MPI_BYTE, 1, 4, of(0), &r));
			halo_process = process[0].record;
			EXPECT(1, halo_fast_wait(&r, &s));
			halo_process = p;
		}
		EXPECT(6, got);
		EXPECT(HALO_MESSAGE_CREDIT_MAX, GET(int64_t, way(0), HALO_PEER_CREDIT));
	}
	owe(); /* no room for the frame */
	SET(uint64_t, way(1), HALO_PEER_OUT_TAIL, HALO_RING_BYTES - 64);
	LEFT(receive(&value, 8, 3, &s));
	SET(uint64_t, ring[1].control, HALO_RING_HEAD, 64);
	EXPECT(1, receive(&value, 8, 3, &s));
	owe(); /* frames are in the send queue */
	SET(uint32_t, p, HALO_PROCESS_SLOW, HALO_SLOW_QUEUED);
	LEFT(receive(&value, 8, 3, &s));
}

/* Credit that C must not collect, since Go refuses the peer, or tells it of room. */
static void collects(void) {
	for (int i = 0; i < 3; i++) {
		reset_quiet();
		char *q = way(0);
		uint64_t *entry = frame_of(ring[1].data);
		SET(int64_t, q, HALO_PEER_CREDIT, 8 + HALO_MESSAGE_OVERHEAD - 1);
		entry[3] = HALO_MESSAGE_CREDIT_MAX - 8 - HALO_MESSAGE_OVERHEAD + 1;
		entry[0] = HALO_MESSAGE_CREDIT;
		if (i == 0)
			entry[3]++;
		else if (i == 1)
			SET(uint64_t, q, HALO_PEER_IN_TOLD, 64 - (uint64_t)HALO_RING_LAG);
		else
			SET(int64_t, q, HALO_PEER_EAGER_MAX, -1); /* it has failed */
		LEFT(send_value(1, 3));
		if (i == 0)
			entry[3]--;
		else if (i == 1)
			SET(uint64_t, q, HALO_PEER_IN_TOLD, 64 - (uint64_t)HALO_RING_LAG + 64);
		else
			SET(int64_t, q, HALO_PEER_EAGER_MAX, 8192);
		EXPECT(1, send_value(1, 3));
		EXPECT(HALO_MESSAGE_CREDIT_MAX - 8 - HALO_MESSAGE_OVERHEAD, GET(int64_t, q, HALO_PEER_CREDIT));
	}
}

/* A process that is to be woken is not forgotten for another one. */
static void wakes(void) {
	reset_quiet();
	EXPECT(1, post(0, 8, 3));
	EXPECT(1, send_value(5, 3));
	struct intake in_call = {p, 1, 0};
	EXPECT(0, halo_receive_frames(&in_call, 0, record(0), 100));
	EXPECT(1, in_call.blocked);
	EXPECT(1, in_call.waits);
	EXPECT(1, posted());
	EXPECT(1, wait_for(0));
}

int main(void) {
	halo_know_type((uintptr_t)MPI_BYTE, 1, 1, 1, HALO_BITS, 0);
	reasons();
	if (failed) /* receives might look on for long */
		return 1;
	turns();
	looks_on();
	streams();
	returns();
	collects();
	wakes();
	return failed != 0;
}
