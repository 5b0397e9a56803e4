/* Tests locks of targets in C on records with the layouts of Go: which calls C does and which it leaves to Go
 * unchanged, three processes that are threads here, and the mutex of a window for which Go waits. Prints errors,
 * and exits with 1 if there are any. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../environment.h"
#include "../fast_win_lock.h"
#include "../handle_table.h"
#include "../inside.h"
#include "../record.h"
#include "../thread.h"
#include "expect.h"

#define SET(type, base, place, value) (*HALO_AT(type, base, place) = (value))
#define GET(type, base, place) (*HALO_AT(type, base, place))

/* Windows of two ranks in three processes; rank 1 is the target. */
#define PROCESSES 3
#define RANKS 2

static struct {
	_Alignas(64) char view[64], window[64], locking[64], targets[RANKS * HALO_TARGET_BYTES];
} process[PROCESSES];
static _Alignas(64) char lock[HALO_LOCK_LINES + (PROCESSES + 1) * HALO_LOCK_LINE]; /* of the target */

static MPI_Win of(int i) { return (MPI_Win)((uintptr_t)5 << 31 | (uintptr_t)(300 + i) << 4 | 7); }
static char *target(int i) { return process[i].targets + HALO_TARGET_BYTES; }
static uint64_t *claim(int i) { return HALO_AT(uint64_t, lock, HALO_LOCK_LINES + i * HALO_LOCK_LINE + HALO_LOCK_CLAIM); }
static uint64_t *bits(void) { return HALO_AT(uint64_t, lock, HALO_LOCK_BITS); }

/* What the library has elsewhere. */
__thread int halo_attached = 1;
__thread int halo_leaving;

void halo_jump(void) { abort(); }
int halo_forked;
static int woken, unlocked; /* calls of AfterC */

void halo_attach(void) { abort(); }
void halo_stay_begin(struct halo_stay *stay) { (void)stay; }
void halo_stay_end(struct halo_stay *stay) { (void)stay; }
void halo_enter_after_lock(uintptr_t win, int rank, int what) {
	EXPECT(1, rank);
	EXPECT(1, halo_attached);
	__atomic_add_fetch(&woken, what & 1, __ATOMIC_SEQ_CST);
	if (what & 2) {
		unlocked++;
		for (int i = 0; i < PROCESSES; i++)
			if ((uintptr_t)of(i) == win)
				__atomic_store_n(HALO_AT(int32_t, process[i].window, HALO_WINDOW_MUTEX), 0, __ATOMIC_SEQ_CST);
	}
}

static void reset(void) {
	memset(process, 0, sizeof process);
	memset(lock, 0, sizeof lock);
	for (int i = 0; i < PROCESSES; i++) {
		SET(char *, process[i].view, HALO_VIEW_WINDOW, process[i].window);
		SET(char *, process[i].window, HALO_WINDOW_TARGETS, process[i].targets);
		SET(uint64_t, process[i].window, HALO_WINDOW_RANKS, RANKS);
		SET(char *, process[i].window, HALO_WINDOW_PROCESS, process[i].locking);
		SET(uint64_t, target(i), HALO_TARGET_END, 1);
		SET(char *, target(i), HALO_TARGET_LOCK, lock);
		SET(uint32_t, target(i), HALO_TARGET_ME, i);
		SET(uint32_t, target(i), HALO_TARGET_LOCALS, PROCESSES);
	}
}

static int take(int i) { return halo_fast_win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, of(i)); }
static int share(int i) { return halo_fast_win_lock(MPI_LOCK_SHARED, 1, 0, of(i)); }
static int give(int i) { return halo_fast_win_unlock(1, of(i)); }

/* Nothing in the records says that process i has the lock, wants it, or is in an epoch. */
static void untouched(int i) {
	EXPECT(0, *claim(i));
	EXPECT(0, *bits() >> i & 1);
	EXPECT(HALO_HELD_NOT, GET(uint32_t, target(i), HALO_TARGET_HELD));
	EXPECT(0, GET(uint32_t, target(i), HALO_TARGET_GATE));
	EXPECT(0, GET(int32_t, process[i].window, HALO_WINDOW_LOCKED));
	EXPECT(0, GET(int32_t, process[i].window, HALO_WINDOW_MUTEX));
	EXPECT(1, halo_attached);
}

