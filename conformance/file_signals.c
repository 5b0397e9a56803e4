/* Files and signals: a timer interrupts system calls, none of which is restarted, while ranks wait for the locks of
 * atomic mode and access the file; and a write beyond the limit of the size of files is an error, not the
 * signal SIGXFSZ (IO-06, X-IO-01). */
#include "check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { BYTES = 3000, TIMES = 60, LIMIT = 100000 };

static volatile sig_atomic_t alarms;

static void on_alarm(int number) {
	(void)number;
	alarms++;
}

/* Ranks write the same bytes, which all belong to one of them afterwards, and read them as a whole. */
static void interrupted(const char *name) {
	static char mine[BYTES], got[BYTES];
	struct sigaction action;
	struct itimerval timer = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
	MPI_File f;
	MPI_Datatype every;
	MPI_Status st;
	int i, k, n;
	memset(&action, 0, sizeof action);
	action.sa_handler = on_alarm;
	action.sa_flags = SA_ONSTACK; /* without SA_RESTART */
	sigaction(SIGALRM, &action, NULL); /* for ever: an alarm may be pending when the timer has stopped */
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_Type_create_resized(MPI_BYTE, 0, 2, &every));
	OK(MPI_Type_commit(&every));
	OK(MPI_File_set_view(f, 0, MPI_BYTE, every, "native", MPI_INFO_NULL));
	OK(MPI_File_set_atomicity(f, 1));
	memset(mine, 'a' + rank, sizeof mine);
	OK(MPI_File_write_at(f, 0, mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	setitimer(ITIMER_REAL, &timer, NULL);
	for (i = 0; i < TIMES; i++) {
		OK(MPI_File_write_at(f, 0, mine, BYTES / 10, MPI_BYTE, &st));
		OK(MPI_Get_count(&st, MPI_BYTE, &n));
		CHECK(n == BYTES / 10, "wrote %d", n);
		OK(MPI_File_read_at(f, 0, got, BYTES / 10, MPI_BYTE, &st));
		OK(MPI_Get_count(&st, MPI_BYTE, &n));
		CHECK(n == BYTES / 10, "read %d", n);
		for (k = 1; k < n && got[k] == got[0]; k++)
			;
		CHECK(k == n, "byte %d is %c, the first %c", k, got[k], got[0]);
		OK(MPI_File_write_at_all(f, BYTES + rank * BYTES, mine, BYTES / 10, MPI_BYTE, MPI_STATUS_IGNORE));
	}
	setitimer(ITIMER_REAL, &off, NULL);
	CHECK(alarms > 0, "%d alarms", (int)alarms);
	OK(MPI_Type_free(&every));
	OK(MPI_File_close(&f));
}

/* The call that reaches the limit writes what fits. */
static void limited(const char *name) {
	static char data[LIMIT];
	struct rlimit old, low;
	MPI_File f;
	MPI_Status st;
	int n, code;
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_close(&f));
	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = LIMIT;
	setrlimit(RLIMIT_FSIZE, &low);
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_write_at(f, 0, data, LIMIT / 2, MPI_BYTE, MPI_STATUS_IGNORE));
	code = MPI_File_write_at(f, LIMIT - 10, data, 100, MPI_BYTE, &st);
	OK(MPI_Get_count(&st, MPI_BYTE, &n));
	CHECK(class_of(code) == MPI_ERR_QUOTA && n == 10, "class %d, %d bytes", class_of(code), n);
	code = MPI_File_write_at(f, LIMIT + 10, data, 100, MPI_BYTE, &st);
	CHECK(class_of(code) == MPI_ERR_QUOTA, "class %d", class_of(code));
	code = MPI_File_set_size(f, LIMIT + 1);
	CHECK(class_of(code) == MPI_ERR_QUOTA, "class %d", class_of(code));
	setrlimit(RLIMIT_FSIZE, &old);
	OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	char name[128], own[140];
	begin(&argc, &argv);
	snprintf(name, sizeof name, "/tmp/halo-file-signals-%ld", (long)getpid());
	OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
	interrupted(name);
	snprintf(own, sizeof own, "%s-%d", name, rank);
	limited(own);
	OK(MPI_File_delete(own, MPI_INFO_NULL));
	if (rank == 0) OK(MPI_File_delete(name, MPI_INFO_NULL));
	return done();
}
