#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor.h"
#include "planted.h"

/*
 * The second thread that Go's runtime starts is its monitor (runtime.sysmon). It takes the P of a goroutine back that
 * has run for 10 ms, which the calls of a thread of C all together count as. If the thread computes in C at that time,
 * its next call gets a P again, and wakes the monitor, which takes that back, too: so every 0.1 to 0.3 ms for ever,
 * since only the scheduler begins a new time for the goroutine. Each time the kernel has the monitor, which has slept,
 * interrupt the thread that computes or polls on that core. Beside a stranger, a process of somebody else that computes,
 * the core goes on to the stranger, for milliseconds.
 *
 * SCHED_BATCH has a thread that wakes up interrupt nobody: it gets a core when there is an idle one, or at the end of a
 * time slice. In a loop of an exchange and of 20 us of computation on 2 cores that takes the exchange from 2.0 to
 * 1.1 us, and beside two strangers from 21 to 8.
 *
 * Rejected: PR_SET_TIMERSLACK of 1 to 4 ms, in which the monitor wakes up less often. That is as fast, but with more
 * threads than Ps, a thread that wants a P waits for the monitor to take one from a thread that computes: calls took up to
 * 30 ms where they took 3. SCHED_IDLE: the monitor would not get a core for long where others compute, and it holds
 * locks of the runtime. To have the scheduler begin a new time (runtime.Gosched): that switches between threads twice.
 *
 * With MPI_THREAD_MULTIPLE there may be more threads than Ps. The monitor hands these on then, and has to run soon, so it
 * interrupts as ever: with 8 threads that send, a round trip takes 0.26 ms so, and 0.58 otherwise.
 *
 * The threads that the monitor itself starts run whatever the runtime has, the services of the engine too, which have to
 * interrupt. So they get back what the process had.
 */
static int before = -1; /* policy of the process when the runtime started */
static int monitor;     /* its thread, 0 before it has begun */
static int several;

/* Sets the policy of a thread, 0: the calling one. musl's function refuses. */
static void set_policy(int thread, int policy) {
	struct sched_param none = {0};
	syscall(SYS_sched_setscheduler, thread, policy, &none);
}

void halo_monitor(int number) {
	int now = (int)syscall(SYS_sched_getscheduler, 0);
	if (number == 1)
		__atomic_store_n(&before, now, __ATOMIC_RELAXED);
	int first = __atomic_load_n(&before, __ATOMIC_RELAXED);
	if (first != SCHED_OTHER) /* somebody has chosen one */
		return;
	if (number == 2 && !HALO_PLANTED(MonitorInterrupts)) {
		set_policy(0, SCHED_BATCH);
		__atomic_store_n(&monitor, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&several, __ATOMIC_SEQ_CST)) /* this thread has begun late */
			set_policy(0, SCHED_OTHER);
	} else if (now == SCHED_BATCH && !HALO_PLANTED(BatchInherited))
		set_policy(0, SCHED_OTHER);
}

void halo_monitor_of_several(void) {
	__atomic_store_n(&several, 1, __ATOMIC_SEQ_CST);
	int thread = __atomic_load_n(&monitor, __ATOMIC_SEQ_CST);
	if (thread != 0)
		set_policy(thread, SCHED_OTHER);
}
