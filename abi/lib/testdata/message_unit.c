/* Tests short messages in C on records with the layouts of Go: which calls C does and which it leaves to
 * Go, and two processes that are threads here, whose receiver sleeps. Prints errors, and exits with 1 if
 * there are any. */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "message_unit.h"

#define DEADLINE 30 /* s: many times what a step takes */

/* A receive of process 1. */
static int receive(int room, int tag) { return halo_fast_recv(in, room, MPI_BYTE, 0, tag, of(1), MPI_STATUS_IGNORE); }

/* Each condition under which a send goes to Go. */
static void sends(void) {
	char *q = way(0);
	reset();
	EXPECT(1, send_bytes(8));
	EXPECT(CREDIT - 8 - HALO_MESSAGE_OVERHEAD, GET(int64_t, q, HALO_PEER_CREDIT));
	EXPECT(64, GET(uint64_t, q, HALO_PEER_OUT_TAIL));
	EXPECT(1, halo_fast_send(NULL, 0, MPI_BYTE, 1, INT32_MAX, of(0)));
	EXPECT(1, send_bytes(24));
	EXPECT(1, send_bytes(25));
	EXPECT(5 * 64, GET(uint64_t, q, HALO_PEER_OUT_TAIL));
	EXPECT(1, send_bytes(8192));
	LEFT(send_bytes(8193));
	LEFT(halo_fast_send(out, -1, MPI_BYTE, 1, 3, of(0)));
	LEFT(halo_fast_send(NULL, 1, MPI_BYTE, 1, 3, of(0)));
	LEFT(halo_fast_send(out, 1, MPI_INT, 1, 3, of(0))); /* a type that C does not know here */
	LEFT(halo_fast_send(out, 1, MPI_BYTE, 0, 3, of(0)));
	LEFT(halo_fast_send(out, 1, MPI_BYTE, 2, 3, of(0)));
	LEFT(halo_fast_send(out, 1, MPI_BYTE, 1, -1, of(0)));
	LEFT(halo_fast_send(out, 1, MPI_BYTE, 1, 3, (MPI_Comm)(handles[0] + 64)));
	WITH(uint32_t, process[0].record, PROCESS_LOCK, 1, send_bytes(8));
	WITH(uint32_t, process[0].record, PROCESS_SLOW, HALO_SLOW_QUEUED, send_bytes(8));
	WITH(uint32_t, q, PEER_OPEN, 0, send_bytes(8));
	WITH(int64_t, q, PEER_EAGER_MAX, -1, send_bytes(0));
	WITH(int64_t, q, PEER_CREDIT, 8 + HALO_MESSAGE_OVERHEAD - 1, send_bytes(8));
	for (int attached = 0; attached <= HALO_HOLDS; attached++)
		if (attached != 1) {
			halo_attached = attached;
			LEFT(send_bytes(8));
			EXPECT(attached, halo_attached);
		}
	halo_attached = 1;
	SET(uint32_t, process[0].record, HALO_PROCESS_SLOW, ~(uint32_t)HALO_SLOW_QUEUED); /* no reason against a send */
	EXPECT(1, send_bytes(8));

	/* Until there is no room. The last line stays free. */
	reset();
	SET(int64_t, q, HALO_PEER_CREDIT, 1 << 30);
	for (int i = 0; i < HALO_RING_BYTES / HALO_RING_LINE - 1; i++)
		EXPECT(1, send_bytes(8));
	EXPECT(0, send_bytes(8));
	SET(uint64_t, ring[0].control, HALO_RING_HEAD, HALO_RING_LAG);
	EXPECT(1, send_bytes(8));
	SET(uint64_t, q, HALO_PEER_OUT_TAIL, HALO_RING_BYTES * 3 - HALO_RING_LINE);
	SET(uint64_t, ring[0].control, HALO_RING_HEAD, HALO_RING_BYTES * 3 - HALO_RING_LINE);
	EXPECT(1, send_bytes(24));
	EXPECT(HALO_RING_BYTES * 3, GET(uint64_t, q, HALO_PEER_OUT_TAIL));
}

