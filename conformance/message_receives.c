/*
 * message_receives: receives that are posted before their messages, in every order and kind, and completed by
 * every call. Turns are random: some ranks send messages to another one, which posts receives with tags,
 * wildcards, and buffers of all sizes. Which message a receive gets depends only on the orders of the posts
 * and of the messages, so that the ranks can compute it: posts before all sends, after them, or meanwhile.
 * Receives that match no message are cancelled, and messages that match no receive are received then.
 *
 * message_receives [seed turns [digest]]: with a third argument rank 0 also prints a digest of what all ranks
 * have received.
 */
#include "check.h"
#include "random.h"

#include <sched.h>
#include <stdint.h>
#include <unistd.h>

#define MOST 300 /* receives at a time */
#define LONG 20000
#define TAGS 4
#define CONTROL 99

static uint64_t digest;
static MPI_Comm comms[2];

static void late(void) {
	int n = own_below(64);
	if (n == 0)
		usleep(100);
	else if (n < 4)
		sched_yield();
}

struct message {
	int from, tag, length, receive;
};
struct receive {
	int from, tag, room, message; /* from and tag may be wildcards; message is -1 if none matches */
};

static struct message messages[MOST];
static struct receive receives[MOST];
static char *buffers[MOST], *out[MOST];

static char byte(int turn, int message, int at) { return (char)(turn * 31 + message * 7 + at * 3 + 1); }

/* Makes the messages and receives of a turn. sources is how many ranks send, from first on. */
static int make(int n, int first, int sources, int receiver) {
	static const int lengths[] = {0, 1, 8, 24, 25, 300, 8192, 8193, LONG};
	int any = below(3), large = below(3) == 0;
	for (int i = 0; i < n; i++) {
		int from = (first + below(sources)) % size;
		if (from == receiver)
			from = (from + 1) % size;
		messages[i] = (struct message){from, below(TAGS), large && below(8) == 0 ? lengths[below(9)] : below(30), -1};
		from = (first + below(sources)) % size;
		if (from == receiver)
			from = (from + 1) % size;
		receives[i] = (struct receive){sources == 1 && any == 0 && below(6) == 0 ? MPI_ANY_SOURCE : from, any > 0 && below(4) == 0 ? MPI_ANY_TAG : below(TAGS), below(5) == 0 ? LONG : 8192, -1};
	}
	int matches = 0;
	for (int m = 0; m < n; m++)
		for (int r = 0; r < n; r++)
			if (receives[r].message < 0 && (receives[r].from == MPI_ANY_SOURCE || receives[r].from == messages[m].from) &&
			    (receives[r].tag == MPI_ANY_TAG || receives[r].tag == messages[m].tag)) {
				receives[r].message = m;
				messages[m].receive = r;
				matches++;
				break;
			}
	for (int r = 0; r < n; r++)
		if (receives[r].message >= 0 && receives[r].room < messages[receives[r].message].length)
			receives[r].room = LONG;
	return matches;
}

static void took(int turn, int m, const char *data, const MPI_Status *s) {
	int count = -1, wrongs = 0;
	uint64_t sum = (uint64_t)((turn * MOST + m) * TAGS + s->MPI_TAG) * 64 + (uint64_t)s->MPI_SOURCE;
	MPI_Get_count(s, MPI_BYTE, &count);
	CHECK(s->MPI_SOURCE == messages[m].from && s->MPI_TAG == messages[m].tag && count == messages[m].length, "message %d of turn %d: from %d, want %d; tag %d, want %d; %d bytes, want %d", m, turn,
	      s->MPI_SOURCE, messages[m].from, s->MPI_TAG, messages[m].tag, count, messages[m].length);
	for (int i = 0; i < messages[m].length; i++) {
		wrongs += data[i] != byte(turn, m, i);
		sum = (sum ^ (unsigned char)data[i]) * 0x100000001b3u;
	}
	digest += sum; /* in any order */
	CHECK(wrongs == 0, "message %d of turn %d: %d of %d bytes", m, turn, wrongs, messages[m].length);
}

static MPI_Request requests[MOST];
static MPI_Status statuses[MOST];
static int numbers[MOST]; /* of the receives of the requests */

/* Calls that have nothing to do with the receives, and may find their messages. */
static void other(MPI_Comm comm) {
	int flag;
	switch (own_below(12)) {
	case 0:
		OK(MPI_Iprobe(MPI_ANY_SOURCE, CONTROL + 1, comm, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag);
		break;
	case 1:
		OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, rank, CONTROL + 1, NULL, 0, MPI_BYTE, rank, CONTROL + 1, comm, MPI_STATUS_IGNORE));
		break;
	}
}

