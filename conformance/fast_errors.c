/*
 * fast_errors prints the error classes of calls that are wrong, or nearly wrong, one in each line.
 * The lines must be the same for fast and slow paths.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static MPI_Win win;
static const char *state;

static void line(const char *what, int code)
{
    int cl = MPI_SUCCESS;
    char text[MPI_MAX_ERROR_STRING];
    int n;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &cl);
    MPI_Error_string(cl, text, &n);
    if (rank == 0)
        printf("%s: %s: %s\n", state, what, cl == MPI_SUCCESS ? "success" : text);
}

/* Prints the result of a call that starts a request, completes the request, and prints its status. */
static void ended(const char *what, int code, MPI_Request *request, int tested)
{
    char name[300];
    MPI_Status status;
    int flag = 0, count = -1;
    memset(&status, 7, sizeof status);
    line(what, code);
    if (tested)
        while (!flag)
            code = MPI_Test(request, &flag, &status);
    else
        code = MPI_Wait(request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    MPI_Test_cancelled(&status, &flag);
    snprintf(name, sizeof name, "%s, completed, source %d, tag %d, error %x, count %d, cancelled %d, null %d", what,
             status.MPI_SOURCE, status.MPI_TAG, status.MPI_ERROR, count, flag, *request == MPI_REQUEST_NULL);
    line(name, code);
}

/* Makes all calls with one special argument: the target, the displacement, the type or the window. */
static void calls(const char *what, int target, MPI_Aint disp, MPI_Datatype type, MPI_Op op, MPI_Win w)
{
    char name[200];
    /* The buffers must exist until the epoch ends. */
    static int64_t value = 1, old, compare;
#define CALL(call, code) snprintf(name, sizeof name, "%s, %s", what, call); line(name, code)
    CALL("put", MPI_Put(&value, 1, type, target, disp, 1, type, w));
    CALL("get", MPI_Get(&old, 1, type, target, disp, 1, type, w));
    CALL("accumulate", MPI_Accumulate(&value, 1, type, target, disp, 1, type, op, w));
    CALL("get_accumulate", MPI_Get_accumulate(&value, 1, type, &old, 1, type, target, disp, 1, type, op, w));
    CALL("fetch_and_op", MPI_Fetch_and_op(&value, &old, type, target, disp, op, w));
    CALL("compare_and_swap", MPI_Compare_and_swap(&value, &compare, &old, type, target, disp, w));
    MPI_Request r = MPI_REQUEST_NULL;
#define STARTED(call, code, tested) snprintf(name, sizeof name, "%s, %s", what, call); ended(name, code, &r, tested)
    STARTED("rput", MPI_Rput(&value, 1, type, target, disp, 1, type, w, &r), 0);
    STARTED("rget", MPI_Rget(&old, 1, type, target, disp, 1, type, w, &r), 1);
    STARTED("raccumulate", MPI_Raccumulate(&value, 1, type, target, disp, 1, type, op, w, &r), 0);
    STARTED("rget_accumulate", MPI_Rget_accumulate(&value, 1, type, &old, 1, type, target, disp, 1, type, op, w, &r), 1);
    CALL("flush", MPI_Win_flush(target, w));
    CALL("flush_local", MPI_Win_flush_local(target, w));
    CALL("sync", MPI_Win_sync(w));
}

static void arguments(MPI_Win stale)
{
    static int64_t v;
    MPI_Datatype derived, freed;
    MPI_Type_contiguous(1, MPI_INT64_T, &derived);
    MPI_Type_dup(MPI_INT64_T, &freed);
    MPI_Type_free(&freed);
    int other = ranks - 1;
    calls("all is well", other, 8, MPI_INT64_T, MPI_SUM, win);
    calls("the last element", other, 4096 - 8, MPI_INT64_T, MPI_SUM, win);
    calls("one byte too far", other, 4096 - 7, MPI_INT64_T, MPI_SUM, win);
    calls("at the end", other, 4096, MPI_INT64_T, MPI_SUM, win);
    calls("far away", other, (MPI_Aint)1 << 62, MPI_INT64_T, MPI_SUM, win);
    calls("below", other, -8, MPI_INT64_T, MPI_SUM, win);
    calls("rank too high", ranks, 0, MPI_INT64_T, MPI_SUM, win);
    calls("rank -7", -7, 0, MPI_INT64_T, MPI_SUM, win);
    calls("nobody", MPI_PROC_NULL, 0, MPI_INT64_T, MPI_SUM, win);
    calls("null type", other, 0, MPI_DATATYPE_NULL, MPI_SUM, win);
    calls("uncommitted type", other, 0, derived, MPI_SUM, win);
    calls("no type", other, 0, (MPI_Datatype)0x2fe, MPI_SUM, win);
    calls("double", other, 0, MPI_DOUBLE, MPI_SUM, win);
    calls("byte", other, 0, MPI_BYTE, MPI_SUM, win);
    calls("character", other, 0, MPI_CHAR, MPI_SUM, win);
    calls("pair", other, 0, MPI_SHORT_INT, MPI_MAXLOC, win);
    calls("bits of double", other, 0, MPI_DOUBLE, MPI_BXOR, win);
    calls("null operation", other, 0, MPI_INT64_T, MPI_OP_NULL, win);
    calls("no operation", other, 0, MPI_INT64_T, MPI_NO_OP, win);
    calls("replace", other, 0, MPI_INT64_T, MPI_REPLACE, win);
    line("put, negative count", MPI_Put(&v, -1, MPI_INT64_T, other, 0, -1, MPI_INT64_T, win));
    line("get, negative count", MPI_Get(&v, -1, MPI_INT64_T, other, 0, -1, MPI_INT64_T, win));
    line("put, more than there is room for", MPI_Put(&v, 1, MPI_INT64_T, other, 0, 1, MPI_INT32_T, win));
    line("put, no memory", MPI_Put(NULL, 1, MPI_INT64_T, other, 0, 1, MPI_INT64_T, win));
    line("get, no memory", MPI_Get(NULL, 1, MPI_INT64_T, other, 0, 1, MPI_INT64_T, win));
    line("put of nothing", MPI_Put(NULL, 0, MPI_INT64_T, other, 0, 0, MPI_INT64_T, win));
    line("put of nothing at the end", MPI_Put(NULL, 0, MPI_INT64_T, other, 4096, 0, MPI_INT64_T, win));
    line("put of nothing behind it", MPI_Put(NULL, 0, MPI_INT64_T, other, 4097, 0, MPI_INT64_T, win));
    line("put of nothing, memory given", MPI_Put(&v, 0, MPI_INT64_T, other, 4097, 0, MPI_INT64_T, win));
    line("fetch, no memory", MPI_Fetch_and_op(&v, NULL, MPI_INT64_T, other, 0, MPI_SUM, win));
    line("fetch, no value", MPI_Fetch_and_op(NULL, &v, MPI_INT64_T, other, 0, MPI_SUM, win));
    line("fetch, no value needed", MPI_Fetch_and_op(NULL, &v, MPI_INT64_T, other, 0, MPI_NO_OP, win));
    line("swap, no memory", MPI_Compare_and_swap(&v, &v, NULL, MPI_INT64_T, other, 0, win));
    line("swap, nothing to compare", MPI_Compare_and_swap(&v, NULL, &v, MPI_INT64_T, other, 0, win));
    calls("null window", other, 0, MPI_INT64_T, MPI_SUM, MPI_WIN_NULL);
    calls("a freed window", other, 0, MPI_INT64_T, MPI_SUM, stale);
    calls("a communicator's handle", other, 0, MPI_INT64_T, MPI_SUM, (MPI_Win)MPI_COMM_WORLD);
    calls("a wild handle", other, 0, MPI_INT64_T, MPI_SUM, (MPI_Win)(uintptr_t)0x7ffffffffffffff7);
    MPI_Type_free(&derived);
}

static void objects(void)
{
    MPI_Comm c, stale;
    int n = -1;
    state = "objects";
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    line("rank", MPI_Comm_rank(c, &n));
    line("size", MPI_Comm_size(c, &n));
    line("rank, nowhere", MPI_Comm_rank(c, NULL));
    stale = c;
    MPI_Comm_free(&c);
    line("rank of what was freed", MPI_Comm_rank(stale, &n));
    line("size of what was freed", MPI_Comm_size(stale, &n));
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    line("rank of what was freed, its place taken", MPI_Comm_rank(stale, &n));
    MPI_Comm_free(&c);
    line("rank of nothing", MPI_Comm_rank(MPI_COMM_NULL, &n));
    line("rank in self", MPI_Comm_rank(MPI_COMM_SELF, &n));
    line("size of no type", MPI_Type_size(MPI_DATATYPE_NULL, &n));
    line("size of a wild type", MPI_Type_size((MPI_Datatype)0x2fe, &n));
    line("size of a pair", MPI_Type_size(MPI_SHORT_INT, &n));
    if (n != sizeof(short) + sizeof(int))
        line("which is wrong", MPI_ERR_OTHER);
    line("size, nowhere", MPI_Type_size(MPI_INT, NULL));
}

/* Prints size and extents of a type by all forms of the inquiries. */
static void asked(const char *what, MPI_Datatype type)
{
    char name[400];
    int n = -1, code[9];
    MPI_Aint lb = -1, extent = -1, true_lb = -1, true_extent = -1;
    MPI_Count x[10] = {0};
    code[0] = MPI_Type_size(type, &n);
    code[1] = MPI_Type_get_extent(type, &lb, &extent);
    code[2] = MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    code[3] = MPI_Type_size_c(type, &x[0]);
    code[4] = MPI_Type_size_x(type, &x[1]);
    code[5] = MPI_Type_get_extent_c(type, &x[2], &x[3]);
    code[6] = MPI_Type_get_extent_x(type, &x[4], &x[5]);
    code[7] = MPI_Type_get_true_extent_c(type, &x[6], &x[7]);
    code[8] = MPI_Type_get_true_extent_x(type, &x[8], &x[9]);
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "%s, question %d: %d, %ld %ld, %ld %ld, %lld %lld, %lld %lld, %lld %lld, %lld %lld, %lld %lld", what, i, n,
                 (long)lb, (long)extent, (long)true_lb, (long)true_extent, (long long)x[0], (long long)x[1], (long long)x[2], (long long)x[3],
                 (long long)x[4], (long long)x[5], (long long)x[6], (long long)x[7], (long long)x[8], (long long)x[9]);
        line(name, code[i]);
    }
}

