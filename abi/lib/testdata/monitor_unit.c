/*
 * monitor_unit: the second thread of the runtime runs with SCHED_BATCH, those that it starts do not. In a process whose
 * policy was chosen all keep that.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../monitor.h"

static int policy[6]; /* of thread i */

static int now(void) { return (int)syscall(SYS_sched_getscheduler, 0); }

/* Thread i, which starts thread i + 1. */
static void *run(void *argument) {
	int i = (int)(long)argument;
	pthread_t next;
	halo_monitor(i);
	policy[i] = now();
	if (i < 5 && pthread_create(&next, NULL, run, (void *)(long)(i + 1)) == 0)
		pthread_join(next, NULL);
	return NULL;
}

static sem_t begun;
static int held; /* the thread of hold */

/* Thread i, which goes on for ever. */
static void *hold(void *argument) {
	halo_monitor((int)(long)argument);
	held = (int)syscall(SYS_gettid);
	sem_post(&begun);
	pause(); /* until the process ends */
	return NULL;
}

/* Runs threads in a process with a policy, and returns how many have the wrong one. */
static int wrong(int chosen) {
	struct sched_param none = {0};
	pthread_t first;
	int n = 0, status = 1;
	pid_t child = fork();
	if (child != 0)
		return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
	if (syscall(SYS_sched_setscheduler, 0, chosen, &none) != 0)
		_exit(98);
	pthread_create(&first, NULL, run, (void *)1L);
	pthread_join(first, NULL);
	for (int i = 1; i <= 5; i++) {
		int want = chosen == SCHED_OTHER && i == 2 ? SCHED_BATCH : chosen;
		if (policy[i] != want) {
			fprintf(stderr, "policy %d: thread %d has %d, want %d\n", chosen, i, policy[i], want);
			n++;
		}
	}
	if (now() != chosen)
		n++;
	_exit(n);
}

/* With several threads that call the monitor has the policy of all, whether that is known before it begins or after. */
static int wrong_with_several(int later) {
	pthread_t first;
	int n = 0, status = 1;
	pid_t child = fork();
	if (child != 0)
		return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
	if (!later)
		halo_monitor_of_several();
	halo_monitor(1);
	for (int i = 2; i <= 3; i++) {
		pthread_create(&first, NULL, hold, (void *)(long)i);
		sem_wait(&begun);
		if (i == 2 && later) {
			if (syscall(SYS_sched_getscheduler, held) != SCHED_BATCH)
				n++;
			halo_monitor_of_several();
		}
		long has = syscall(SYS_sched_getscheduler, held);
		if (has != SCHED_OTHER) {
			fprintf(stderr, "several threads, said later: %d: thread %d, number %d, has policy %ld, not the usual one\n", later, i, held, has);
			n++;
		}
	}
	_exit(n);
}

/* The test that starts this program may do so on a thread with SCHED_BATCH: it contains the library, but is no program
 * in C, and its second thread is not its monitor. */
int main(void) {
	struct sched_param none = {0};
	if (syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none) != 0)
		return 97;
	return wrong(SCHED_OTHER) + wrong(SCHED_BATCH) + wrong(SCHED_IDLE) + wrong_with_several(0) + wrong_with_several(1);
}