static void alone(void) {
	reset();
	EXPECT(1, take(0));
	EXPECT(1 * HALO_CLAIM_TICKET | HALO_CLAIM_EXCLUSIVE, *claim(0));
	EXPECT(1, *bits());
	EXPECT(HALO_EPOCH_LOCK, GET(uint32_t, process[0].window, HALO_WINDOW_EPOCH));
	EXPECT(1, GET(int32_t, process[0].window, HALO_WINDOW_LOCKED));
	EXPECT(HALO_HELD_LOCKED, GET(uint32_t, target(0), HALO_TARGET_HELD));
	EXPECT(HALO_GATE_OPEN | HALO_GATE_LOCKED, GET(uint32_t, target(0), HALO_TARGET_GATE));
	EXPECT(0, take(0)); /* an error, which Go raises */
	EXPECT(1, give(0));
	EXPECT(HALO_EPOCH_NONE, GET(uint32_t, process[0].window, HALO_WINDOW_EPOCH));
	untouched(0);
	EXPECT(0, give(0));

	SET(uint32_t, process[1].window, HALO_WINDOW_EPOCH, HALO_EPOCH_LOCK); /* another target is locked */
	SET(int32_t, process[1].window, HALO_WINDOW_LOCKED, 1);
	EXPECT(1, share(1));
	EXPECT(2 * HALO_CLAIM_TICKET, *claim(1));
	EXPECT(1, give(1));
	EXPECT(HALO_EPOCH_LOCK, GET(uint32_t, process[1].window, HALO_WINDOW_EPOCH));
	EXPECT(1, GET(int32_t, process[1].window, HALO_WINDOW_LOCKED));

	SET(bool, target(0), HALO_TARGET_BARE, 1); /* as Go leaves it */
	EXPECT(1, take(0));
	EXPECT(0, GET(bool, target(0), HALO_TARGET_BARE));
	SET(bool, target(0), HALO_TARGET_BARE, 1);
	EXPECT(1, give(0));
	EXPECT(1, *bits()); /* the claim is not that of the epoch */
	EXPECT(0, woken | unlocked);
}

/* Calls that C leaves to Go. */
static void left(void) {
#define LEFT(type, base, place, value) \
	do {                               \
		reset();                       \
		SET(type, base, place, value); \
		EXPECT(0, take(0));            \
		EXPECT(0, share(0));           \
		SET(type, base, place, 0);     \
		untouched(0);                  \
		EXPECT(1, take(0));            \
		SET(type, base, place, value); \
	} while (0)
	LEFT(uint32_t, process[0].window, HALO_WINDOW_NO_LOCKS, 1);
	LEFT(uint32_t, process[0].locking, HALO_LOCKING_LOST, 1);
	LEFT(uintptr_t, process[0].locking, HALO_LOCKING_LAZY, 8);
	LEFT(int32_t, process[0].window, HALO_WINDOW_MUTEX, 1);
	EXPECT(0, give(0));
	LEFT(int32_t, process[0].window, HALO_WINDOW_MUTEX, 8); /* free, but somebody waits */
	EXPECT(0, give(0));
	LEFT(uint64_t, lock, HALO_LOCK_ORPHAN, 3);
	LEFT(uint64_t, lock, HALO_LOCK_BITS, 4);
	for (uint32_t epoch = 0; epoch < 6; epoch++)
		if (epoch != HALO_EPOCH_NONE && epoch != HALO_EPOCH_LOCK) {
			LEFT(uint32_t, process[0].window, HALO_WINDOW_EPOCH, epoch);
			EXPECT(0, give(0));
		}
	for (uint32_t held = 0; held < 4; held++)
		if (held != HALO_HELD_NOT && held != HALO_HELD_LOCKED) {
			LEFT(uint32_t, target(0), HALO_TARGET_HELD, held);
			EXPECT(0, give(0));
		}
	reset();
	EXPECT(0, halo_fast_win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, of(0)));
	EXPECT(0, halo_fast_win_lock(MPI_LOCK_SHARED + MPI_LOCK_EXCLUSIVE, 1, 0, of(0)));
	EXPECT(0, halo_fast_win_lock(MPI_LOCK_SHARED, 0, 0, of(0))); /* was never a target */
	EXPECT(0, halo_fast_win_lock(MPI_LOCK_SHARED, RANKS, 0, of(0)));
	EXPECT(0, halo_fast_win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, of(0)));
	EXPECT(0, halo_fast_win_lock(MPI_LOCK_SHARED, 1, 0, MPI_WIN_NULL));
	EXPECT(0, halo_fast_win_unlock(RANKS, of(0)));
	SET(char *, target(0), HALO_TARGET_LOCK, NULL);
	EXPECT(0, take(0) | give(0));
	SET(char *, target(0), HALO_TARGET_LOCK, lock);
	for (halo_attached = 0; halo_attached < 4; halo_attached++)
		if (halo_attached != 1)
			EXPECT(0, take(0));
	halo_attached = 1;
	untouched(0);
	EXPECT(1, take(0));
	SET(uint32_t, target(0), HALO_TARGET_FRAMED, 1); /* operations may be under way */
	EXPECT(0, give(0));
	SET(uint32_t, target(0), HALO_TARGET_FRAMED, 0);
	EXPECT(0, woken | unlocked);
	*bits() |= 2; /* somebody claims the lock, and may sleep */
	EXPECT(1, give(0));
	EXPECT(1, woken);
	EXPECT(2, *bits());
}

