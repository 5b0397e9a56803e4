/* Spawned processes: one program and several, arguments, info, error codes, the parent, and how they part. */
#include "check.h"
#include <unistd.h>

static char self[4096];

/* child is what spawned processes do; the parents have sent the role in argv. */
static void child(MPI_Comm parent, int argc, char **argv) {
	char name[MPI_MAX_OBJECT_NAME];
	int remote, len, *app, flag, got;
	MPI_Comm again;
	OK(MPI_Comm_get_name(parent, name, &len));
	CHECK(!strcmp(name, "MPI_COMM_PARENT"), "%s", name);
	OK(MPI_Comm_get_parent(&again));
	CHECK(again == parent);
	OK(MPI_Comm_remote_size(parent, &remote));
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag));
	CHECK(flag);
	if (!strcmp(argv[1], "arguments")) {
		CHECK(argc == 4 && !strcmp(argv[2], "") && !strcmp(argv[3], "a b"), "%d arguments", argc);
	} else if (!strcmp(argv[1], "several")) {
		CHECK(argc == 3 && atoi(argv[2]) == *app && *app == (rank > 0), "program %d with %s", *app, argv[2]);
	}
	OK(MPI_Bcast(&got, 1, MPI_INT, 0, parent));
	CHECK(got == 77, "%d", got);
	OK(MPI_Reduce(&rank, NULL, 1, MPI_INT, MPI_SUM, 0, parent));
	OK(MPI_Comm_disconnect(&parent));
	CHECK(parent == MPI_COMM_NULL);
	OK(MPI_Comm_get_parent(&again));
	CHECK(again == MPI_COMM_NULL);
}

/* meet talks to n children. */
static void meet(MPI_Comm all, int n) {
	int remote, inter, value = 77, sum = -1, root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
	OK(MPI_Comm_test_inter(all, &inter));
	OK(MPI_Comm_remote_size(all, &remote));
	CHECK(inter && remote == n, "%d children", remote);
	OK(MPI_Bcast(&value, 1, MPI_INT, root, all));
	OK(MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, root, all));
	CHECK(rank != 0 || sum == n * (n - 1) / 2, "%d", sum);
	OK(MPI_Comm_disconnect(&all));
	CHECK(all == MPI_COMM_NULL);
}

int main(int argc, char **argv) {
	MPI_Comm parent, all = MPI_COMM_WORLD;
	MPI_Info info;
	int codes[4] = {7, 7, 7, 7}, *universe, flag;
	char *arguments[] = {"arguments", "", "a b", NULL};
	begin(&argc, &argv);
	OK(MPI_Comm_get_parent(&parent));
	if (parent != MPI_COMM_NULL) {
		child(parent, argc, argv);
		MPI_Finalize();
		return wrong != 0;
	}
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
	CHECK(flag && *universe >= size);

	/* DYN-01: free slots are asked for by all before any of them are taken. */
	{
		int slots = -1;
		OK(MPIX_Comm_get_free_slots(MPI_COMM_WORLD, &slots));
		CHECK(slots == *universe - size, "%d slots are free, the universe is %d", slots, *universe);
		FAILS(MPIX_Comm_get_free_slots(MPI_COMM_NULL, &slots), MPI_ERR_COMM);
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}

	/* DYN-05, DYN-03: arguments count at the root only. */
	if (rank == size - 1)
		OK(MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &all, codes));
	else
		OK(MPI_Comm_spawn(NULL, NULL, -1, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &all, MPI_ERRCODES_IGNORE));
	CHECK(rank != size - 1 || (codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS && codes[2] == 7));
	meet(all, 2);

	/* several programs, with and without arguments and infos */
	{
		char *first[] = {"several", "0", NULL}, *second[] = {"several", "1", NULL}, **argvs[] = {first, second};
		char *commands[] = {self, self};
		int counts[] = {1, 2};
		MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
		OK(MPI_Info_create(&infos[1]));
		OK(MPI_Info_set(infos[1], "wdir", "/"));
		OK(MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, &all, codes));
		CHECK(rank != 0 || (codes[0] == MPI_SUCCESS && codes[2] == MPI_SUCCESS));
		meet(all, 3);
		OK(MPI_Info_free(&infos[1]));
	}

	/* DYN-04: the codes have the class of the error, and errors come to all. */
	codes[0] = codes[1] = codes[2] = 7;
	FAILS(MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &all, codes), MPI_ERR_SPAWN);
	CHECK(all == MPI_COMM_NULL);
	CHECK(rank != 0 || (class_of(codes[0]) == MPI_ERR_SPAWN && class_of(codes[1]) == MPI_ERR_SPAWN && codes[2] == 7));
	FAILS(MPI_Comm_spawn("false", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &all, MPI_ERRCODES_IGNORE), MPI_ERR_SPAWN);
	FAILS(MPI_Comm_spawn(self, MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &all, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
	FAILS(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &all, MPI_ERRCODES_IGNORE), MPI_ERR_ROOT);
	FAILS(MPI_Comm_spawn_multiple(0, NULL, MPI_ARGVS_NULL, NULL, NULL, 0, MPI_COMM_WORLD, &all, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "timeout", "0.05"));
	{
		char *hour[] = {"3600", NULL};
		FAILS(MPI_Comm_spawn("sleep", hour, 1, info, 0, MPI_COMM_WORLD, &all, MPI_ERRCODES_IGNORE), MPI_ERR_SPAWN);
	}
	OK(MPI_Info_free(&info));
	return done();
}
