/* What the reports of others name as their gaps to MPI-5 (X-CONF-01): those of the epic ompi#13987, with the number of
 * each. large_counts.c has packed data and messages beyond 2^31 bytes (ompi#14002, ompi#14004), the Fortran program
 * basics.F90 the accessors of statuses (ompi#14020). With the argument "abort" the last rank has an error in a session
 * whose error handler is MPI_ERRORS_ABORT (ompi#14009), which ends the process. */
#include "check.h"
#include <unistd.h>

/* ompi#14000, ompi#14021: numbers of handles, versions and information about the ABI, at any time, also before MPI_Init. */
#define NUMBER(kind, handle) CHECK(MPI_##kind##_fromint(MPI_##kind##_toint(handle)) == (handle), "the number of " #handle)
static void abi(void) {
	int version = -1, sub = -1, flag = -1, n = -1;
	char value[16];
	MPI_Info info = MPI_INFO_NULL;
	OK(MPI_Abi_get_version(&version, &sub));
	CHECK(version == 1 && sub == 0 && MPI_ABI_VERSION == 1 && MPI_ABI_SUBVERSION == 0, "ABI %d.%d", version, sub);
	NUMBER(Comm, MPI_COMM_WORLD);
	NUMBER(Errhandler, MPI_ERRORS_RETURN);
	NUMBER(File, MPI_FILE_NULL);
	NUMBER(Group, MPI_GROUP_EMPTY);
	NUMBER(Info, MPI_INFO_ENV);
	NUMBER(Message, MPI_MESSAGE_NO_PROC);
	NUMBER(Op, MPI_SUM);
	NUMBER(Request, MPI_REQUEST_NULL);
	NUMBER(Session, MPI_SESSION_NULL);
	NUMBER(Type, MPI_DOUBLE);
	NUMBER(Win, MPI_WIN_NULL);
	CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Type_toint(MPI_BYTE) == 0x247, "%#x and %#x", MPI_Comm_toint(MPI_COMM_WORLD), MPI_Type_toint(MPI_BYTE));
	CHECK(sizeof(MPI_Status) == 8 * sizeof(int), "%d bytes", (int)sizeof(MPI_Status));
	OK(MPI_Abi_get_info(&info));
	const struct { const char *key; size_t size; } sizes[] = {{"mpi_aint_size", sizeof(MPI_Aint)}, {"mpi_count_size", sizeof(MPI_Count)}, {"mpi_offset_size", sizeof(MPI_Offset)}};
	for (int k = 0; k < 3; k++) {
		int room = sizeof value;
		OK(MPI_Info_get_string(info, sizes[k].key, &room, value, &flag));
		CHECK(flag && (size_t)atoi(value) == sizes[k].size, "%s", sizes[k].key);
	}
	OK(MPI_Info_free(&info));
	OK(MPI_Abi_get_fortran_info(&info));
	if (info != MPI_INFO_NULL) { /* not known yet if no Fortran library has told it */
		OK(MPI_Info_get_nkeys(info, &n));
		CHECK(n > 0, "no keys");
		OK(MPI_Info_free(&info));
	}
}

/* ompi#14001: the version. */
static void version(void) {
	int version = -1, sub = -1;
	OK(MPI_Get_version(&version, &sub));
	CHECK(version == 5 && sub == 0 && MPI_VERSION == 5 && MPI_SUBVERSION == 0, "version %d.%d", version, sub);
}

/* ompi#14002, ompi#14004: counts beyond INT_MAX in statuses and in sizes of packed data. */
static void counts(void) {
	MPI_Status s;
	MPI_Count large = 3000000000, got = 0;
	int n = 0;
	memset(&s, 0, sizeof s);
	OK(MPI_Status_set_elements_c(&s, MPI_INT, large));
	OK(MPI_Get_count_c(&s, MPI_INT, &got));
	CHECK(got == large, "%lld elements", (long long)got);
	OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == MPI_UNDEFINED, "%d elements", n);
	OK(MPI_Get_elements_c(&s, MPI_INT, &got));
	CHECK(got == large, "%lld basic elements", (long long)got);
	OK(MPI_Pack_size_c(large, MPI_INT, MPI_COMM_WORLD, &got));
	CHECK(got >= 4 * large, "%lld bytes", (long long)got);
	OK(MPI_Pack_external_size_c("external32", large, MPI_INT, &got));
	CHECK(got == 4 * large, "%lld bytes", (long long)got);
}