/* A message that does not fit before the end of the ring is behind padding, wherever the end is, and is received. */
static void wraps(void) {
	char *to = way(0), *from = way(1);
	for (int n = 25; n <= 8192; n += n < 200 ? 1 : 1000)
		for (uint64_t left = HALO_RING_LINE; left < (uint64_t)n + HALO_MESSAGE_HEADER; left += HALO_RING_LINE) {
			const uint64_t start = HALO_RING_BYTES * 3 - left, size = ((uint64_t)n + HALO_MESSAGE_HEADER + HALO_RING_LINE - 1) / HALO_RING_LINE * HALO_RING_LINE;
			uint64_t end = HALO_RING_BYTES * 3 + size;
			reset();
			SET(uint64_t, to, HALO_PEER_OUT_TAIL, start);
			SET(uint64_t, to, HALO_PEER_OUT_ZERO, start);
			SET(uint64_t, from, HALO_PEER_IN_HEAD, start);
			SET(uint64_t, from, HALO_PEER_IN_TOLD, start);
			for (int i = 0; i < n; i++)
				out[i] = (char)(i * 7 + n);
			memset(ring[0].data, 'o', HALO_RING_BYTES - left); /* of a lap ago */

			/* There must be room for the padding, too. */
			SET(uint64_t, ring[0].control, HALO_RING_HEAD, end + HALO_RING_LINE - HALO_RING_BYTES - 1);
			SET(uint64_t, to, HALO_PEER_OUT_HEAD, end + HALO_RING_LINE - HALO_RING_BYTES - 1);
			LEFT(send_bytes(n));
			SET(uint64_t, ring[0].control, HALO_RING_HEAD, end + HALO_RING_LINE - HALO_RING_BYTES);
			EXPECT(1, send_bytes(n));
			EXPECT(end, GET(uint64_t, to, HALO_PEER_OUT_TAIL));
			EXPECT((uint64_t)HALO_RING_PAD << 32, *(uint64_t *)(ring[0].data + start % HALO_RING_BYTES));
			EXPECT(0, *(uint64_t *)(ring[0].data + size));
			memset(in, 0, sizeof in);
			EXPECT(1, receive(n, 3));
			EXPECT(end, GET(uint64_t, from, HALO_PEER_IN_HEAD));
			EXPECT(0, memcmp(in, out, (size_t)n));
			if (failed)
				return;
		}
	/* Padding behind padding is what no producer writes. */
	reset();
	SET(uint64_t, ring[0].data, 0, (uint64_t)HALO_RING_PAD << 32);
	EXPECT(0, receive(8, 3));
	memset(in, 0, sizeof in);
}

/* Messages to and from MPI_PROC_NULL are complete at once, without a lock, and change nothing. Wrong ones go to Go. */
static void nothings(void) {
	MPI_Request r = MPI_REQUEST_NULL, all[3];
	MPI_Status s = {.MPI_ERROR = 7}, each[3];
	reset();
	SET(uint32_t, process[0].record, HALO_PROCESS_LOCK, 1);
	EXPECT(1, halo_fast_send(out, 1 << 30, MPI_BYTE, MPI_PROC_NULL, 3, of(0)));
	EXPECT(1, halo_fast_isend(out, 1, MPI_BYTE, MPI_PROC_NULL, 3, of(0), &r));
	EXPECT(HALO_REQUEST_NOWHERE, r);
	EXPECT(1, halo_fast_irecv(in, 1, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, of(0), &r));
	EXPECT(HALO_REQUEST_NOTHING, r);
	all[0] = HALO_REQUEST_NOWHERE, all[1] = r, all[2] = MPI_REQUEST_NULL;
	EXPECT(1, halo_fast_wait(&r, &s));
	EXPECT(MPI_REQUEST_NULL, r);
	EXPECT(MPI_PROC_NULL, s.MPI_SOURCE);
	EXPECT(MPI_ANY_TAG, s.MPI_TAG);
	EXPECT(7, s.MPI_ERROR);
	EXPECT(1, halo_fast_waitall(3, all, each));
	EXPECT(MPI_ANY_SOURCE, each[0].MPI_SOURCE);
	EXPECT(MPI_PROC_NULL, each[1].MPI_SOURCE);
	EXPECT(MPI_ANY_SOURCE, each[2].MPI_SOURCE);
	s.MPI_SOURCE = 0;
	EXPECT(1, halo_fast_recv(in, 1, MPI_BYTE, MPI_PROC_NULL, 3, of(0), &s));
	EXPECT(MPI_PROC_NULL, s.MPI_SOURCE);
	EXPECT(1, halo_fast_recv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, of(0), MPI_STATUS_IGNORE));
	r = MPI_REQUEST_NULL;
	LEFT(halo_fast_send(out, -1, MPI_BYTE, MPI_PROC_NULL, 3, of(0)));
	LEFT(halo_fast_send(NULL, 1, MPI_BYTE, MPI_PROC_NULL, 3, of(0)));
	LEFT(halo_fast_send(out, 1, MPI_INT, MPI_PROC_NULL, 3, of(0))); /* a type that C does not know here */
	LEFT(halo_fast_send(out, 1, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, of(0)));
	LEFT(halo_fast_send(out, 1, MPI_BYTE, MPI_PROC_NULL, 3, (MPI_Comm)(handles[0] + 64)));
	LEFT(halo_fast_isend(out, 1, MPI_BYTE, MPI_PROC_NULL, 3, of(0), NULL));
	LEFT(halo_fast_isend(out, 1, MPI_BYTE, MPI_PROC_NULL, -7, of(0), &r));
	LEFT(halo_fast_irecv(in, 1, MPI_BYTE, MPI_PROC_NULL, 3, of(0), NULL));
	LEFT(halo_fast_irecv(in, 1, MPI_BYTE, MPI_PROC_NULL, -7, of(0), &r));
	LEFT(halo_fast_recv(in, -1, MPI_BYTE, MPI_PROC_NULL, 3, of(0), &s));
	EXPECT(MPI_REQUEST_NULL, r);
}

