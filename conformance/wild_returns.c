/*
 * wild_returns: buffers without memory are MPI_ERR_BUFFER if errors return, and the call has no
 * other effect; buffers that a call does not access may have any address.
 */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static void *const nowhere = (void *)0x200000, *const impossible = (void *)0x8000000000001000;
static char *constant; /* a page that cannot be written */
static char *edge;     /* a page without memory behind it */
static MPI_Comm self;
static MPI_Datatype vector;

static void messages(void) {
	int x[4] = {0};
	MPI_Request r;
	FAILS(MPI_Send(nowhere, 1, MPI_INT, 0, 0, self), MPI_ERR_BUFFER);
	FAILS(MPI_Send(impossible, 1, MPI_INT, 0, 0, self), MPI_ERR_BUFFER);
	FAILS(MPI_Send(edge + 4092, 2, MPI_INT, 0, 0, self), MPI_ERR_BUFFER);
	FAILS(MPI_Send(nowhere, 1, vector, 0, 0, self), MPI_ERR_BUFFER);
	FAILS(MPI_Send(edge + 4092, 1, vector, 0, 0, self), MPI_ERR_BUFFER);
	FAILS(MPI_Send_c(nowhere, 1, MPI_DOUBLE_INT, 0, 0, self), MPI_ERR_BUFFER);
	FAILS(MPI_Isend(nowhere, 1, MPI_INT, 0, 0, self, &r), MPI_ERR_BUFFER);
	FAILS(MPI_Recv(nowhere, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
	FAILS(MPI_Recv(constant, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
	FAILS(MPI_Recv(constant, 1, vector, 0, 0, self, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
	FAILS(MPI_Irecv(constant, 1, MPI_INT, 0, 0, self, &r), MPI_ERR_BUFFER);
	FAILS(MPI_Sendrecv(x, 1, MPI_INT, 0, 0, constant, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
	OK(MPI_Recv(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, self, MPI_STATUS_IGNORE));
	/* The count may exceed the buffer if the message does not. */
	OK(MPI_Irecv(edge + 4092, 100, MPI_INT, 0, 0, self, &r));
	OK(MPI_Send(constant, 1, MPI_INT, 0, 0, self));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void absolute(void) {
	int x[1] = {7}, y = 0, one = 1;
	MPI_Aint at;
	MPI_Datatype from, integer = MPI_INT;
	MPI_Get_address(x, &at);
	MPI_Type_create_struct(1, &one, &at, &integer, &from);
	MPI_Type_commit(&from);
	OK(MPI_Sendrecv(MPI_BOTTOM, 1, from, 0, 0, &y, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE));
	CHECK(y == 7);
	MPI_Type_free(&from);
	at = (MPI_Aint)nowhere;
	MPI_Type_create_struct(1, &one, &at, &integer, &from);
	MPI_Type_commit(&from);
	FAILS(MPI_Send(MPI_BOTTOM, 1, from, 0, 0, self), MPI_ERR_BUFFER);
	MPI_Type_free(&from);
}

static void collectives(void) {
	int x[64] = {0}, y[64], root = rank == 0, position = 0;
	MPI_Comm world = MPI_COMM_WORLD;
	FAILS(MPI_Bcast(nowhere, 1, MPI_INT, 0, world), MPI_ERR_BUFFER);
	OK(MPI_Bcast(root ? (void *)constant : y, 1, MPI_INT, 0, world));
	if (!root) FAILS(MPI_Bcast(constant, 1, MPI_INT, 0, world), MPI_ERR_BUFFER);
	FAILS(MPI_Allreduce(nowhere, x, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
	FAILS(MPI_Allreduce(x, constant, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
	OK(MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INT, MPI_SUM, world));
	FAILS(MPI_Reduce(x, nowhere, 1, MPI_INT, MPI_SUM, 0, self), MPI_ERR_BUFFER);
	OK(MPI_Reduce(x, root ? y : nowhere, 1, MPI_INT, MPI_SUM, 0, world));
	OK(MPI_Gather(x, 1, MPI_INT, root ? y : nowhere, 1, MPI_INT, 0, world));
	OK(MPI_Scatter(root ? y : nowhere, 1, MPI_INT, x, 1, MPI_INT, 0, world));
	FAILS(MPI_Allgather(nowhere, 1, MPI_INT, y, 1, MPI_INT, world), MPI_ERR_BUFFER);
	FAILS(MPI_Alltoall(x, 1, MPI_INT, constant, 1, MPI_INT, world), MPI_ERR_BUFFER);
	OK(MPI_Exscan(x, root ? nowhere : y, 1, MPI_INT, MPI_SUM, world));
	FAILS(MPI_Reduce_local(nowhere, x, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
	FAILS(MPI_Reduce_local(x, constant, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
	FAILS(MPI_Pack(nowhere, 1, MPI_INT, y, 16, &position, world), MPI_ERR_BUFFER);
	FAILS(MPI_Unpack(y, 16, &position, constant, 1, MPI_INT, world), MPI_ERR_BUFFER);
}

/* On an intercommunicator, arguments that are significant at the root only may have any value
 * elsewhere. */
static void groups(void) {
	MPI_Comm half, inter;
	int upper = rank % 2, x = rank, y[64] = {0};
	if (size < 2) return;
	MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - upper, 0, &inter);
	MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	if (upper) {
		OK(MPI_Bcast(&x, 1, MPI_INT, 0, inter));
		OK(MPI_Gather(&x, 1, MPI_INT, nowhere, 1, MPI_INT, 0, inter));
	} else {
		OK(MPI_Bcast(rank == 0 ? (void *)constant : nowhere, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
		OK(MPI_Gather(nowhere, 1, MPI_INT, rank == 0 ? y : nowhere, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
	}
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

static void heard(int number) {
	static const char text[] = "a buffer that no call accesses was accessed\n";
	(void)number;
	if (write(2, text, sizeof text - 1) < 0) _exit(98);
	_exit(99);
}

/* Buffers that a call does not access: the program's signal handler gets no fault. */
static void unused(void) {
	int x = 1, *base;
	MPI_Win w;
	MPI_Request r[2];
	struct sigaction ours = {.sa_handler = heard, .sa_flags = SA_ONSTACK}, before;
	MPI_Win_allocate(16, 4, MPI_INFO_NULL, self, &base, &w);
	sigaction(SIGSEGV, &ours, &before);
	OK(MPI_Send(nowhere, 0, MPI_INT, MPI_PROC_NULL, 0, self));
	OK(MPI_Send(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, self));
	OK(MPI_Send(nowhere, 1, vector, MPI_PROC_NULL, 0, self));
	OK(MPI_Isend(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, self, &r[0]));
	OK(MPI_Irecv(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, self, &r[1]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	OK(MPI_Sendrecv(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, self, MPI_STATUS_IGNORE));
	OK(MPI_Sendrecv_replace(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, self, MPI_STATUS_IGNORE));
	OK(MPI_Bcast(nowhere, 0, MPI_INT, 0, self));
	OK(MPI_Gather(&x, 1, MPI_INT, rank == 0 ? base : nowhere, 1, MPI_INT, 0, MPI_COMM_WORLD));
	MPI_Win_lock_all(0, w);
	OK(MPI_Put(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w));
	OK(MPI_Get(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w));
	OK(MPI_Accumulate(nowhere, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w));
	OK(MPI_Fetch_and_op(nowhere, &x, MPI_INT, 0, 0, MPI_NO_OP, w));
	OK(MPI_Get_accumulate(nowhere, 1, MPI_INT, &x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, w));
	OK(MPI_Compare_and_swap(nowhere, nowhere, nowhere, MPI_INT, MPI_PROC_NULL, 0, w));
	MPI_Win_unlock_all(w);
	sigaction(SIGSEGV, &before, NULL);
	MPI_Win_free(&w);
}

static void windows(void) {
	int x = 1, y, *base;
	MPI_Win w;
	MPI_Request r;
	FAILS(MPI_Win_create(nowhere, 8, 1, MPI_INFO_NULL, self, &w), MPI_ERR_BUFFER);
	FAILS(MPI_Win_create(edge, 8192, 1, MPI_INFO_NULL, self, &w), MPI_ERR_BUFFER);
	OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, self, &w));
	MPI_Win_free(&w);
	MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	MPI_Win_lock_all(0, w);
	FAILS(MPI_Put(nowhere, 1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_BUFFER);
	FAILS(MPI_Get(constant, 1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_BUFFER);
	FAILS(MPI_Accumulate(nowhere, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
	FAILS(MPI_Get_accumulate(&x, 1, MPI_INT, constant, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
	FAILS(MPI_Fetch_and_op(nowhere, &x, MPI_INT, 0, 0, MPI_SUM, w), MPI_ERR_BUFFER);
	FAILS(MPI_Fetch_and_op(&x, constant, MPI_INT, 0, 0, MPI_SUM, w), MPI_ERR_BUFFER);
	FAILS(MPI_Compare_and_swap(&x, nowhere, &y, MPI_INT, 0, 0, w), MPI_ERR_BUFFER);
	FAILS(MPI_Rput(nowhere, 1, MPI_INT, 0, 0, 1, MPI_INT, w, &r), MPI_ERR_BUFFER);
	MPI_Win_unlock_all(w);
	MPI_Win_free(&w);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_SELF, &self);
	constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(edge + 4096, 4096, PROT_NONE);
	MPI_Type_vector(2, 1, 3, MPI_INT, &vector);
	MPI_Type_commit(&vector);
	messages();
	absolute();
	collectives();
	groups();
	unused();
	windows();
	MPI_Type_free(&vector);
	MPI_Comm_free(&self);
	return done();
}
