/* Pack and Unpack, and external32, which is big-endian everywhere. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int v[4] = {1, 2, 3, 4}, w[4] = {0}, room = 0, more = 0, at = 0;
	double x = 3.25, y = 0;
	char buffer[200];
	OK(MPI_Pack_size(4, MPI_INT, MPI_COMM_WORLD, &room));
	OK(MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &more));
	CHECK(room >= 16 && more >= 8, "%d %d", room, more);
	OK(MPI_Pack(v, 4, MPI_INT, buffer, sizeof buffer, &at, MPI_COMM_WORLD));
	OK(MPI_Pack(&x, 1, MPI_DOUBLE, buffer, sizeof buffer, &at, MPI_COMM_WORLD));
	CHECK(at <= room + more, "%d bytes, more than announced", at);
	int end = at, right = (rank + 1) % size, left = (rank + size - 1) % size;
	char in[200];
	OK(MPI_Sendrecv(buffer, end, MPI_PACKED, right, 0, in, sizeof in, MPI_PACKED, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	at = 0;
	OK(MPI_Unpack(in, end, &at, w, 4, MPI_INT, MPI_COMM_WORLD));
	OK(MPI_Unpack(in, end, &at, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD));
	CHECK(memcmp(v, w, sizeof v) == 0 && x == y && at == end, "%d %g, %d of %d", w[3], y, at, end);

	MPI_Aint bytes = 0, position = 0;
	OK(MPI_Pack_external_size("external32", 4, MPI_INT, &bytes));
	CHECK(bytes == 16, "%ld", (long)bytes);
	OK(MPI_Pack_external("external32", v, 4, MPI_INT, buffer, sizeof buffer, &position));
	CHECK(position == 16 && buffer[0] == 0 && buffer[3] == 1 && buffer[15] == 4, "%d %d %d", buffer[0], buffer[3], buffer[15]);
	position = 0;
	memset(w, 0, sizeof w);
	OK(MPI_Unpack_external("external32", buffer, 16, &position, w, 4, MPI_INT));
	CHECK(memcmp(v, w, sizeof v) == 0 && position == 16, "%d", w[3]);
	return done();
}
