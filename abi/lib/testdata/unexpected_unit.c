/* Tests unexpected messages that C keeps, on records with the layouts of Go: which calls C does and which it leaves to
 * Go, and which message which receive gets. Prints errors, and exits with 1 if there are any. */
#include "receive_unit.h"

/* What is held of the credit of process 0: nothing is lost. */
static void credit(int64_t held) {
	EXPECT(CREDIT, GET(int64_t, way(1), HALO_PEER_ALLOWANCE) + GET(int64_t, way(1), HALO_PEER_CREDIT_OWED) + held);
}

/* Messages that arrive before their receives, and receives of them, in every order. */
static void early(void) {
	const int64_t cost = 8 + HALO_MESSAGE_OVERHEAD;
	uint64_t value = 0;
	MPI_Status s;
	reset();
	for (int i = 0; i < 10; i++)
		EXPECT(1, send_value(100 + (uint64_t)i, i));
	for (int i = 9; i >= 0; i--) { /* the first receive takes all out of the ring */
		EXPECT(1, receive(&value, 8, i, &s));
		EXPECT(100 + i, value);
		EXPECT(i, s.MPI_TAG);
		EXPECT(0, s.MPI_SOURCE);
		EXPECT(i, unexpected());
		EXPECT(i > 0 ? HALO_SLOW_UNEXPECTED : 0, slow());
		credit(i * cost);
	}
	EXPECT(0, used());
	EXPECT(10 * 64, GET(uint64_t, way(1), HALO_PEER_IN_HEAD));

	/* The oldest of those that match, also for receives that are posted: they are complete at once. */
	for (int i = 0; i < 6; i++)
		EXPECT(1, send_value(200 + (uint64_t)i, 3 + i % 2));
	SET(uint64_t, process[0].comm, HALO_COMM_CTX, 41);
	EXPECT(1, send_value(300, 3));
	EXPECT(1, send_value(301, 9));
	SET(uint64_t, process[1].comm, HALO_COMM_CTX, 41);
	EXPECT(1, receive(&value, 8, 9, &s));
	EXPECT(301, value);
	EXPECT(7, unexpected());
	EXPECT(1, post(0, 8, MPI_ANY_TAG));
	SET(uint64_t, process[1].comm, HALO_COMM_CTX, 40);
	EXPECT(1, post(1, 8, 4));
	EXPECT(1, post(2, 8, MPI_ANY_TAG));
	EXPECT(1, post(3, 8, 5));
	EXPECT(1, posted());
	EXPECT(HALO_SLOW_POSTED | HALO_SLOW_UNEXPECTED, slow());
	uint64_t turns = GET(uint64_t, process[1].record, HALO_PROCESS_TURNS);
	EXPECT(1, halo_fast_waitall(3, requests, statuses));
	EXPECT(turns, GET(uint64_t, process[1].record, HALO_PROCESS_TURNS));
	got(0, 300, 3);
	got(1, 201, 4);
	got(2, 200, 3);
	EXPECT(4, unexpected());

	/* A message for a receive that is posted does not wait behind others, and others stay in the ring when all are
	 * complete that are waited for. */
	SET(uint64_t, process[0].comm, HALO_COMM_CTX, 40);
	EXPECT(1, post(4, 8, 6));
	EXPECT(1, send_value(400, 7));
	EXPECT(1, send_value(401, 5));
	EXPECT(1, send_value(402, 7));
	uint64_t head = GET(uint64_t, way(1), HALO_PEER_IN_HEAD);
	EXPECT(1, wait_for(3));
	got(3, 401, 5);
	EXPECT(5, unexpected());
	EXPECT(head + 2 * 64, GET(uint64_t, way(1), HALO_PEER_IN_HEAD));
	EXPECT(0, flag_of(4));
	EXPECT(6, unexpected());
	credit(6 * cost);
	EXPECT(1, send_value(403, 6));
	EXPECT(1, wait_for(4));
	const uint64_t left[] = {202, 203, 204, 205, 400, 402};
	for (int i = 0; i < 6; i++) {
		EXPECT(1, receive(&value, 8, MPI_ANY_TAG, &s));
		EXPECT(left[i], value);
	}
	EXPECT(0, slow());
	credit(0);
}

