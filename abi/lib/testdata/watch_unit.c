/* Tests the watchdog in C: after which ticks it returns to Go, and that it returns when it is told to stop. Time is virtual:
 * instead of a sleep, what the program does in that tick happens. Prints errors, and exits with 1 if there are any. */
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "../quiet.h"
#include "../record.h"
#include "../watch.h"
#include "expect.h"

#define AT(type, base, place) (*HALO_AT(type, base, HALO_##place))
#define MOST 8000000

static _Alignas(64) char process[128], peers[3 * HALO_PEER_BYTES], data[3][HALO_RING_BYTES];
static uint64_t senders[2];
static uint8_t losing;

static void (*happens)(int tick);
static int ticks;
static int64_t slept[32]; /* ns of each tick */

/* The sleep of halo_watch. */
long syscall(long number, ...) {
	va_list l;
	va_start(l, number);
	uint32_t *word = va_arg(l, uint32_t *);
	int op = va_arg(l, int);
	uint32_t value = va_arg(l, uint32_t);
	struct timespec *t = va_arg(l, struct timespec *);
	va_end(l);
	EXPECT(SYS_futex, number);
	EXPECT(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, op);
	EXPECT(0, value);
	EXPECT(1, word == HALO_AT(uint32_t, process, HALO_PROCESS_STOP));
	if (ticks == 32) {
		printf("the watchdog does not return\n");
		exit(1);
	}
	slept[ticks] = t->tv_sec * 1000000000 + t->tv_nsec;
	happens(ticks++);
	return 0;
}

static void reset(void) {
	memset(process, 0, sizeof process);
	memset(peers, 0, sizeof peers);
	memset(data, 0, sizeof data);
	senders[0] = 3;
	senders[1] = losing = 0;
	AT(void *, process, PROCESS_SENDERS) = senders;
	AT(uint32_t, process, PROCESS_WORDS) = 1;
	AT(void *, process, PROCESS_LOSING) = &losing;
	AT(void *, process, PROCESS_PEERS) = peers;
	for (int i = 0; i < 3; i++)
		AT(char *, peers + i * HALO_PEER_BYTES, PEER_IN_DATA) = data[i];
}

/* Runs the watchdog, and returns in which tick it returns. */
static int watch(void (*f)(int)) {
	happens = f;
	ticks = 0;
	halo_watch(process, MOST / 8, MOST);
	return ticks - 1;
}

static void look(void) { AT(uint64_t, process, PROCESS_ACTIVITY)++; }
static void poll(void) {
	look();
	AT(uint64_t, process, PROCESS_POLLS)++;
}
static uint64_t *frame(int peer) { return (uint64_t *)(data[peer] + AT(uint64_t, peers + peer * HALO_PEER_BYTES, PEER_IN_HEAD)); }

static void nothing(int tick) { (void)tick; }

/* The calls poll, so that what arrives is not its concern; they end before tick 6. */
static void polls(int tick) {
	*frame(0) = 1;
	if (tick < 6)
		poll();
}

/* A poller waits, which makes no call meanwhile; it ends before tick 5. */
static void waits(int tick) {
	*frame(0) = 1;
	AT(uint32_t, process, PROCESS_SLOW) = tick < 5 ? HALO_SLOW_POLLING : 0;
}

/* Calls only look, at the ring of peer 0, and take what is there; that of peer 1 has a frame from tick 3 on. */
static void looks(int tick) {
	look();
	AT(uint64_t, peers, PEER_IN_HEAD) += 64;
	*frame(0) = 1;
	if (tick == 3)
		*frame(1) = 1;
}

/* Frames are taken in each tick. */
static void takes(int tick) {
	look();
	for (int i = 0; i < 2; i++) {
		AT(uint64_t, peers + i * HALO_PEER_BYTES, PEER_IN_HEAD) += 64;
		*frame(i) = 1;
	}
	if (tick == 9)
		AT(uint32_t, process, PROCESS_STOP) = 1;
}

static int when = 2;
static void (*what)(void);
static void comes(int tick) {
	look();
	if (tick == when)
		what();
	if (tick == when + 5)
		AT(uint32_t, process, PROCESS_STOP) = 1;
}

static void fails(void) { losing = 1; }
static void offers(void) { senders[1] = 1; }
static void elsewhere(void) { AT(uint32_t, process, PROCESS_ELSEWHERE) = 1; }
static void begins(void) {
	AT(char *, peers + 2 * HALO_PEER_BYTES, PEER_IN_DATA) = NULL;
	senders[0] |= 4;
}

static void stops(int tick) {
	poll();
	AT(uint32_t, process, PROCESS_STOP) = tick == 4;
}

int main(void) {
	reset();
	EXPECT(0, watch(nothing));
	EXPECT(6, watch(polls));
	for (int i = 0; i <= 6; i++)
		EXPECT(i < 3 ? MOST / 8 << i : MOST, slept[i]);
	EXPECT(AT(uint64_t, process, PROCESS_ACTIVITY), AT(uint64_t, process, PROCESS_SEEN_ACTIVITY)); /* so Go finds that there was no call */
	reset();
	EXPECT(5, watch(waits));
	reset();
	EXPECT(4, watch(looks));
	EXPECT(AT(uint64_t, process, PROCESS_ACTIVITY) - 1, AT(uint64_t, process, PROCESS_SEEN_ACTIVITY)); /* there was one */
	EXPECT(AT(uint64_t, process, PROCESS_POLLS), AT(uint64_t, process, PROCESS_SEEN_POLLS)); /* which has not polled */
	reset();
	EXPECT(9, watch(takes));
	void (*const all[])(void) = {fails, offers, elsewhere, begins};
	for (int i = 0; i < 4; i++) {
		reset();
		what = all[i];
		EXPECT(when, watch(comes));
	}
	reset();
	EXPECT(4, watch(stops));
	return failed != 0;
}
