/*
 * A part of halobench.c: matching, two ranks. Messages are 8 bytes that repeat their
 * tag, and the tags 0..depth-1 are used once each, so that nothing but the tag can find
 * the right one; tag depth is used for control.
 *
 * unexpected: rank 0 receives tags depth-1, depth-2, ...: the queue's worst
 * end first. posted: rank 1 sends them in that order. Each match of a linear
 * queue then examines all entries before it. When MATCH_US have passed, the
 * rest is taken from the best end and not timed, so that the queue is about as
 * deep as stated for all that is measured.
 */
static MPI_Request *requests; /* depth + 1 */
static long *values;

static void check_value(long got, long want)
{
    if (got != want)
        fail("matching: a message was received with another's tag", "");
}

static double unexpected(long depth, long *matches)
{
    long v = 0, left = depth;
    if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (long i = 0; i < depth; i++) {
            values[i] = i;
            MPI_Isend(&values[i], 8, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Isend(NULL, 0, MPI_BYTE, 0, depth, MPI_COMM_WORLD, &requests[depth]);
        MPI_Waitall(depth + 1, requests, MPI_STATUSES_IGNORE);
        return 0;
    }
    /* The control message is sent after all others, and its receive is posted
     * first: when it is complete, the others are in the queue. */
    MPI_Irecv(NULL, 0, MPI_BYTE, 1, depth, MPI_COMM_WORLD, &requests[depth]);
    MPI_Send(NULL, 0, MPI_BYTE, 1, depth, MPI_COMM_WORLD);
    MPI_Wait(&requests[depth], MPI_STATUS_IGNORE);
    double t = now(), dt;
    while (left > 0) {
        left--;
        MPI_Recv(&v, 8, MPI_BYTE, 1, left, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_value(v, left);
        if (left % 16 == 0 && now() - t > MATCH_US)
            break;
    }
    dt = now() - t;
    for (long i = 0; i < left; i++)
        MPI_Recv(&v, 8, MPI_BYTE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *matches += depth - left;
    return dt;
}

static double posted(long depth, long *matches)
{
    long left = depth, more = 1;
    if (rank == 1) {
        for (;;) {
            MPI_Recv(&more, 1, MPI_LONG, 0, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            long low = !more ? 0 : left > CHUNK ? left - CHUNK : 0;
            for (long i = 0; i < left - low; i++) {
                long tag = more ? left - 1 - i : i;
                MPI_Send(&tag, 8, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
            }
            left = low;
            if (left == 0)
                return 0;
        }
    }
    for (long i = 0; i < depth; i++) {
        values[i] = -1; /* unlike the value of the round before */
        MPI_Irecv(&values[i], 8, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
    double t = now(), dt = 0;
    while (left > 0 && more) {
        long low = left > CHUNK ? left - CHUNK : 0;
        MPI_Send(&more, 1, MPI_LONG, 1, depth, MPI_COMM_WORLD);
        MPI_Waitall(left - low, &requests[low], MPI_STATUSES_IGNORE);
        left = low;
        dt = now() - t;
        more = dt < MATCH_US;
    }
    *matches += depth - left;
    if (left > 0) {
        MPI_Send(&more, 1, MPI_LONG, 1, depth, MPI_COMM_WORLD);
        MPI_Waitall(left, requests, MPI_STATUSES_IGNORE);
    }
    for (long i = 0; i < depth; i++)
        check_value(values[i], i);
    return dt;
}

static void matching(long depth, const char *queue, double (*fill)(long, long *))
{
    double per[REPS];
    long fills = depth < MATCHES ? (MATCHES + depth - 1) / depth : 1;
    requests = malloc((depth + 1) * sizeof *requests);
    values = calloc(depth, sizeof *values);
    if (!requests || !values)
        fail("out of memory", "");
    for (int r = -1; r < REPS; r++) { /* the first run warms up */
        double t = 0;
        long matches = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        for (long f = 0; f < fills; f++)
            t += fill(depth, &matches);
        if (r >= 0 && rank == 0)
            per[r] = t / matches;
    }
    if (rank == 0)
        printf("{\"bench\":\"matching\",\"fabric\":\"%s\",\"ranks\":%d,\"depth\":%ld,\"queue\":\"%s\",\"us\":%.4f}\n",
               fabric, ranks, depth, queue, median(per, REPS));
    fflush(stdout);
    free(requests);
    free(values);
}
