/* Each rank in turn wakes all others, under the limit of descriptors that the argument gives. The
 * library must leave some descriptors to the program. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv) {
	enum { own = 2 };
	if (argc > 1) {
		struct rlimit few;
		few.rlim_cur = few.rlim_max = (rlim_t)atoi(argv[1]);
		if (setrlimit(RLIMIT_NOFILE, &few) != 0) perror("setrlimit");
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int root = 0; root < size; root++) {
		int got = -1;
		if (rank != root) {
			OK(MPI_Recv(&got, 1, MPI_INT, root, root, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
			CHECK(got == root, "%d of rank %d", got, root);
			OK(MPI_Send(&rank, 1, MPI_INT, root, root, MPI_COMM_WORLD));
			continue;
		}
		usleep(20000); /* by then the others sleep, most likely */
		for (int peer = 0; peer < size; peer++)
			if (peer != root) OK(MPI_Send(&root, 1, MPI_INT, peer, root, MPI_COMM_WORLD));
		for (int peer = 0; peer < size; peer++)
			if (peer != root) {
				OK(MPI_Recv(&got, 1, MPI_INT, peer, root, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
				CHECK(got == peer, "%d of rank %d", got, peer);
			}
	}
	for (int i = 0; i < own; i++) {
		int f = open("/dev/null", O_RDONLY);
		CHECK(f >= 0, "descriptor %d", i);
	}
	return done();
}
