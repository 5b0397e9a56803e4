/*
 * fast_mixed: threads of several processes mix, on the same memory, operations of single
 * elements with long accumulates, and puts and gets of all lengths with those of derived
 * datatypes, in epochs of every kind. Sums must be exact, and the data of puts must have
 * arrived (MPI-5, 12.7.1: accumulates of all calls are atomic element by element).
 *
 * fast_mixed [rounds]
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define ELEMENTS 96       /* of each type, all in use */
#define BLOCK 24          /* elements of a long accumulate */
#define SCRATCH 4096      /* private bytes of each thread in the memory of each rank */
#define SPREAD (40 << 10) /* bytes between regions, so that they use different stripes */

enum { I8, I16, I32, I64, U32, F64, CAS64, CAS16, MOST, REGIONS };

static const struct { int width; } region[REGIONS] = {{1}, {2}, {4}, {8}, {4}, {8}, {8}, {2}, {8}};

static int rank, ranks, rounds = 3000, failed;
static MPI_Win win;
static char *memory;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* What this process has added, by rank, region and element, modulo 2^64. */
static unsigned long long *added;
static long long highest; /* expected maximum of region MOST */

static void check(int ok, const char *what, long got, long want)
{
    if (ok)
        return;
    pthread_mutex_lock(&mutex);
    if (failed++ < 10)
        fprintf(stderr, "rank %d: %s: %ld, want %ld\n", rank, what, got, want);
    pthread_mutex_unlock(&mutex);
}

static MPI_Aint at(int r, int i) { return (MPI_Aint)r * SPREAD + (MPI_Aint)i * region[r].width; }

static MPI_Datatype type_of(int r)
{
    switch (r) {
    case I8: return MPI_INT8_T;
    case I16: return MPI_SHORT;
    case I32: return MPI_INT;
    case U32: return MPI_UINT32_T;
    case F64: return MPI_DOUBLE;
    case CAS16: return MPI_UINT16_T;
    }
    return MPI_INT64_T;
}

static void store(int r, void *p, int i, long v)
{
    char *q = (char *)p + i * region[r].width;
    int8_t v1 = v; int16_t v2 = v; int32_t v4 = v; int64_t v8 = v; double d = v;
    switch (r) {
    case I8: memcpy(q, &v1, 1); return;
    case I16: case CAS16: memcpy(q, &v2, 2); return;
    case I32: case U32: memcpy(q, &v4, 4); return;
    case F64: memcpy(q, &d, 8); return;
    }
    memcpy(q, &v8, 8);
}

static unsigned long next(unsigned long *s)
{
    *s ^= *s << 13; *s ^= *s >> 7; *s ^= *s << 17;
    return *s;
}

struct worker { int number; unsigned long seed; unsigned long long *sums; long long top; MPI_Datatype every_other; };

static void note(struct worker *w, int target, int r, int i, long v)
{
    w->sums[(target * REGIONS + r) * ELEMENTS + i] += v;
}

static void flush(struct worker *w, int target)
{
    if (next(&w->seed) % 8 == 0)
        MPI_Win_flush_all(win);
    else
        MPI_Win_flush(target, win);
}

/* Adds to one element, by each of the accumulate calls, or only reads it. */
static void single(struct worker *w, int target, int r)
{
    int i = next(&w->seed) % ELEMENTS;
    long v = (long)(next(&w->seed) % 100) - 50;
    char value[8], old[8], got[8];
    store(r, value, 0, v);
    switch (next(&w->seed) % 4) {
    case 0: MPI_Accumulate(value, 1, type_of(r), target, at(r, i), 1, type_of(r), MPI_SUM, win); break;
    case 1: MPI_Fetch_and_op(value, old, type_of(r), target, at(r, i), MPI_SUM, win); break;
    case 2: MPI_Get_accumulate(value, 1, type_of(r), old, 1, type_of(r), target, at(r, i), 1, type_of(r), MPI_SUM, win); break;
    default:
        MPI_Fetch_and_op(NULL, got, type_of(r), target, at(r, i), MPI_NO_OP, win);
        flush(w, target);
        return;
    }
    note(w, target, r, i, v);
    flush(w, target);
}

static void many(struct worker *w, int target, int r)
{
    int i = next(&w->seed) % (ELEMENTS - BLOCK);
    char values[8 * BLOCK], olds[8 * BLOCK];
    for (int k = 0; k < BLOCK; k++) {
        long v = (long)(next(&w->seed) % 100) - 50;
        store(r, values, k, v);
        note(w, target, r, i + k, v);
    }
    if (next(&w->seed) % 2)
        MPI_Accumulate(values, BLOCK, type_of(r), target, at(r, i), BLOCK, type_of(r), MPI_SUM, win);
    else
        MPI_Get_accumulate(values, BLOCK, type_of(r), olds, BLOCK, type_of(r), target, at(r, i), BLOCK, type_of(r), MPI_SUM, win);
    flush(w, target);
}