/* Requests of sends are numbers, and the last of them are remembered. */
static void isends(void) {
	char *p = process[0].record, *q = way(0);
	MPI_Request r = MPI_REQUEST_NULL;
	reset();
	LEFT(halo_fast_isend(out, 8, MPI_BYTE, 1, 3, of(0), NULL));
	SET(uint32_t, p, HALO_PROCESS_SLOW, HALO_SLOW_QUEUED);
	LEFT(halo_fast_isend(out, 8, MPI_BYTE, 1, 3, of(0), &r));
	EXPECT(MPI_REQUEST_NULL, r);
	SET(uint32_t, p, HALO_PROCESS_SLOW, 0);
	const uint64_t most = ((uint64_t)1 << HALO_SENT_BITS) - HALO_SENT_FIRST;
	for (int i = 0; i < 3 * HALO_SENT_MOST; i++) {
		if (i == HALO_SENT_MOST)
			SET(uint64_t, p, HALO_PROCESS_SENT, most - 10); /* the numbers begin again */
		uint64_t number = HALO_SENT_FIRST + GET(uint64_t, p, HALO_PROCESS_SENT) % most;
		EXPECT(1, halo_fast_isend(out, 8, MPI_BYTE, 1, 3 + i, of(0), &r));
		EXPECT(number << 4 | HALO_KIND_SENT, r);
		EXPECT(1, halo_done(r));
		EXPECT(r, halo_from_int(halo_to_int((uintptr_t)r)));
		const char *s = requests_of[0] + HALO_REQUESTS_RECENT + number % HALO_SENT_MOST * HALO_SENT_BYTES;
		EXPECT(number, GET(uint32_t, s, HALO_SENT_NUMBER));
		EXPECT(i + 1, GET(uint64_t, s, HALO_SENT_SEQUENCE));
		EXPECT(3 + i, GET(int32_t, s, HALO_SENT_TAG));
		EXPECT(1, GET(int32_t, s, HALO_SENT_PEER));
		EXPECT(40, GET(uint64_t, s, HALO_SENT_CTX));
		EXPECT(i + 1, *(uint64_t *)(ring[0].data + 64 * i + 24));
		EXPECT(1, halo_fast_wait(&r, MPI_STATUS_IGNORE));
		SET(int64_t, q, HALO_PEER_CREDIT, CREDIT);
	}
	EXPECT(1, send_bytes(8)); /* without a number */
	EXPECT(0, *(uint64_t *)(ring[0].data + 64 * 3 * HALO_SENT_MOST + 24));
	for (uintptr_t h = 0; h < 0x1000; h++)
		EXPECT(h >= 0x7f5 && h <= 0x7f7, halo_done((MPI_Request)h));
	EXPECT(0, halo_done((MPI_Request)((uintptr_t)1 << 31 | HALO_SENT_FIRST << 4 | HALO_KIND_SENT)));
}