static void types(void)
{
    int sizes[] = {5, 7}, subsizes[] = {2, 3}, starts[] = {1, 4};
    char name[100];
    MPI_Datatype sub, moved, large, none, stale;
    MPI_Aint lb;
    state = "types";
    for (uintptr_t h = 0x200; h < 0x300; h++) {
        snprintf(name, sizeof name, "handle %lx", (long)h);
        asked(name, (MPI_Datatype)h);
    }
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_SHORT_INT, &sub);
    asked("subarray, not committed", sub);
    MPI_Type_commit(&sub);
    asked("subarray", sub);
    MPI_Type_create_resized(sub, -24, 8, &moved);
    asked("resized", moved);
    MPI_Type_contiguous_c((MPI_Count)1 << 40, MPI_DOUBLE, &large);
    asked("more than an int", large);
    MPI_Type_free(&large);
    MPI_Type_contiguous(0, MPI_INT, &none);
    asked("nothing", none);
    stale = sub;
    MPI_Type_free(&sub);
    asked("freed", stale);
    asked("made of what was freed", moved);
    MPI_Type_contiguous(3, MPI_INT, &sub);
    asked("another", sub);
    asked("committed", sub);
    line("commit", MPI_Type_commit(&sub));
    line("commit again", MPI_Type_commit(&sub));
    line("commit what was freed", MPI_Type_commit(&stale));
    line("commit nothing", MPI_Type_commit(NULL));
    stale = MPI_INT;
    line("commit what is predefined", MPI_Type_commit(&stale));
    stale = MPI_DATATYPE_NULL;
    line("commit the null type", MPI_Type_commit(&stale));
    line("extent, nowhere", MPI_Type_get_extent(sub, &lb, NULL));
    line("true extent, nowhere", MPI_Type_get_true_extent(sub, NULL, &lb));
    line("size, nowhere", MPI_Type_size(sub, NULL));
    asked("null", MPI_DATATYPE_NULL);
    asked("a communicator's handle", (MPI_Datatype)MPI_COMM_WORLD);
    MPI_Type_free(&sub);
    MPI_Type_free(&moved);
    MPI_Type_free(&none);
}

