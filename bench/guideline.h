/*
 * A part of halobench.c: self-consistent performance guidelines. A call takes at most as long as other calls that
 * have the same effect, so that no program gains by replacing the one by the others:
 *
 * allreduce  at most reduce+bcast: sums of doubles; the size is that of the buffer
 * bcast      at most scatter+allgather, of size / ranks bytes, in place
 * allgather  at most gather+bcast; the size is that of one block
 * neighbor   at most messages: one block for each neighbour in a periodic grid of two dimensions, see neighbor.h
 *
 * Both are measured in turn, a block of rounds of each. Before a round every rank writes each word of its send
 * buffer, and after the round it reads each word of its receive buffer and compares it with what was sent. So the
 * data of a round are in no cache of their receivers. A loop that sends one unchanged buffer is faster than any
 * program that sends what it has computed, since both ends of each copy stay in the caches. What the ranks write
 * and read is not timed. A round begins after a barrier, and its time is that of the rank that takes the longest.
 * Printed is the median of the rounds.
 */

#define GUIDELINE_BLOCK 10    /* rounds of a call before the other one's turn */
#define GUIDELINE_ROUNDS 4000 /* most rounds of a call */
#define GUIDELINE_US 8e4      /* us after which no block begins */

static void write_words(long bytes, double v)
{
    double *words = (double *)sendbuf;
    for (long i = 0; i < bytes / 8; i++)
        words[i] = v;
}

static void expect_words(const char *at, long bytes, double v)
{
    const double *words = (const double *)at;
    long wrong = 0;
    for (long i = 0; i < bytes / 8; i++)
        wrong += words[i] != v;
    if (wrong) {
        fprintf(stderr, "halobench: guideline: rank %d did not receive what was sent\n", rank);
        fail("guideline: wrong data", "");
    }
}

/* In a round rank r sends words with the value v + r. */
static void expect_sum(double v) { expect_words(recvbuf, size, ranks * v + ranks * (ranks - 1) / 2); }

static void expect_copy(double v) { expect_words(rank ? recvbuf : sendbuf, size, v); }

static void expect_all(double v)
{
    for (int r = 0; r < ranks; r++)
        expect_words(recvbuf + r * size, size, v + r);
}

static void expect_neighbors(double v)
{
    for (int k = 0; k < stencil.n; k++)
        expect_words(recvbuf + k * size, size, v + stencil.from[k]);
}

static void one_allreduce(void) { MPI_Allreduce(sendbuf, recvbuf, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void reduce_and_bcast(void)
{
    MPI_Reduce(sendbuf, recvbuf, size / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(recvbuf, size / 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void one_bcast(void) { MPI_Bcast(rank ? recvbuf : sendbuf, size, MPI_BYTE, 0, MPI_COMM_WORLD); }

static void scatter_and_allgather(void)
{
    long part = size / ranks;
    void *own = rank ? recvbuf + rank * part : MPI_IN_PLACE;
    MPI_Scatter(sendbuf, part, MPI_BYTE, own, part, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, rank ? recvbuf : sendbuf, part, MPI_BYTE, MPI_COMM_WORLD);
}

static void one_allgather(void) { MPI_Allgather(sendbuf, size, MPI_BYTE, recvbuf, size, MPI_BYTE, MPI_COMM_WORLD); }

static void gather_and_bcast(void)
{
    MPI_Gather(sendbuf, size, MPI_BYTE, recvbuf, size, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(recvbuf, ranks * size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void one_neighbor_alltoall(void) { neighbor(1); }

static void messages_to_neighbors(void) { neighbor_messages(1); }

static const struct guideline {
    const char *name[2];
    void (*call[2])(void);
    void (*expect)(double);
    int blocks; /* of the size that a rank sends */
} guidelines[] = {
    {{"allreduce", "reduce+bcast"}, {one_allreduce, reduce_and_bcast}, expect_sum, 1},
    {{"bcast", "scatter+allgather"}, {one_bcast, scatter_and_allgather}, expect_copy, 1},
    {{"allgather", "gather+bcast"}, {one_allgather, gather_and_bcast}, expect_all, 1},
    {{"neighbor", "messages"}, {one_neighbor_alltoall, messages_to_neighbors}, expect_neighbors, 4},
};

/* guideline_block runs a block of rounds, whose values begin with v. */
static void guideline_block(const struct guideline *g, int which, double v, double *times)
{
    for (int i = 0; i < GUIDELINE_BLOCK; i++) {
        write_words(g->blocks * size, v + i + rank);
        MPI_Barrier(MPI_COMM_WORLD);
        double t = now();
        g->call[which]();
        times[i] = now() - t;
        g->expect(v + i);
    }
}

/* guideline_rounds measures both calls, and returns how many rounds of each. The first blocks warm up. */
static int guideline_rounds(const struct guideline *g, double *times[2])
{
    int n = 0, more = 1;
    double begin = now(), v = 1;
    for (int warm = 1; more; warm = 0) {
        for (int which = 0; which < 2; which++, v += GUIDELINE_BLOCK)
            guideline_block(g, which, v, times[which] + n);
        if (!warm)
            n += GUIDELINE_BLOCK;
        more = n == 0 || (now() - begin < GUIDELINE_US && n + GUIDELINE_BLOCK <= GUIDELINE_ROUNDS);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return n;
}

static void guideline_of(const char *name)
{
    if (size < 8 || size % 8 || size % ranks)
        fail(name, " takes sizes that are multiples of 8, and of the number of ranks");
    five_point();
    long bytes = (ranks > 4 ? ranks : 4) * size;
    double *times[2], *longest = malloc(GUIDELINE_ROUNDS * sizeof *longest);
    times[0] = malloc(2 * GUIDELINE_ROUNDS * sizeof **times);
    if (!longest || !times[0] || posix_memalign((void **)&sendbuf, 4096, bytes) || posix_memalign((void **)&recvbuf, 4096, bytes))
        fail("out of memory", "");
    times[1] = times[0] + GUIDELINE_ROUNDS;
    memset(sendbuf, 0, bytes);
    memset(recvbuf, 0, bytes);
    for (unsigned i = 0; i < sizeof guidelines / sizeof *guidelines; i++) {
        int n = guideline_rounds(&guidelines[i], times);
        for (int which = 0; which < 2; which++) {
            MPI_Reduce(times[which], longest, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (rank == 0)
                printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"layout\":\"%s\",\"us\":%.4f}\n", name, fabric, ranks,
                       size, guidelines[i].name[which], median(longest, n));
            fflush(stdout);
        }
    }
    MPI_Comm_free(&stencil.comm);
    free(times[0]);
    free(longest);
    free(sendbuf);
    free(recvbuf);
}
