/* Sessions (MPI-5 section 11.3) without MPI_Init: process sets, communicators and windows made of
   them, several sessions, and what is wrong is an error. Any number of processes. */
#include "check.h"

/* comm_of makes a communicator of a process set. */
static MPI_Comm comm_of(MPI_Session s, const char *pset, const char *tag) {
	MPI_Group group;
	MPI_Comm comm;
	OK(MPI_Group_from_session_pset(s, pset, &group));
	OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
	OK(MPI_Group_free(&group));
	return comm;
}

static MPI_Session opened(void) {
	MPI_Session s;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	return s;
}

static void sum(MPI_Comm comm) {
	int me, n, out = 0;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	OK(MPI_Allreduce(&me, &out, 1, MPI_INT, MPI_SUM, comm));
	CHECK(out == n * (n - 1) / 2);
}

/* Of the predefined attributes only MPI_TAG_UB is available. */
static void attributes(MPI_Comm comm) {
	int keys[] = {MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE}, *value, flag;
	OK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag));
	CHECK(flag && *value >= 32767);
	for (int i = 0; i < 6; i++) {
		OK(MPI_Comm_get_attr(comm, keys[i], &value, &flag));
		CHECK(!flag);
	}
}

/* The length protocol of names: 0 asks, less than the length truncates. */
static void psets(MPI_Session s) {
	int n, length, world = 0, self = 0;
	OK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
	for (int i = 0; i < n; i++) {
		length = 0;
		OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, NULL));
		char *name = malloc(length), cut[4] = "xxx";
		int room = length, few = 3;
		OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &room, name));
		CHECK((int)strlen(name) + 1 == length && room == length);
		OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &few, cut));
		CHECK(few == length && strlen(cut) == 2 && strncmp(cut, name, 2) == 0);
		MPI_Info info;
		MPI_Group group;
		char value[16];
		int flag, members;
		OK(MPI_Session_get_pset_info(s, name, &info));
		OK(MPI_Info_get(info, "mpi_size", 15, value, &flag));
		OK(MPI_Group_from_session_pset(s, name, &group));
		OK(MPI_Group_size(group, &members));
		CHECK(flag && atoi(value) == members);
		world += strcmp(name, "mpi://WORLD") == 0 && members == size;
		self += strcmp(name, "mpi://SELF") == 0 && members == 1;
		MPI_Group_free(&group);
		MPI_Info_free(&info);
		free(name);
	}
	CHECK(world == 1 && self == 1);
}

static int heard, heard_class;
static MPI_Session hearer;

static void hear(MPI_Session *s, int *code, ...) {
	heard++;
	heard_class = class_of(*code);
	hearer = *s;
}

static void errors(void) {
	MPI_Errhandler h, got;
	MPI_Session s;
	MPI_Group group = MPI_GROUP_EMPTY, none;
	MPI_Comm comm = MPI_COMM_WORLD;
	int n = 1;
	OK(MPI_Session_create_errhandler(hear, &h));
	OK(MPI_Session_init(MPI_INFO_NULL, h, &s));
	OK(MPI_Session_get_errhandler(s, &got));
	CHECK(got == h);
	OK(MPI_Errhandler_free(&got));
	FAILS(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 1000, &n, NULL), MPI_ERR_ARG);
	CHECK(heard == 1 && heard_class == MPI_ERR_ARG && hearer == s);
	MPI_Info info;
	FAILS(MPI_Session_get_pset_info(s, "no such set", &info), MPI_ERR_ARG);
	OK(MPI_Session_call_errhandler(s, MPI_ERR_OTHER));
	CHECK(heard == 3 && heard_class == MPI_ERR_OTHER);
	OK(MPI_Group_from_session_pset(s, "no such set", &none));
	CHECK(none == MPI_GROUP_NULL && heard == 3);
	FAILS(MPI_Group_from_session_pset(s, "mpi://SELF", NULL), MPI_ERR_ARG);
	CHECK(heard == 4 && hearer == s);
	OK(MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN));
	OK(MPI_Comm_create_from_group(group, "empty", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
	CHECK(comm == MPI_COMM_NULL);
	FAILS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "null", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_GROUP);
	FAILS(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG);

	/* Objects of two sessions in one call. */
	MPI_Session other = opened();
	MPI_Group a, b, both;
	MPI_Comm c = comm_of(s, "mpi://SELF", "a");
	OK(MPI_Group_from_session_pset(s, "mpi://SELF", &a));
	OK(MPI_Group_from_session_pset(other, "mpi://SELF", &b));
	OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
	FAILS(MPI_Comm_create(c, b, &comm), MPI_ERR_SESSION);
	FAILS(MPI_Group_union(a, b, &both), MPI_ERR_SESSION);
	MPI_Group_free(&a);
	MPI_Group_free(&b);
	MPI_Comm_free(&c);
	OK(MPI_Session_finalize(&other));

	/* What is left ends with the session, or is an error. */
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "strict_finalize", "true"));
	OK(MPI_Info_set(info, "mpi_memory_alloc_kinds", "cuda:device,system,mpi:alloc_mem"));
	OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &other));
	OK(MPI_Info_free(&info));
	c = comm_of(other, "mpi://WORLD", "strict");
	FAILS(MPI_Session_finalize(&other), MPI_ERR_PENDING);
	char value[64];
	int flag;
	OK(MPI_Comm_get_info(c, &info));
	OK(MPI_Info_get(info, "mpi_memory_alloc_kinds", 63, value, &flag));
	CHECK(flag && strcmp(value, "system,mpi:alloc_mem") == 0);
	OK(MPI_Info_free(&info));

	/* An assertion is told if all of its kinds are supported. */
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system"));
	OK(MPI_Comm_set_info(c, info));
	OK(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system,cuda:device"));
	OK(MPI_Comm_set_info(c, info));
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_get_info(c, &info));
	OK(MPI_Info_get(info, "mpi_assert_memory_alloc_kinds", 63, value, &flag));
	CHECK(flag && strcmp(value, "system") == 0);
	OK(MPI_Info_get(info, "mpi_memory_alloc_kinds", 63, value, &flag));
	CHECK(flag && strcmp(value, "system") == 0);
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_disconnect(&c));
	OK(MPI_Session_finalize(&other));
	CHECK(other == MPI_SESSION_NULL);

	OK(MPI_Session_set_errhandler(s, h));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Session_finalize(&s));
}