/* Packs and unpacks three elements of a type. */
static void packs(const char *what, void *memory, MPI_Datatype type, void *packed, int bytes, int at, MPI_Comm comm)
{
    char name[200];
    int position = at;
    CALL("pack", MPI_Pack(memory, 3, type, packed, bytes, &position, comm));
    snprintf(name, sizeof name, "%s, moved by %d", what, position - at);
    line(name, MPI_SUCCESS);
    position = at;
    CALL("unpack", MPI_Unpack(packed, bytes, &position, memory, 3, type, comm));
    snprintf(name, sizeof name, "%s, moved by %d", what, position - at);
    line(name, MPI_SUCCESS);
}

static void packing(void)
{
    static int64_t memory[64];
    static char packed[100];
    MPI_Datatype vector, meeting, within, stale;
    MPI_Comm gone;
    state = "packing";
    MPI_Type_vector(2, 1, 2, MPI_INT64_T, &vector);
    packs("not committed", memory, vector, packed, 100, 0, MPI_COMM_WORLD);
    MPI_Type_commit(&vector);
    MPI_Type_create_resized(vector, 0, 8, &within); /* elements interleave and overlap */
    MPI_Type_commit(&within);
    MPI_Type_vector(2, 2, 1, MPI_INT64_T, &meeting); /* an element overlaps itself */
    MPI_Type_commit(&meeting);
    packs("all is well", memory, vector, packed, 100, 0, MPI_COMM_WORLD);
    packs("just room", memory, vector, packed, 100, 52, MPI_COMM_WORLD);
    packs("no room", memory, vector, packed, 100, 53, MPI_COMM_WORLD);
    packs("at the end", memory, vector, packed, 100, 100, MPI_COMM_WORLD);
    packs("behind the end", memory, vector, packed, 100, 101, MPI_COMM_WORLD);
    packs("before the beginning", memory, vector, packed, 100, -1, MPI_COMM_WORLD);
    packs("a negative size", memory, vector, packed, -1, 0, MPI_COMM_WORLD);
    packs("elements on each other", memory, within, packed, 100, 0, MPI_COMM_WORLD);
    packs("an element on itself", memory, meeting, packed, 100, 0, MPI_COMM_WORLD);
    packs("no memory", NULL, vector, packed, 100, 0, MPI_COMM_WORLD);
    packs("no memory of a predefined type", NULL, MPI_INT, packed, 100, 0, MPI_COMM_WORLD);
    packs("nothing packed", memory, vector, NULL, 100, 0, MPI_COMM_WORLD);
    packs("null type", memory, MPI_DATATYPE_NULL, packed, 100, 0, MPI_COMM_WORLD);
    packs("no type", memory, (MPI_Datatype)0x2fe, packed, 100, 0, MPI_COMM_WORLD);
    packs("a pair", memory, MPI_SHORT_INT, packed, 100, 0, MPI_COMM_WORLD);
    packs("null communicator", memory, vector, packed, 100, 0, MPI_COMM_NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &gone);
    packs("a duplicate", memory, vector, packed, 100, 0, gone);
    MPI_Comm kept = gone;
    MPI_Comm_free(&gone);
    packs("a communicator that was freed", memory, vector, packed, 100, 0, kept);
    line("pack, negative count", MPI_Pack(memory, -1, vector, packed, 100, &(int){0}, MPI_COMM_WORLD));
    line("pack, no position", MPI_Pack(memory, 1, vector, packed, 100, NULL, MPI_COMM_WORLD));
    line("unpack, no position", MPI_Unpack(packed, 100, NULL, memory, 1, vector, MPI_COMM_WORLD));
    stale = vector;
    MPI_Type_free(&vector);
    packs("a type that was freed", memory, stale, packed, 100, 0, MPI_COMM_WORLD);
    MPI_Type_free(&within);
    MPI_Type_free(&meeting);
}

