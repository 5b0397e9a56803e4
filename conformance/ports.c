/* Servers and clients (X-DYN-01): the halves of MPI_COMM_WORLD meet at a port whose name is published, and two ranks by a
 * socket. What is wrong with ports and names. */
#include "check.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int low; /* the first half, which serves */

/* The ranks of the other group as MPI_COMM_WORLD has them, and a sum over both. */
static void talk(MPI_Comm c, const char *what) {
	int n, mine, flag, got[64];
	OK(MPI_Comm_test_inter(c, &flag));
	OK(MPI_Comm_remote_size(c, &n));
	OK(MPI_Comm_rank(c, &mine));
	CHECK(flag, "%s is no intercommunicator", what);
	OK(MPI_Allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, c));
	for (int i = 0; i < n; i++)
		CHECK(got[i] == (low ? size / 2 : 0) + i, "%s: %d is rank %d of the other group", what, got[i], i);
	MPI_Comm all;
	int sum = 0, place;
	OK(MPI_Intercomm_merge(c, !low, &all));
	OK(MPI_Comm_rank(all, &place));
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
	CHECK(place == rank && sum == size * (size - 1) / 2, "%s: rank %d, the sum is %d", what, place, sum);
	OK(MPI_Comm_disconnect(&all));
}

/* One end of a socket between ranks 0 and 1. */
static int end_of_socket(void) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof a;
	int s = socket(AF_INET, SOCK_STREAM, 0), fd = s;
	if (rank == 0) {
		CHECK(!bind(s, (struct sockaddr *)&a, sizeof a) && !listen(s, 1) && !getsockname(s, (struct sockaddr *)&a, &length));
		OK(MPI_Send(&a, sizeof a, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
		fd = accept(s, NULL, NULL);
		close(s);
	} else {
		OK(MPI_Recv(&a, sizeof a, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(!connect(s, (struct sockaddr *)&a, sizeof a));
	}
	return fd;
}

/* The processes at the ends of a socket. It stays open, and has the bytes of the program only. */
static void join(void) {
	MPI_Comm c;
	int fd = end_of_socket(), n, got = -1;
	char before = 'a' + rank, after = 0;
	CHECK(write(fd, &before, 1) == 1 && read(fd, &after, 1) == 1 && after == 'b' - rank);
	OK(MPI_Comm_join(fd, &c));
	OK(MPI_Comm_remote_size(c, &n));
	CHECK(n == 1, "%d processes at the other end", n);
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, c, MPI_STATUS_IGNORE));
	CHECK(got == 1 - rank, "%d at the other end", got);
	OK(MPI_Comm_disconnect(&c));
	before += 2;
	CHECK(write(fd, &before, 1) == 1 && read(fd, &after, 1) == 1 && after == 'd' - rank, "%d after MPI_Comm_join", after);
	close(fd);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	low = rank < size / 2;
	char port[MPI_MAX_PORT_NAME] = "", looked[MPI_MAX_PORT_NAME], service[100];
	int id = getpid();
	OK(MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD));
	snprintf(service, sizeof service, "halo ports %d", id);
	MPI_Comm half, c;
	OK(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half));

	FAILS(MPI_Lookup_name(service, MPI_INFO_NULL, looked), MPI_ERR_NAME);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0) { /* what is published is not opened */
		OK(MPI_Publish_name(service, MPI_INFO_NULL, "otherhost:122"));
		OK(MPI_Lookup_name(service, MPI_INFO_NULL, looked));
		CHECK(!strcmp(looked, "otherhost:122"), "%s", looked);
		OK(MPI_Unpublish_name(service, MPI_INFO_NULL, "otherhost:122"));
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
		FAILS(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == size / 2)
		OK(MPI_Lookup_name(service, MPI_INFO_NULL, port));
	if (rank == 1)
		FAILS(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
	for (int round = 0; round < 3; round++) {
		/* the name of the port is significant at the root only */
		if (low)
			OK(MPI_Comm_accept(rank == 0 ? port : NULL, MPI_INFO_NULL, 0, half, &c));
		else
			OK(MPI_Comm_connect(rank == size / 2 ? port : NULL, MPI_INFO_NULL, 0, half, &c));
		talk(c, "that of accept and connect");
		OK(MPI_Comm_disconnect(&c));
		CHECK(c == MPI_COMM_NULL, "the handle is not null");
	}

	/* limits of time, and what is wrong */
	MPI_Info info;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "timeout", "0.01"));
	if (low) {
		FAILS(MPI_Comm_accept(port, info, 0, half, &c), MPI_ERR_PORT);
		CHECK(c == MPI_COMM_NULL, "a communicator of a call that has failed");
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (!low)
		FAILS(MPI_Comm_connect(port, info, 0, half, &c), MPI_ERR_PORT);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	FAILS(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, half, &c), MPI_ERR_PORT);
	FAILS(MPI_Comm_connect(port, MPI_INFO_NULL, size, half, &c), MPI_ERR_ROOT);
	FAILS(MPI_Close_port("nonsense"), MPI_ERR_PORT);
	OK(MPI_Info_set(info, "timeout", "soon"));
	FAILS(MPI_Comm_connect(port, info, 0, half, &c), MPI_ERR_ARG);
	OK(MPI_Info_free(&info));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0) {
		OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
		FAILS(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
		OK(MPI_Close_port(port));
		FAILS(MPI_Close_port(port), MPI_ERR_PORT);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (!low)
		FAILS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &c), MPI_ERR_PORT);
	FAILS(MPI_Lookup_name(service, MPI_INFO_NULL, looked), MPI_ERR_NAME);
	FAILS(MPI_Comm_join(-1, &c), MPI_ERR_ARG);
	CHECK(c == MPI_COMM_NULL, "a communicator of a call that has failed");
	OK(MPI_Comm_free(&half));
	if (rank < 2) join();
	return done();
}