/* The threads count under the lock. */
static long counters[2];
enum { ROUNDS = 100000 };

static void *count(void *number) {
	int i = (int)(intptr_t)number;
	for (long k = 0; k < ROUNDS;) {
		int reads = (k + i) % 3 == 0;
		if (!(reads ? share(i) : take(i))) {
			sched_yield();
			continue;
		}
		long was = __atomic_load_n(&counters[0], __ATOMIC_RELAXED);
		if (!reads)
			__atomic_store_n(&counters[0], was + 1, __ATOMIC_RELAXED);
		if (k % 64 == 0)
			sched_yield();
		EXPECT(was, __atomic_load_n(&counters[1], __ATOMIC_RELAXED));
		if (!reads)
			__atomic_store_n(&counters[1], was + 1, __ATOMIC_RELAXED);
		EXPECT(1, give(i));
		k++;
	}
	return NULL;
}

static void together(void) {
	pthread_t t[PROCESSES];
	long want = 0;
	reset();
	for (int i = 0; i < PROCESSES; i++)
		pthread_create(&t[i], NULL, count, (void *)(intptr_t)i);
	for (int i = 0; i < PROCESSES; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < PROCESSES; i++)
		for (long k = 0; k < ROUNDS; k++)
			want += (k + i) % 3 != 0;
	EXPECT(want, counters[0]);
	EXPECT(0, *bits());
}

/* Go waits for the mutex of process 0: each time it has marked the mutex, C has it unlocked there. */
static int stop, marked;

static void *wait_for_mutex(void *none) {
	while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
		int32_t held = 1;
		if (!__atomic_compare_exchange_n(HALO_AT(int32_t, process[0].window, HALO_WINDOW_MUTEX), &held, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		marked++;
		while (__atomic_load_n(HALO_AT(int32_t, process[0].window, HALO_WINDOW_MUTEX), __ATOMIC_SEQ_CST) != 0)
			sched_yield();
	}
	return none;
}

static void waited_for(void) {
	pthread_t t;
	reset();
	unlocked = 0;
	pthread_create(&t, NULL, wait_for_mutex, NULL);
	for (long k = 0; k < 10000 || (unlocked == 0 && k < 100000000); k++) {
		EXPECT(1, take(0));
		EXPECT(1, give(0));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	pthread_join(t, NULL);
	EXPECT(marked, unlocked);
	EXPECT(1, unlocked > 0);
	untouched(0);
}

int main(void) {
	for (int i = 0; i < PROCESSES; i++)
		halo_open_win((uintptr_t)of(i), (uintptr_t)process[i].view, HALO_LAYOUT);
	alone();
	left();
	together();
	waited_for();
	return failed > 0;
}
