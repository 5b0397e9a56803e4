/*
 * A part of halobench.c: communication between phases of computation. A step is a computation of -sizes
 * microseconds, then an operation. The computation is a fixed amount of work: where other processes take the
 * core away, it takes longer. The times of the operations of all ranks, the wait for a slower rank included,
 * are sorted: printed are the median, the 99th percentile, the mean, the processor time of a rank in a step
 * beyond the computation, and how long a whole step takes, computation included.
 *
 * exchange   4 messages of 1,920 bytes: two to the next rank and the previous, and two from them
 * stencil    messages of 1 KiB to and from the neighbours in a periodic grid of two dimensions
 * allreduce  a sum of one double
 * barrier
 * fence      a put of 8 bytes to the next rank, and a fence
 * lock       an exclusive lock at the next rank, a put of 8 bytes, and an unlock
 * pscw       the same put between start and complete, post and wait
 * notify     a notified put of 8 bytes to the next rank, and the wait for that of the previous
 *
 * -uneven varied: each computation is up to 20 % shorter or longer, at random. -uneven skewed: that of rank 0
 * takes twice as long.
 */
#include <sys/resource.h>

#define PHASE_BLOCK 50    /* steps between two looks at the clock */
#define PHASE_STEPS 20000 /* most steps */
#define PHASE_US 5e5      /* us after which no block begins */
#define EXCHANGED 1920    /* bytes of a message of exchange */
#define STENCIL_SIDE 1024 /* bytes of a message of stencil */

static const char *uneven = "";
static int next_rank, previous_rank;
static MPI_Win phase_win;
static char *phase_memory;
static MPI_Group to_group, from_group;
static MPI_Request notified = MPI_REQUEST_NULL;
static volatile double worked = 1;

static void calculate(long n)
{
    double x = worked;
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    worked = x;
}

/* work_in_us returns how many rounds of calculate take a microsecond on a core that nobody else uses. */
static double work_in_us(void)
{
    const long n = 20000;
    double least = 1e9;
    for (int i = 0; i < 50; i++) {
        double t = now();
        calculate(n);
        t = now() - t;
        if (t < least)
            least = t;
    }
    return n / least;
}

