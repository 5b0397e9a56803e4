/* Tests which calls the fast paths in C carry out and which they leave to Go, on records with the
 * layouts of Go. Prints errors, and exits with 1 if there are any. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../datatype.h"
#include "../fast_accumulate.h"
#include "../fast_comm.h"
#include "../fast_element.h"
#include "../fast_file.h"
#include "../fast_integer.h"
#include "../fast_put_get.h"
#include "../fast_reduce_local.h"
#include "../fast_rput.h"
#include "../fast_type.h"
#include "../fast_wait.h"
#include "../fast_win_lock.h"
#include "../handle_table.h"
#include "../kernel.h"
#include "../record.h"
#include "expect.h"

/* Requests of receives are for receive_unit.c. */
int halo_complete(int count, MPI_Request requests[], MPI_Status statuses[], int *flag) {
	(void)count, (void)requests, (void)statuses, (void)flag;
	abort();
}

/* A window of three ranks. Only the TargetRecord of rank 1 is filled in. */
#define RANKS 3
#define PROCESSES 3
#define ME 1
#define BYTES (4 << HALO_STRIPE_SHIFT)

static _Alignas(64) char view[256], window[256], targets[RANKS * HALO_TARGET_BYTES], block[(HALO_STRIPE_COUNT + PROCESSES) * HALO_STRIPE_LINE];
static _Alignas(64) char memory[BYTES + 8];
static char *const target = targets + HALO_TARGET_BYTES;
static const uintptr_t handle = (uintptr_t)5 << 31 | 300 << 4 | 7;
static MPI_Win win;

#define SET(type, base, place, value) (*HALO_AT(type, base, place) = (value))

static uint64_t *writer(int stripe) { return HALO_AT(uint64_t, block, stripe * HALO_STRIPE_LINE); }
static uint64_t *readers(int stripe, int process) { return HALO_AT(uint64_t, block, (HALO_STRIPE_COUNT + process) * HALO_STRIPE_LINE + stripe * 8); }

static void reset(void) {
	memset(memory, 0, sizeof memory);
	memset(block, 0, sizeof block);
	SET(char *, view, HALO_VIEW_WINDOW, window);
	SET(uint32_t, view, HALO_VIEW_HOW, 0);
	SET(uint32_t, window, HALO_WINDOW_MODE, 0);
	SET(char *, window, HALO_WINDOW_TARGETS, targets);
	SET(uint64_t, window, HALO_WINDOW_RANKS, RANKS);
	SET(uint32_t, target, HALO_TARGET_GATE, HALO_GATE_OPEN | HALO_GATE_LOCKED);
	SET(int64_t, target, HALO_TARGET_UNIT, 4);
	SET(uint64_t, target, HALO_TARGET_END, BYTES / 4 + 1);
	SET(bool, target, HALO_TARGET_NEAR, true);
	SET(uint32_t, target, HALO_TARGET_FRAMED, 0);
	SET(char *, target, HALO_TARGET_MEM, memory);
	SET(int64_t, target, HALO_TARGET_LEN, BYTES);
	SET(char *, target, HALO_TARGET_STRIPES, block);
	SET(uint32_t, target, HALO_TARGET_ME, ME);
	SET(bool, target, HALO_TARGET_FINE, 0);
	SET(uint32_t, target, HALO_TARGET_LOCALS, PROCESSES);
}

static int put(int rank, MPI_Aint disp) {
	int64_t v = 0x1122334455667788;
	return halo_fast_put(&v, 1, MPI_INT64_T, rank, disp, 1, MPI_INT64_T, win);
}

static int get(int rank, MPI_Aint disp) {
	int64_t v = 0;
	return halo_fast_get(&v, 1, MPI_INT64_T, rank, disp, 1, MPI_INT64_T, win);
}

static int64_t at(MPI_Aint disp) {
	int64_t v;
	memcpy(&v, memory + 4 * disp, 8);
	return v;
}

/* Puts and gets of each length, which change no bytes around the data. */
static void lengths(size_t shortest) {
	for (size_t n = shortest; n < 40; n++) {
		char from[40], to[42];
		for (size_t i = 0; i < sizeof from; i++)
			from[i] = (char)(i + 1);
		memset(memory, 0, 64);
		memset(to, 0, sizeof to);
		EXPECT(1, halo_fast_put(from, (int64_t)n, MPI_BYTE, 1, 1, (int64_t)n, MPI_BYTE, win));
		EXPECT(0, memory[3] | memory[4 + n]);
		EXPECT(1, halo_fast_get(to + 1, (int64_t)n, MPI_BYTE, 1, 1, (int64_t)n, MPI_BYTE, win));
		EXPECT(0, memcmp(from, to + 1, n) | to[0] | to[n + 1]);
	}
}

/* Accesses beyond the memory of the target, to invalid ranks, and to ranks without record. */
static void outside(void) {
	EXPECT(0, put(1, BYTES / 4 - 1));
	EXPECT(0, put(1, BYTES / 4));
	EXPECT(0, put(1, BYTES / 4 + 1));
	EXPECT(0, halo_fast_put("12345", 5, MPI_BYTE, 1, BYTES / 4 - 1, 5, MPI_BYTE, win)); /* one byte too far */
	EXPECT(0, put(1, (MPI_Aint)1 << 62));
	EXPECT(0, put(1, -1));
	EXPECT(0, get(1, BYTES / 4 - 1));
	EXPECT(0, get(1, -1));
	EXPECT(0, put(0, 0));
	EXPECT(0, put(2, 0));
	EXPECT(0, put(RANKS, 0));
	EXPECT(0, put(-1, 0));
	EXPECT(0, put(MPI_PROC_NULL, 0));
}

