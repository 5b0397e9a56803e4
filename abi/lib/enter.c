#include "enter.h"

#include "compiler.h"
#include "inside.h"
#include "wild.h"

extern int haloRun(void *frame, int number, int large, void *words);
extern int haloAwait(void *frame, uintptr_t comm, void *word, uint64_t n);
extern int haloDisagreement(void *frame, uintptr_t comm, int last);
extern void haloRing(void *frame, uintptr_t comm);
extern void haloWake(void *frame, int local, int room);
extern void haloAfterLock(void *frame, uintptr_t win, int rank, int what);
extern void haloBalance(void *frame, uintptr_t comm);

/*
 * The canonical frame address of the calling function, for debuggers: see enter.h.
 * __builtin_frame_address makes the compiler push the frame pointer at the beginning of the function.
 */
#define FRAME ((char *)__builtin_frame_address(0) + 2 * sizeof(void *))

/* Prevents a tail call, which would remove the frame that debuggers look for. */
#define STAY __asm__ __volatile__("" ::: "memory")

__attribute__((noinline)) int halo_enter_run(int number, int large, void *words) {
	int outer = halo_in();
	int code = haloRun(FRAME, number, large, words);
	if (HALO_UNLIKELY(code == HALO_FATAL))
		halo_end_by_fault();
	halo_out(outer);
	STAY;
	return code;
}

__attribute__((noinline)) int halo_enter_await(uintptr_t comm, void *word, uint64_t n) {
	int outer = halo_in();
	int code = haloAwait(FRAME, comm, word, n);
	if (HALO_UNLIKELY(code == HALO_FATAL))
		halo_end_by_fault();
	halo_out(outer);
	STAY;
	return code;
}

__attribute__((noinline)) int halo_enter_disagreement(uintptr_t comm, int last) {
	int code = haloDisagreement(FRAME, comm, last);
	if (HALO_UNLIKELY(code == HALO_FATAL))
		halo_end_by_fault();
	STAY;
	return code;
}

__attribute__((noinline)) void halo_enter_ring(uintptr_t comm) {
	int outer = halo_in();
	haloRing(FRAME, comm);
	halo_out(outer);
	STAY;
}

__attribute__((noinline)) void halo_enter_balance(uintptr_t comm) {
	int outer = halo_in();
	haloBalance(FRAME, comm);
	halo_out(outer);
	STAY;
}

__attribute__((noinline)) void halo_enter_wake(int local, int room) {
	int outer = halo_in();
	haloWake(FRAME, local, room);
	halo_out(outer);
	STAY;
}

__attribute__((noinline)) void halo_enter_after_lock(uintptr_t win, int rank, int what) {
	int outer = halo_in();
	haloAfterLock(FRAME, win, rank, what);
	halo_out(outer);
	STAY;
}