static void phase_exchange(void)
{
    MPI_Request q[4];
    MPI_Irecv(recvbuf, EXCHANGED, MPI_BYTE, previous_rank, 1, MPI_COMM_WORLD, q);
    MPI_Irecv(recvbuf + EXCHANGED, EXCHANGED, MPI_BYTE, next_rank, 2, MPI_COMM_WORLD, q + 1);
    MPI_Isend(sendbuf, EXCHANGED, MPI_BYTE, next_rank, 1, MPI_COMM_WORLD, q + 2);
    MPI_Isend(sendbuf + EXCHANGED, EXCHANGED, MPI_BYTE, previous_rank, 2, MPI_COMM_WORLD, q + 3);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

static void phase_stencil(void) { neighbor_messages(1); }

static void phase_allreduce(void) { MPI_Allreduce(sendbuf, recvbuf, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void phase_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void phase_put(void) { MPI_Put(sendbuf, 8, MPI_BYTE, next_rank, 0, 8, MPI_BYTE, phase_win); }

static void phase_fence(void)
{
    phase_put();
    MPI_Win_fence(0, phase_win);
}

static void phase_lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank, 0, phase_win);
    phase_put();
    MPI_Win_unlock(next_rank, phase_win);
}

static void phase_pscw(void)
{
    MPI_Win_post(from_group, 0, phase_win);
    MPI_Win_start(to_group, 0, phase_win);
    phase_put();
    MPI_Win_complete(phase_win);
    MPI_Win_wait(phase_win);
}

#ifdef MPIX_WIN_NOTIFY_MAX
static void phase_notify(void)
{
    MPI_Start(&notified);
    MPIX_Put_notify(sendbuf, 8, MPI_BYTE, next_rank, 0, 8, MPI_BYTE, phase_win, 0);
    MPI_Wait(&notified, MPI_STATUS_IGNORE);
}
#endif

static const struct {
    const char *name;
    void (*step)(void);
    int onesided;
} phases[] = {
    {"exchange", phase_exchange, 0},
    {"stencil", phase_stencil, 0},
    {"allreduce", phase_allreduce, 0},
    {"barrier", phase_barrier, 0},
    {"fence", phase_fence, 1},
    {"lock", phase_lock, 1},
    {"pscw", phase_pscw, 1},
#ifdef MPIX_WIN_NOTIFY_MAX
    {"notify", phase_notify, 1},
#endif
};

/* processor_us returns the processor time of this process in us. */
static double processor_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1e6 * (u.ru_utime.tv_sec + u.ru_stime.tv_sec) + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* phase_steps runs steps with an operation, and returns how many; times has the time of each. */
static int phase_steps(void (*step)(void), long us, double *times, double *processor, double *whole)
{
    double of_us = work_in_us(), begin = 0, warmed = 0, spent = 0, computed = 0;
    unsigned seed = rank + 1;
    int n = 0, more = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = now();
    for (int warm = 1; more; warm = 0) {
        double before = processor_us();
        for (int i = 0; i < PHASE_BLOCK; i++) {
            double part = 1;
            if (!strcmp(uneven, "varied"))
                part = 0.8 + 0.4 * ((seed = seed * 1103515245 + 12345) >> 8) / (1 << 24);
            else if (!strcmp(uneven, "skewed") && rank == 0)
                part = 2;
            calculate(part * us * of_us);
            double t = now();
            step();
            times[n + i] = now() - t;
            if (!warm)
                computed += part * us;
        }
        if (!warm) {
            spent += processor_us() - before;
            n += PHASE_BLOCK;
        }
        more = warm || (now() - begin < PHASE_US && n + PHASE_BLOCK <= PHASE_STEPS);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (warm)
            warmed = now();
    }
    *whole = (now() - warmed) / n;
    *processor = (spent - computed) / n;
    return n;
}

static void phases_of(const char *name)
{
    static double times[PHASE_STEPS];
    long us = size;
    double *all = rank ? NULL : malloc(ranks * sizeof times), processor, whole, sum;
    if (posix_memalign((void **)&sendbuf, 4096, 4096) || posix_memalign((void **)&recvbuf, 4096, 4096) || (rank == 0 && !all))
        fail("out of memory", "");
    memset(sendbuf, 0, 4096);
    memset(recvbuf, 0, 4096);
    next_rank = (rank + 1) % ranks;
    previous_rank = (rank + ranks - 1) % ranks;
    five_point();
    size = STENCIL_SIDE;
    int known = 0;
    for (unsigned i = 0; i < sizeof phases / sizeof *phases; i++) {
        if (worker_op && strcmp(worker_op, phases[i].name))
            continue;
        known = 1;
        if (phases[i].onesided) {
            MPI_Group world;
            MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &phase_memory, &phase_win);
            MPI_Comm_group(MPI_COMM_WORLD, &world);
            MPI_Group_incl(world, 1, &next_rank, &to_group);
            MPI_Group_incl(world, 1, &previous_rank, &from_group);
            MPI_Group_free(&world);
            if (phases[i].step == phase_fence)
                MPI_Win_fence(0, phase_win);
        }
#ifdef MPIX_WIN_NOTIFY_MAX
        if (phases[i].step == phase_notify) {
            MPIX_Win_notify_set_num(phase_win, 1);
            MPI_Win_lock_all(0, phase_win);
            MPIX_Win_notify_init(phase_win, 0, 1, &notified);
        }
#endif
        int n = phase_steps(phases[i].step, us, times, &processor, &whole);
        MPI_Gather(times, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Reduce(&processor, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            double mean = 0;
            for (int k = 0; k < n * ranks; k++)
                mean += all[k] / n / ranks;
            double middle = median(all, n * ranks);
            printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"op\":\"%s\",\"layout\":\"%s\",\"size\":%ld,\"us\":%.4f,\"p99_us\":%.4f,\"mean_us\":%.4f,\"processor_us\":%.4f,\"step_us\":%.4f}\n",
                   name, fabric, ranks, phases[i].name, uneven, us, middle, all[n * ranks * 99 / 100], mean, sum / ranks, whole);
            fflush(stdout);
        }
        if (notified != MPI_REQUEST_NULL) {
            MPI_Request_free(&notified);
            MPI_Win_unlock_all(phase_win);
        }
        if (phases[i].onesided) {
            if (phases[i].step == phase_fence)
                MPI_Win_fence(MPI_MODE_NOSUCCEED, phase_win);
            MPI_Group_free(&to_group);
            MPI_Group_free(&from_group);
            MPI_Win_free(&phase_win);
        }
    }
    if (!known)
        fail("phases knows no operation ", worker_op);
    MPI_Comm_free(&stencil.comm);
    size = us;
    free(all);
    free(sendbuf);
    free(recvbuf);
}