static void copies(void) {
	static char big[HALO_COPY_LESS];
	int64_t v = 7, w = 0;
	reset();
	EXPECT(1, put(1, 2));
	EXPECT(0x1122334455667788, at(2));
	EXPECT(1, halo_fast_get(&w, 1, MPI_INT64_T, 1, 2, 1, MPI_INT64_T, win));
	EXPECT(0x1122334455667788, w);
	EXPECT(1, halo_fast_put(&v, 0, MPI_INT64_T, 1, BYTES / 4, 0, MPI_INT64_T, win));
	lengths(0);
	EXPECT(1, halo_fast_put(big, HALO_COPY_LESS - 1, MPI_BYTE, 1, 0, HALO_COPY_LESS - 1, MPI_BYTE, win));
	EXPECT(0, halo_fast_put(big, HALO_COPY_LESS, MPI_BYTE, 1, 0, HALO_COPY_LESS, MPI_BYTE, win));

	EXPECT(1, put(1, BYTES / 4 - 2)); /* the last place */
	outside();
	EXPECT(0, halo_fast_put(&v, 1, MPI_INT64_T, 1, 0, 2, MPI_INT64_T, win));
	EXPECT(0, halo_fast_put(&v, 1, MPI_INT64_T, 1, 0, 1, MPI_UINT64_T, win));
	EXPECT(0, halo_fast_put(&v, -1, MPI_INT64_T, 1, 0, -1, MPI_INT64_T, win));
	EXPECT(0, halo_fast_put(&v, (int64_t)1 << 61, MPI_INT64_T, 1, 0, (int64_t)1 << 61, MPI_INT64_T, win));
	EXPECT(0, halo_fast_put(&v, 1, MPI_SHORT_INT, 1, 0, 1, MPI_SHORT_INT, win)); /* a type with padding */
	EXPECT(0, halo_fast_put(&v, 1, MPI_DATATYPE_NULL, 1, 0, 1, MPI_DATATYPE_NULL, win));
	EXPECT(0, halo_fast_put(&v, 1, (MPI_Datatype)0x12c3, 1, 0, 1, (MPI_Datatype)0x12c3, win));
	EXPECT(0, halo_fast_put(NULL, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win));
	EXPECT(0, halo_fast_put(MPI_IN_PLACE, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win));

	SET(uint32_t, target, HALO_TARGET_GATE, 0);
	EXPECT(0, put(1, 0));
	EXPECT(0, get(1, 0));
	SET(uint32_t, target, HALO_TARGET_GATE, 2); /* waits for the target's post */
	EXPECT(0, put(1, 0));
	SET(uint32_t, target, HALO_TARGET_GATE, 0);
	SET(uint32_t, window, HALO_WINDOW_MODE, HALO_MODE_FENCE); /* no operation has followed the fence */
	EXPECT(0, put(2, 0)); /* this target has no record */
	EXPECT(HALO_MODE_FENCE, *HALO_AT(uint32_t, window, HALO_WINDOW_MODE));
	EXPECT(1, put(1, 0));
	EXPECT(HALO_GATE_OPEN, *HALO_AT(uint32_t, window, HALO_WINDOW_MODE));
	EXPECT(1, get(1, 0));
	SET(uint32_t, window, HALO_WINDOW_MODE, HALO_MODE_FENCE);
	EXPECT(1, get(1, 0));
	EXPECT(HALO_GATE_OPEN, *HALO_AT(uint32_t, window, HALO_WINDOW_MODE));
	SET(uint32_t, window, HALO_WINDOW_MODE, HALO_MODE_LOCK_ALL | HALO_GATE_OPEN);
	EXPECT(1, put(1, 0));
	EXPECT(0, put(2, 0)); /* all targets are open, but this one has no record */
	EXPECT(0, halo_fast_put(&v, 0, MPI_INT64_T, 2, 0, 0, MPI_INT64_T, win));
	SET(uint32_t, view, HALO_VIEW_HOW, HALO_HOW_IN_ORDER);
	EXPECT(1, put(1, 0));
	EXPECT(1, get(1, 0));
	SET(char *, target, HALO_TARGET_MEM, NULL);
	SET(int64_t, target, HALO_TARGET_LEN, 0);
	EXPECT(0, put(1, 0));
	EXPECT(0, halo_fast_put(&v, 0, MPI_INT64_T, 1, 0, 0, MPI_INT64_T, win));
}