static void swap(struct worker *w, int target, int r)
{
    int i = next(&w->seed) % 4;
    int64_t was8, is8, got8 = 0;
    uint16_t was2, is2, got2 = 0;
    if (r == CAS64) {
        MPI_Fetch_and_op(NULL, &was8, MPI_INT64_T, target, at(r, i), MPI_NO_OP, win);
        MPI_Win_flush(target, win);
        for (;;) {
            is8 = was8 + 1;
            MPI_Compare_and_swap(&is8, &was8, &got8, MPI_INT64_T, target, at(r, i), win);
            MPI_Win_flush(target, win);
            if (got8 == was8)
                break;
            was8 = got8;
        }
    } else {
        MPI_Fetch_and_op(NULL, &was2, MPI_UINT16_T, target, at(r, i), MPI_NO_OP, win);
        MPI_Win_flush(target, win);
        for (;;) {
            is2 = was2 + 1;
            MPI_Compare_and_swap(&is2, &was2, &got2, MPI_UINT16_T, target, at(r, i), win);
            MPI_Win_flush(target, win);
            if (got2 == was2)
                break;
            was2 = got2;
        }
    }
    note(w, target, r, i, 1);
}

static void top(struct worker *w, int target)
{
    int64_t v = next(&w->seed) >> 2, old;
    if (v > w->top)
        w->top = v;
    MPI_Fetch_and_op(&v, &old, MPI_INT64_T, target, at(MOST, 0), MPI_MAX, win);
    MPI_Win_flush(target, win);
}

/* Puts to the private bytes of the thread, and gets the same data back, whichever process copies. */
static void copy(struct worker *w, int target)
{
    char out[SCRATCH], in[SCRATCH];
    MPI_Aint place = (MPI_Aint)REGIONS * SPREAD + ((MPI_Aint)rank * THREADS + w->number) * SCRATCH;
    static const int sizes[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 64, 1000, SCRATCH};
    int n = sizes[next(&w->seed) % (sizeof sizes / sizeof *sizes)];
    MPI_Aint off = n < SCRATCH ? next(&w->seed) % (SCRATCH - n) : 0;
    for (int i = 0; i < SCRATCH; i++)
        out[i] = next(&w->seed);
    memset(in, 0, sizeof in);
    if (next(&w->seed) % 4) {
        MPI_Put(out, n, MPI_BYTE, target, place + off, n, MPI_BYTE, win);
        MPI_Win_flush(target, win);
        MPI_Get(in, n, MPI_BYTE, target, place + off, n, MPI_BYTE, win);
        MPI_Win_flush_local(target, win);
        check(memcmp(in, out, n) == 0, "bytes put and got differ", n, n);
        return;
    }
    MPI_Put(out, 1, w->every_other, target, place, 1, w->every_other, win);
    MPI_Win_flush(target, win);
    for (int i = 0; i < 32; i++) {
        long v = 0, want;
        MPI_Get(&v, 1, MPI_LONG, target, place + 16 * i, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        memcpy(&want, out + 16 * i, 8);
        check(v == want, "a strided put and a get differ", v, want);
    }
}

/* All threads update a few adjacent elements of one process as fast as they can, sometimes by a long
 * accumulate over all of them. */
static void storm(struct worker *w, int r)
{
    int target = 0;
    for (int n = 0; n < rounds; n++) {
        int i = next(&w->seed) % 4;
        char value[8], old[8];
        if (n % 64 == 63) {
            char values[8 * BLOCK];
            for (int k = 0; k < BLOCK; k++) {
                store(r, values, k, k);
                note(w, target, r, k, k);
            }
            MPI_Accumulate(values, BLOCK, type_of(r), target, at(r, 0), BLOCK, type_of(r), MPI_SUM, win);
            MPI_Win_flush(target, win);
            continue;
        }
        store(r, value, 0, 1);
        MPI_Fetch_and_op(value, old, type_of(r), target, at(r, i), MPI_SUM, win);
        if (n % 16 == 0)
            MPI_Win_flush(target, win);
        else
            MPI_Win_flush_local(target, win);
        note(w, target, r, i, 1);
    }
    MPI_Win_flush(target, win);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int r = 0; r <= F64; r++)
        storm(w, r);
    for (int n = 0; n < rounds; n++)
        swap(w, 0, n % 2 ? CAS64 : CAS16);
    for (int n = 0; n < rounds; n++) {
        int target = next(&w->seed) % ranks, r = next(&w->seed) % (F64 + 1);
        switch (next(&w->seed) % 8) {
        case 0: many(w, target, r); break;
        case 1: swap(w, target, next(&w->seed) % 2 ? CAS64 : CAS16); break;
        case 2: top(w, target); break;
        case 3: case 4: copy(w, target); break;
        default: single(w, target, r);
        }
        if (n % 64 == 0)
            MPI_Win_sync(win);
    }
    return NULL;
}