static void windows(MPI_Comm comm) {
	int *base, me, n;
	MPI_Win win;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
	*base = 0;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Accumulate(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	CHECK(me != 0 || *base == n * (n - 1) / 2);
	OK(MPI_Win_free(&win));
}

static void buffers(MPI_Session s, MPI_Comm comm) {
	static char room[100 + MPI_BSEND_OVERHEAD];
	char out[100] = "x", in[100], *back;
	int me, n, length;
	MPI_Count large;
	MPI_Request request;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	OK(MPI_Session_attach_buffer(s, room, sizeof room));
	OK(MPI_Bsend(out, 100, MPI_CHAR, (me + 1) % n, 1, comm));
	OK(MPI_Recv(in, 100, MPI_CHAR, (me + n - 1) % n, 1, comm, MPI_STATUS_IGNORE));
	OK(MPI_Session_flush_buffer(s));
	OK(MPI_Session_iflush_buffer(s, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Session_detach_buffer(s, &back, &length));
	CHECK(back == room && length == sizeof room);
	OK(MPI_Session_attach_buffer_c(s, MPI_BUFFER_AUTOMATIC, 0));
	OK(MPI_Session_detach_buffer_c(s, &back, &large));
	CHECK((void *)back == MPI_BUFFER_AUTOMATIC && large == 0);
}

static void between(MPI_Session s) {
	MPI_Group world, halves[2];
	MPI_Comm inter, merged;
	int half = size / 2, side = rank >= half;
	if (size < 2) return;
	OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &world));
	int first[1][3] = {{0, half - 1, 1}}, second[1][3] = {{half, size - 1, 1}};
	OK(MPI_Group_range_incl(world, 1, first, &halves[0]));
	OK(MPI_Group_range_incl(world, 1, second, &halves[1]));
	OK(MPI_Intercomm_create_from_groups(halves[side], 0, halves[!side], 0, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
	OK(MPI_Intercomm_merge(inter, side, &merged));
	sum(merged);
	OK(MPI_Comm_free(&merged));
	OK(MPI_Comm_free(&inter));
	MPI_Group_free(&world);
	MPI_Group_free(&halves[0]);
	MPI_Group_free(&halves[1]);
}

int main(int argc, char **argv) {
	int flag;
	MPI_Session first = opened(), second = opened();
	MPI_Initialized(&flag);
	CHECK(!flag);
	MPI_Comm world = comm_of(first, "mpi://WORLD", "first"), again = comm_of(second, "mpi://world", "second");
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	sum(world);
	attributes(world);
	sum(again);
	psets(first);
	windows(world);
	buffers(first, world);
	between(first);
	errors();
	void *mem;
	OK(MPI_Alloc_mem(100, MPI_INFO_NULL, &mem));
	OK(MPI_Free_mem(mem));
	MPI_Datatype pair;
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_commit(&pair));
	OK(MPI_Comm_free(&world));
	OK(MPI_Session_finalize(&first));
	CHECK(first == MPI_SESSION_NULL);
	MPI_Session third = opened(); /* where the first was: its integer gives this one, not the first */
	CHECK(MPI_Session_fromint(MPI_Session_toint(third)) == third && MPI_Session_fromint(MPI_Session_toint(second)) == second);
	OK(MPI_Session_finalize(&third));

	/* The world model begins and ends beside a session. */
	begin(&argc, &argv);
	sum(MPI_COMM_WORLD);
	sum(again);
	FAILS(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &flag), MPI_ERR_SESSION);
	int result = done();
	sum(again);
	OK(MPI_Comm_free(&again));
	OK(MPI_Session_finalize(&second));

	/* And a session after it, with a datatype of before. */
	second = opened();
	again = comm_of(second, "mpi://WORLD", "third");
	int out[2] = {rank, 7}, in[2];
	OK(MPI_Sendrecv(out, 1, pair, (rank + 1) % size, 0, in, 1, pair, (rank + size - 1) % size, 0, again, MPI_STATUS_IGNORE));
	CHECK(in[0] == (rank + size - 1) % size && in[1] == 7);
	OK(MPI_Type_free(&pair));
	OK(MPI_Comm_free(&again));
	OK(MPI_Session_finalize(&second));
	return result || wrong != 0;
}
