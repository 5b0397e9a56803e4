/*
 * fast_random: each process runs a random program of one-sided operations, of all types and
 * predefined operations, short and long, aligned or not, on memory that only it uses in
 * the window of each rank, and applies the same operations to a copy of that memory. Fetched
 * values and the final memory must be the same (MPI-5, 12.3 and 6.9.2).
 *
 * fast_random [seed [operations]]
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 1024        /* private bytes of each process at each rank */
#define STRIDE (32 << 10) /* distance of blocks plus half a block: some blocks cross a multiple of it */

static int rank, ranks, failed;
static unsigned long seed = 1, state;
static MPI_Win win;
static int *units;
static unsigned char *shadow; /* expected contents of this process's block at each rank */

static unsigned long next(void)
{
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state >> 8;
}

static void check(int ok, const char *what, int kind, int op, long at)
{
    if (!ok && failed++ < 10)
        fprintf(stderr, "rank %d, seed %lu: %s, type %d, operation %d, at %ld\n", rank, seed, what, kind, op, at);
}

/* Elements, and operations on them. */
enum { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, LOR, LXOR, REPLACE, NO_OP, OPS };
enum { S1, S2, S4, S8, U1, U2, U4, U8, F4, F8, B1, KINDS };

static const int width[KINDS] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1};

static MPI_Op op_of(int op)
{
    switch (op) {
    case SUM: return MPI_SUM;
    case PROD: return MPI_PROD;
    case MIN: return MPI_MIN;
    case MAX: return MPI_MAX;
    case BAND: return MPI_BAND;
    case BOR: return MPI_BOR;
    case BXOR: return MPI_BXOR;
    case LAND: return MPI_LAND;
    case LOR: return MPI_LOR;
    case LXOR: return MPI_LXOR;
    case REPLACE: return MPI_REPLACE;
    }
    return MPI_NO_OP;
}

static MPI_Datatype type_of(int kind)
{
    int other = next() % 2;
    switch (kind) {
    case S1: return other ? MPI_INT8_T : MPI_SIGNED_CHAR;
    case S2: return other ? MPI_INT16_T : MPI_SHORT;
    case S4: return other ? MPI_INT32_T : MPI_INT;
    case S8: return other ? MPI_INT64_T : MPI_LONG;
    case U1: return other ? MPI_UINT8_T : MPI_UNSIGNED_CHAR;
    case U2: return other ? MPI_UINT16_T : MPI_UNSIGNED_SHORT;
    case U4: return other ? MPI_UINT32_T : MPI_UNSIGNED;
    case U8: return other ? MPI_UINT64_T : MPI_UNSIGNED_LONG_LONG;
    case F4: return MPI_FLOAT;
    case F8: return MPI_DOUBLE;
    }
    return MPI_BYTE;
}

static int defined(int op, int kind)
{
    if (op >= REPLACE)
        return 1;
    if (kind == B1)
        return op == BAND || op == BOR || op == BXOR;
    return kind != F4 && kind != F8 ? 1 : op <= MAX;
}

#define APPLY(T)                                             \
    {                                                        \
        T a, b, c;                                           \
        memcpy(&a, at, sizeof a);                            \
        memcpy(&b, with, sizeof b);                          \
        switch (op) {                                        \
        case SUM: c = a + b; break;                          \
        case PROD: c = a * b; break;                         \
        case MIN: c = b < a ? b : a; break;                  \
        case MAX: c = a < b ? b : a; break;                  \
        default: c = b;                                      \
        }                                                    \
        memcpy(at, &c, sizeof c);                            \
    }