/* ompi#13967: MPI_Testall tells of an error in one of the requests, and which one it is. */
static void testall(void) {
	int in[2] = {0, 0}, flag = 0, code = MPI_SUCCESS;
	const int out[2] = {1, 2};
	MPI_Request r[2];
	MPI_Status s[2];
	OK(MPI_Irecv(&in[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[0]));
	OK(MPI_Irecv(&in[1], 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r[1]));
	OK(MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
	OK(MPI_Send(out, 2, MPI_INT, 0, 2, MPI_COMM_SELF)); /* too long for the second receive */
	while (code == MPI_SUCCESS && !flag) code = MPI_Testall(2, r, &flag, s);
	CHECK(class_of(code) == MPI_ERR_IN_STATUS, "class %d", class_of(code));
	CHECK(s[0].MPI_ERROR == MPI_SUCCESS && class_of(s[1].MPI_ERROR) == MPI_ERR_TRUNCATE, "%d and %d", s[0].MPI_ERROR, s[1].MPI_ERROR);
	CHECK(in[0] == 1 && r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "%d", in[0]);
}

/* ompi#14003: MPI_Parrived of a null request, and of one that was not started, or that is complete. */
static void arrived(void) {
	int from = 7, to = 0, flag = 0;
	MPI_Request r[2];
	OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
	CHECK(flag, "a null request");
	OK(MPI_Psend_init(&from, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &r[0]));
	OK(MPI_Precv_init(&to, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &r[1]));
	flag = 0;
	OK(MPI_Parrived(r[1], 0, &flag));
	CHECK(flag, "a request that was not started");
	OK(MPI_Startall(2, r));
	OK(MPI_Parrived(r[1], 0, &flag));
	CHECK(!flag, "a partition that is not ready");
	OK(MPI_Pready(0, r[0]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	flag = 0;
	OK(MPI_Parrived(r[1], 0, &flag));
	CHECK(flag && to == 7, "a request that is complete: %d", to);
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
}

/* ompi#14005: pairs of any types. */
static void pairs(void) {
	MPI_Datatype pair;
	int sizes[3], combiner;
	OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &pair));
	CHECK(pair != MPI_DATATYPE_NULL, "no pair");
	if (pair != MPI_DATATYPE_NULL) {
		OK(MPI_Type_get_envelope(pair, &sizes[0], &sizes[1], &sizes[2], &combiner));
		CHECK(combiner == MPI_COMBINER_VALUE_INDEX, "combiner %d", combiner);
		struct { double value; int64_t place; } mine = {rank % 2, rank}, best;
		OK(MPI_Allreduce(&mine, &best, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD));
		CHECK(best.value == 1 && best.place == 1, "%g at %lld", best.value, (long long)best.place);
	}
}

/* ompi#14006: MPI_Exscan does not take an intercommunicator. */
static void intercommunicator(void) {
	MPI_Comm half, both;
	MPI_Request r;
	int n = 0;
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
	OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both));
	MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
	FAILS(MPI_Exscan(&rank, &n, 1, MPI_INT, MPI_SUM, both), MPI_ERR_COMM);
	FAILS(MPI_Scan(&rank, &n, 1, MPI_INT, MPI_SUM, both), MPI_ERR_COMM);
	FAILS(MPI_Iexscan(&rank, &n, 1, MPI_INT, MPI_SUM, both, &r), MPI_ERR_COMM);
	FAILS(MPI_Exscan_init(&rank, &n, 1, MPI_INT, MPI_SUM, both, MPI_INFO_NULL, &r), MPI_ERR_COMM);
	OK(MPI_Comm_free(&both));
	OK(MPI_Comm_free(&half));
}

