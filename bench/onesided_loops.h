/*
 * A part of onesided.h: the loops. If a loop is for rank 0 only, rank 1 waits in the
 * barrier after the loop: it is attentive.
 */

static void put_flush(long n)
{
    if (rank)
        return;
    IN_FORTRAN(fortran_put(n, size, sendbuf, base, MPI_Win_toint(win)));
    for (long i = 0; i < n; i++) {
        MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void put_stream(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++)
            MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void get_flush(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Get(recvbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void get_stream(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++)
            MPI_Get(recvbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void accumulate(long n)
{
    int count = size / element->width;
    if (rank)
        return;
    total += n;
    for (long i = 0; i < n; i++) {
        MPI_Accumulate(sendbuf, count, element->type, 1, base, count, element->type, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

static void get_accumulate(long n)
{
    int count = size / element->width;
    if (rank)
        return;
    total += n;
    for (long i = 0; i < n; i++) {
        MPI_Get_accumulate(sendbuf, count, element->type, recvbuf, count, element->type, 1, base, count, element->type, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

static void fetch_and_op(long n)
{
    if (rank)
        return;
    total += n;
    for (long i = 0; i < n; i++) {
        MPI_Fetch_and_op(sendbuf, recvbuf, element->type, 1, base, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

/* compare_and_swap counts up: each swap must find the value of the one before. */
static void compare_and_swap(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        long next = total + 1;
        MPI_Compare_and_swap(&next, &total, recvbuf, element->type, 1, base, win);
        MPI_Win_flush(1, win);
        total = next;
    }
}

/* fence_epochs stands between two fences. */
static void fence_epochs(long n)
{
    for (long i = 0; i < n; i++) {
        if (rank == 0)
            MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_fence(0, win);
    }
}

static MPI_Group other; /* rank 0 and 1 are each other's */

static void pscw_epochs(long n)
{
    for (long i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Win_start(other, 0, win);
            MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
            MPI_Win_complete(win);
        } else {
            MPI_Win_post(other, 0, win);
            MPI_Win_wait(win);
        }
    }
}

static int lock_type;

static void lock_epochs(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Win_lock(lock_type, 1, 0, win);
        MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_unlock(1, win);
    }
}

static void lock_get_epochs(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Win_lock(lock_type, 1, 0, win);
        MPI_Get(recvbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win);
        MPI_Win_unlock(1, win);
    }
}

/* locks says whether a loop locks the window itself. */
static int locks(void (*loop)(long)) { return loop == lock_epochs || loop == lock_get_epochs; }

static void rput_wait(long n)
{
    if (rank)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Request request;
        MPI_Rput(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_flush(1, win);
}

/* mtflush: threads stay between the runs; two barriers hold them. */
static int crew;          /* threads, the first of them the main one */
static long share = -1;   /* operations of each; -1: the end */
static pthread_barrier_t begin_work, end_work;

static const char *worker_op = NULL; /* what each does before its flush: put, get, fop or cas; NULL: put */

/* work is the loop of one thread, in its cell. */
static void work(long me)
{
    MPI_Aint at = base + me * CELL;
    char *in = recvbuf + me * CELL;
    for (long i = 0; i < share; i++) {
        int64_t value = 1, expected = total + i;
        if (!worker_op || !strcmp(worker_op, "put")) {
            MPI_Put(sendbuf, 1, MPI_BYTE, 1, at, 1, MPI_BYTE, win);
        } else if (!strcmp(worker_op, "get")) {
            MPI_Get(in, 1, MPI_BYTE, 1, at, 1, MPI_BYTE, win);
        } else if (!strcmp(worker_op, "fop")) {
            MPI_Fetch_and_op(&value, in, MPI_INT64_T, 1, at, MPI_SUM, win);
        } else {
            value = expected + 1;
            MPI_Compare_and_swap(&value, &expected, in, MPI_INT64_T, 1, at, win);
        }
        MPI_Win_flush(1, win);
    }
}

static void *worker(void *me)
{
    for (;;) {
        pthread_barrier_wait(&begin_work);
        if (share < 0)
            return NULL;
        work((long)me);
        pthread_barrier_wait(&end_work);
    }
}

static void put_in_threads(long n)
{
    if (rank)
        return;
    share = n;
    pthread_barrier_wait(&begin_work);
    work(0);
    pthread_barrier_wait(&end_work);
    total += n;
}
