/*
 * message_early: messages that arrive before their receives, which are made in another order, by every call. In a turn
 * one rank receives the messages of another one, or of all, whose order it knows. Each call gets the oldest message
 * that it matches and that no call before it has got. Some messages are cancelled by their senders.
 *
 * message_early [seed turns [digest]]: with a third argument rank 0 also prints a digest of what all ranks
 * have received.
 */
#include "check.h"
#include "random.h"

#include <sched.h>
#include <stdint.h>

#define MOST 200 /* messages of a turn */
#define PENDING 8
#define LONG 20000
#define TAGS 6
#define LAST 97 /* tags of messages that are perhaps cancelled, of none, and of what ends a turn */
#define NEVER 98
#define CONTROL 99

static uint64_t digest;
static MPI_Comm comms[2];

static struct message {
	int from, tag, length, taken;
} messages[MOST];
static char *buffers[PENDING], *room, *out[MOST];

static struct pending {
	MPI_Request request;
	int message;
	char *buffer;
} pending[PENDING];
static int waiting;

static char byte(int turn, int message, int at) { return (char)(turn * 29 + message * 11 + at * 5 + 1); }

/* Adds a message to the digest, in any order. */
static void count_in(int turn, int m, const char *data) {
	uint64_t sum = (uint64_t)((turn * MOST + m) * TAGS + messages[m].tag) * 64 + (uint64_t)messages[m].from;
	for (int i = 0; i < messages[m].length; i++)
		sum = (sum ^ (unsigned char)data[i]) * 0x100000001b3u;
	digest += sum;
}

static void took(int turn, int m, const char *data, const MPI_Status *s) {
	int count = -1, wrongs = 0;
	MPI_Get_count(s, MPI_BYTE, &count);
	CHECK(s->MPI_SOURCE == messages[m].from && s->MPI_TAG == messages[m].tag && count == messages[m].length, "message %d of turn %d: from %d, want %d; tag %d, want %d; %d bytes, want %d", m, turn,
	      s->MPI_SOURCE, messages[m].from, s->MPI_TAG, messages[m].tag, count, messages[m].length);
	for (int i = 0; i < messages[m].length; i++)
		wrongs += data[i] != byte(turn, m, i);
	count_in(turn, m, data);
	CHECK(wrongs == 0, "message %d of turn %d: %d of %d bytes", m, turn, wrongs, messages[m].length);
}

/* The oldest message of a rank with a tag that no call has got, -1 if there is none. */
static int oldest(int n, int from, int tag) {
	for (int m = 0; m < n; m++)
		if (!messages[m].taken && messages[m].from == from && (tag == MPI_ANY_TAG || messages[m].tag == tag))
			return m;
	return -1;
}

/* Completes one of the pending receives. */
static void complete(int turn) {
	int k = own_below(waiting), flag = 0;
	MPI_Status s;
	if (own_below(2) == 0)
		OK(MPI_Wait(&pending[k].request, &s));
	else
		while (!flag)
			OK(MPI_Test(&pending[k].request, &flag, &s));
	took(turn, pending[k].message, pending[k].buffer, &s);
	struct pending last = pending[--waiting];
	pending[waiting] = pending[k];
	pending[k] = last;
}

/* A receive that no message matches, with all that can be done to it. */
static void never(MPI_Comm comm, int from) {
	MPI_Request r;
	MPI_Status s;
	int flag = 1;
	OK(MPI_Iprobe(from, NEVER, comm, &flag, &s));
	CHECK(!flag);
	OK(MPI_Irecv(room, 8, MPI_BYTE, from, NEVER, comm, &r));
	OK(MPI_Test(&r, &flag, &s));
	CHECK(!flag);
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, &s));
	OK(MPI_Test_cancelled(&s, &flag));
	CHECK(flag);
}

/* One call that receives, or begins to. */
static void receive(int turn, int n, MPI_Comm comm) {
	int m, flag = 0, count = -1;
	do
		m = own_below(n);
	while (messages[m].taken);
	int from = messages[m].from, tag = own_below(5) == 0 ? MPI_ANY_TAG : messages[m].tag;
	MPI_Message message;
	MPI_Status s;
	m = oldest(n, from, tag);
	switch (own_below(12)) {
	case 0:
		if (waiting < PENDING) {
			OK(MPI_Irecv(pending[waiting].buffer, LONG, MPI_BYTE, from, tag, comm, &pending[waiting].request));
			pending[waiting++].message = m;
			messages[m].taken = 1;
			return;
		}
		/* fall through */
	case 1:
		if (waiting > 0) {
			complete(turn);
			return;
		}
		/* fall through */
	case 2: OK(MPI_Probe(from, tag, comm, &s)); break;
	case 3:
		while (!flag)
			OK(MPI_Iprobe(from, tag, comm, &flag, &s));
		break;
	case 4:
		OK(MPI_Mprobe(from, tag, comm, &message, &s));
		messages[m].taken = 1;
		OK(MPI_Mrecv(room, LONG, MPI_BYTE, &message, &s));
		took(turn, m, room, &s);
		return;
	case 5:
		if (messages[m].length > 0) {
			messages[m].taken = 1;
			FAILS(MPI_Recv(room, messages[m].length - 1, MPI_BYTE, from, tag, comm, &s), MPI_ERR_TRUNCATE);
			for (int i = 0; i < messages[m].length; i++)
				room[i] = byte(turn, m, i);
			count_in(turn, m, room);
			return;
		}
		/* fall through */
	case 6:
		while (waiting > 0) /* they could match the message, too */
			complete(turn);
		tag = messages[m].tag;
		OK(MPI_Recv(room, LONG, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, &s));
		m = oldest(n, s.MPI_SOURCE, tag);
		messages[m].taken = 1;
		took(turn, m, room, &s);
		return;
	case 7: never(comm, from); break;
	}
	messages[m].taken = 1;
	OK(MPI_Recv(room, LONG, MPI_BYTE, from, tag, comm, &s));
	MPI_Get_count(&s, MPI_BYTE, &count);
	CHECK(count == messages[m].length);
	took(turn, m, room, &s);
}