/* Copies by the kernel from and to this process, as if it were another one. */
static void by_the_kernel(void) {
	static uint32_t gone;
	int64_t v = 7, w = 0;
	reset();
	SET(char *, target, HALO_TARGET_MEM, NULL);
	SET(int64_t, target, HALO_TARGET_LEN, 0);
	SET(int64_t, target, HALO_TARGET_SIZE, BYTES);
	SET(uint64_t, target, HALO_TARGET_ADDR, (uint64_t)(uintptr_t)memory);
	SET(int32_t, target, HALO_TARGET_PID, getpid());
	SET(uint32_t *, target, HALO_TARGET_GONE, &gone);
	int32_t *may = HALO_AT(int32_t, target, HALO_TARGET_MAY);

	*may = 2;
	EXPECT(1, put(1, 2));
	EXPECT(0x1122334455667788, at(2));
	EXPECT(1, halo_fast_get(&w, 1, MPI_INT64_T, 1, 2, 1, MPI_INT64_T, win));
	EXPECT(0x1122334455667788, w);
	EXPECT(0, *may);
	EXPECT(0, put(1, 4));
	EXPECT(0, get(1, 4));
	EXPECT(0, at(4));
	EXPECT(0, *may);
	*may = -5;
	EXPECT(0, put(1, 4));
	EXPECT(-5, *may);
	*may = 1000;
	lengths(1);

	int32_t left = *may;
	outside();
	EXPECT(0, halo_fast_put(&v, 0, MPI_INT64_T, 1, 0, 0, MPI_INT64_T, win));
	EXPECT(0, halo_fast_put(&v, 1, MPI_INT64_T, 1, 0, 1, MPI_UINT64_T, win));
	EXPECT(0, halo_fast_put(NULL, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win));
	static char big[HALO_COPY_LESS];
	EXPECT(0, halo_fast_put(big, HALO_COPY_LESS, MPI_BYTE, 1, 0, HALO_COPY_LESS, MPI_BYTE, win));
	SET(uint32_t, target, HALO_TARGET_GATE, 0);
	EXPECT(0, put(1, 0));
	SET(uint32_t, target, HALO_TARGET_GATE, HALO_GATE_OPEN);
	SET(uint32_t, view, HALO_VIEW_HOW, HALO_HOW_IN_ORDER);
	EXPECT(0, put(1, 0));
	SET(uint32_t, view, HALO_VIEW_HOW, 0);
	gone = 1;
	EXPECT(0, put(1, 0));
	EXPECT(0, get(1, 0));
	gone = 0;
	EXPECT(left, *may);
	EXPECT(1, halo_fast_put(big, HALO_COPY_LESS - 1, MPI_BYTE, 1, 0, HALO_COPY_LESS - 1, MPI_BYTE, win));
	EXPECT(1, put(1, BYTES / 4 - 2)); /* the last place */

	errno = 33; /* copies that the kernel refuses go to Go, and do not change errno */
	SET(uint64_t, target, HALO_TARGET_ADDR, 4096);
	EXPECT(0, put(1, 0));
	EXPECT(0, get(1, 0));
	SET(uint64_t, target, HALO_TARGET_ADDR, (uint64_t)(uintptr_t)memory);
	SET(int32_t, target, HALO_TARGET_PID, 1 << 30); /* above all process ids */
	EXPECT(0, put(1, 0));
	EXPECT(0, get(1, 0));
	SET(int32_t, target, HALO_TARGET_PID, getpid());
	/* A copy that the kernel makes only in part, up to the end of a page, goes to Go, too. */
	char *edge = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(edge + 4096, 4096);
	SET(uint64_t, target, HALO_TARGET_ADDR, (uint64_t)(uintptr_t)edge + 4096 - 4);
	EXPECT(0, put(1, 0));
	EXPECT(0x55667788, *(int32_t *)(edge + 4096 - 4));
	EXPECT(0, get(1, 0));
	SET(uint64_t, target, HALO_TARGET_ADDR, (uint64_t)(uintptr_t)edge + 4096 - 8);
	EXPECT(1, put(1, 0));
	EXPECT(1, get(1, 0));
	munmap(edge, 4096);
	SET(uint64_t, target, HALO_TARGET_ADDR, (uint64_t)(uintptr_t)memory);
	EXPECT(33, errno);
	EXPECT(1, get(1, 0));
	*may = 0;
}

static void synchronisation(void) {
	reset();
	EXPECT(1, halo_fast_flush(1, win));
	EXPECT(0, halo_fast_flush(0, win));
	EXPECT(0, halo_fast_flush(RANKS, win));
	EXPECT(0, halo_fast_flush(MPI_PROC_NULL, win));
	EXPECT(0, halo_fast_flush(1, MPI_WIN_NULL));
	EXPECT(0, halo_fast_win_sync(win));
	SET(uint32_t, target, HALO_TARGET_FRAMED, 1);
	EXPECT(0, halo_fast_flush(1, win));
	reset();
	SET(bool, target, HALO_TARGET_NEAR, false);
	EXPECT(0, halo_fast_flush(1, win));
	reset();
	SET(uint32_t, target, HALO_TARGET_GATE, HALO_GATE_OPEN); /* of MPI_Win_start */
	EXPECT(0, halo_fast_flush(1, win));
	SET(uint32_t, window, HALO_WINDOW_MODE, HALO_GATE_OPEN); /* of MPI_Win_fence */
	EXPECT(0, halo_fast_flush(1, win));
	EXPECT(0, halo_fast_win_sync(win));
	SET(uint32_t, window, HALO_WINDOW_MODE, HALO_GATE_OPEN | HALO_MODE_LOCK_ALL);
	EXPECT(1, halo_fast_flush(1, win));
	EXPECT(0, halo_fast_flush(2, win));
	EXPECT(1, halo_fast_win_sync(win));
	EXPECT(0, halo_fast_win_sync(MPI_WIN_NULL));
}

static int add(MPI_Aint disp, int64_t v, int64_t *old) {
	return halo_fast_fetch_and_op(&v, old, MPI_INT64_T, 1, disp, MPI_SUM, win);
}

static int swap(MPI_Aint disp, int64_t compare, int64_t v, int64_t *old) {
	return halo_fast_compare_and_swap(&v, &compare, old, MPI_INT64_T, 1, disp, win);
}

