/*
 * A part of halobench.c: one-sided communication from rank 0 to rank 1, for every kind
 * of window in -win. Windows count in bytes. Except in fence, pscw and lock both ranks
 * hold a shared lock on rank 1 all the time, so that only what is named is measured.
 *
 * put, get   us: one operation and a flush; mbps and mrate: WINDOW operations, then a flush
 * acc, getacc  a sum of elements of -types, and a flush
 * fop, cas   one element of -types, and a flush
 * fence      one put and a fence; pscw: start, put, complete against post, wait;
 * lock       lock, put, unlock
 * mtflush    put of 1 byte, or the operation of -op, and flush in -workers threads at once: us is
 *            what one of them sees, mrate what all of them do
 * passive    see passive.h
 *
 * The memory is checked before and after a loop is measured.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define OPS 20000   /* operations of a cell of passive */
#define BUSY_MS 500 /* how long its target computes at most */
#define MAX_WORKERS 64
#define CELL 64     /* bytes between the places that two threads put to */

static const char *wins = NULL, *types = NULL, *workers = NULL;
static long ops = OPS, busy_ms = BUSY_MS;

static MPI_Win win;
static char *exposed;      /* this rank's memory in the window */
static long exposed_size;
static MPI_Aint base;      /* where rank 1's memory begins */
static long total;         /* rank 0: operations done on this memory */
static const struct element {
    const char *name;
    MPI_Datatype type;
    int width;
    char kind; /* i: integer, f: floating point */
} *element;

static const struct element *find_element(const char *name)
{
    static struct element known[10];
    if (!known[0].name) {
        struct element all[] = {
            {"int8", MPI_INT8_T, 1, 'i'}, {"uint8", MPI_UINT8_T, 1, 'i'}, {"int16", MPI_INT16_T, 2, 'i'}, {"uint16", MPI_UINT16_T, 2, 'i'},
            {"int32", MPI_INT32_T, 4, 'i'}, {"uint32", MPI_UINT32_T, 4, 'i'}, {"int64", MPI_INT64_T, 8, 'i'}, {"uint64", MPI_UINT64_T, 8, 'i'},
            {"float32", MPI_FLOAT, 4, 'f'}, {"float64", MPI_DOUBLE, 8, 'f'},
        };
        memcpy(known, all, sizeof all);
    }
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name))
            return &known[i];
    fail("-types wants names such as int8, uint64 or float64, not ", name);
    return NULL;
}

/* put_number writes a number, the sum of so many ones, as one element. */
static void put_number(void *at, long v)
{
    if (element->kind == 'i') {
        memcpy(at, &v, element->width); /* little-endian, modulo 2^n */
    } else if (element->width == 4) {
        float f = v < 1L << 24 ? v : 1L << 24; /* more ones add nothing */
        memcpy(at, &f, 4);
    } else {
        double d = v;
        memcpy(at, &d, 8);
    }
}

static void fill(char *at, long bytes, long v)
{
    for (long i = 0; i + element->width <= bytes; i += element->width)
        put_number(at + i, v);
}

/* pattern fills memory for puts and gets: adjacent bytes differ. */
static char pattern(long i) { return i * 7 + i / 251 + 1; }