/* ompi#14007: a split by the name of a process set alone; a name of no set gives no communicator. */
static void sets(void) {
	MPI_Info info;
	MPI_Comm c;
	int n = 0;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD"));
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &c));
	CHECK(c != MPI_COMM_NULL, "no communicator");
	if (c != MPI_COMM_NULL) {
		OK(MPI_Comm_size(c, &n));
		CHECK(n == size, "%d of %d", n, size);
		OK(MPI_Comm_free(&c));
	}
	OK(MPI_Info_set(info, "mpi_pset_name", "no such set"));
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &c));
	CHECK(c == MPI_COMM_NULL, "a communicator of no set");
	OK(MPI_Info_free(&info));
}

/* ompi#14008: resources of the hardware. The value of each key says whether the process is restricted to it. */
static void hardware(void) {
	MPI_Info info;
	int n = 0, flag;
	OK(MPI_Get_hw_resource_info(&info));
	OK(MPI_Info_get_nkeys(info, &n));
	CHECK(n > 0, "no resources");
	for (int k = 0; k < n; k++) {
		char key[MPI_MAX_INFO_KEY], value[8];
		int room = sizeof value;
		OK(MPI_Info_get_nthkey(info, k, key));
		OK(MPI_Info_get_string(info, key, &room, value, &flag));
		CHECK(strstr(key, "://") != NULL && flag && (!strcmp(value, "true") || !strcmp(value, "false")), "%s is %s", key, value);
	}
	OK(MPI_Info_free(&info));
}

/* ompi#14010: a session tells which thread level it has, whether one was asked for or not. */
static void threads(void) {
	for (int asked = 0; asked < 2; asked++) {
		MPI_Info info, has;
		MPI_Session s;
		char value[32] = "";
		int room = sizeof value, flag;
		OK(MPI_Info_create(&info));
		if (asked) OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
		OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s));
		OK(MPI_Session_get_info(s, &has));
		OK(MPI_Info_get_string(has, "thread_level", &room, value, &flag));
		CHECK(flag && (asked ? !strcmp(value, "MPI_THREAD_MULTIPLE") : !strncmp(value, "MPI_THREAD_", 11)), "%d: %s", asked, value);
		OK(MPI_Info_free(&has));
		OK(MPI_Info_free(&info));
		OK(MPI_Session_finalize(&s));
	}
}

/* ompi#14011: hints of a window that have a default, which the program has not set. */
static void hints(void) {
	static const char *const all[][2] = {{"no_locks", "false"}, {"accumulate_ordering", "rar,raw,war,waw"}, {"accumulate_ops", "same_op_no_op"},
		{"same_size", "false"}, {"same_disp_unit", "false"}};
	MPI_Win w;
	MPI_Info info;
	int n = 0, flag;
	OK(MPI_Win_create(&n, sizeof n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPI_Win_get_info(w, &info));
	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		char value[64] = "";
		int room = sizeof value;
		OK(MPI_Info_get_string(info, all[k][0], &room, value, &flag));
		CHECK(flag && !strcmp(value, all[k][1]), "%s is %s", all[k][0], value);
	}
	OK(MPI_Info_free(&info));
	OK(MPI_Win_free(&w));
}

static int extent(MPI_Datatype t, MPI_Aint *bytes, void *calls) {
	(void)t;
	*bytes = 6;
	++*(int *)calls;
	return MPI_SUCCESS;
}

