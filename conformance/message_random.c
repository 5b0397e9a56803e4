/*
 * message_random: random histories of messages, most of them short, from one rank to another in turns.
 * Senders send in all modes and shapes, receivers receive in order, in any order, by wildcards, by
 * probes, or before the message is sent, on the world, a duplicate, a communicator with the ranks in
 * reverse, and one of some ranks. A rank is late at random. So messages that C sends and receives itself
 * come before, behind and among those of the engine.
 *
 * message_random [seed turns [digest]]: with a third argument rank 0 also prints a digest of what all ranks
 * have received, which must be the same with and without the path of C.
 */
#include "check.h"
#include "random.h"

#include <sched.h>
#include <stdint.h>
#include <unistd.h>

#define BURST 8    /* messages in a turn */
#define LONG 20000 /* bytes: more than an eager message */
#define COMMS 4

static uint64_t digest = 1;
static MPI_Comm comms[COMMS];
static char out[BURST][LONG + 8], in[BURST][LONG + 8];

/* A length in bytes: mostly short, sometimes none, or around the limits of lines and eager messages. */
static int length(void) {
	static const int edges[] = {0, 1, 8, 16, 23, 24, 25, 88, 89, 1000, 8191, 8192, 8193, LONG};
	return below(3) == 0 ? edges[below((int)(sizeof edges / sizeof *edges))] : below(64);
}

static void late(void) {
	switch (own_below(32)) {
	case 0: usleep(100); return;
	case 1: sched_yield(); return;
	}
}

static void fill(char *p, int n, uint64_t id) {
	for (int i = 0; i < n; i++)
		p[i] = (char)(id * 31 + (uint64_t)i * 7 + (id >> 8));
}

struct message {
	int length, tag;
	uint64_t id;
};

static void took(const struct message *m, const char *data, const MPI_Status *s, int from) {
	static char want[LONG];
	int count = -1;
	MPI_Get_count(s, MPI_BYTE, &count);
	CHECK(s->MPI_SOURCE == from, "%d, want %d", s->MPI_SOURCE, from);
	CHECK(s->MPI_TAG == m->tag, "%d, want %d", s->MPI_TAG, m->tag);
	CHECK(count == m->length, "%d, want %d", count, m->length);
	fill(want, m->length, m->id);
	CHECK(memcmp(data, want, (size_t)m->length) == 0, "message %llu of %d bytes", (unsigned long long)m->id, m->length);
	for (int i = m->length; i < m->length + 8; i++)
		CHECK(data[i] == 0x55, "byte %d behind %d", i - m->length, m->length);
	for (int i = 0; i < m->length; i++)
		digest = (digest ^ (unsigned char)data[i]) * 0x100000001b3u;
	digest = (digest ^ (uint64_t)(m->tag * 8 + from)) * 0x100000001b3u;
}

enum { IN_ORDER, POSTED_FIRST, LAST_FIRST, ANY_TAG, ANY_SOURCE, PROBED, MATCHED_PROBE, RECEIVES };
enum { SEND, ISEND, ISSEND, SPREAD, SENDS };

static void send_all(const struct message *m, int n, int to, MPI_Comm comm, int blocking) {
	static char spread[BURST][2 * LONG];
	MPI_Request r[BURST];
	int started = 0;
	for (int i = 0; i < n; i++) {
		fill(out[i], m[i].length, m[i].id);
		late();
		switch (m[i].id * 2654435761u >> 16 & 3) {
		case SEND:
			if (blocking) {
				OK(MPI_Send(out[i], m[i].length, MPI_BYTE, to, m[i].tag, comm));
				break;
			} /* else the receiver takes the last one first */
			/* fall through */
		case ISEND: OK(MPI_Isend(out[i], m[i].length, MPI_CHAR, to, m[i].tag, comm, &r[started++])); break;
		case ISSEND: OK(MPI_Issend(out[i], m[i].length, MPI_BYTE, to, m[i].tag, comm, &r[started++])); break;
		case SPREAD: { /* every other byte */
			MPI_Datatype t;
			for (int k = 0; k < m[i].length; k++)
				spread[i][2 * k] = out[i][k];
			MPI_Type_create_resized(MPI_BYTE, 0, 2, &t);
			MPI_Type_commit(&t);
			OK(MPI_Isend(spread[i], m[i].length, t, to, m[i].tag, comm, &r[started++]));
			MPI_Type_free(&t);
			break;
		}
		}
	}
	OK(MPI_Waitall(started, r, MPI_STATUSES_IGNORE));
}