/* The states of the stripe of an element. */
static void stripe(void) {
	int64_t old = -1;
	reset();
	EXPECT(1, add(2, 5, &old));
	EXPECT(0, old);
	EXPECT(5, at(2));
	EXPECT((uint64_t)1 << 32, *readers(0, ME)); /* one reader has entered and left */
	EXPECT(1, add((BYTES / 4 + 8) / 4, 6, &old)); /* in the next stripe */
	EXPECT((uint64_t)1 << 32, *readers(1, ME));
	EXPECT(1, swap(2, 5, 9, &old));
	EXPECT(5, old);
	EXPECT(9, at(2));
	EXPECT(1, swap(2, 5, 10, &old));
	EXPECT(9, old);
	EXPECT(9, at(2));
	EXPECT(3 * ((uint64_t)1 << 32), *readers(0, ME));

	*writer(0) = 3; /* process 2 is the writer */
	EXPECT(0, add(2, 5, &old));
	EXPECT(0, swap(2, 9, 5, &old));
	EXPECT(9, at(2));
	EXPECT(0, (uint32_t)*readers(0, ME));
	EXPECT(3, *writer(0));
	*writer(0) = (uint64_t)3 << HALO_STRIPE_BIAS | 3; /* process 2 is the writer and has the bias */
	EXPECT(0, add(2, 5, &old));
	EXPECT((uint64_t)3 << HALO_STRIPE_BIAS | 3, *writer(0));
	*writer(0) = (uint64_t)3 << HALO_STRIPE_BIAS; /* process 2 has only the bias, which ends */
	EXPECT(1, add(2, 1, &old));
	EXPECT(10, at(2));
	EXPECT(0, *writer(0));
	*writer(0) = (uint64_t)(ME + 1) << HALO_STRIPE_BIAS | (ME + 1); /* another thread of this process writes */
	EXPECT(0, add(2, 1, &old));

	reset(); /* a process that enters often gets the bias */
	for (int i = 0; i < HALO_STRIPE_BIAS_EVERY; i++) {
		EXPECT(0, *writer(0));
		EXPECT(1, add(2, 1, &old));
	}
	EXPECT((uint64_t)(ME + 1) << HALO_STRIPE_BIAS, *writer(0));
	uint64_t count = *readers(0, ME);
	EXPECT(1, add(2, 1, &old));
	EXPECT(HALO_STRIPE_BIAS_EVERY, old);
	EXPECT(1, swap(2, HALO_STRIPE_BIAS_EVERY + 1, 7, &old));
	EXPECT(7, at(2));
	EXPECT(1, swap(2, 8, 9, &old));
	EXPECT(7, at(2));
	EXPECT(count, *readers(0, ME)); /* updates under the bias are not counted as readers */
	EXPECT((uint64_t)(ME + 1) << HALO_STRIPE_BIAS, *writer(0));
	*readers(0, 2) = 1; /* another process is a reader: the bias ends */
	EXPECT(1, add(2, 1, &old));
	EXPECT(8, at(2));
	EXPECT(0, *writer(0));
	EXPECT(count + ((uint64_t)1 << 32), *readers(0, ME));

	reset();
	SET(uint32_t, target, HALO_TARGET_LOCALS, HALO_STRIPE_BIAS_MOST + 1); /* too many processes for a bias */
	*readers(0, ME) = (uint64_t)(HALO_STRIPE_BIAS_EVERY - 1) << 32;
	EXPECT(1, add(2, 1, &old));
	EXPECT(0, *writer(0));

	for (int i = 0; i < 2; i++) { /* without stripes */
		reset();
		if (i)
			SET(bool, target, HALO_TARGET_FINE, 1);
		else
			SET(uint32_t, view, HALO_VIEW_HOW, HALO_HOW_INTRINSIC);
		*writer(0) = 3;
		EXPECT(1, add(2, 1, &old));
		EXPECT(1, swap(2, 1, 4, &old));
		EXPECT(4, at(2));
		EXPECT(0, *readers(0, ME));
	}
}

static void elements(void) {
	int64_t v = 1, old = 0;
	double d = 1.5, was, nan = 0;
	reset();
	nan /= nan;
	EXPECT(0, add(1, 1, &old)); /* misaligned by 4 bytes */
	EXPECT(0, at(1));
	EXPECT(0, halo_fast_fetch_and_op(&v, NULL, MPI_INT64_T, 1, 2, MPI_SUM, win));
	EXPECT(0, halo_fast_fetch_and_op(NULL, &old, MPI_INT64_T, 1, 2, MPI_SUM, win));
	EXPECT(1, halo_fast_fetch_and_op(NULL, &old, MPI_INT64_T, 1, 2, MPI_NO_OP, win));
	EXPECT(0, halo_fast_fetch_and_op(&v, &old, MPI_INT64_T, 1, 2, MPI_PROD, win));
	EXPECT(0, halo_fast_fetch_and_op(&v, &old, MPI_INT64_T, 1, 2, MPI_OP_NULL, win));
	EXPECT(0, halo_fast_fetch_and_op(&v, &old, MPI_BYTE, 1, 2, MPI_SUM, win));
	EXPECT(1, halo_fast_fetch_and_op(&v, &old, MPI_BYTE, 1, 2, MPI_BOR, win));
	EXPECT(0, halo_fast_fetch_and_op(&v, &old, MPI_CHAR, 1, 2, MPI_REPLACE, win));
	EXPECT(0, halo_fast_accumulate(&v, 1, MPI_INT64_T, 1, 4, 1, MPI_INT64_T, MPI_NO_OP, win));
	EXPECT(0, halo_fast_accumulate(&v, 1, MPI_INT64_T, 1, 4, 1, MPI_UINT64_T, MPI_SUM, win));
	EXPECT(1, halo_fast_accumulate(&v, 1, MPI_INT64_T, 1, 4, 1, MPI_INT64_T, MPI_SUM, win));
	EXPECT(1, at(4));
	EXPECT(0, halo_fast_get_accumulate(&v, 1, MPI_INT64_T, NULL, 1, MPI_INT64_T, 1, 4, 1, MPI_INT64_T, MPI_SUM, win));
	EXPECT(0, halo_fast_get_accumulate(&v, 1, MPI_INT64_T, &old, 1, MPI_UINT64_T, 1, 4, 1, MPI_INT64_T, MPI_SUM, win));
	EXPECT(1, halo_fast_get_accumulate(&v, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, 1, 4, 1, MPI_INT64_T, MPI_SUM, win));
	EXPECT(2, at(4));

	EXPECT(1, halo_fast_fetch_and_op(&d, &was, MPI_DOUBLE, 1, 8, MPI_SUM, win));
	EXPECT(0, halo_fast_fetch_and_op(&d, &was, MPI_DOUBLE, 1, 8, MPI_MAX, win));
	EXPECT(0, halo_fast_fetch_and_op(&d, &was, MPI_DOUBLE, 1, 8, MPI_BXOR, win));
	EXPECT(0, halo_fast_compare_and_swap(&d, &d, &was, MPI_DOUBLE, 1, 8, win));
	EXPECT(0, halo_fast_fetch_and_op(&nan, &was, MPI_DOUBLE, 1, 8, MPI_SUM, win));
	memcpy(&was, memory + 32, 8);
	EXPECT(1, was == 1.5);
	EXPECT(0, (uint32_t)*readers(0, ME));
	*writer(0) = (uint64_t)(ME + 1) << HALO_STRIPE_BIAS;
	EXPECT(0, halo_fast_fetch_and_op(&nan, &was, MPI_DOUBLE, 1, 8, MPI_SUM, win));
	EXPECT((uint64_t)(ME + 1) << HALO_STRIPE_BIAS, *writer(0));
}

