/*
 * A part of halobench.c: the exchange of blocks of size bytes with all neighbours of a stencil in a
 * periodic grid, by MPI_Neighbor_alltoall, and by messages. The loops of both are measured one after
 * the other.
 */

#define MOST_NEIGHBORS 26

static struct {
    MPI_Comm comm;
    int n, to[MOST_NEIGHBORS], from[MOST_NEIGHBORS], tags[MOST_NEIGHBORS];
    MPI_Request prepared;
} stencil;

static void neighbor(long n)
{
    for (long i = 0; i < n; i++)
        MPI_Neighbor_alltoall(sendbuf, size, MPI_BYTE, recvbuf, size, MPI_BYTE, stencil.comm);
}

static void neighbor_messages(long n)
{
    MPI_Request req[2 * MOST_NEIGHBORS];
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < stencil.n; k++)
            MPI_Irecv(recvbuf + k * size, size, MPI_BYTE, stencil.from[k], stencil.tags[k], stencil.comm, &req[k]);
        for (int k = 0; k < stencil.n; k++)
            MPI_Isend(sendbuf + k * size, size, MPI_BYTE, stencil.to[k], k, stencil.comm, &req[stencil.n + k]);
        MPI_Waitall(2 * stencil.n, req, MPI_STATUSES_IGNORE);
    }
}

#if MPI_VERSION >= 4
static void neighbor_persistent(long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Start(&stencil.prepared);
        MPI_Wait(&stencil.prepared, MPI_STATUS_IGNORE);
    }
}
#endif

static void five_point(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1};
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &stencil.comm);
    stencil.n = 4;
    for (int k = 0; k < 4; k++)
        stencil.tags[k] = k ^ 1;
    for (int d = 0; d < 2; d++)
        MPI_Cart_shift(stencil.comm, d, 1, &stencil.to[2 * d], &stencil.to[2 * d + 1]);
    memcpy(stencil.from, stencil.to, sizeof stencil.to);
}

static void twenty_seven_point(void)
{
    int dims[3] = {0, 0, 0};
    MPI_Dims_create(ranks, 3, dims);
    int at[3] = {rank / dims[1] / dims[2], rank / dims[2] % dims[1], rank % dims[2]};
    stencil.n = 0;
    for (int i = 0; i < 27; i++) {
        int step[3] = {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1}, there = 0, here = 0;
        if (i == 13)
            continue; /* the process itself */
        for (int d = 0; d < 3; d++) {
            there = there * dims[d] + (at[d] + step[d] + dims[d]) % dims[d];
            here = here * dims[d] + (at[d] - step[d] + dims[d]) % dims[d];
        }
        stencil.to[stencil.n] = there;
        stencil.from[stencil.n] = here;
        stencil.tags[stencil.n] = stencil.n;
        stencil.n++;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, stencil.n, stencil.from, MPI_UNWEIGHTED, stencil.n, stencil.to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &stencil.comm);
}

static void neighboring(const char *name)
{
    for (int s = 0; s < 2; s++) {
        const char *points = s == 0 ? "5-point" : "27-point";
        double us[3] = {0};
        if (s == 0)
            five_point();
        else
            twenty_seven_point();
        long bytes = stencil.n * size;
        if (posix_memalign((void **)&sendbuf, 4096, bytes + 1) || posix_memalign((void **)&recvbuf, 4096, bytes + 1))
            fail("out of memory", "");
        memset(sendbuf, 0, bytes + 1);
        memset(recvbuf, 0, bytes + 1);
        us[0] = measure(neighbor);
#if MPI_VERSION >= 4
        MPI_Neighbor_alltoall_init(sendbuf, size, MPI_BYTE, recvbuf, size, MPI_BYTE, stencil.comm, MPI_INFO_NULL, &stencil.prepared);
        us[1] = measure(neighbor_persistent);
        MPI_Request_free(&stencil.prepared);
#endif
        us[2] = measure(neighbor_messages);
        const char *how[3] = {"", " persistent", " messages"};
        for (int i = 0; i < 3 && rank == 0; i++)
            if (us[i] > 0)
                printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"layout\":\"%s%s\",\"us\":%.4f}\n",
                       name, fabric, ranks, size, points, how[i], us[i]);
        fflush(stdout);
        free(sendbuf);
        free(recvbuf);
        MPI_Comm_free(&stencil.comm);
    }
}
