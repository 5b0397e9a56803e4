/* Tests receives that C posts, on records with the layouts of Go: which calls C does and which it leaves to
 * Go, and which message which receive gets. Prints errors, and exits with 1 if there are any. */
#include <signal.h>
#include <sys/mman.h>

#include "receive_unit.h"

/* Each condition under which a receive is not posted. */
static void posts(void) {
	char *p = process[1].record;
	reset();
	LEFT(halo_fast_irecv(in, 8, MPI_BYTE, 0, 3, of(1), NULL));
	LEFT(halo_fast_irecv(NULL, 8, MPI_BYTE, 0, 3, of(1), &requests[0]));
	LEFT(halo_fast_irecv(in, HALO_COPY_LESS, MPI_BYTE, 0, 3, of(1), &requests[0]));
	LEFT(halo_fast_irecv(in, 1, MPI_INT, 0, 3, of(1), &requests[0])); /* a type that C does not know here */
	LEFT(halo_fast_irecv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 3, of(1), &requests[0]));
	LEFT(halo_fast_irecv(in, 8, MPI_BYTE, 1, 3, of(1), &requests[0]));
	LEFT(halo_fast_irecv(in, 8, MPI_BYTE, 2, 3, of(1), &requests[0]));
	LEFT(halo_fast_irecv(in, 8, MPI_BYTE, 0, -1, of(1), &requests[0]));
	for (int bit = 0; bit < 8; bit++)
		WITH(uint32_t, p, PROCESS_SLOW, (uint32_t)1 << bit | HALO_SLOW_IMPORT, post(0, 8, 3));
	WITH(uint32_t, p, PROCESS_LOCK, 1, post(0, 8, 3));
	WITH(char *, way(1), PEER_IN_DATA, NULL, post(0, 8, 3));
	WITH(char *, requests_of[1], REQUESTS_RECEIVES, NULL, post(0, 8, 3));
	WITH(uint32_t, process[1].comm, COMM_ANY_TAG, 0, post(0, 8, MPI_ANY_TAG));
	EXPECT(12, posted());
	EXPECT(1, halo_received(requests[0]));
	EXPECT(0, halo_done(requests[0]));
	EXPECT(requests[0], halo_from_int(halo_to_int((uintptr_t)requests[0])));

	reset();
	for (int i = 0; i < HALO_RECEIVES_MOST - 1; i++)
		EXPECT(1, post(i, 8, 3));
	LEFT(post(MANY - 1, 8, 3)); /* all records are in use */
	EXPECT(1, send_value(5, 3));
	EXPECT(1, wait_for(0));
	got(0, 5, 3);
	EXPECT(1, post(0, 8, 3));
	LEFT(post(MANY - 1, 8, 3));
}

/* A message goes to the oldest receive that it matches, whatever is waited for. */
static void order(void) {
	reset();
	EXPECT(1, post(0, 8, 3));
	EXPECT(1, post(1, 8, MPI_ANY_TAG));
	EXPECT(1, post(2, 8, 3));
	EXPECT(1, post(3, 8, 4));
	EXPECT(1, send_value(10, 4)); /* for 1 */
	EXPECT(1, send_value(11, 3)); /* for 0 */
	EXPECT(0, flag_of(2));
	EXPECT(2, posted());
	EXPECT(HALO_SLOW_POSTED, slow());
	EXPECT(1, send_value(12, 4)); /* for 3 */
	EXPECT(1, send_value(13, 3)); /* for 2 */
	EXPECT(1, wait_for(2));
	got(2, 13, 3);
	EXPECT(0, posted());
	EXPECT(0, slow());
	EXPECT(1, flag_of(3));
	got(3, 12, 4);
	EXPECT(1, halo_fast_waitall(2, requests, statuses));
	got(0, 11, 3);
	got(1, 10, 4);
	EXPECT(0, used());

	/* On two communicators */
	EXPECT(1, post(0, 8, MPI_ANY_TAG));
	SET(uint64_t, process[1].comm, HALO_COMM_CTX, 41);
	EXPECT(1, post(1, 8, MPI_ANY_TAG));
	SET(uint64_t, process[0].comm, HALO_COMM_CTX, 41);
	EXPECT(1, send_value(20, 6));
	EXPECT(1, wait_for(1));
	got(1, 20, 6);
	EXPECT(1, posted());

	/* A blocking receive comes behind those that are posted. */
	reset();
	EXPECT(1, post(0, 8, 3));
	EXPECT(1, send_value(30, 3));
	EXPECT(1, send_value(31, 3));
	MPI_Status s;
	uint64_t value = 0;
	EXPECT(1, receive(&value, 8, MPI_ANY_TAG, &s));
	EXPECT(31, value);
	EXPECT(3, s.MPI_TAG);
	EXPECT(1, used());
	EXPECT(1, wait_for(0));
	got(0, 30, 3);
	EXPECT(1, post(0, 8, 3));
	EXPECT(0, receive(&value, 8, 4, &s)); /* nothing arrives: it is not posted */
	EXPECT(1, posted());
	EXPECT(1, used());
	char *in_data = GET(char *, way(1), HALO_PEER_IN_DATA);
	SET(char *, way(1), HALO_PEER_IN_DATA, NULL); /* the source has sent nothing yet, or has failed */
	LEFT(receive(&value, 8, 3, &s));
	SET(char *, way(1), HALO_PEER_IN_DATA, in_data);
	EXPECT(1, used());
	EXPECT(1, send_value(32, 3));
	EXPECT(1, wait_for(0));
	got(0, 32, 3);
}

