/*
 * A part of proxy.h: applications with one-sided communication, a queue of tasks and walks on a graph.
 */

#define TASKS 16000
#define TASK_UNIT 500      /* steps of the shortest task; the longest has 16 times as many */
#define TASKS_RESULT 34302850470728

#define WALK_VERTICES 65536
#define WALK_DEGREE 8
#define WALKS 64
#define WALK_LENGTH 2500
#define WALK_WORK 250      /* steps of computation at a vertex */
#define WALK_RESULT 344295471632982

static MPI_Win proxy_win;
static int64_t *next_task; /* on rank 0 */
static int32_t *edges;      /* WALK_DEGREE for each vertex of this rank */
static int vertices;        /* of each rank */

/* iterated computes with x for n steps. */
static uint32_t iterated(uint32_t x, long n)
{
    for (long i = 0; i < n; i++)
        x = x * 1664525 + 1013904223;
    return x;
}

static void open_tasks(void)
{
    MPI_Win_allocate(rank ? 0 : 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &next_task, &proxy_win);
    MPI_Win_lock_all(0, proxy_win);
}

static void close_tasks(void)
{
    MPI_Win_unlock_all(proxy_win);
    MPI_Win_free(&proxy_win);
}

static void run_tasks(void)
{
    int64_t zero = 0, one = 1, task = 0;
    uint64_t sum = 0;
    if (rank == 0) {
        MPI_Accumulate(&zero, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_REPLACE, proxy_win);
        MPI_Win_flush(0, proxy_win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (;;) {
        MPI_Fetch_and_op(&one, &task, MPI_INT64_T, 0, 0, MPI_SUM, proxy_win);
        MPI_Win_flush(0, proxy_win);
        if (task >= TASKS)
            break;
        sum += iterated(task, TASK_UNIT * (1 + mixed(task) % 16));
    }
    expect_total("tasks", sum, TASKS_RESULT);
}

static void open_walk(void)
{
    vertices = (WALK_VERTICES + ranks - 1) / ranks;
    long n = (long)vertices * WALK_DEGREE;
    MPI_Win_allocate(n * 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &edges, &proxy_win);
    MPI_Win_lock_all(0, proxy_win);
    for (long i = 0; i < n; i++)
        edges[i] = mixed(rank * n + i) % WALK_VERTICES;
    MPI_Win_sync(proxy_win);
}

static void close_walk(void) { close_tasks(); }

/* walked walks from one vertex, and returns a sum over its way. */
static uint64_t walked(int walk)
{
    uint64_t sum = 0;
    uint32_t x = walk;
    int32_t at = mixed(walk) % WALK_VERTICES, list[WALK_DEGREE];
    for (int i = 0; i < WALK_LENGTH; i++) {
        int owner = at / vertices;
        MPI_Get(list, WALK_DEGREE, MPI_INT32_T, owner, (long)(at % vertices) * WALK_DEGREE, WALK_DEGREE, MPI_INT32_T, proxy_win);
        MPI_Win_flush(owner, proxy_win);
        x = iterated(x + at, WALK_WORK);
        at = list[mixed(x) % WALK_DEGREE];
        sum += mixed(x + at);
    }
    return sum;
}

static void run_walk(void)
{
    uint64_t sum = 0;
    for (int i = first_of(WALKS, rank, ranks); i < first_of(WALKS, rank + 1, ranks); i++)
        sum += walked(i);
    expect_total("walk", sum, WALK_RESULT);
}
