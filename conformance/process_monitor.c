/*
 * process_monitor: the thread that looks after those of the library interrupts no others (SCHED_BATCH), and no other
 * thread has that policy. It is the one that sleeps for given times, again and again. Without an argument: several threads
 * may call at the same time, and no thread has the policy.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SAMPLES = 20000 };

/* Reads a file of a thread of this process. */
static int read_of(const char *thread, const char *file, char *text, size_t room) {
	char path[300];
	snprintf(path, sizeof path, "/proc/self/task/%s/%s", thread, file);
	FILE *f = fopen(path, "r");
	if (f == NULL)
		return 0;
	text[fread(text, 1, room - 1, f)] = 0;
	fclose(f);
	return 1;
}

/* The policy of a thread: field 41 of stat, 39 after the name. */
static int policy_of(const char *thread) {
	char text[2000], *p;
	if (!read_of(thread, "stat", text, sizeof text) || (p = strrchr(text, ')')) == NULL)
		return -1;
	for (int field = 2; field < 41 && p != NULL; field++)
		p = strchr(p + 1, ' ');
	return p == NULL ? -1 : atoi(p);
}

int main(int argc, char **argv) {
	char batch[32] = "", text[200];
	int threads = 0, batches = 0, flag, want = argc > 1, level;
	double x = 1;
	MPI_Init_thread(&argc, &argv, want ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
	for (int i = 0; i < SAMPLES && (i == 0 || batches != want); i++) { /* a thread that has just begun may have it, too */
		DIR *d = opendir("/proc/self/task");
		threads = batches = 0;
		for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
			if (e->d_name[0] == '.')
				continue;
			threads++;
			if (policy_of(e->d_name) == SCHED_BATCH) {
				batches++;
				snprintf(batch, sizeof batch, "%.20s", e->d_name);
			}
		}
		closedir(d);
		if (sched_getscheduler(0) != SCHED_OTHER) { /* the whole test runs with another policy, which all threads keep */
			MPI_Finalize();
			return 0;
		}
	}
	if (threads < 3 || batches != want) {
		fprintf(stderr, "%d of %d threads have SCHED_BATCH\n", batches, threads);
		return 1;
	}
	if (!want || !read_of(batch, "syscall", text, sizeof text)) { /* the kernel does not tell, or valgrind runs this */
		MPI_Finalize();
		return 0;
	}
	int sleeps = 0;
	for (int i = 0; i < SAMPLES && sleeps < 20; i++) {
		for (int k = 0; k < 30000; k++)
			x = x * 1.0000001 + 1e-9;
		MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		sleeps += read_of(batch, "syscall", text, sizeof text) && atoi(text) == SYS_nanosleep;
	}
	if (sleeps < 20 || x == 0) {
		fprintf(stderr, "the thread with SCHED_BATCH was seen asleep for a given time in %d of %d samples: is it the monitor?\n", sleeps, SAMPLES);
		return 1;
	}
	MPI_Finalize();
	return 0;
}