/* Completes some of n requests, and returns how many of them are left. */
static int complete(int turn, int n) {
	static int indices[MOST];
	int flag = 0, k = 0, ended = 0;
	switch (own_below(10)) {
	case 0:
		OK(MPI_Waitall(n, requests, statuses));
		for (ended = 0; ended < n; ended++)
			indices[ended] = ended;
		break;
	case 1:
		OK(MPI_Testall(n, requests, &flag, statuses));
		for (ended = 0; flag && ended < n; ended++)
			indices[ended] = ended;
		break;
	case 2:
		OK(MPI_Waitany(n, requests, &indices[0], &statuses[0]));
		ended = 1;
		break;
	case 3:
		OK(MPI_Testany(n, requests, &indices[0], &flag, &statuses[0]));
		ended = flag;
		break;
	case 4: OK(MPI_Waitsome(n, requests, &ended, indices, statuses)); break;
	case 5: OK(MPI_Testsome(n, requests, &ended, indices, statuses)); break;
	case 6:
		k = own_below(n);
		OK(MPI_Request_get_status(requests[k], &flag, &statuses[0]));
		if (flag)
			CHECK(statuses[0].MPI_TAG == messages[receives[numbers[k]].message].tag);
		break;
	case 7:
	case 8:
		indices[0] = own_below(n);
		OK(MPI_Test(&requests[indices[0]], &ended, &statuses[0]));
		break;
	case 9:
		indices[0] = own_below(n);
		OK(MPI_Wait(&requests[indices[0]], &statuses[0]));
		ended = 1;
		break;
	}
	for (int i = 0; i < ended; i++) {
		k = indices[i];
		CHECK(requests[k] == MPI_REQUEST_NULL);
		took(turn, receives[numbers[k]].message, buffers[numbers[k]], &statuses[i]);
		numbers[k] = -1;
	}
	int left = 0;
	for (int i = 0; i < n; i++)
		if (numbers[i] >= 0) {
			numbers[left] = numbers[i];
			requests[left++] = requests[i];
		}
	return left;
}

static void receive(int turn, int n, int ready, int first, int sources, MPI_Comm comm) {
	static MPI_Request unmatched[MOST];
	int left = 0, cancelled = 0;
	for (int r = 0; r < n; r++) {
		MPI_Request request;
		late();
		other(comm);
		OK(MPI_Irecv(buffers[r], receives[r].room, MPI_BYTE, receives[r].from, receives[r].tag, comm, &request));
		if (receives[r].message < 0) {
			unmatched[cancelled++] = request;
		} else {
			numbers[left] = r;
			requests[left++] = request;
		}
	}
	if (ready)
		for (int i = 0; i < sources; i++)
			if ((first + i) % size != rank)
				OK(MPI_Send(NULL, 0, MPI_BYTE, (first + i) % size, CONTROL, comm));
	while (left > 0) {
		late();
		other(comm);
		left = complete(turn, left);
	}
	for (int i = 0; i < cancelled; i++) {
		int flag = 0;
		OK(MPI_Cancel(&unmatched[i]));
		OK(MPI_Wait(&unmatched[i], &statuses[0]));
		OK(MPI_Test_cancelled(&statuses[0], &flag));
		CHECK(flag, "a receive of turn %d that no message matches is not cancelled", turn);
	}
	for (int m = 0; m < n; m++)
		if (messages[m].receive < 0) {
			OK(MPI_Recv(buffers[0], LONG, MPI_BYTE, messages[m].from, messages[m].tag, comm, &statuses[0]));
			took(turn, m, buffers[0], &statuses[0]);
		}
}

static void send(int turn, int n, int to, MPI_Comm comm) {
	int started = 0;
	for (int m = 0; m < n; m++)
		if (messages[m].from == rank) {
			late();
			for (int i = 0; i < messages[m].length; i++)
				out[m][i] = byte(turn, m, i);
			if (messages[m].length < 8000 && own_below(2) == 0) {
				OK(MPI_Send(out[m], messages[m].length, MPI_BYTE, to, messages[m].tag, comm));
			} else {
				OK(MPI_Isend(out[m], messages[m].length, MPI_BYTE, to, messages[m].tag, comm, &requests[started++]));
			}
		}
	OK(MPI_Waitall(started, requests, statuses));
}

static void turn(int number) {
	MPI_Comm comm = comms[below(2)];
	int n = 1 + below(below(8) == 0 ? MOST : 40), first = below(size), receiver = (first + 1 + below(size - 1)) % size, sources = below(2) == 0 ? 1 : size, ready = below(2);
	make(n, first, sources, receiver);
	if (rank == receiver) {
		receive(number, n, ready, first, sources, comm);
	} else if (sources == size || rank == first) {
		if (ready)
			OK(MPI_Recv(NULL, 0, MPI_BYTE, receiver, CONTROL, comm, MPI_STATUS_IGNORE));
		send(number, n, receiver, comm);
	}
	OK(MPI_Barrier(comm)); /* the receives of this turn must not match messages of the next one */
}