static void send(int turn, int n, int to, MPI_Comm comm) {
	static MPI_Request requests[MOST + 1];
	MPI_Status s;
	int started = 0, cancelled;
	for (int m = 0; m < n; m++)
		if (messages[m].from == rank) {
			if (own_below(64) == 0)
				sched_yield();
			for (int i = 0; i < messages[m].length; i++)
				out[m][i] = byte(turn, m, i);
			switch (own_below(messages[m].length > 1000 ? 3 : 8)) {
			case 0: OK(MPI_Issend(out[m], messages[m].length, MPI_BYTE, to, messages[m].tag, comm, &requests[started++])); break;
			case 1:
			case 2:
			case 3: OK(MPI_Isend(out[m], messages[m].length, MPI_BYTE, to, messages[m].tag, comm, &requests[started++])); break;
			default: OK(MPI_Send(out[m], messages[m].length, MPI_BYTE, to, messages[m].tag, comm));
			}
		}
	OK(MPI_Isend("cancelled", 9, MPI_BYTE, to, LAST, comm, &requests[started]));
	OK(MPI_Cancel(&requests[started]));
	OK(MPI_Wait(&requests[started], &s));
	OK(MPI_Test_cancelled(&s, &cancelled));
	OK(MPI_Send(&cancelled, 1, MPI_INT, to, CONTROL, comm));
	OK(MPI_Waitall(started, requests, MPI_STATUSES_IGNORE));
}

static void turn(int number) {
	static const int lengths[] = {0, 71, 72, 73, 300, 8192, LONG};
	MPI_Comm comm = comms[below(2)];
	int n = 1 + below(below(4) == 0 ? MOST : 20), first = below(size), receiver = (first + 1 + below(size - 1)) % size, all = below(2), large = below(3) == 0;
	for (int m = 0; m < n; m++) {
		int from = all ? below(size) : first;
		if (from == receiver)
			from = (from + 1) % size;
		messages[m] = (struct message){from, below(TAGS), large && below(6) == 0 ? lengths[below(7)] : below(40), 0};
	}
	if (rank == receiver) {
		int left = n;
		while (left > 0) {
			receive(number, n, comm);
			left = 0;
			for (int m = 0; m < n; m++)
				left += !messages[m].taken;
		}
		while (waiting > 0)
			complete(number);
		for (int from = 0; from < size; from++)
			if (from != receiver && (all || from == first)) {
				int cancelled = 0;
				OK(MPI_Recv(&cancelled, 1, MPI_INT, from, CONTROL, comm, MPI_STATUS_IGNORE));
				if (!cancelled)
					OK(MPI_Recv(room, 9, MPI_BYTE, from, LAST, comm, MPI_STATUS_IGNORE));
			}
	} else if (all || rank == first) {
		send(number, n, receiver, comm);
	}
	OK(MPI_Barrier(comm)); /* receives from any source must not match messages of the next turn */
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	uint64_t all = 0;
	int turns = argc > 2 ? atoi(argv[2]) : 1000;
	seed(argc, argv);
	room = malloc(LONG);
	for (int i = 0; i < PENDING; i++)
		pending[i].buffer = buffers[i] = malloc(LONG);
	for (int i = 0; i < MOST; i++)
		out[i] = malloc(LONG);
	for (int i = 0; i < 2; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
		MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
	}
	for (int i = 0; i < 200; i++) /* the rings are open, and calls do not sleep between messages */
		for (int to = 0; to < size; to++)
			if (to != rank)
				OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, to, CONTROL, NULL, 0, MPI_BYTE, to, CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	for (int i = 0; i < turns; i++)
		turn(i);
	MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int i = 0; i < 2; i++)
		MPI_Comm_free(&comms[i]);
	for (int i = 0; i < PENDING; i++)
		free(buffers[i]);
	for (int i = 0; i < MOST; i++)
		free(out[i]);
	free(room);
	if (argc > 3 && rank == 0)
		printf("%016llx\n", (unsigned long long)all);
	return done();
}