/* Each condition under which a wait goes to Go. No request has ended then. */
static void waits(void) {
	char *p = process[1].record, *q = way(1);
	int flag = -1;
	reset();
	EXPECT(1, post(0, 8, 3));
	MPI_Request was = requests[0];
#define WAITS(type, base, place, value)                              \
	do {                                                             \
		EXPECT(1, send_value(7, 3));                                 \
		WITH(type, base, place, value, wait_for(0));                 \
		got(0, 7, 3);                                                \
		EXPECT(1, post(0, 8, 3));                                    \
	} while (0)
	LEFT(wait_for(0)); /* nothing arrives */
	EXPECT(was, requests[0]);
	EXPECT(1, GET(uint64_t, p, HALO_PROCESS_TURNS));
	EXPECT(1, GET(uint64_t, p, HALO_PROCESS_ACTIVITY));
	EXPECT(0, flag_of(0));
	EXPECT(was, requests[0]);
	WAITS(uint32_t, p, PROCESS_LOCK, 1);
	WAITS(uint64_t, p, PROCESS_TURNS, HALO_MESSAGE_TURNS - 1);
	WAITS(int64_t, q, PEER_ALLOWANCE, 8 + HALO_MESSAGE_OVERHEAD - 1);
	SET(uint32_t, q, HALO_PEER_OPEN, 0); /* C cannot return credit */
	WAITS(int64_t, q, PEER_CREDIT_OWED, HALO_MESSAGE_CREDIT_DUE - 8 - HALO_MESSAGE_OVERHEAD);
	SET(uint32_t, q, HALO_PEER_OPEN, 1);
	EXPECT(1, send_value(7, 3));
	WITH(uint16_t, record(0), RECEIVE_STATE, HALO_RECEIVE_IMPORTED, wait_for(0)); /* Go has taken it */
	got(0, 7, 3);
	EXPECT(1, post(0, 8, 3));
	was = requests[0];
	EXPECT(1, send_value(7, 3));
	uint64_t head = GET(uint64_t, q, HALO_PEER_IN_HEAD);
	SET(uint64_t, p, HALO_PROCESS_TURNS, 0);
	char *frame = ring[0].data + head;
	const uint64_t others[] = {HALO_MESSAGE_EAGER + ((uint64_t)1 << 32) + 8, HALO_MESSAGE_EAGER + ((uint64_t)1 << 40) + 8,
	                           HALO_MESSAGE_EAGER + 9, HALO_MESSAGE_EAGER + 0x7fffffff, HALO_MESSAGE_EAGER + 0xffffffff};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		SET(uint64_t, frame, 0, others[i]); /* another kind, flags, longer than the buffer, sizes that cannot be */
		LEFT(wait_for(0));
		LEFT(halo_fast_test(&requests[0], &flag, &statuses[0]));
		LEFT(halo_fast_testall(1, requests, &flag, statuses));
		EXPECT(-1, flag);
	}
	SET(uint64_t, frame, 0, HALO_MESSAGE_EAGER + 8);
	SET(uint64_t, frame, 16, (uint32_t)-7); /* a tag of nobody */
	SET(uint64_t, record(0), HALO_RECEIVE_MASK, 0);
	LEFT(wait_for(0));
	SET(uint64_t, frame, 16, 3);
	EXPECT(1, wait_for(0));
	requests[0] = was; /* it has ended */
	LEFT(wait_for(0));
	requests[0] = (MPI_Request)((uintptr_t)(HALO_RECEIVES_MOST * 7) << 4 | HALO_KIND_RECEIVED); /* there never was one */
	LEFT(wait_for(0));
	SET(char *, requests_of[1], HALO_REQUESTS_RECEIVES, NULL);
	LEFT(wait_for(0));
	SET(char *, requests_of[1], HALO_REQUESTS_RECEIVES, queues[1]);
	process[1].armed = 1; /* a wait that looks for a frame disarms */
	EXPECT(1, post(0, 8, 3));
	EXPECT(1, send_value(8, 3));
	EXPECT(1, wait_for(0));
	EXPECT(0, process[1].armed);
}