static int sums(int64_t n, MPI_Aint disp, int64_t *old) {
	int64_t v[130];
	for (int64_t i = 0; i < 130; i++)
		v[i] = 10 * i + 1;
	return old != NULL ? halo_fast_get_accumulate(v, n, MPI_INT64_T, old, n, MPI_INT64_T, 1, disp, n, MPI_INT64_T, MPI_SUM, win)
	                   : halo_fast_accumulate(v, n, MPI_INT64_T, 1, disp, n, MPI_INT64_T, MPI_SUM, win);
}

static void rows(void) {
	int64_t old[130], v[2] = {1, 1};
	double d[3] = {1, 2, 0};
	const MPI_Aint border = ((MPI_Aint)1 << HALO_STRIPE_SHIFT) / 4;
	const uint64_t mine = (uint64_t)(ME + 1) << HALO_STRIPE_BIAS;
	reset();
	EXPECT(1, sums(128, 2, NULL));
	EXPECT(1, sums(5, 2, old));
	EXPECT(1, at(2) == 2 && at(10) == 82 && at(12) == 51 && at(2 + 254) == 1271);
	EXPECT(1, old[0] == 1 && old[4] == 41);
	EXPECT(0, *writer(0) | *readers(0, ME));
	EXPECT(0, sums(129, 2, NULL)); /* too long */
	EXPECT(0, sums(0, 2, NULL));
	EXPECT(0, sums(2, BYTES / 4 - 2, NULL)); /* beyond the end */
	EXPECT(0, sums(2, 3, NULL));             /* misaligned */
	EXPECT(1, sums(2, border - 4, NULL));
	EXPECT(1, sums(2, border - 2, NULL)); /* in two stripes */
	EXPECT(1, sums(2, border, NULL));
	*writer(1) = 3;
	EXPECT(0, sums(2, border - 2, NULL));
	EXPECT(0, *writer(0));
	*writer(1) = 0;
	EXPECT(0, halo_fast_accumulate(v, 2, MPI_INT64_T, 1, 4, 1, MPI_INT64_T, MPI_SUM, win));
	EXPECT(0, halo_fast_accumulate(v, 2, MPI_INT64_T, 1, 4, 2, MPI_INT64_T, MPI_PROD, win));
	EXPECT(0, halo_fast_accumulate(NULL, 2, MPI_INT64_T, 1, 4, 2, MPI_INT64_T, MPI_SUM, win));
	EXPECT(0, halo_fast_get_accumulate(v, 2, MPI_INT64_T, old, 2, MPI_INT64_T, 1, 4, 2, MPI_INT64_T, MPI_NO_OP, win));

	int64_t before = at(2);
	*writer(0) = 3;
	EXPECT(0, sums(2, 2, NULL));
	EXPECT(3, *writer(0));
	*writer(0) = 0;
	*readers(0, 2) = 1;
	EXPECT(0, sums(2, 2, NULL));
	EXPECT(0, *writer(0));
	*writer(0) = mine;
	EXPECT(0, sums(2, 2, NULL));
	EXPECT(mine, *writer(0));
	EXPECT(before, at(2));
	*readers(0, 2) = (uint64_t)7 << 32;
	EXPECT(1, sums(2, 2, NULL));
	EXPECT(mine, *writer(0)); /* a bias to this process stays, one to another process ends */
	*writer(0) = (uint64_t)3 << HALO_STRIPE_BIAS;
	EXPECT(1, sums(2, 2, NULL));
	EXPECT(0, *writer(0));

	reset();
	EXPECT(1, halo_fast_accumulate(d, 2, MPI_DOUBLE, 1, 2, 2, MPI_DOUBLE, MPI_SUM, win));
	d[1] = 0 / d[2];
	EXPECT(0, halo_fast_accumulate(d, 2, MPI_DOUBLE, 1, 2, 2, MPI_DOUBLE, MPI_SUM, win));
	EXPECT(0, memcmp(memory + 8, (double[]){1, 2}, 16));
	EXPECT(0, *writer(0));
	EXPECT(0, halo_fast_accumulate(d, 2, MPI_DOUBLE, 1, 2, 2, MPI_DOUBLE, MPI_MAX, win));
	EXPECT(1, halo_fast_accumulate(d, 2, MPI_DOUBLE, 1, 2, 2, MPI_DOUBLE, MPI_REPLACE, win));
	SET(bool, target, HALO_TARGET_FINE, 1);
	EXPECT(0, sums(2, 2, NULL));
}

#if defined __x86_64__
/* A kernel like those of Go: it adds words of 64 bits, in blocks of 64 bytes. */
extern const char add_words[];
__asm__(".text\n"
        "add_words:\n"
        "movq 8(%rsp), %rdi; movq 16(%rsp), %rsi; movq 24(%rsp), %rdx; movq 32(%rsp), %rcx\n"
        "1: movq -8(%rsi, %rcx), %rax; addq -8(%rdx, %rcx), %rax; movq %rax, -8(%rdi, %rcx); subq $8, %rcx; jnz 1b\n"
        "movq $-1, %rbx; movq $-1, %r12; movq $-1, %r15; ret\n");

