/*
 * fast_litmus: operations that are complete at the target are visible to later reads, in tests
 * of two processes without other synchronisation (MPI-5, 12.5.4 and 12.7).
 *
 *   store buffers     each puts to its own place, flushes and gets the other's place: at least one
 *                     of the two sees the other's put
 *   message passing   data, flush, flag; a process that sees the flag sees the data
 *   the same with stores and loads of local memory and MPI_Win_sync on one side
 *   coherence         a counter is never seen to decrease
 *
 * fast_litmus [rounds]; two processes
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND_BYTES = 64 * 4 };

static int rank, ranks, failed;
static long rounds = 4000;
static MPI_Win win;
static volatile int64_t *memory;
static int home; /* the rank whose memory a test uses */

static MPI_Aint place(long round, int line) { return round * ROUND_BYTES + 64 * line; }

static void put(MPI_Aint at, int64_t v)
{
    MPI_Put(&v, 1, MPI_INT64_T, home, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(home, win);
}

static int64_t get(MPI_Aint at)
{
    int64_t v = -1;
    MPI_Get(&v, 1, MPI_INT64_T, home, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(home, win);
    return v;
}

static void check(int ok, const char *what, long round)
{
    if (!ok && failed++ < 10)
        fprintf(stderr, "rank %d, memory of rank %d: %s in round %ld\n", rank, home, what, round);
}

/* Makes progress, for implementations that need calls of the target. */
static void progress(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* meet makes both processes begin a round at about the same time: each waits for the other. */
static void meet(long round)
{
    int64_t one = 1, old;
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, home, place(round, 3), MPI_SUM, win);
    MPI_Win_flush(home, win);
    for (long n = 0; old < 1; n++) {
        MPI_Fetch_and_op(NULL, &old, MPI_INT64_T, home, place(round, 3), MPI_NO_OP, win);
        MPI_Win_flush(home, win);
        if (old == 2)
            return;
        old = 0;
        if (n > 1000)
            progress();
    }
}

static void store_buffers(void)
{
    static int64_t *seen, *other;
    seen = malloc(rounds * sizeof *seen);
    other = malloc(rounds * sizeof *other);
    for (long r = 0; r < rounds; r++) {
        meet(r);
        put(place(r, rank), 1);
        seen[r] = get(place(r, 1 - rank));
    }
    MPI_Sendrecv(seen, (int)rounds, MPI_INT64_T, 1 - rank, 0, other, (int)rounds, MPI_INT64_T, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long r = 0; r < rounds; r++)
        check(seen[r] == 1 || other[r] == 1, "neither has seen what the other has put", r);
    free(seen);
    free(other);
}

static void messages(void)
{
    for (long r = 0; r < rounds; r++) {
        if (rank == 0) {
            put(place(r, 0), r + 7);
            put(place(r, 1), 1);
        } else {
            while (get(place(r, 1)) != 1)
                ;
            check(get(place(r, 0)) == r + 7, "the flag is there, and the data are not", r);
        }
    }
}

/* The owner of the memory stores or loads; the other process puts and gets. */
static void own_memory(int owner_writes)
{
    for (long r = 0; r < rounds; r++) {
        volatile int64_t *data = memory + place(r, 0) / 8, *flag = memory + place(r, 1) / 8;
        if (owner_writes && rank == home) {
            *data = r + 9;
            MPI_Win_sync(win);
            *flag = 1;
            MPI_Win_sync(win);
        } else if (owner_writes) {
            while (get(place(r, 1)) != 1)
                ;
            check(get(place(r, 0)) == r + 9, "a stored flag is there, and the data are not", r);
        } else if (rank != home) {
            put(place(r, 0), r + 11);
            put(place(r, 1), 1);
        } else {
            while (*flag != 1) {
                MPI_Win_sync(win);
                progress();
            }
            MPI_Win_sync(win);
            check(*data == r + 11, "a flag can be loaded, and the data cannot", r);
        }
    }
}

static void coherence(void)
{
    int64_t last = 0, now, one = 1, old;
    for (long r = 0; r < rounds; r++) {
        if (rank == 0) {
            MPI_Accumulate(&one, 1, MPI_INT64_T, home, 0, 1, MPI_INT64_T, MPI_SUM, win);
            MPI_Win_flush(home, win);
        }
        MPI_Fetch_and_op(NULL, &old, MPI_INT64_T, home, 0, MPI_NO_OP, win);
        MPI_Win_flush(home, win);
        now = old;
        check(now >= last && now <= rounds, "a count went back", r);
        last = now;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1)
        rounds = atol(argv[1]);
    if (ranks != 2) {
        fprintf(stderr, "fast_litmus needs two processes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (home = 0; home < 2; home++)
        for (int test = 0; test < 5; test++) {
            MPI_Aint size = rounds * ROUND_BYTES;
            MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&memory, &win);
            MPI_Win_lock_all(0, win);
            memset((void *)memory, 0, size);
            MPI_Win_sync(win);
            MPI_Barrier(MPI_COMM_WORLD);
            switch (test) {
            case 0: store_buffers(); break;
            case 1: messages(); break;
            case 2: own_memory(0); break;
            case 3: own_memory(1); break;
            case 4: coherence(); break;
            }
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_unlock_all(win);
            MPI_Win_free(&win);
        }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf(failed ? "%d failures\n" : "no errors\n", failed);
    MPI_Finalize();
    return failed != 0;
}