/* Several requests end together or not at all. */
static void several(void) {
	int flag = -1;
	reset();
	for (int i = 0; i < 4; i++)
		EXPECT(1, post(i, 8, i));
	requests[4] = MPI_REQUEST_NULL;
	requests[5] = HALO_REQUEST_DONE;
	EXPECT(1, send_value(1, 1));
	EXPECT(1, halo_fast_testall(6, requests, &flag, statuses));
	EXPECT(0, flag);
	EXPECT(0, halo_fast_waitall(6, requests, statuses));
	for (int i = 0; i < 4; i++)
		EXPECT(1, halo_received(requests[i]));
	EXPECT(4, used());
	for (int i = 3; i >= 0; i--)
		if (i != 1)
			EXPECT(1, send_value((uint64_t)i, i));
	requests[6] = (MPI_Request)(uintptr_t)((uintptr_t)1 << 31 | 300 << 4 | 5); /* a request of Go */
	LEFT(halo_fast_waitall(7, requests, statuses));
	EXPECT(1, halo_fast_waitall(6, requests, statuses));
	for (int i = 0; i < 4; i++)
		got(i, (uint64_t)i, i);
	for (int i = 4; i < 6; i++) {
		EXPECT(MPI_REQUEST_NULL, requests[i]);
		EXPECT(MPI_ANY_TAG, statuses[i].MPI_TAG);
	}
	EXPECT(0, used());
	EXPECT(1, halo_fast_waitall(6, requests, MPI_STATUSES_IGNORE)); /* null requests */
	LEFT(halo_fast_waitall(0, requests, MPI_STATUSES_IGNORE));
	EXPECT(0, halo_fast_testall(6, requests, NULL, statuses));
}

/* Rounds of receives that end in another order than they were posted. Numbers come back only after many. */
static void rounds(void) {
	MPI_Request first;
	reset();
	for (int round = 0; round < 3000; round++) {
		SET(uint64_t, process[1].record, HALO_PROCESS_TURNS, 0);
		SET(int64_t, way(0), HALO_PEER_CREDIT, CREDIT);
		SET(int64_t, way(1), HALO_PEER_ALLOWANCE, CREDIT);
		SET(int64_t, way(1), HALO_PEER_CREDIT_OWED, 0);
		int n = 1 + round % 100;
		for (int i = 0; i < n; i++)
			EXPECT(1, post(i, 8, i % 7));
		for (int i = 0; i < n; i++)
			EXPECT(1, send_value((uint64_t)(1000 * round + i), i % 7));
		for (int i = 0; i < n; i++) {
			int k = (i * 37 + round) % 101 % n;
			if (requests[k] != MPI_REQUEST_NULL) {
				EXPECT(1, wait_for(k));
				got(k, (uint64_t)(1000 * round + k), k % 7);
			}
		}
		EXPECT(1, halo_fast_waitall(n, requests, statuses));
		EXPECT(0, posted());
		EXPECT(0, used());
		if (failed)
			return;
	}
	reset();
	SET(uint32_t, queues[1] + HALO_RECEIVE_BYTES, HALO_RECEIVE_NUMBER, ((uint32_t)1 << HALO_RECEIVE_BITS) - HALO_RECEIVES_MOST + 1);
	EXPECT(1, post(0, 8, 3)); /* the number that follows the last */
	EXPECT((HALO_RECEIVES_MOST + 1) << 4 | HALO_KIND_RECEIVED, requests[0]);
	first = requests[0];
	EXPECT(1, send_value(1, 3));
	EXPECT(1, wait_for(0));
	EXPECT(1, post(0, 8, 3));
	EXPECT(1, first != requests[0]);
}