#define APPLY_WHOLE(T, WIDE)                                 \
    {                                                        \
        T a, b, c;                                           \
        memcpy(&a, at, sizeof a);                            \
        memcpy(&b, with, sizeof b);                          \
        switch (op) {                                        \
        case SUM: c = (T)((WIDE)a + (WIDE)b); break;         \
        case PROD: c = (T)((WIDE)a * (WIDE)b); break;        \
        case MIN: c = b < a ? b : a; break;                  \
        case MAX: c = a < b ? b : a; break;                  \
        case BAND: c = a & b; break;                         \
        case BOR: c = a | b; break;                          \
        case BXOR: c = a ^ b; break;                         \
        case LAND: c = a && b; break;                        \
        case LOR: c = a || b; break;                         \
        case LXOR: c = !a != !b; break;                      \
        default: c = b;                                      \
        }                                                    \
        memcpy(at, &c, sizeof c);                            \
    }

static void apply(int op, int kind, unsigned char *at, const unsigned char *with)
{
    if (op == NO_OP)
        return;
    switch (kind) {
    case S1: APPLY_WHOLE(int8_t, uint64_t) return;
    case S2: APPLY_WHOLE(int16_t, uint64_t) return;
    case S4: APPLY_WHOLE(int32_t, uint64_t) return;
    case S8: APPLY_WHOLE(int64_t, uint64_t) return;
    case U1: case B1: APPLY_WHOLE(uint8_t, uint64_t) return;
    case U2: APPLY_WHOLE(uint16_t, uint64_t) return;
    case U4: APPLY_WHOLE(uint32_t, uint64_t) return;
    case U8: APPLY_WHOLE(uint64_t, uint64_t) return;
    case F4: APPLY(float) return;
    case F8: APPLY(double) return;
    }
}

/* A random operand. Floating-point operands are small integers, so that results are exact. */
static void operand(int kind, unsigned char *p)
{
    float f = (float)(long)(next() % 8) - 3;
    double d = f;
    if (kind == F4) {
        memcpy(p, &f, 4);
    } else if (kind == F8) {
        memcpy(p, &d, 8);
    } else {
        for (int i = 0; i < width[kind]; i++)
            p[i] = next() % 3 ? next() : 0;
    }
}

/* Puts a number to the memory of an element, by a short or long put, because the contents from
 * elements of other types may be no number. */
static void settle(int target, long at, int kind, int n)
{
    unsigned char values[BLOCK];
    for (int i = 0; i < n; i++)
        operand(kind, values + i * width[kind]);
    memcpy(shadow + (long)target * BLOCK + at, values, n * width[kind]);
    long disp = ((long)rank * STRIDE + BLOCK / 2 + at) / units[target];
    MPI_Datatype type = type_of(kind);
    MPI_Put(values, n, type, target, disp, n, type, win);
    MPI_Win_flush(target, win);
}

