/* partitioned: a message from rank 0 to rank 1 whose partitions several threads fill. It is sent as
 * a partitioned message, where the MPI has that (MPI 4), and as one Isend for each partition; in
 * memory of the program and of MPI_Alloc_mem. The size is that of a partition, the time that of
 * the whole message. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define MAX_PARTS 65536

static long parts = 64;
static int part_workers;
static char *part_mem;
static MPI_Request part_request, part_all[MAX_PARTS];
static atomic_long part_round, part_done;
static long part_rounds;
static void (*part_do)(int first, int end);

static void pready(int first, int end)
{
#if MPI_VERSION >= 4
    for (int i = first; i < end; i++)
        MPI_Pready(i, part_request);
#else
    (void)first, (void)end;
#endif
}

static void isends(int first, int end)
{
    for (int i = first; i < end; i++)
        MPI_Isend(part_mem + i * size, size, MPI_BYTE, 1, i, MPI_COMM_WORLD, &part_all[i]);
    MPI_Waitall(end - first, part_all + first, MPI_STATUSES_IGNORE);
}

static void part_share(int w)
{
    part_do(w * parts / part_workers, (w + 1) * parts / part_workers);
    atomic_fetch_add(&part_done, 1);
}

static void *part_worker(void *w)
{
    for (long k = 0; k < part_rounds; k++) {
        while (atomic_load(&part_round) <= k)
            sched_yield();
        part_share((int)(long)w);
    }
    return NULL;
}

/* in_workers runs n rounds in all threads. They wait for a round by a loop that yields, as in Go. */
static void in_workers(long n, int partitioned)
{
    pthread_t t[MAX_SIZES];
    atomic_store(&part_round, 0);
    atomic_store(&part_done, 0);
    part_rounds = n;
    part_do = partitioned ? pready : isends;
    for (long w = 1; w < part_workers; w++)
        pthread_create(&t[w], NULL, part_worker, (void *)w);
    for (long k = 0; k < n; k++) {
        if (partitioned)
            MPI_Start(&part_request);
        atomic_store(&part_round, k + 1);
        part_share(0);
        while (atomic_load(&part_done) < (k + 1) * part_workers)
            sched_yield();
        if (partitioned)
            MPI_Wait(&part_request, MPI_STATUS_IGNORE);
    }
    for (int w = 1; w < part_workers; w++)
        pthread_join(t[w], NULL);
}

#if MPI_VERSION >= 4
static void whole_partitions(long n)
{
    if (rank == 0) {
        in_workers(n, 1);
        return;
    }
    for (long k = 0; k < n; k++) {
        MPI_Start(&part_request);
        MPI_Wait(&part_request, MPI_STATUS_IGNORE);
    }
}
#endif

static void single_partitions(long n)
{
    if (rank == 0) {
        in_workers(n, 0);
        return;
    }
    for (long k = 0; k < n; k++) {
        for (int i = 0; i < parts; i++)
            MPI_Irecv(part_mem + i * size, size, MPI_BYTE, 0, i, MPI_COMM_WORLD, &part_all[i]);
        MPI_Waitall(parts, part_all, MPI_STATUSES_IGNORE);
    }
}

static void partition_line(const char *way, const char *kind, double us)
{
    if (rank == 0)
        printf("{\"bench\":\"partitioned\",\"fabric\":\"%s\",\"ranks\":2,\"size\":%ld,\"layout\":\"%s %s\",\"workers\":%d,\"us\":%.4f}\n",
            fabric, size, way, kind, part_workers, us);
    fflush(stdout);
}

static void partitioning(const char *list)
{
    long counts[MAX_SIZES];
    int n = parse_sizes(list, counts);
    for (int i = 0; i < n; i++) {
        for (int alloc = 0; alloc < 2; alloc++) {
            const char *kind = alloc ? "alloc" : "heap";
            part_workers = counts[i];
            if (part_workers < 1 || part_workers > MAX_SIZES)
                fail("partitioned takes 1 to 64 workers", "");
            if (alloc)
                MPI_Alloc_mem(parts * size, MPI_INFO_NULL, &part_mem);
            else if (posix_memalign((void **)&part_mem, 4096, parts * size))
                fail("out of memory", "");
            memset(part_mem, 0, parts * size);
#if MPI_VERSION >= 4
            if (rank == 0)
                MPI_Psend_init(part_mem, parts, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &part_request);
            else
                MPI_Precv_init(part_mem, parts, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &part_request);
            partition_line("partitioned", kind, measure(whole_partitions));
            MPI_Request_free(&part_request);
#endif
            partition_line("isend", kind, measure(single_partitions));
            if (alloc)
                MPI_Free_mem(part_mem);
            else
                free(part_mem);
        }
    }
}
