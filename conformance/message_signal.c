/*
 * message_signal: a fault in the middle of the buffer of a short MPI_Send. The handler of the program makes
 * the memory accessible, and the send goes on. Before that it calls MPI, which the interrupted call does not
 * allow (Halo): "returns" expects an error, "ends" that the process ends, "abort" ends the job, and "kill"
 * kills the process before the message is complete. With "waits" the handler waits, so that the receiver
 * and a second thread meet a sender that does not go on for long.
 */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *what;
static char *middle;
static long page;
static volatile sig_atomic_t faults, refused, ranks;

static void fault(int number, siginfo_t *info, void *context) {
	(void)context;
	if ((char *)info->si_addr < middle || (char *)info->si_addr >= middle + page) {
		signal(number, SIG_DFL);
		return;
	}
	faults++;
	if (strcmp(what, "waits") == 0) {
		usleep(300000);
	} else if (strcmp(what, "kill") == 0) {
		raise(SIGKILL);
	} else if (strcmp(what, "abort") == 0) {
		MPI_Abort(MPI_COMM_WORLD, 9);
	} else {
		int flag, me = -1;
		char c = 0;
		if (MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE) == MPI_ERR_OTHER)
			refused++;
		if (MPI_Send(&c, 1, MPI_CHAR, 0, 8, MPI_COMM_WORLD) == MPI_ERR_OTHER)
			refused++;
		if (MPI_Recv(&c, 1, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_ERR_OTHER)
			refused++;
		if (MPI_Comm_rank(MPI_COMM_WORLD, &me) == MPI_SUCCESS && me == 1)
			ranks++;
	}
	mprotect(middle, (size_t)page, PROT_READ | PROT_WRITE);
}

static void *other(void *unused) {
	char c = 0;
	for (int i = 0; i < 100; i++) {
		MPI_Send(&c, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
		MPI_Recv(&c, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return unused;
}

int main(int argc, char **argv) {
	int level, n = 8000, warm = 100;
	what = argc > 1 ? argv[1] : "returns";
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, (size_t)(3 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *buf = memory + page / 2;
	middle = memory + page;
	for (int i = 0; i < warm; i++) /* until polling mode, and with the rings open */
		if (rank == 1)
			OK(MPI_Send(buf, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD));
		else
			OK(MPI_Recv(buf, n, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	if (rank == 1) {
		pthread_t thread;
		struct sigaction a;
		memset(&a, 0, sizeof a);
		a.sa_sigaction = fault;
		a.sa_flags = SA_SIGINFO;
		sigaction(SIGSEGV, &a, NULL);
		memset(buf, 'x', (size_t)n);
		mprotect(middle, (size_t)page, PROT_NONE);
		if (strcmp(what, "waits") == 0)
			pthread_create(&thread, NULL, other, NULL);
		OK(MPI_Send(buf, n, MPI_CHAR, 0, 2, MPI_COMM_WORLD));
		CHECK(faults == 1, "%d faults", (int)faults);
		if (strcmp(what, "returns") == 0)
			CHECK(refused == 3 && ranks == 1, "%d calls refused, %d answered", (int)refused, (int)ranks);
		if (strcmp(what, "waits") == 0)
			pthread_join(thread, NULL);
	} else {
		if (strcmp(what, "waits") == 0)
			for (int i = 0; i < 100; i++) {
				OK(MPI_Recv(buf, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
				OK(MPI_Send(buf, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD));
			}
		OK(MPI_Recv(buf, n, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		for (int i = 0; i < n; i++)
			CHECK(buf[i] == 'x', "byte %d is %d", i, buf[i]);
	}
	return done();
}
