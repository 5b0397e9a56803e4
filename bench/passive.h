/*
 * A part of onesided.h: passive. Rank 1 computes, and does not call MPI for busy_ms,
 * while rank 0 does up to -ops operations of one byte or one element, each flushed; it
 * ends after half of that time. An operation is early when it was complete before the
 * target's computing ended, by the clock that the processes of a machine share. The same is
 * measured first with a target that waits in a barrier: it is attentive. Latencies are medians;
 * the clock is read once in a batch of operations that takes about BATCH_US.
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
