/*
 * memory   how much memory a rank takes in KiB, the mean of all: after Init, after a message to the next rank
 *          on a ring, and after an exchange of `size` bytes between all. Private memory is that of the process
 *          alone; in all counts its share, too, of what several processes map.
 */
static void memory_of_process(double taken[2])
{
    char line[256];
    double kib;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    taken[0] = taken[1] = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "Private_Clean: %lf", &kib) == 1 || sscanf(line, "Private_Dirty: %lf", &kib) == 1)
            taken[0] += kib;
        else if (sscanf(line, "Pss: %lf", &kib) == 1)
            taken[1] = kib;
    }
    if (f)
        fclose(f);
}

static void memory_taken(const char *name)
{
    static const char *const what[] = {"init private", "init in all", "ring private", "ring in all", "alltoall private", "alltoall in all"};
    double taken[6], sum[6];
    char *out = calloc(ranks, size), *in = calloc(ranks, size);
    memory_of_process(taken);
    MPI_Sendrecv(out, size, MPI_BYTE, (rank + 1) % ranks, 1, in, size, MPI_BYTE, (rank + ranks - 1) % ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memory_of_process(taken + 2);
    MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
    memory_of_process(taken + 4);
    MPI_Allreduce(taken, sum, 6, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 6 && rank == 0; i++)
        printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"layout\":\"%s\",\"kib\":%.1f}\n", name, fabric, ranks,
               size, what[i], sum[i] / ranks);
    fflush(stdout);
    free(out);
    free(in);
}
