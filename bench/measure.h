/*
 * The method of halobench.c: its comment describes it.
 */
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double timed(void (*loop)(long), long n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double t = now();
    loop(n);
    return now() - t;
}

/* measure returns us per iteration; only rank 0's answer counts. */
static double measure(void (*loop)(long))
{
    double per[REPS];
    long next[2] = {1, 0}; /* iterations of the next run; is it a measured one */
    int slow = 0;          /* runs of this count that took WARM_US */
    while (!next[1]) {
        long n = next[0];
        double t = timed(loop, n);
        if (rank == 0) {
            double scaled = n;
            slow = t >= WARM_US || n >= MAX_ITERS ? slow + 1 : 0;
            next[1] = slow == 2;
            if (next[1]) {
                scaled = n * REP_US / t;
                if (scaled < MIN_ITERS) scaled = MIN_ITERS;
            } else if (slow == 0) {
                scaled = t > 0 ? n * 1.2 * WARM_US / t : 10.0 * n;
                if (scaled > 10.0 * n) scaled = 10.0 * n;
                if (scaled < 2.0 * n) scaled = 2.0 * n;
            }
            next[0] = scaled > MAX_ITERS ? MAX_ITERS : (long)scaled;
        }
        MPI_Bcast(next, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    }
    for (int r = 0; r < REPS; r++) {
        double t = timed(loop, next[0]);
        per[r] = t / next[0];
        long enough = t > SLOW_US;
        MPI_Bcast(&enough, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        if (enough)
            return median(per, r + 1);
    }
    return median(per, REPS);
}