/* ompi#14012 to ompi#14015, ompi#13367: data representations, collective reads at the end of a file, hints. */
static void files(void) {
	static const char *const representations[] = {"internal", "external32", "gaps"};
	static int calls;
	char name[64], value[8];
	const int mine[2] = {rank, -rank};
	int got[4] = {-1, -1, -1, -1}, n = 0, flag;
	MPI_File f;
	MPI_Info info;
	MPI_Aint bytes = 0;
	MPI_Status s;
	snprintf(name, sizeof name, "/tmp/conformance-gaps-%d", (int)getpid());
	OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
	OK(MPI_Register_datarep("gaps", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, &calls));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "cb_nodes", "1"));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &f));
	OK(MPI_Info_free(&info));
	OK(MPI_File_get_info(f, &info));
	OK(MPI_Info_get_string(info, "cb_nodes", &(int){sizeof value}, value, &flag));
	CHECK(flag && !strcmp(value, "1"), "cb_nodes");
	OK(MPI_Info_free(&info));
	for (int k = 0; k < 3; k++) {
		OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, representations[k], MPI_INFO_NULL));
		OK(MPI_File_get_type_extent(f, MPI_LONG, &bytes));
		CHECK(bytes == (k == 0 ? (MPI_Aint)sizeof(long) : k == 1 ? 4 : 6), "a long takes %d bytes in %s", (int)bytes, representations[k]);
	}
	CHECK(calls > 0, "the function of the representation was not called");
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_write_at_all(f, 2 * rank, mine, 2, MPI_INT, &s));
	OK(MPI_File_sync(f));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_sync(f));
	OK(MPI_File_read_at_all(f, 2 * size - 1 - rank % 2, got, 4, MPI_INT, &s)); /* the file has one or two more elements */
	OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == 1 + rank % 2 && got[n - 1] == 1 - size && got[n] == -1, "%d elements, the last is %d", n, got[n - 1]);
	OK(MPI_File_seek(f, 0, MPI_SEEK_END));
	OK(MPI_File_read_all(f, got, 4, MPI_INT, &s));
	OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == 0, "%d elements behind the end", n);
	OK(MPI_File_close(&f));
}

/* ompi#14016 to ompi#14019: the tool information interface, which has no variables, categories and events here. */
static void tools(void) {
	int level, n = -1;
	MPI_T_event_registration e;
	MPI_T_pvar_session p;
	MPI_T_source_order order;
	MPI_Count ticks;
	CHECK(MPI_T_ERR_NOT_ACCESSIBLE != MPI_T_ERR_NOT_SUPPORTED && MPI_T_ERR_NOT_SUPPORTED != MPI_SUCCESS, "codes of errors");
	OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
	OK(MPI_T_pvar_session_create(&p));
	CHECK(MPI_T_pvar_readreset(p, MPI_T_PVAR_HANDLE_NULL, &n) == MPI_T_ERR_INVALID_HANDLE, "reading no handle");
	OK(MPI_T_pvar_session_free(&p));
	OK(MPI_T_category_get_num(&n));
	CHECK(MPI_T_category_get_events(n, 0, NULL) == MPI_T_ERR_INVALID_INDEX && MPI_T_category_get_events(-1, 0, NULL) == MPI_T_ERR_INVALID_INDEX, "a category of %d", n);
	OK(MPI_T_event_get_num(&n));
	CHECK(MPI_T_event_handle_alloc(n, NULL, MPI_INFO_NULL, &e) == MPI_T_ERR_INVALID_INDEX, "an event of %d", n);
	OK(MPI_T_source_get_num(&n));
	CHECK(MPI_T_source_get_info(n, NULL, NULL, NULL, NULL, &order, &ticks, &ticks, NULL) == MPI_T_ERR_INVALID_INDEX, "a source of %d", n);
	OK(MPI_T_finalize());
}

int main(int argc, char **argv) {
	abi();
	begin(&argc, &argv);
	if (argc > 1) {
		MPI_Session s;
		int none = 0;
		OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &s));
		if (rank != size - 1) pause(); /* until the launcher ends the job */
		MPI_Session_get_nth_pset(s, MPI_INFO_NULL, -1, &none, NULL);
		puts("not reached");
		return 0;
	}
	abi();
	version();
	counts();
	testall();
	arrived();
	pairs();
	intercommunicator();
	sets();
	hardware();
	threads();
	hints();
	files();
	tools();
	return done();
}