static void receive_all(const struct message *m, int n, int how, int from, MPI_Comm comm) {
	MPI_Request r[BURST];
	MPI_Status s[BURST];
	memset(in, 0x55, sizeof in);
	if (how == POSTED_FIRST) {
		for (int i = 0; i < n; i++)
			OK(MPI_Irecv(in[i], m[i].length, MPI_BYTE, from, m[i].tag, comm, &r[i]));
		OK(MPI_Waitall(n, r, s));
	}
	for (int k = 0; k < n; k++) {
		int i = how == LAST_FIRST ? n - 1 - k : k, room = m[i].length + (int)(m[i].id % 5);
		MPI_Message message;
		late();
		switch (how) {
		case IN_ORDER:
		case LAST_FIRST: OK(MPI_Recv(in[i], room, MPI_BYTE, from, m[i].tag, comm, &s[i])); break;
		case ANY_TAG: OK(MPI_Recv(in[i], room, MPI_BYTE, from, MPI_ANY_TAG, comm, &s[i])); break;
		case ANY_SOURCE: OK(MPI_Recv(in[i], room, MPI_BYTE, MPI_ANY_SOURCE, m[i].tag, comm, &s[i])); break;
		case PROBED:
			OK(MPI_Probe(from, m[i].tag, comm, &s[i]));
			OK(MPI_Recv(in[i], room, MPI_BYTE, from, m[i].tag, comm, &s[i]));
			break;
		case MATCHED_PROBE:
			OK(MPI_Mprobe(from, m[i].tag, comm, &message, &s[i]));
			OK(MPI_Mrecv(in[i], room, MPI_BYTE, &message, &s[i]));
			break;
		}
		took(&m[i], in[i], &s[i], from);
	}
}

static void turn(int number) {
	struct message m[BURST];
	MPI_Comm comm = comms[below(COMMS)];
	int n = 1 + below(BURST), how = below(RECEIVES), a = below(1 << 20), b = below(1 << 20), members, me;
	for (int i = 0; i < n; i++) {
		/* A rank may be some turns ahead, so that wildcards for ranks need a tag of their own. */
		int tag = how == ANY_SOURCE ? 100 + number : how == LAST_FIRST ? 10 + i : below(3);
		m[i] = (struct message){length(), tag, (uint64_t)number * BURST + (uint64_t)i};
	}
	if (comm == MPI_COMM_NULL)
		return;
	MPI_Comm_size(comm, &members);
	MPI_Comm_rank(comm, &me);
	if (members < 2)
		return;
	int from = a % members, to = (from + 1 + b % (members - 1)) % members;
	if (me == from)
		send_all(m, n, to, comm, how != LAST_FIRST);
	else if (me == to)
		receive_all(m, n, how, from, comm);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	uint64_t all = 0;
	int turns = argc > 2 ? atoi(argv[2]) : 1000;
	seed(argc, argv);
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[2]);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &comms[3]);
	for (int i = 0; i < turns; i++) {
		turn(i);
		if (i % 200 == 199) { /* a new communicator, with the handle of the last one */
			MPI_Comm_free(&comms[1]);
			MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
		}
	}
	MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
	for (int i = 1; i < COMMS; i++)
		if (comms[i] != MPI_COMM_NULL)
			MPI_Comm_free(&comms[i]);
	if (argc > 3 && rank == 0)
		printf("%016llx\n", (unsigned long long)all);
	return done();
}