/* A producer that has found its ring full is woken, once there is room. */
static void room(void) {
	reset();
	SET(int64_t, way(0), HALO_PEER_CREDIT, 1 << 30);
	SET(int64_t, way(1), HALO_PEER_ALLOWANCE, 1 << 30);
	const int lag = HALO_RING_LAG / HALO_RING_LINE;
	while (send_value(1, 3)) {
	}
	SET(uint32_t, ring[0].control, HALO_RING_WAIT, 1);
	for (int i = 1; i < lag; i++) {
		SET(uint64_t, process[1].record, HALO_PROCESS_TURNS, 0);
		EXPECT(1, post(0, 8, 3));
		EXPECT(1, wait_for(0));
	}
	EXPECT(0, rooms);
	SET(uint64_t, process[1].record, HALO_PROCESS_TURNS, 0);
	EXPECT(1, post(0, 8, 3));
	EXPECT(1, post(1, 8, 3));
	EXPECT(1, wait_for(0));
	EXPECT(1, rooms);
	EXPECT(1, woken[0]);
	EXPECT(1, posted());
	EXPECT(1, wait_for(1));
	EXPECT(1, send_value(1, 3));
}

/* A fault in the middle of a message. The handler makes the memory accessible, and the wait goes on. Calls
 * of the handler do not wait for the lock, which the interrupted wait holds. */
static char *memory;
static int faults;

static void fault(int number) {
	(void)number;
	MPI_Request r = MPI_REQUEST_NULL;
	if (faults++ > 0)
		_exit(2);
	EXPECT(HALO_HOLDS, halo_attached);
	EXPECT(1, GET(uint32_t, process[1].record, HALO_PROCESS_LOCK));
	EXPECT(0, halo_fast_irecv(in, 8, MPI_BYTE, 0, 3, of(1), &r));
	EXPECT(0, halo_fast_recv(in, 8, MPI_BYTE, 0, 3, of(1), MPI_STATUS_IGNORE));
	EXPECT(0, wait_for(1));
	mprotect(memory, 8192, PROT_READ | PROT_WRITE);
}

static void interrupted(void) {
	reset();
	memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, fault);
	EXPECT(1, halo_fast_irecv(memory + 3000, 3000, MPI_BYTE, 0, 3, of(1), &requests[0]));
	EXPECT(1, post(1, 8, 3));
	memset(out, 'x', sizeof out);
	EXPECT(1, send_tag(3000, 3));
	EXPECT(1, send_value(5, 3));
	mprotect(memory + 4096, 4096, PROT_NONE);
	EXPECT(1, halo_fast_waitall(2, requests, statuses));
	EXPECT(1, faults);
	EXPECT(0, memcmp(memory + 3000, out, 3000));
	got(1, 5, 3);

	/* And in that of an unexpected one. */
	EXPECT(1, post(1, 8, 3));
	EXPECT(1, send_tag(60, 4));
	EXPECT(1, send_value(6, 3));
	EXPECT(1, wait_for(1));
	EXPECT(1, unexpected());
	faults = 0;
	mprotect(memory + 4096, 4096, PROT_NONE);
	EXPECT(1, halo_fast_recv(memory + 4066, 60, MPI_BYTE, 0, 4, of(1), MPI_STATUS_IGNORE));
	EXPECT(1, faults);
	EXPECT(0, memcmp(memory + 4066, out, 60));
	EXPECT(1, halo_attached);
}

int main(void) {
	halo_know_type((uintptr_t)MPI_BYTE, 1, 1, 1, HALO_BITS, 0);
	posts();
	order();
	waits();
	several();
	rounds();
	room();
	interrupted();
	return failed != 0;
}