/* Each condition under which a receive goes to Go. */
static void receives(void) {
	char *q = way(1);
	MPI_Status s = {.MPI_ERROR = 7};
	reset();
	SET(char *, requests_of[1], HALO_REQUESTS_RECEIVES, NULL); /* receive_unit.c has the queues of C */
	memcpy(out, "0123456789abcdefghijklmnopqrstuvwxyz", 36);
	LEFT(receive(8, 3)); /* nothing has arrived */
	EXPECT(1, GET(uint64_t, process[1].record, HALO_PROCESS_TURNS));
	EXPECT(1, GET(uint64_t, process[1].record, HALO_PROCESS_ACTIVITY));
	EXPECT(1, send_bytes(30));
	EXPECT(1, halo_fast_recv(in, 100, MPI_BYTE, 0, 3, of(1), &s));
	int64_t n;
	memcpy(&n, &s.MPI_internal[1], sizeof n);
	EXPECT(30, n);
	EXPECT(0, s.MPI_internal[0]);
	EXPECT(0, s.MPI_SOURCE);
	EXPECT(3, s.MPI_TAG);
	EXPECT(7, s.MPI_ERROR);
	EXPECT(0, memcmp(in, out, 30));
	EXPECT(0, in[30]);
	EXPECT(CREDIT - 30 - HALO_MESSAGE_OVERHEAD, GET(int64_t, q, HALO_PEER_ALLOWANCE));
	EXPECT(30 + HALO_MESSAGE_OVERHEAD, GET(int64_t, q, HALO_PEER_CREDIT_OWED));
	EXPECT(128, GET(uint64_t, q, HALO_PEER_IN_HEAD));
#define RECEIVES(type, base, place, value)                                     \
	do {                                                                       \
		EXPECT(1, send_bytes(8));                                              \
		WITH(type, base, place, value, receive(8, 3));                         \
	} while (0)
	for (int bit = 0; bit < 8; bit++)
		RECEIVES(uint32_t, process[1].record, PROCESS_SLOW, (uint32_t)1 << bit);
	RECEIVES(uint32_t, process[1].record, PROCESS_LOCK, 1);
	RECEIVES(uint64_t, process[1].record, PROCESS_TURNS, HALO_MESSAGE_TURNS - 1);
	RECEIVES(int32_t, process[1].record, PROCESS_LOOKS, 0);
	RECEIVES(char *, q, PEER_IN_DATA, NULL);
	RECEIVES(int64_t, q, PEER_ALLOWANCE, 8 + HALO_MESSAGE_OVERHEAD - 1);
	SET(uint32_t, q, HALO_PEER_OPEN, 0); /* C cannot return credit */
	RECEIVES(int64_t, q, PEER_CREDIT_OWED, HALO_MESSAGE_CREDIT_DUE - 8 - HALO_MESSAGE_OVERHEAD);
	SET(uint32_t, q, HALO_PEER_OPEN, 1);
	RECEIVES(uint64_t, process[1].comm, COMM_CTX, 41);
	EXPECT(1, send_bytes(8));
	LEFT(receive(8, 4));
	LEFT(receive(7, 3));
	WITH(uint32_t, process[1].comm, COMM_ANY_TAG, 0, receive(8, MPI_ANY_TAG));
	EXPECT(1, send_tag(8, INT32_MAX));
	EXPECT(1, halo_fast_recv(in, 8, MPI_BYTE, 0, MPI_ANY_TAG, of(1), &s));
	EXPECT(INT32_MAX, s.MPI_TAG);
	EXPECT(1, send_tag(8, 3));
	*(uint64_t *)(ring[0].data + GET(uint64_t, q, HALO_PEER_IN_HEAD) + 16) = (uint32_t)-1; /* a tag of nobody */
	LEFT(receive(8, MPI_ANY_TAG));
	*(uint64_t *)(ring[0].data + GET(uint64_t, q, HALO_PEER_IN_HEAD) + 16) = 3;
	LEFT(receive(8, -1));
	LEFT(halo_fast_recv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 3, of(1), MPI_STATUS_IGNORE));
	LEFT(halo_fast_recv(NULL, 8, MPI_BYTE, 0, 3, of(1), MPI_STATUS_IGNORE));
	char *frame = ring[0].data + GET(uint64_t, q, HALO_PEER_IN_HEAD); /* of 8 bytes */
	const uint64_t others[] = {HALO_MESSAGE_EAGER + ((uint64_t)1 << 32) + 8, HALO_MESSAGE_EAGER + ((uint64_t)1 << 40) + 8,
	                           HALO_MESSAGE_EAGER + ((uint64_t)1 << 48) + 8, HALO_MESSAGE_EAGER + 0x7fffffff, HALO_MESSAGE_EAGER + 0xffffffff};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		SET(uint64_t, frame, 0, others[i]); /* another kind, flags, a channel, sizes that cannot be */
		LEFT(receive(10000, 3));
	}
	SET(uint64_t, frame, 0, HALO_MESSAGE_EAGER + 8);
	process[1].armed = 1; /* a receive that looks for a frame disarms */
	EXPECT(1, receive(8, 3));
	EXPECT(0, process[1].armed);
	EXPECT(0, process[1].bell);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A receive leaves as soon as another thread wants the lock. */