static int64_t long_values[(64 << 10) / 8 + 1], long_old[(64 << 10) / 8 + 1];

/* Adds n elements twice, and checks the sums, the fetched values and the bytes around them. */
static int long_sums(int64_t n, MPI_Aint disp) {
	memset(memory, 0, sizeof memory);
	for (int64_t i = 0; i < n; i++)
		long_values[i] = 3 * i + 1;
	memset(long_old, 0x5a, sizeof long_old);
	if (!halo_fast_accumulate(long_values, n, MPI_INT64_T, 1, disp, n, MPI_INT64_T, MPI_SUM, win) ||
	    !halo_fast_get_accumulate(long_values, n, MPI_INT64_T, long_old, n, MPI_INT64_T, 1, disp, n, MPI_INT64_T, MPI_SUM, win))
		return 0;
	EXPECT(0, disp < 2 ? 0 : at(disp - 2));
	EXPECT(0, at(disp + 2 * n));
	EXPECT(0x5a5a5a5a5a5a5a5a, long_old[n]);
	for (int64_t i = 0; i < n; i++)
		if (at(disp + 2 * i) != 2 * (3 * i + 1) || long_old[i] != 3 * i + 1) {
			EXPECT(2 * (3 * i + 1), at(disp + 2 * i));
			EXPECT(3 * i + 1, long_old[i]);
			break;
		}
	return 1;
}

