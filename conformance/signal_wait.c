/*
 * signal_wait: signals that the program blocks in its only thread and waits for with sigwait, a descriptor of
 * signalfd and sigtimedwait are not taken by threads of the library, and a first call of MPI does not change the mask
 * (BRD-01). The signals are sent to the process, not to the thread.
 */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 50 };

static int numbers[5];

static void *calls(void *mask) {
	sigset_t now;
	int x = rank, all;
	OK(MPI_Allreduce(&x, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF));
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (int i = 0; i < 5; i++)
		CHECK(sigismember(&now, numbers[i]) == sigismember(mask, numbers[i]), "signal %d", numbers[i]);
	return NULL;
}

static void children(int fd) {
	struct signalfd_siginfo info;
	for (int i = 0; i < TIMES; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(3);
		CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGCHLD);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
}

int main(int argc, char **argv) {
	sigset_t mask, old;
	pthread_t thread;
	int list[] = {SIGUSR1, SIGTERM, SIGPROF, SIGRTMIN, SIGCHLD};
	memcpy(numbers, list, sizeof list);
	sigemptyset(&mask);
	for (int i = 0; i < 5; i++)
		sigaddset(&mask, numbers[i]);
	sigprocmask(SIG_BLOCK, &mask, &old);
	begin(&argc, &argv);
	sigprocmask(SIG_SETMASK, NULL, &old);
	for (int i = 0; i < 5; i++)
		CHECK(sigismember(&old, numbers[i]) == 1, "signal %d is not blocked any more", numbers[i]);
	pthread_create(&thread, NULL, calls, &mask);
	pthread_join(thread, NULL);
	for (int i = 0; i < TIMES; i++)
		for (int k = 0; k < 4; k++) {
			struct timespec limit = {20, 0};
			int x = k, all, got;
			kill(getpid(), numbers[k]);
			OK(MPI_Allreduce(&x, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
			got = sigtimedwait(&mask, NULL, &limit);
			CHECK(got == numbers[k], "signal %d instead of %d", got, numbers[k]);
		}
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	children(signalfd(-1, &mask, SFD_CLOEXEC));
	return done();
}