static void *wanting(void *unused) {
	uint32_t *lock = HALO_AT(uint32_t, process[1].record, HALO_PROCESS_LOCK);
	while (__atomic_load_n(lock, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	__atomic_store_n(HALO_AT(uint32_t, process[1].record, HALO_PROCESS_WANT), 1, __ATOMIC_SEQ_CST);
	for (double end = now() + DEADLINE; __atomic_load_n(lock, __ATOMIC_SEQ_CST) != 0; sched_yield())
		if (now() > end) {
			printf("a receive keeps the lock that another thread wants\n");
			exit(1);
		}
	return unused;
}

static void wants(void) {
	pthread_t t;
	reset();
	SET(int32_t, process[1].record, HALO_PROCESS_LOOKS, INT32_MAX);
	pthread_create(&t, NULL, wanting, NULL);
	EXPECT(0, receive(8, 3));
	pthread_join(t, NULL);
}

/* A sender, and a receiver that arms and sleeps when it finds nothing, as a service does: no wake-up is
 * lost, and messages come in order and whole. In half of the time the sender waits for the last message to
 * be taken, and then a while, so that it sends when the receiver is about to sleep. */
#define MESSAGES 60000

static int taken;

static int length_of(int i) { return (int)((unsigned)i * 2654435761u >> 28) * 3 / 2; } /* up to 22 bytes: entries of one line */

static void *sender(void *unused) {
	char data[24];
	for (int i = 0; i < MESSAGES; i++) {
		memset(data, i & 127, sizeof data);
		if (i / 1000 % 2 == 0) {
			for (int k = 0; __atomic_load_n(&taken, __ATOMIC_SEQ_CST) < i; k++)
				if (k > 1000)
					sched_yield();
			for (int k = (int)((unsigned)i * 2654435761u >> 24); k > 0; k--)
				__asm__ __volatile__("" ::: "memory");
		}
		while (!halo_fast_send(data, length_of(i), MPI_BYTE, 1, i, of(0))) { /* Go would wait for credit or room */
			SET(int64_t, way(0), HALO_PEER_CREDIT, CREDIT);
			sched_yield();
		}
	}
	return unused;
}

/* Sleeps until the sender rings, unless the frame has come since the bell had the value seen. */
static void sleep_armed(int i, const uint64_t *frame) {
	uint32_t seen = __atomic_load_n(&process[1].bell, __ATOMIC_SEQ_CST);
	__atomic_store_n(&process[1].armed, 1, __ATOMIC_SEQ_CST); /* Doorbell.Arm, a poll, Doorbell.Sleep */
	if (__atomic_load_n(frame, __ATOMIC_SEQ_CST) != 0)
		return;
	for (double end = now() + DEADLINE; __atomic_load_n(&process[1].bell, __ATOMIC_SEQ_CST) == seen;) {
		struct timespec second = {1, 0};
		syscall(SYS_futex, &process[1].bell, FUTEX_WAIT, seen, &second, NULL, 0);
		if (now() > end) {
			printf("the wake-up of message %d is lost, %d before were not\n", i, woken[1]);
			exit(1);
		}
	}
}

static void sleeps(void) {
	pthread_t t;
	reset();
	SET(int32_t, process[1].record, HALO_PROCESS_LOOKS, 1);
	pthread_create(&t, NULL, sender, NULL);
	for (int i = 0; i < MESSAGES; i++) {
		char *q = way(1);
		while (!receive(sizeof in, i)) { /* Go would poll, return credit, and arm */
			SET(uint64_t, process[1].record, HALO_PROCESS_TURNS, 0);
			SET(int64_t, q, HALO_PEER_ALLOWANCE, CREDIT);
			SET(int64_t, q, HALO_PEER_CREDIT_OWED, 0);
			sleep_armed(i, (uint64_t *)(ring[0].data + GET(uint64_t, q, HALO_PEER_IN_HEAD) % HALO_RING_BYTES));
		}
		for (int k = 0; k < length_of(i); k++)
			if (in[k] != (i & 127)) {
				printf("byte %d of message %d is %d\n", k, i, in[k]);
				exit(1);
			}
		__atomic_store_n(&taken, i + 1, __ATOMIC_SEQ_CST);
	}
	pthread_join(t, NULL);
}

int main(void) {
	halo_know_type((uintptr_t)MPI_BYTE, 1, 1, 1, HALO_BITS, 0);
	sends();
	wraps();
	nothings();
	isends();
	receives();
	wants();
	sleeps();
	return failed != 0;
}