static void open_window(const char *kind, long bytes)
{
    int err = MPI_SUCCESS;
    exposed_size = bytes;
    if (!strcmp(kind, "allocate"))
        err = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &win);
    else if (!strcmp(kind, "shared"))
        err = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &win);
    else if (!strstr(kind, "-heap"))
        err = MPI_Alloc_mem(bytes, MPI_INFO_NULL, &exposed);
    else if (posix_memalign((void **)&exposed, 4096, bytes))
        fail("out of memory", "");
    if (!strncmp(kind, "create", 6)) {
        err |= MPI_Win_create(exposed, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else if (!strncmp(kind, "dynamic", 7)) {
        err |= MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        err |= MPI_Win_attach(win, exposed, bytes);
    } else if (strcmp(kind, "allocate") && strcmp(kind, "shared")) {
        fail("-win wants allocate, shared, create, dynamic, create-heap or dynamic-heap, not ", kind);
    }
    if (err != MPI_SUCCESS)
        fail("no window of kind ", kind);
    base = 0;
    if (!strncmp(kind, "dynamic", 7)) {
        MPI_Get_address(exposed, &base);
        MPI_Bcast(&base, 1, MPI_AINT, 1, MPI_COMM_WORLD);
    }
    memset(exposed, 0, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(const char *kind)
{
    if (!strncmp(kind, "dynamic", 7)) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_detach(win, exposed);
    }
    MPI_Win_free(&win);
    if (strstr(kind, "-heap"))
        free(exposed);
    else if (strcmp(kind, "allocate") && strcmp(kind, "shared"))
        MPI_Free_mem(exposed);
}

#include "onesided_loops.h"

/* reads says whether a benchmark moves data to rank 0. */
static int reads(const char *name) { return !strcmp(name, "get") || !strcmp(name, "lockget"); }

/* wrong_cells counts the cells of threads that are wrong when each thread has run its loop so often. */
static int wrong_cells(const char *at, int64_t loops)
{
    int wrong = 0, counts = worker_op && (!strcmp(worker_op, "fop") || !strcmp(worker_op, "cas"));
    for (int w = 0; w < crew; w++)
        wrong += counts ? memcmp(at + w * CELL, &loops, sizeof loops) != 0 : at[w * CELL] != pattern(0);
    return wrong;
}

/* inspect checks the contents of rank 1's memory, or of rank 0's buffer for operations
 * with a result. */
static void inspect(const char *name)
{
    long count[2] = {total, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    int own = !strncmp(name, "lock", 4); /* here rank 1 holds no lock */
    if (own && rank == 1)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    if (rank == 1 && strcmp(name, "fence") && strcmp(name, "pscw"))
        MPI_Win_sync(win);
    char *at = reads(name) ? recvbuf : exposed;
    if (rank == (reads(name) ? 0 : 1)) {
        if (!strcmp(name, "mtflush")) {
            count[1] += wrong_cells(at, count[0]);
        } else if (element) {
            char want[8];
            put_number(want, count[0]);
            for (long i = 0; i + element->width <= size; i += element->width)
                count[1] += !!memcmp(at + i, want, element->width);
        } else {
            for (long i = 0; i < size; i++)
                count[1] += at[i] != pattern(i);
        }
    }
    if (rank == 0 && worker_op && !strcmp(worker_op, "get"))
        count[1] += wrong_cells(recvbuf, 0);
    if (rank == 0 && (!strcmp(name, "getacc") || !strcmp(name, "fop") || !strcmp(name, "cas"))) {
        char want[8]; /* the value before the last operation */
        put_number(want, total - 1);
        count[1] += !!memcmp(recvbuf, want, element->width);
    }
    if (own && rank == 1)
        MPI_Win_unlock(1, win);
    MPI_Allreduce(MPI_IN_PLACE, &count[1], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (count[1] != 0)
        fail(name, ": the memory does not hold what was put, got or summed");
}

/* checked measures a loop, and checks the memory before and after it; not after it for
 * sums of narrow elements, since those of Open MPI 4.1 saturate at 127. */
static double checked(const char *name, void (*loop)(long))
{
    loop(3);
    inspect(name);
    double us = measure(loop);
    if (!element || element->width > 2)
        inspect(name);
    return us;
}

static void head(const char *name, const char *kind)
{
    printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"win\":\"%s\"", name, fabric, ranks, kind);
}

/* prepare fills the buffers for one measurement, outside all epochs. */
static void prepare(const char *name)
{
    total = 0;
    memset(recvbuf, 0, size > MAX_WORKERS * CELL ? size : MAX_WORKERS * CELL);
    memset(exposed, 0, exposed_size);
    if (element) {
        fill(sendbuf, size, 1);
    } else {
        for (long i = 0; i < size; i++)
            sendbuf[i] = pattern(i);
        if (reads(name))
            memcpy(exposed, sendbuf, size);
        for (int w = 0; worker_op && !strcmp(worker_op, "get") && w < crew; w++)
            exposed[w * CELL] = pattern(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* once is one measurement of one window: one size, one type. */
static void once(const char *name, const char *kind, void (*loop)(long), void (*stream)(long))
{
    prepare(name);
    if (loop == fence_epochs)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    else if (loop != pscw_epochs && !locks(loop))
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    double us = checked(name, loop), many = stream ? checked(name, stream) / WINDOW : 0;
    if (loop == fence_epochs)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    else if (loop != pscw_epochs && !locks(loop))
        MPI_Win_unlock(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank)
        return;
    head(name, kind);
    if (element)
        printf(",\"type\":\"%s\"", element->name);
    if (locks(loop))
        printf(",\"lock\":\"%s\"", lock_type == MPI_LOCK_SHARED ? "shared" : "exclusive");
    if (loop == put_in_threads && worker_op)
        printf(",\"op\":\"%s\"", worker_op);
    if (loop == put_in_threads)
        printf(",\"workers\":%d,\"us\":%.4f,\"mrate\":%.0f}\n", crew, us, crew / us * 1e6);
    else if (stream)
        printf(",\"size\":%ld,\"us\":%.4f,\"mbps\":%.1f,\"mrate\":%.0f}\n", size, us, size / many, 1e6 / many);
    else
        printf(",\"size\":%ld,\"us\":%.4f}\n", size, us);
    fflush(stdout);
}

/* threads is mtflush with every number of workers. */
static void threads(const char *name, const char *kind)
{
    long counts[MAX_SIZES];
    int n = parse_sizes(workers ? workers : "1,2,4,8,16,32", counts);
    for (int k = 0; k < n; k++) {
        crew = counts[k];
        if (crew < 1 || crew > MAX_WORKERS)
            fail("-workers wants numbers from 1 to 64", "");
        pthread_t *t = calloc(crew, sizeof *t);
        pthread_barrier_init(&begin_work, NULL, crew);
        pthread_barrier_init(&end_work, NULL, crew);
        for (long w = 1; rank == 0 && w < crew; w++)
            if (pthread_create(&t[w], NULL, worker, (void *)w))
                fail("no thread", "");
        once(name, kind, put_in_threads, NULL);
        share = -1;
        if (rank == 0) {
            pthread_barrier_wait(&begin_work);
            for (int w = 1; w < crew; w++)
                pthread_join(t[w], NULL);
        }
        pthread_barrier_destroy(&begin_work);
        pthread_barrier_destroy(&end_work);
        free(t);
    }
}

#include "passive.h"

/* next_word takes the next name of a list with commas. */
static const char *next_word(const char **list, char *word)
{
    int n = strcspn(*list, ",");
    if (n == 0 || n > 31)
        fail("not a list of names: ", *list);
    memcpy(word, *list, n);
    word[n] = 0;
    *list += n + (*list + n)[0] / ',';
    return word;
}

static int is_onesided(const char *name)
{
    static const char *names[] = {"put", "get", "acc", "getacc", "fop", "cas", "fence", "pscw", "lock", "lockget", "rput", "mtflush", "passive"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

static void onesided(const char *name, void (*loop)(long), const long *sizes, int count)
{
    char kind[32], type[32];
    long most = MAX_WORKERS * CELL;
    for (int s = 0; s < count; s++)
        if (sizes[s] > most)
            most = sizes[s];
    if (posix_memalign((void **)&sendbuf, 4096, most) || posix_memalign((void **)&recvbuf, 4096, most))
        fail("out of memory", "");
    memset(sendbuf, 0, most); /* pages that were never written are all the kernel's page of zeros */
    memset(recvbuf, 0, most);
    if (loop == pscw_epochs) {
        MPI_Group world;
        int peer = 1 - rank;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &peer, &other);
        MPI_Group_free(&world);
    }
    for (const char *w = wins ? wins : strcmp(name, "passive") ? "allocate" : strcmp(fabric, "tcp") ? "allocate,shared,create,dynamic,create-heap,dynamic-heap" : "allocate,create,dynamic,create-heap,dynamic-heap"; *w;) {
        next_word(&w, kind);
        open_window(kind, most);
        if (!strcmp(name, "passive")) {
            passive(kind);
        } else if (loop == put_in_threads) {
            size = 1;
            threads(name, kind);
        } else if (loop == accumulate || loop == get_accumulate || loop == fetch_and_op || loop == compare_and_swap) {
            int one = loop == fetch_and_op || loop == compare_and_swap;
            for (const char *t = types ? types : one ? "int64" : "float64"; *t;) {
                element = find_element(next_word(&t, type));
                for (int s = 0; s < count; s++) {
                    size = one ? element->width : sizes[s];
                    if (!one && (size < 8 || size % 8))
                        fail(name, " takes sizes that are multiples of 8 from 8");
                    once(name, kind, loop, NULL);
                    if (one)
                        break;
                }
            }
            element = NULL;
        } else {
            for (int s = 0; s < count; s++) {
                size = sizes[s];
                if (size < 1)
                    fail(name, " takes sizes from 1");
                lock_type = MPI_LOCK_EXCLUSIVE;
                once(name, kind, loop, loop == put_flush ? put_stream : loop == get_flush ? get_stream : NULL);
                lock_type = MPI_LOCK_SHARED;
                if (locks(loop))
                    once(name, kind, loop, NULL);
            }
        }
        close_window(kind);
    }
    if (loop == pscw_epochs)
        MPI_Group_free(&other);
    free(sendbuf);
    free(recvbuf);
}