static void long_rows(void) {
	static const int64_t lengths[] = {2, 3, 7, 8, 9, 15, 17, 128, 129, 1023, 1024, 1025, 2047, 3000, 4096, 8191, 8192};
	const MPI_Aint border = ((MPI_Aint)1 << HALO_STRIPE_SHIFT) / 4;
	int64_t a[20] = {1}, b[20] = {2};
	double d[2] = {1, 2};
	halo_know_kernels((uintptr_t)MPI_INT64_T, (const uintptr_t[HALO_ROW]){[(uintptr_t)MPI_SUM - 0x20] = (uintptr_t)add_words});
	reset();
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		EXPECT(1, long_sums(lengths[i], 0));
		EXPECT(1, long_sums(lengths[i], 6)); /* the longest in three stripes */
	}
	EXPECT(0, long_sums(8193, 0));
	EXPECT(0, *writer(0) | *writer(1) | *writer(2) | *readers(0, ME));
	EXPECT(0, long_sums(2, 1)); /* misaligned */

	/* The row is in two stripes, of which one is not free: nothing changes. */
	memset(memory, 0, sizeof memory);
	for (int s = 0; s < 2; s++) {
		*writer(s) = 3;
		EXPECT(0, long_sums(16, border - 2));
		EXPECT(3, *writer(s));
		EXPECT(0, *writer(1 - s));
		EXPECT(1, long_sums(16, s ? 0 : border)); /* in the free stripe only */
		*writer(s) = 0;
		*readers(s, 2) = 1;
		EXPECT(0, long_sums(16, border - 2));
		EXPECT(0, *writer(0) | *writer(1));
		*readers(s, 2) = 0;
		EXPECT(0, at(border - 2) | at(border));
	}
	*writer(1) = 3;
	EXPECT(1, long_sums(16, border - 32)); /* ends where stripe 1 begins */
	EXPECT(0, long_sums(17, border - 32));
	*writer(1) = (uint64_t)(ME + 1) << HALO_STRIPE_BIAS;
	EXPECT(1, long_sums(16, border - 2));
	EXPECT(0, *writer(0));
	EXPECT((uint64_t)(ME + 1) << HALO_STRIPE_BIAS, *writer(1));

	/* Overlapping operands, and types without kernel. */
	EXPECT(0, halo_fast_accumulate(memory + 64, 9, MPI_INT64_T, 1, 0, 9, MPI_INT64_T, MPI_SUM, win));
	EXPECT(1, halo_fast_accumulate(memory + 72, 9, MPI_INT64_T, 1, 0, 9, MPI_INT64_T, MPI_SUM, win));
	EXPECT(0, halo_fast_get_accumulate(a, 9, MPI_INT64_T, memory + 64, 9, MPI_INT64_T, 1, 0, 9, MPI_INT64_T, MPI_SUM, win));
	EXPECT(0, halo_fast_get_accumulate(a, 9, MPI_INT64_T, a + 8, 9, MPI_INT64_T, 1, 0, 9, MPI_INT64_T, MPI_SUM, win));
	EXPECT(0, halo_fast_accumulate(long_values, 129, MPI_UINT64_T, 1, 0, 129, MPI_UINT64_T, MPI_SUM, win));
	SET(bool, target, HALO_TARGET_FINE, 1);
	EXPECT(0, long_sums(129, 0));

	EXPECT(1, halo_fast_reduce_local(a, b, 1, MPI_INT64_T, MPI_SUM));
	EXPECT(3, b[0]);
	EXPECT(1, halo_fast_reduce_local(a, b, 9, MPI_INT64_T, MPI_SUM));
	EXPECT(4, b[0]);
	EXPECT(1, halo_fast_reduce_local(a, a + 10, 10, MPI_INT64_T, MPI_SUM));
	EXPECT(1, a[10]);
	EXPECT(0, halo_fast_reduce_local(a, a + 9, 10, MPI_INT64_T, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(a, a, 1, MPI_INT64_T, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(a, b, 0, MPI_INT64_T, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(a, b, -1, MPI_INT64_T, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(a, b, INT64_MAX, MPI_INT64_T, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(MPI_IN_PLACE, b, 1, MPI_INT64_T, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(a, NULL, 1, MPI_INT64_T, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(a, b, 1, MPI_INT64_T, MPI_PROD));
	EXPECT(0, halo_fast_reduce_local(a, b, 1, MPI_INT64_T, MPI_OP_NULL));
	EXPECT(0, halo_fast_reduce_local(a, b, 1, MPI_INT64_T, (MPI_Op)0x1021));
	EXPECT(0, halo_fast_reduce_local(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(a, b, 1, (MPI_Datatype)0x12c3, MPI_SUM));
	EXPECT(0, halo_fast_reduce_local(d, d + 1, 1, MPI_DOUBLE, MPI_SUM));
	EXPECT(4, b[0]);
	halo_close_all();
	EXPECT(0, halo_fast_reduce_local(a, b, 1, MPI_INT64_T, MPI_SUM));
}
#else
static void long_rows(void) {} /* C cannot call kernels on this machine */
#endif

/* Inquiries about a type, and its commit. */
static void questions(void) {
	static char known[1024];
	int64_t lb = 7, extent = 7, long_size = 7;
	int n = 7;
	MPI_Datatype type = (MPI_Datatype)0x10003, other = (MPI_Datatype)0x20013, null = MPI_DATATYPE_NULL, predefined = MPI_INT64_T;
	SET(int64_t, known, HALO_TYPE_SIZE, 24);
	SET(int64_t, known, HALO_TYPE_LB, -8);
	SET(int64_t, known, HALO_TYPE_UB, 92);
	SET(int64_t, known, HALO_TYPE_TRUE_LB, 16);
	SET(int64_t, known, HALO_TYPE_TRUE_UB, 64);
	SET(uint32_t, known, HALO_TYPE_COMMITTED, 0);
	EXPECT(0, halo_fast_type_size(type, &n));
	halo_open_type((uintptr_t)type, (uintptr_t)known, HALO_TYPE_LAYOUT + 1);
	EXPECT(0, halo_fast_type_size(type, &n));
	halo_open_type((uintptr_t)type, (uintptr_t)known, HALO_TYPE_LAYOUT);
	EXPECT(1, halo_fast_type_size(type, &n));
	EXPECT(24, n);
	EXPECT(1, halo_fast_type_extent(type, &lb, &extent));
	EXPECT(-8, lb);
	EXPECT(100, extent);
	EXPECT(1, halo_fast_type_true_extent(type, &lb, &extent));
	EXPECT(16, lb);
	EXPECT(48, extent);
	EXPECT(0, halo_fast_type_extent(type, &lb, NULL));
	EXPECT(0, halo_fast_type_true_extent(type, NULL, &extent));
	SET(int64_t, known, HALO_TYPE_SIZE, (int64_t)1 << 32);
	EXPECT(0, halo_fast_type_size(type, &n));
	EXPECT(24, n);
	EXPECT(1, halo_fast_type_size(type, &long_size));
	EXPECT((int64_t)1 << 32, long_size);
	EXPECT(0, halo_fast_type_commit(NULL));
	EXPECT(0, halo_fast_type_commit(&null));
	EXPECT(0, halo_fast_type_commit(&other));
	EXPECT(1, halo_fast_type_commit(&predefined));
	EXPECT(0, *HALO_AT(uint32_t, known, HALO_TYPE_COMMITTED));
	EXPECT(1, halo_fast_type_commit(&type));
	EXPECT(1, *HALO_AT(uint32_t, known, HALO_TYPE_COMMITTED));
	EXPECT(1, halo_fast_type_extent(MPI_SHORT_INT, &lb, &extent));
	EXPECT(0, lb);
	EXPECT(8, extent);
}

/* Requests that are complete at once, which exist in passive target epochs only. */
static void requests(void) {
	int64_t value = 5, got = 0;
	int flag = 0;
	MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status status;
	uint32_t mode = *HALO_AT(uint32_t, window, HALO_WINDOW_MODE), gate = *HALO_AT(uint32_t, target, HALO_TARGET_GATE);
	SET(uint32_t, window, HALO_WINDOW_MODE, HALO_GATE_OPEN);
	SET(uint32_t, target, HALO_TARGET_GATE, 0);
	EXPECT(0, halo_fast_rput(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win, &r[0]));
	EXPECT(1, r[0] == MPI_REQUEST_NULL);
	SET(uint32_t, window, HALO_WINDOW_MODE, 0);
	SET(uint32_t, target, HALO_TARGET_GATE, HALO_GATE_OPEN | HALO_GATE_LOCKED);
	EXPECT(0, halo_fast_rput(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win, NULL));
	EXPECT(0, halo_fast_rput(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win, &r[0]));
	EXPECT(1, r[0] == MPI_REQUEST_NULL);
	EXPECT(1, halo_fast_rput(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win, &r[0]));
	EXPECT(1, r[0] == HALO_REQUEST_DONE);
	EXPECT(1, halo_fast_rget(&got, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win, &r[1]));
	EXPECT(5, got);
	EXPECT(1, halo_fast_waitall(2, r, NULL));
	EXPECT(1, r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
	EXPECT(0, halo_fast_wait(&r[0], &status));
	EXPECT(0, halo_fast_wait(NULL, &status));
	r[0] = HALO_REQUEST_DONE;
	r[1] = (MPI_Request)((uintptr_t)3 << 31 | 0x300 << 4 | 5); /* of Go */
	EXPECT(0, halo_fast_waitall(2, r, NULL));
	EXPECT(0, halo_fast_testall(2, r, &flag, NULL));
	EXPECT(1, r[0] == HALO_REQUEST_DONE);
	EXPECT(0, halo_fast_test(&r[0], NULL, &status));
	memset(&status, 7, sizeof status);
	EXPECT(1, halo_fast_test(&r[0], &flag, &status));
	EXPECT(1, flag);
	EXPECT(MPI_ANY_SOURCE, status.MPI_SOURCE);
	EXPECT(0x07070707, status.MPI_ERROR);
	EXPECT(1, r[0] == MPI_REQUEST_NULL);
	r[1] = HALO_REQUEST_DONE;
	EXPECT(1, halo_fast_testall(2, r, &flag, NULL));
	EXPECT(1, flag == 1 && r[1] == MPI_REQUEST_NULL);
	SET(uint32_t, window, HALO_WINDOW_MODE, mode);
	SET(uint32_t, target, HALO_TARGET_GATE, gate);
}

/* A handle comes back from its integer as long as no other one has its place. */
static void integers(void) {
	uintptr_t first = (uintptr_t)3 << 31 | 0x300 << 4 | 5, second = first + ((uintptr_t)1 << 31), other = first + 1, far = first + HALO_CONVERTED * 16;
	EXPECT(0, halo_from_int((int)(first & 0x7fffffff)));
	int n = halo_to_int(first);
	EXPECT(0x3005, n);
	EXPECT(1, halo_from_int(n) == first);
	EXPECT(0, halo_from_int(n + 1));
	EXPECT(0, halo_from_int(-n));
	EXPECT(1, halo_to_int(second) == n); /* the same slot, used again */
	EXPECT(1, halo_from_int(n) == second);
	EXPECT(1, halo_from_int(halo_to_int(other)) == other); /* another kind, in the same place */
	EXPECT(0, halo_from_int(n));
	EXPECT(1, halo_from_int(halo_to_int(second)) == second);
	EXPECT(1, halo_from_int(halo_to_int(far)) == far);
	EXPECT(0, halo_from_int(n));
}

static void handles(void) {
	int n = -1;
	reset();
	EXPECT(1, put(1, 0));
	win = (MPI_Win)(handle + ((uintptr_t)1 << 31)); /* another generation */
	EXPECT(0, put(1, 0));
	win = (MPI_Win)(handle + 16);
	EXPECT(0, put(1, 0));
	win = (MPI_Win)0;
	EXPECT(0, put(1, 0));
	win = (MPI_Win)~(uintptr_t)0;
	EXPECT(0, put(1, 0));
	win = (MPI_Win)handle;
	halo_close_win(handle + ((uintptr_t)1 << 31)); /* a handle that does not exist */
	EXPECT(1, put(1, 0));
	halo_close_win(handle);
	EXPECT(0, put(1, 0));
	halo_open_win(handle, (uintptr_t)view, HALO_LAYOUT + 1);
	EXPECT(0, put(1, 0));
	halo_open_win(handle, 0, HALO_LAYOUT);
	EXPECT(0, put(1, 0));
	halo_open_win(handle, (uintptr_t)view, HALO_LAYOUT);
	EXPECT(1, put(1, 0));

	EXPECT(0, halo_fast_comm_rank(MPI_COMM_WORLD, &n));
	EXPECT(0, halo_fast_comm_rank(MPI_COMM_SELF, &n));
	halo_open_comm((uintptr_t)MPI_COMM_WORLD, 3, 8, 0, 0, HALO_COLL_LAYOUT, 0, 0);
	halo_open_comm((uintptr_t)MPI_COMM_SELF, 0, 1, 0, 0, HALO_COLL_LAYOUT, 0, 0);
	halo_open_comm(0x1001, 2, 5, 0, 0, HALO_COLL_LAYOUT, 0, 0);
	EXPECT(1, halo_fast_comm_rank(MPI_COMM_WORLD, &n));
	EXPECT(3, n);
	EXPECT(1, halo_fast_comm_size(MPI_COMM_WORLD, &n));
	EXPECT(8, n);
	EXPECT(1, halo_fast_comm_size(MPI_COMM_SELF, &n));
	EXPECT(1, n);
	EXPECT(1, halo_fast_comm_rank((MPI_Comm)0x1001, &n));
	EXPECT(2, n);
	EXPECT(0, halo_fast_comm_rank((MPI_Comm)0x1001, NULL));
	EXPECT(0, halo_fast_comm_rank(MPI_COMM_NULL, &n));
	halo_close_comm(0x1001);
	EXPECT(0, halo_fast_comm_rank((MPI_Comm)0x1001, &n));

	EXPECT(1, halo_fast_type_size(MPI_SHORT_INT, &n));
	EXPECT(6, n);
	EXPECT(0, halo_fast_type_size(MPI_DATATYPE_NULL, &n));
	EXPECT(0, halo_fast_type_size(MPI_INT64_T, (int *)NULL));

	questions();
	requests();
	halo_close_all();
	EXPECT(0, put(1, 0));
	EXPECT(0, halo_fast_comm_rank(MPI_COMM_WORLD, &n));
	EXPECT(0, halo_fast_comm_rank(MPI_COMM_SELF, &n));
	EXPECT(0, halo_fast_type_size(MPI_INT64_T, &n));
}

static void know(void) {
	win = (MPI_Win)handle;
	halo_know_type((uintptr_t)MPI_INT64_T, 8, 8, 8, HALO_SIGNED, 0);
	halo_know_type((uintptr_t)MPI_UINT64_T, 8, 8, 8, HALO_UNSIGNED, 0);
	halo_know_type((uintptr_t)MPI_DOUBLE, 8, 8, 8, HALO_FLOATING, 0);
	halo_know_type((uintptr_t)MPI_BYTE, 1, 1, 1, HALO_BITS, 0);
	halo_know_type((uintptr_t)MPI_CHAR, 1, 1, 1, HALO_DENSE, 0);
	halo_know_type((uintptr_t)MPI_SHORT_INT, 6, 8, 8, HALO_PADDED, 0);
	halo_open_win(handle, (uintptr_t)view, HALO_LAYOUT);
}

int main(void) {
	know();
	copies();
	by_the_kernel();
	synchronisation();
	stripe();
	elements();
	rows();
	handles();
	integers();
	know();
	long_rows();
	return failed != 0;
}