static void in_threads(int threads, int turn)
{
    pthread_t t[THREADS];
    struct worker w[THREADS];
    for (int i = 0; i < threads; i++) {
        w[i] = (struct worker){i, 88172645463325252UL + 1000003UL * (turn * 64 + rank * THREADS + i), calloc((size_t)ranks * REGIONS * ELEMENTS, 8), 0, MPI_DATATYPE_NULL};
        MPI_Type_vector(32, 1, 2, MPI_LONG, &w[i].every_other);
        MPI_Type_commit(&w[i].every_other);
    }
    for (int i = 1; i < threads; i++)
        pthread_create(&t[i], NULL, work, &w[i]);
    work(&w[0]);
    for (int i = 0; i < threads; i++) {
        if (i > 0)
            pthread_join(t[i], NULL);
        for (long k = 0; k < (long)ranks * REGIONS * ELEMENTS; k++)
            added[k] += w[i].sums[k];
        if (w[i].top > highest)
            highest = w[i].top;
        MPI_Type_free(&w[i].every_other);
        free(w[i].sums);
    }
}

/* Calls of one thread in epochs of MPI_Win_fence; in_start uses MPI_Win_start. */
static void in_fence(int turn)
{
    long one = 1 + turn;
    for (int k = 0; k < 20; k++) {
        MPI_Win_fence(0, win);
        for (int t = 0; t < ranks; t++) {
            MPI_Accumulate(&one, 1, MPI_INT64_T, t, at(I64, k), 1, MPI_INT64_T, MPI_SUM, win);
            added[(t * REGIONS + I64) * ELEMENTS + k] += one;
        }
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void in_start(int turn)
{
    MPI_Group world;
    long v = turn;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int k = 0; k < 20; k++) {
        MPI_Win_post(world, 0, win);
        MPI_Win_start(world, 0, win);
        for (int t = 0; t < ranks; t++) {
            MPI_Accumulate(&v, 1, MPI_INT64_T, t, at(I64, k), 1, MPI_INT64_T, MPI_SUM, win);
            added[(t * REGIONS + I64) * ELEMENTS + k] += v;
        }
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&world);
}

static void in_lock(int turn)
{
    for (int k = 0; k < 40; k++) {
        int t = (rank + k) % ranks;
        long v = turn + k, was;
        MPI_Win_lock(k % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, t, 0, win);
        if (k % 3 == 0) { /* under an exclusive lock: read, add, write */
            MPI_Get(&was, 1, MPI_LONG, t, at(CAS64, 8), 1, MPI_LONG, win);
            MPI_Win_flush(t, win);
            was += v;
            MPI_Put(&was, 1, MPI_LONG, t, at(CAS64, 8), 1, MPI_LONG, win);
            added[(t * REGIONS + CAS64) * ELEMENTS + 8] += v;
        } else {
            MPI_Fetch_and_op(&v, &was, MPI_LONG, t, at(I64, 3), MPI_SUM, win);
            added[(t * REGIONS + I64) * ELEMENTS + 3] += v;
        }
        MPI_Win_unlock(t, win);
    }
}

static void verify(void)
{
    unsigned long long *all = calloc((size_t)ranks * REGIONS * ELEMENTS, 8);
    long long most;
    MPI_Allreduce(added, all, ranks * REGIONS * ELEMENTS, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&highest, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int r = 0; r < MOST; r++)
        for (int i = 0; i < ELEMENTS; i++) {
            char want[8], *p = memory + at(r, i);
            store(r, want, 0, (long)all[(rank * REGIONS + r) * ELEMENTS + i]);
            if (memcmp(p, want, region[r].width)) {
                long got = 0, w = 0;
                memcpy(&got, p, region[r].width);
                memcpy(&w, want, region[r].width);
                fprintf(stderr, "rank %d: region %d, element %d\n", rank, r, i);
                check(0, "a sum is wrong", got, w);
            }
        }
    (void)most; /* compared below: the maximum may be at any rank */
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    long long top = 0;
    memcpy(&top, memory + at(MOST, 0), 8);
    MPI_Allreduce(MPI_IN_PLACE, &top, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    check(top == most, "the highest of all", (long)top, (long)most);
    free(all);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1)
        rounds = atoi(argv[1]);
    int threads = level == MPI_THREAD_MULTIPLE ? THREADS : 1;
    MPI_Aint size = (MPI_Aint)REGIONS * SPREAD + (MPI_Aint)ranks * THREADS * SCRATCH;
    added = calloc((size_t)ranks * REGIONS * ELEMENTS, 8);
    for (int turn = 0; turn < 3; turn++) {
        /* Several windows one after the other reuse handles. */
        char *own = NULL;
        highest = 0;
        memset(added, 0, (size_t)ranks * REGIONS * ELEMENTS * 8);
        if (turn == 1) { /* memory that may not be mapped by others */
            own = malloc(size);
            memory = own;
            MPI_Win_create(own, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        } else {
            MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        }
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
        memset(memory, 0, size);
        MPI_Win_unlock(rank, win);
        MPI_Barrier(MPI_COMM_WORLD);
        in_fence(turn);
        MPI_Win_lock_all(0, win);
        in_threads(threads, turn);
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        in_start(turn);
        MPI_Barrier(MPI_COMM_WORLD);
        in_lock(turn);
        MPI_Barrier(MPI_COMM_WORLD);
        verify();
        MPI_Win_free(&win);
        free(own);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf(failed ? "%d failures\n" : "no errors\n", failed);
    MPI_Finalize();
    return failed != 0;
}