static void one(void)
{
    int target = next() % ranks, kind = next() % KINDS, op = next() % OPS, w = width[kind];
    int n = next() % 3 ? 1 : 1 + next() % 12;
    int step = next() % 6 ? w : 1; /* one of six may be misaligned */
    if (step < units[target])
        step = units[target];
    long at = next() % (BLOCK - 8 * 16) / step * step;
    unsigned char *mine = shadow + (long)target * BLOCK + at, values[8 * 16], olds[8 * 16], was[8 * 16];
    long disp = ((long)rank * STRIDE + BLOCK / 2 + at) / units[target];
    MPI_Datatype type = type_of(kind);
    while (!defined(op, kind))
        op = next() % OPS;
    for (int i = 0; i < n; i++)
        operand(kind, values + i * w);
    if ((kind == F4 || kind == F8) && op != REPLACE)
        settle(target, at, kind, n);
    memcpy(was, mine, n * w);
    memset(olds, 0x5a, sizeof olds);
    switch (next() % 7) {
    case 0:
        MPI_Put(values, n, type, target, disp, n, type, win);
        memcpy(mine, values, n * w);
        break;
    case 1:
        MPI_Get(olds, n, type, target, disp, n, type, win);
        if (next() % 2)
            MPI_Win_flush_local(target, win);
        else
            MPI_Win_flush(target, win);
        check(!memcmp(olds, was, n * w), "get", kind, -1, at);
        return;
    case 2:
        if (op == NO_OP)
            op = REPLACE;
        MPI_Accumulate(values, n, type, target, disp, n, type, op_of(op), win);
        for (int i = 0; i < n; i++)
            apply(op, kind, mine + i * w, values + i * w);
        break;
    case 3:
        MPI_Get_accumulate(values, n, type, olds, n, type, target, disp, n, type, op_of(op), win);
        for (int i = 0; i < n; i++)
            apply(op, kind, mine + i * w, values + i * w);
        MPI_Win_flush(target, win);
        check(!memcmp(olds, was, n * w), "get_accumulate", kind, op, at);
        return;
    case 4: case 5:
        n = 1;
        MPI_Fetch_and_op(op == NO_OP && next() % 2 ? NULL : values, olds, type, target, disp, op_of(op), win);
        apply(op, kind, mine, values);
        MPI_Win_flush(target, win);
        check(!memcmp(olds, was, w), "fetch_and_op", kind, op, at);
        return;
    default:
        if (kind == F4 || kind == F8)
            return;
        unsigned char compare[8];
        memcpy(compare, was, w);
        if (next() % 2)
            compare[next() % w] ^= 1 << next() % 8;
        MPI_Compare_and_swap(values, compare, olds, type, target, disp, win);
        if (!memcmp(compare, was, w))
            memcpy(mine, values, w);
        MPI_Win_flush(target, win);
        check(!memcmp(olds, was, w), "compare_and_swap", kind, -1, at);
        return;
    }
    MPI_Win_flush(target, win);
    memset(olds, 0, sizeof olds);
    MPI_Get(olds, n, type, target, disp, n, type, win);
    MPI_Win_flush(target, win);
    check(!memcmp(olds, mine, n * w), "what stands there", kind, op, at);
}

static void window(MPI_Info info, int create, int operations)
{
    MPI_Aint size = (MPI_Aint)(ranks + 1) * STRIDE;
    int unit = 1 << (rank + create) % 4;
    unsigned char *memory, *own = NULL, *theirs = calloc(ranks, BLOCK);
    MPI_Allgather(&unit, 1, MPI_INT, units, 1, MPI_INT, MPI_COMM_WORLD);
    if (create) {
        own = memory = malloc(size);
        MPI_Win_create(memory, size, unit, info, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(size, unit, info, MPI_COMM_WORLD, &memory, &win);
    }
    MPI_Win_lock_all(0, win);
    memset(memory, 0, size);
    memset(shadow, 0, (size_t)ranks * BLOCK);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < operations; i++)
        one();
    MPI_Win_flush_all(win);
    MPI_Alltoall(shadow, BLOCK, MPI_BYTE, theirs, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < BLOCK; i++)
            if (memory[(long)r * STRIDE + BLOCK / 2 + i] != theirs[r * BLOCK + i]) {
                check(0, "what stands at the target", r, -1, i);
                break;
            }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(own);
    free(theirs);
}

int main(int argc, char **argv)
{
    static const char *hints[][2] = {{"", ""}, {"mpi_assert_accumulate_intrinsic", "true"}, {"mpi_accumulate_granularity", "8"}, {"mpi_win_order", "true"}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1)
        seed = strtoul(argv[1], NULL, 10);
    state = seed * 0x9e3779b97f4a7c15UL + 77 * rank + 1;
    units = calloc(ranks, sizeof *units);
    shadow = calloc(ranks, BLOCK);
    for (unsigned k = 0; k < sizeof hints / sizeof *hints; k++)
        for (int create = 0; create < 2; create++) {
            MPI_Info info;
            MPI_Info_create(&info);
            if (hints[k][0][0])
                MPI_Info_set(info, hints[k][0], hints[k][1]);
            window(info, create, argc > 2 ? atoi(argv[2]) : 3000);
            MPI_Info_free(&info);
        }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf(failed ? "%d failures\n" : "no errors\n", failed);
    free(units);
    free(shadow);
    MPI_Finalize();
    return failed != 0;
}
