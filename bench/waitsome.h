/*
 * A part of halobench.c: the completion of many receives of 8 bytes; -sizes gives their number n. Ranks of the lower
 * half receive from rank + ranks/2. A receiver posts all receives, and then tells the sender to send.
 *
 * complete waitsome, complete waits    all messages have arrived: Waitsome over all requests until none is left, and
 *                                      a Wait for each in order
 * arriving waitsome, arriving waits    the same while they arrive, the time of sending included: most calls of
 *                                      Waitsome find some complete requests among all
 *
 * Printed is the time of one request at rank 0, the median of the rounds, which alternate. Every round has other
 * values, which the sender writes and the receiver sums up. That is not timed.
 */

#define WAIT_ROUNDS 200    /* most rounds */
#define WAIT_US 6e4        /* us after which no round begins */
#define SLOW_WAIT_US 500e3 /* us of the first round, which warms up, after which it is the only one */

#define SENT 3             /* tag of the message behind all others */

static MPI_Request *waited;
static int *indices;

static void by_waitsome(int n)
{
    for (int left = n, done; left > 0; left -= done)
        MPI_Waitsome(n, waited, &done, indices, MPI_STATUSES_IGNORE);
}

static void by_waits(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Wait(&waited[i], MPI_STATUS_IGNORE);
}

/* sending is a round of a sender. */
static void sending(int n, int peer, long *words, long v)
{
    for (int i = 0; i < n; i++)
        words[i] = v + i;
    MPI_Recv(NULL, 0, MPI_BYTE, peer, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        MPI_Send(&words[i], 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_BYTE, peer, SENT, MPI_COMM_WORLD);
}

/* receiving is a round of a receiver, and returns its time. */
static double receiving(int n, int peer, long *words, long v, int arriving, void (*wait)(int))
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        MPI_Irecv(&words[i], 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &waited[i]);
    double t = now();
    MPI_Send(NULL, 0, MPI_BYTE, peer, ACK, MPI_COMM_WORLD);
    if (!arriving) {
        MPI_Recv(NULL, 0, MPI_BYTE, peer, SENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        t = now();
    }
    wait(n);
    t = now() - t;
    if (arriving)
        MPI_Recv(NULL, 0, MPI_BYTE, peer, SENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        sum += words[i];
    if (sum != n * v + (long)n * (n - 1) / 2)
        fail("waitsome: a message has another's data", "");
    return t;
}

static void completions(const char *name)
{
    static const char *const layouts[] = {"complete waitsome", "complete waits", "arriving waitsome", "arriving waits"};
    double per[4][WAIT_ROUNDS];
    int n = size, rounds = 0, more = 1, half = ranks / 2;
    if (n < 1)
        fail(name, " takes numbers from 1");
    waited = malloc(n * sizeof *waited);
    indices = malloc(n * sizeof *indices);
    long *words = calloc(n, sizeof *words), v = 1;
    if (!waited || !indices || !words)
        fail("out of memory", "");
    double begin = now();
    for (int warm = 1; more; warm = 0) {
        for (int i = 0; i < 4; i++, v++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank >= half)
                sending(n, rank - half, words, v);
            else
                per[i][rounds] = receiving(n, rank + half, words, v, i >= 2, i % 2 ? by_waits : by_waitsome) / n;
        }
        if (!warm || now() - begin >= SLOW_WAIT_US)
            rounds++;
        more = rounds == 0 || (now() - begin < WAIT_US && rounds < WAIT_ROUNDS);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 4 && rank == 0; i++)
        printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"layout\":\"%s\",\"us\":%.4f}\n", name, fabric, ranks, size,
               layouts[i], median(per[i], rounds));
    fflush(stdout);
    free(waited);
    free(indices);
    free(words);
}
