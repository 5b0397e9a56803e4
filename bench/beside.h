/*
 * A part of halobench.c: round trips of a short message between ranks 0 and 1 while rank 0 sends a long one
 * of size bytes to rank 1. The result is the median of all that began before the send was complete. The
 * first byte of each short message says whether more follow.
 */

#define BESIDE_SIZE 8    /* bytes of a short message */
#define MAX_TURNS 100000 /* times that are kept */

static double turns[MAX_TURNS];
static int turned;

static void beside_once(char *bulk, int kept)
{
    MPI_Request req;
    char word[BESIDE_SIZE] = {1};
    if (rank == 1) {
        MPI_Irecv(bulk, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &req);
        while (word[0]) {
            MPI_Recv(word, BESIDE_SIZE, MPI_BYTE, 0, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(word, BESIDE_SIZE, MPI_BYTE, 0, ACK, MPI_COMM_WORLD);
        }
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Isend(bulk, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &req);
    for (int done = 0; !done;) {
        MPI_Test(&req, &done, MPI_STATUS_IGNORE);
        word[0] = !done;
        double t = now();
        MPI_Send(word, BESIDE_SIZE, MPI_BYTE, 1, ACK, MPI_COMM_WORLD);
        MPI_Recv(word, BESIDE_SIZE, MPI_BYTE, 1, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!done && kept && turned < MAX_TURNS)
            turns[turned++] = now() - t;
    }
}

static void beside(const char *name)
{
    char *bulk;
    if (posix_memalign((void **)&bulk, 4096, size + 1))
        fail("out of memory", "");
    memset(bulk, 0, size + 1);
    turned = 0;
    for (int rep = 0; rep < REPS + 1; rep++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = now();
        beside_once(bulk, rep > 0); /* the first one warms up */
        int enough = rep > 0 && now() - t > SLOW_US;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (enough)
            break;
    }
    if (rank == 0)
        printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"us\":%.4f}\n", name, fabric, ranks, size,
               turned ? median(turns, turned) : 0);
    fflush(stdout);
    free(bulk);
}
