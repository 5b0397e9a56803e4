/*
 * buffer_bsend: detaching a buffer for messages in buffered mode (MPI-5, 3.6) returns what was
 * attached, after all messages in it have been sent.
 */
#include "check.h"

int main(int argc, char **argv)
{
	int n, me, size, x = 17;
	char buffer[4096], *back = NULL;
	MPI_Request q;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	int to = (me + 1) % n, from = (me + n - 1) % n, got;
	MPI_Buffer_attach(buffer, sizeof buffer);
	CHECK(MPI_Buffer_attach(buffer, sizeof buffer) != MPI_SUCCESS);
	MPI_Bsend(&x, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
	MPI_Recv(&got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Buffer_detach(&back, &size);
	CHECK(back == buffer && size == sizeof buffer && got == 17);
#ifdef MPI_BUFFER_AUTOMATIC
	MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
	MPI_Bsend(&x, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
	MPI_Buffer_iflush(&q);
	MPI_Recv(&got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Buffer_flush();
	MPI_Buffer_detach(&back, &size);
	CHECK((void *)back == MPI_BUFFER_AUTOMATIC && size == 0);
	MPI_Count large = -1;
	MPI_Comm_attach_buffer(MPI_COMM_WORLD, buffer, sizeof buffer);
	MPI_Bsend(&x, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
	MPI_Recv(&got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Comm_flush_buffer(MPI_COMM_WORLD);
	MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &back, &large);
	CHECK(back == buffer && large == sizeof buffer);
#endif
	(void)q;
	return done();
}