/* What C leaves to Go: nothing has changed then, whatever C has kept before. */
static void leaves(void) {
	char *q = way(1);
	uint64_t value = 0;
	MPI_Status s;
	reset();
	memcpy(out, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefgh", 80);
	EXPECT(1, send_tag(HALO_UNEXPECTED_MAX, 3));
	EXPECT(1, send_tag(0, 4));
	EXPECT(1, send_tag(HALO_UNEXPECTED_MAX + 1, 3)); /* it stays where it is */
	EXPECT(0, receive(&value, 8, 5, &s));
	EXPECT(2, unexpected());
	EXPECT(0, used());
	uint64_t head = GET(uint64_t, q, HALO_PEER_IN_HEAD);
	LEFT(receive(&value, 8, 5, &s));
	LEFT(receive(in, HALO_UNEXPECTED_MAX - 1, 3, &s)); /* it is truncated */
	LEFT(halo_fast_irecv(in, HALO_UNEXPECTED_MAX - 1, MPI_BYTE, 0, 3, of(1), &requests[0]));
	EXPECT(0, used());
	WITH(char *, q, PEER_IN_DATA, NULL, receive(NULL, 0, 4, &s));
	EXPECT(1, unexpected());
	SET(int64_t, q, HALO_PEER_CREDIT_OWED, HALO_MESSAGE_CREDIT_DUE - HALO_UNEXPECTED_MAX - HALO_MESSAGE_OVERHEAD);
	LEFT(receive(in, sizeof in, 3, &s));
	LEFT(halo_fast_irecv(in, sizeof in, MPI_BYTE, 0, 3, of(1), &requests[0]));
	SET(int64_t, q, HALO_PEER_CREDIT_OWED, 0);
	for (int bit = 0; bit < 8; bit++) {
		SET(uint32_t, process[1].record, HALO_PROCESS_SLOW, (uint32_t)1 << bit | HALO_SLOW_UNEXPECTED);
		LEFT(receive(in, sizeof in, 3, &s));
		LEFT(halo_fast_irecv(in, sizeof in, MPI_BYTE, 0, 3, of(1), &requests[0]));
	}
	SET(uint32_t, process[1].record, HALO_PROCESS_SLOW, HALO_SLOW_UNEXPECTED);
	EXPECT(1, unexpected());
	EXPECT(1, receive(in, sizeof in, 3, &s));
	EXPECT(0, memcmp(in, out, HALO_UNEXPECTED_MAX));
	EXPECT(head, GET(uint64_t, q, HALO_PEER_IN_HEAD));
	EXPECT(1, receive(in, sizeof in, 3, &s));
	EXPECT(0, memcmp(in, out, HALO_UNEXPECTED_MAX + 1));
	SET(uint64_t, process[1].record, HALO_PROCESS_TURNS, 0);
	EXPECT(1, send_value(1, 3));
	SET(uint64_t, ring[0].data + GET(uint64_t, q, HALO_PEER_IN_HEAD), 16, (uint32_t)-7); /* a tag of nobody */
	LEFT(receive(&value, 8, 5, &s));
	SET(uint64_t, ring[0].data + GET(uint64_t, q, HALO_PEER_IN_HEAD), 16, (uint64_t)0x1234 << 32 | 3);
	SET(uint64_t, ring[0].data + GET(uint64_t, q, HALO_PEER_IN_HEAD), 24, 77);
	EXPECT(0, receive(&value, 8, 5, &s));
	EXPECT(1, unexpected());
	EXPECT(0x1234, GET(uint32_t, kept[1] + HALO_UNEXPECTED_BYTES, HALO_UNEXPECTED_AUX));
	EXPECT(77, GET(uint64_t, kept[1] + HALO_UNEXPECTED_BYTES, HALO_UNEXPECTED_ARG));

	reset(); /* until all records are in use */
	for (int i = 0; i < HALO_UNEXPECTED_MOST; i++)
		EXPECT(1, send_value((uint64_t)i, i));
	EXPECT(0, receive(&value, 8, MANY, &s));
	EXPECT(HALO_UNEXPECTED_MOST - 1, unexpected());
	EXPECT((HALO_UNEXPECTED_MOST - 1) * 64, GET(uint64_t, q, HALO_PEER_IN_HEAD));
	LEFT(receive(&value, 8, MANY, &s));
	for (int i = HALO_UNEXPECTED_MOST - 2; i >= 0; i--) {
		EXPECT(1, receive(&value, 8, i, &s));
		EXPECT(i, value);
	}
	SET(uint64_t, process[1].record, HALO_PROCESS_TURNS, 0);
	EXPECT(1, receive(&value, 8, HALO_UNEXPECTED_MOST - 1, &s));
	EXPECT(0, slow());
}

/* Random calls: the pairs depend on the order of the messages and on that of the receives alone. */
static uint64_t seed = 88172645463325252u;

static int below(int n) {
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (int)((seed >> 20) % (uint64_t)n);
}

static void random_calls(void) {
	static int tags[MANY], receives[MANY]; /* of messages; and the message of a receive, -1 if there is none yet */
	for (int round = 0; round < 3000 && !failed; round++) {
		int sent = 0, made = 0, taken[MANY] = {0}, wants[MANY];
		reset();
		for (int step = 0; step < 150; step++) {
			SET(uint64_t, process[1].record, HALO_PROCESS_TURNS, 0);
			SET(int32_t, process[1].record, HALO_PROCESS_LOOKS, 1);
			int tag = below(8) == 0 ? MPI_ANY_TAG : below(4), k = below(made + 1), match = -1;
			for (int m = sent - 1; m >= 0; m--)
				if (!taken[m] && (tag == MPI_ANY_TAG || tags[m] == tag))
					match = m;
			MPI_Status s;
			uint64_t value;
			switch (below(4)) {
			case 0:
				tags[sent] = tag = below(4);
				EXPECT(1, send_value((uint64_t)sent, tag));
				for (int r = 0; r < made; r++)
					if (receives[r] < 0 && (wants[r] == MPI_ANY_TAG || wants[r] == tag)) {
						receives[r] = sent;
						taken[sent] = 1;
						break;
					}
				sent++;
				break;
			case 1:
				EXPECT(1, post(made, 8, tag));
				wants[made] = tag;
				if ((receives[made++] = match) >= 0)
					taken[match] = 1;
				break;
			case 2:
				EXPECT(match >= 0, receive(&value, 8, tag, &s));
				if (match >= 0) {
					EXPECT(match, value);
					taken[match] = 1;
				}
				break;
			case 3:
				if (k < made && requests[k] != MPI_REQUEST_NULL) {
					EXPECT(receives[k] >= 0, flag_of(k));
					if (receives[k] >= 0)
						got(k, (uint64_t)receives[k], tags[receives[k]]);
				}
				break;
			}
		}
		for (int r = 0; r < made; r++)
			if (requests[r] != MPI_REQUEST_NULL && receives[r] >= 0) {
				EXPECT(1, wait_for(r));
				got(r, (uint64_t)receives[r], tags[receives[r]]);
			}
	}
}

/* A message of other elements is left to Go, which makes the error: the next one of the ring, an unexpected one, and one
 * for a posted receive. Elements that match any, and others that differ in name only, are received. */
static void elements(void) {
	const struct {
		MPI_Datatype sent, wanted;
		int differ;
	} pairs[] = {{MPI_FLOAT, MPI_INT, 1}, {MPI_INT, MPI_FLOAT, 1}, {MPI_FLOAT, MPI_FLOAT, 0}, {MPI_INT, MPI_UNSIGNED, 0}, {MPI_FLOAT, MPI_INT64_T, 0}, {MPI_FLOAT, MPI_UINT8_T, 0}};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		const MPI_Datatype sent = pairs[i].sent, wanted = pairs[i].wanted;
		const int differ = pairs[i].differ, count = wanted == MPI_UINT8_T ? 4 : 1, value = 7;
		int64_t got = 0;
		uint64_t other;
		MPI_Status s;
		reset(); /* the next */
		EXPECT(1, halo_fast_send(&value, 1, sent, 1, 3, of(0)));
		if (differ)
			LEFT(halo_fast_recv(&got, count, wanted, 0, 3, of(1), &s));
		EXPECT(1, halo_fast_recv(&got, differ ? 1 : count, differ ? sent : wanted, 0, 3, of(1), &s));
		EXPECT(7, got);
		reset(); /* an unexpected one */
		EXPECT(1, halo_fast_send(&value, 1, sent, 1, 3, of(0)));
		EXPECT(1, send_value(9, 4));
		EXPECT(1, receive(&other, 8, 4, &s));
		if (differ) {
			LEFT(halo_fast_recv(&got, count, wanted, 0, 3, of(1), &s));
			LEFT(halo_fast_irecv(&got, count, wanted, 0, 3, of(1), &requests[0]));
		}
		EXPECT(1, unexpected());
		EXPECT(1, halo_fast_irecv(&got, differ ? 1 : count, differ ? sent : wanted, 0, 3, of(1), &requests[0]));
		EXPECT(1, wait_for(0));
		reset(); /* for a receive that is posted */
		EXPECT(1, halo_fast_irecv(&got, count, wanted, 0, 3, of(1), &requests[0]));
		EXPECT(1, halo_fast_send(&value, 1, sent, 1, 3, of(0)));
		EXPECT(!differ, wait_for(0));
		EXPECT(differ ? 0 : 64, GET(uint64_t, way(1), HALO_PEER_IN_HEAD));
	}
	reset(); /* nothing has no elements */
	EXPECT(1, halo_fast_send(NULL, 0, MPI_FLOAT, 1, 3, of(0)));
	EXPECT(1, halo_fast_recv(NULL, 0, MPI_INT, 0, 3, of(1), MPI_STATUS_IGNORE));
}

int main(void) {
	enum { LOOSE = 8, INTEGER = 1 << 4, NATURAL = 2 << 4, FLOATING = HALO_CODE_FLOATING << 4 }; /* see dtype.Code */
	halo_know_type((uintptr_t)MPI_BYTE, 1, 1, 1, HALO_BITS, 0);
	halo_know_type((uintptr_t)MPI_UINT8_T, 1, 1, 1, HALO_UNSIGNED, 0);
	halo_know_type((uintptr_t)MPI_INT, 4, 4, 4, HALO_SIGNED, INTEGER | LOOSE | 2);
	halo_know_type((uintptr_t)MPI_UNSIGNED, 4, 4, 4, HALO_UNSIGNED, NATURAL | LOOSE | 2);
	halo_know_type((uintptr_t)MPI_INT64_T, 8, 8, 8, HALO_SIGNED, INTEGER | LOOSE | 3);
	halo_know_type((uintptr_t)MPI_FLOAT, 4, 4, 4, HALO_FLOATING, FLOATING | LOOSE | 2);
	early();
	leaves();
	elements();
	random_calls();
	return failed != 0;
}
