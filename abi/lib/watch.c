#define _GNU_SOURCE
#include "watch.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "quiet.h"
#include "record.h"

/*
 * The watchdog holds no lock: it only looks. What it decides by it leaves in the record as it is when it returns, so that Go,
 * which has the lock then, finds the same reason: see Proc.checkCalls. It is early by up to a tick at most if a signal
 * ends its sleep.
 *
 * For Go's runtime it is a goroutine in one long call of C, whose place is given to others once. A thread that wakes up in C
 * concerns the runtime no more than those of the program do.
 */

/* Sleeps for a tick, or until Proc.stopWatchdog. */
static void rest(uint32_t *stop, int64_t tick) {
	struct timespec t = {tick / 1000000000, tick % 1000000000};
	syscall(SYS_futex, stop, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &t, NULL, 0);
}

/* Whether Go has nothing to do after a tick. */
static int may_rest(const char *process, uint64_t activity, uint64_t polls) {
	if (HALO_LOAD(uint32_t, process, HALO_PROCESS_SLOW) & HALO_SLOW_POLLING) /* the poller does everything */
		return 1;
	if (activity == U64(process, PROCESS_SEEN_ACTIVITY))
		return 0;
	return polls != U64(process, PROCESS_SEEN_POLLS) || !halo_waiting(process);
}

void halo_watch(char *process, int64_t tick, int64_t most) {
	uint32_t *stop = HALO_AT(uint32_t, process, HALO_PROCESS_STOP);
	for (;; tick = 2 * tick < most ? 2 * tick : most) {
		rest(stop, tick);
		if (__atomic_load_n(stop, __ATOMIC_SEQ_CST) != 0) /* pairs with the store in Proc.stopWatchdog */
			return;
		uint64_t activity = HALO_LOAD(uint64_t, process, HALO_PROCESS_ACTIVITY), polls = HALO_LOAD(uint64_t, process, HALO_PROCESS_POLLS);
		if (!may_rest(process, activity, polls))
			return;
		U64(process, PROCESS_SEEN_ACTIVITY) = activity;
		U64(process, PROCESS_SEEN_POLLS) = polls;
	}
}