/* Some messages in turns: the rings are open, and calls do not sleep between them. */
static void warm(MPI_Comm comm) {
	for (int i = 0; i < 200; i++)
		for (int to = 0; to < size; to++)
			if (to != rank)
				OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, to, CONTROL, NULL, 0, MPI_BYTE, to, CONTROL, comm, MPI_STATUS_IGNORE));
}

/* A receive from a rank that has sent nothing yet, while a receive from another one is posted. */
static void silent(void) {
	MPI_Request r;
	char from_1 = 0, from_2 = 0;
	if (size < 3 || rank > 2)
		return;
	if (rank < 2)
		for (int i = 0; i < 200; i++)
			OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, 1 - rank, CONTROL, NULL, 0, MPI_BYTE, 1 - rank, CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	if (rank == 2)
		usleep(20000);
	if (rank > 0) {
		OK(MPI_Send(rank == 1 ? "1" : "2", 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD));
		return;
	}
	OK(MPI_Irecv(&from_1, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(from_1 == '1');
	OK(MPI_Irecv(&from_1, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &r));
	OK(MPI_Recv(&from_2, 1, MPI_CHAR, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(from_2 == '2');
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

/* Errors, and handles in other calls. */
static void fixed(void) {
	MPI_Comm comm;
	MPI_Request r[3], copy;
	MPI_Status s;
	char small[8] = "", more[8] = "", last[8] = "";
	int flag = -1;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	warm(comm);
	if (rank == 0) {
		OK(MPI_Irecv(small, 4, MPI_BYTE, 1, 1, comm, &r[0]));
		OK(MPI_Irecv(more, 8, MPI_BYTE, 1, 1, comm, &r[1]));
		OK(MPI_Send(NULL, 0, MPI_BYTE, 1, CONTROL, comm));
		FAILS(MPI_Wait(&r[0], &s), MPI_ERR_TRUNCATE);
		OK(MPI_Wait(&r[1], &s));
		CHECK(memcmp(more, "ijklmnop", 8) == 0);

		/* A copy of a handle is the same request. */
		OK(MPI_Irecv(small, 8, MPI_BYTE, 1, 1, comm, &r[0]));
		OK(MPI_Irecv(more, 8, MPI_BYTE, 1, 2, comm, &r[1]));
		copy = r[0];
		OK(MPI_Cancel(&copy));
		OK(MPI_Wait(&r[0], &s));
		OK(MPI_Test_cancelled(&s, &flag));
		CHECK(flag);
		FAILS(MPI_Start(&r[1]), MPI_ERR_REQUEST);

		/* A request that is freed, and one whose communicator is, go on. */
		OK(MPI_Irecv(last, 8, MPI_BYTE, 1, 2, comm, &r[2]));
		OK(MPI_Request_free(&r[2]));
		CHECK(r[2] == MPI_REQUEST_NULL);
		OK(MPI_Irecv(small, 8, MPI_BYTE, 1, 3, comm, &r[0]));
		OK(MPI_Send(NULL, 0, MPI_BYTE, 1, CONTROL, comm));
		OK(MPI_Comm_free(&comm));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		CHECK(memcmp(more, "2first  ", 8) == 0 && memcmp(small, "3       ", 8) == 0 && memcmp(last, "2second ", 8) == 0);
	} else if (rank == 1) {
		OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, CONTROL, comm, MPI_STATUS_IGNORE));
		OK(MPI_Send("abcdefgh", 8, MPI_BYTE, 0, 1, comm));
		OK(MPI_Send("ijklmnop", 8, MPI_BYTE, 0, 1, comm));
		OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, CONTROL, comm, MPI_STATUS_IGNORE));
		OK(MPI_Send("2first  ", 8, MPI_BYTE, 0, 2, comm));
		OK(MPI_Send("2second ", 8, MPI_BYTE, 0, 2, comm));
		OK(MPI_Send("3       ", 8, MPI_BYTE, 0, 3, comm));
		OK(MPI_Comm_free(&comm));
	} else {
		OK(MPI_Comm_free(&comm));
	}
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	uint64_t all = 0;
	int turns = argc > 2 ? atoi(argv[2]) : 1000;
	silent();
	seed(argc, argv);
	for (int i = 0; i < MOST; i++)
		buffers[i] = malloc(LONG), out[i] = malloc(LONG);
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_set_errhandler(comms[1], MPI_ERRORS_RETURN);
	fixed();
	warm(MPI_COMM_WORLD);
	for (int i = 0; i < turns; i++)
		turn(i);
	MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Comm_free(&comms[1]);
	for (int i = 0; i < MOST; i++)
		free(buffers[i]), free(out[i]);
	if (argc > 3 && rank == 0)
		printf("%016llx\n", (unsigned long long)all);
	return done();
}
