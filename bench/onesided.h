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
 * mtflush    put of 1 byte and flush in -workers threads at once: us is what one of them
 *            sees, mrate what all of them do
 * passive    see below
 *
 * Before and after a loop is measured the memory is looked at.
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

/* put_number writes a number as one element; what the sum of so many ones is. */
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

/* pattern is what is put and got: no two neighbours are the same. */
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

static void put_flush(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void put_stream(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++)
            MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void get_flush(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Get(recvbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void get_stream(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++)
            MPI_Get(recvbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void accumulate(long n)
{
    int count = size / element->width;
    if (rank)
        return;
    total += n;
    for (long i = 0; i < n; i++) {
        MPI_Accumulate(sendbuf, count, element->type, 1, base, count, element->type, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

static void get_accumulate(long n)
{
    int count = size / element->width;
    if (rank)
        return;
    total += n;
    for (long i = 0; i < n; i++) {
        MPI_Get_accumulate(sendbuf, count, element->type, recvbuf, count, element->type, 1, base, count, element->type, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

static void fetch_and_op(long n)
{
    if (rank)
        return;
    total += n;
    for (long i = 0; i < n; i++) {
        MPI_Fetch_and_op(sendbuf, recvbuf, element->type, 1, base, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

/* compare_and_swap counts up: every swap must find what the one before has left. */
static void compare_and_swap(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        long next = total + 1;
        MPI_Compare_and_swap(&next, &total, recvbuf, element->type, 1, base, win);
        MPI_Win_flush(1, win);
        total = next;
    }
}

/* fence_epochs stands between two fences. */
static void fence_epochs(long n)
{
    for (long i = 0; i < n; i++) {
        if (rank == 0)
            MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_fence(0, win);
    }
}

static MPI_Group other; /* rank 0 and 1 are each other's */

static void pscw_epochs(long n)
{
    for (long i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Win_start(other, 0, win);
            MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
            MPI_Win_complete(win);
        } else {
            MPI_Win_post(other, 0, win);
            MPI_Win_wait(win);
        }
    }
}

static int lock_type;

static void lock_epochs(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Win_lock(lock_type, 1, 0, win);
        MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_unlock(1, win);
    }
}

/* mtflush: threads stay between the runs; two barriers hold them. */
static int crew;          /* threads, the first of them the main one */
static long share = -1;   /* operations of each; -1: the end */
static pthread_barrier_t begin_work, end_work;

static void put_bytes(long me)
{
    for (long i = 0; i < share; i++) {
        MPI_Put(sendbuf, 1, MPI_BYTE, 1, base + me * CELL, 1, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void *worker(void *me)
{
    for (;;) {
        pthread_barrier_wait(&begin_work);
        if (share < 0)
            return NULL;
        put_bytes((long)me);
        pthread_barrier_wait(&end_work);
    }
}

static void put_in_threads(long n)
{
    if (rank)
        return;
    share = n;
    pthread_barrier_wait(&begin_work);
    put_bytes(0);
    pthread_barrier_wait(&end_work);
}

/* inspect looks whether rank 1's memory (for get and friends rank 0's buffer) holds
 * what it should. */
static void inspect(const char *name)
{
    long count[2] = {total, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    int own = !strcmp(name, "lock"); /* here rank 1 holds no lock */
    if (own && rank == 1)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    if (rank == 1 && strcmp(name, "fence") && strcmp(name, "pscw"))
        MPI_Win_sync(win);
    char *at = !strcmp(name, "get") ? recvbuf : exposed;
    if (rank == (strcmp(name, "get") ? 1 : 0)) {
        if (!strcmp(name, "mtflush")) {
            for (int w = 0; w < crew; w++)
                count[1] += at[w * CELL] != pattern(0);
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

/* checked measures a loop, and looks at the memory before and behind. Behind not for
 * sums of narrow elements: those of Open MPI 4.1 do not wrap, they stop at 127. */
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
    memset(recvbuf, 0, size);
    memset(exposed, 0, exposed_size);
    if (element) {
        fill(sendbuf, size, 1);
    } else {
        for (long i = 0; i < size; i++)
            sendbuf[i] = pattern(i);
        if (!strcmp(name, "get"))
            memcpy(exposed, sendbuf, size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* once is one measurement of one window: one size, one type. */
static void once(const char *name, const char *kind, void (*loop)(long), void (*stream)(long))
{
    prepare(name);
    if (loop == fence_epochs)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    else if (loop != pscw_epochs && loop != lock_epochs)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    double us = checked(name, loop), many = stream ? checked(name, stream) / WINDOW : 0;
    if (loop == fence_epochs)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    else if (loop != pscw_epochs && loop != lock_epochs)
        MPI_Win_unlock(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank)
        return;
    head(name, kind);
    if (element)
        printf(",\"type\":\"%s\"", element->name);
    if (loop == lock_epochs)
        printf(",\"lock\":\"%s\"", lock_type == MPI_LOCK_SHARED ? "shared" : "exclusive");
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

/*
 * passive: rank 1 computes, and does not call MPI for busy_ms, while rank 0 does up to
 * -ops operations of one byte or one element, each flushed; it ends after half of that
 * time. An operation is early when it was complete before the target's computing
 * ended, by the clock that the processes of a machine share. Before, the same with a
 * target that waits in a barrier: it is attentive. Latencies are medians; the clock is
 * looked at once in a batch of operations that takes about BATCH_US.
 */
#define BATCH_US 2.0
#define MAX_BATCH 64
#define SETTLE_US 1e3 /* from the barrier to the first operation: by then the target computes */

static double clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static volatile double sink;

static double compute(double us)
{
    double end = clock_us() + us, x = 1, t;
    do {
        for (int i = 0; i < 20000; i++)
            x = x * 1.0000001 + 1e-9;
        sink = x;
        t = clock_us();
    } while (t < end);
    return t;
}

/* stamped runs batches until all operations are done or a time is reached, and
 * records when each was complete; it returns how many there were. */
static long stamped(void (*loop)(long), long batch, double until, double *stamps)
{
    long n = 0;
    stamps[0] = clock_us();
    do {
        loop(batch);
        stamps[++n] = clock_us();
    } while ((n + 1) * batch <= ops && stamps[n] < until);
    return n;
}

static double median_batch(double *stamps, long n, long batch)
{
    double *per = malloc(n * sizeof *per);
    for (long i = 0; i < n; i++)
        per[i] = (stamps[i + 1] - stamps[i]) / batch;
    double m = median(per, n);
    free(per);
    return m;
}

static void passive(const char *kind)
{
    static const struct { const char *name; void (*loop)(long); } table[] = {
        {"put", put_flush}, {"get", get_flush}, {"acc", accumulate}, {"fop", fetch_and_op},
    };
    double *stamps = malloc((ops + 2) * sizeof *stamps);
    for (int k = 0; k < 4; k++) {
        long batch = 1, early = 0, n = 0;
        double attentive = 0, busy = 0, ended = 0;
        element = k < 2 ? NULL : find_element("int64");
        size = k < 2 ? 1 : 8;
        prepare(table[k].name);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            table[k].loop(3);
            double t = clock_us();
            table[k].loop(20);
            batch = BATCH_US / ((clock_us() - t) / 20);
            batch = batch > MAX_BATCH ? MAX_BATCH : batch;
            batch = batch > ops ? ops : batch < 1 ? 1 : batch;
            n = stamped(table[k].loop, batch, clock_us() + busy_ms * 1e3 / 4, stamps);
            attentive = median_batch(stamps, n, batch);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            ended = compute(busy_ms * 1e3);
        } else {
            double t = clock_us();
            while (clock_us() < t + SETTLE_US)
                ;
            n = stamped(table[k].loop, batch, t + busy_ms * 500.0, stamps);
            busy = median_batch(stamps, n, batch);
        }
        MPI_Bcast(&ended, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
        for (long i = 1; i <= n; i++)
            early += stamps[i] < ended ? batch : 0;
        inspect(table[k].name);
        MPI_Win_unlock(1, win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            printf("{\"bench\":\"passive\",\"fabric\":\"%s\",\"ranks\":%d,\"win\":\"%s\",\"op\":\"%s\",\"busy\":1,\"ops\":%ld,\"early\":%ld,\"busy_us\":%.4f,\"attentive_us\":%.4f}\n",
                   fabric, ranks, kind, table[k].name, n * batch, early, busy, attentive);
        fflush(stdout);
    }
    free(stamps);
}

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
    static const char *names[] = {"put", "get", "acc", "getacc", "fop", "cas", "fence", "pscw", "lock", "mtflush", "passive"};
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
                if (loop == lock_epochs)
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