int main(int argc, char **argv)
{
    void *memory;
    MPI_Win stale;
    MPI_Group world;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    objects();
    types();
    types();
    packing();
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    stale = win;
    MPI_Win_free(&win);
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win); /* reuses the slot of stale */
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    state = "no epoch";
    arguments(stale);
    state = "locked by lock_all";
    MPI_Win_lock_all(0, win);
    arguments(stale);
    MPI_Win_unlock_all(win);
    state = "behind lock_all";
    calls("all is well", ranks - 1, 0, MPI_INT64_T, MPI_SUM, win);
    state = "locked";
    MPI_Win_lock(MPI_LOCK_SHARED, ranks - 1, 0, win);
    arguments(stale);
    calls("another rank", 0, 0, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_unlock(ranks - 1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    state = "fence";
    MPI_Win_fence(0, win);
    arguments(stale);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    state = "behind the last fence";
    calls("all is well", ranks - 1, 0, MPI_INT64_T, MPI_SUM, win);
    state = "fence, then posted";
    MPI_Win_fence(0, win);
    MPI_Win_post(world, 0, win);
    calls("all is well", ranks - 1, 0, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_start(world, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    state = "fence, then locked";
    MPI_Win_fence(0, win);
    line("lock", MPI_Win_lock(MPI_LOCK_SHARED, ranks - 1, 0, win));
    MPI_Win_unlock(ranks - 1, win);
    calls("all is well", ranks - 1, 0, MPI_INT64_T, MPI_SUM, win);
    static const struct { const char *name; int count; MPI_Aint disp; } firsts[] = {
        {"a put", 1, 0}, {"a put of nothing", 0, 0}, {"a put behind the end", 1, 4097}, {"a put at a negative place", 1, -8},
    };
    for (int i = 0; i < 4; i++) {
        int64_t value = 1;
        MPI_Win_fence(0, win);
        state = firsts[i].name;
        line("first", MPI_Put(&value, firsts[i].count, MPI_INT64_T, ranks - 1, firsts[i].disp, firsts[i].count, MPI_INT64_T, win));
        line("lock", MPI_Win_lock(MPI_LOCK_SHARED, ranks - 1, 0, win));
        line("lock_all", MPI_Win_lock_all(0, win));
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    state = "started";
    MPI_Win_post(world, 0, win);
    MPI_Win_start(world, 0, win);
    arguments(stale);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    state = "completed";
    calls("all is well", ranks - 1, 0, MPI_INT64_T, MPI_SUM, win);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
