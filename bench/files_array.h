/*
 * A part of files.h: an array of doubles in C order, distributed in blocks over a grid of ranks. In three
 * dimensions the first ones are divided first, so that the runs in the file are long; in four
 * dimensions the last ones. By hand, rank r accesses the slab with a share of the planes along the
 * first dimension, after an exchange with the ranks that have parts of it.
 */
static struct {
    int n, dims[4], grid[4], part[4], start[4];
    int lo, hi; /* planes of the slab */
    char *slab, *staged;
    long slab_bytes;
    int *give, *give_at, *take, *take_at; /* bytes of the block for each slab, and of the slab for each block */
    MPI_Datatype type;
    int doubles; /* in the block */
} array;

/* Sizes and first indexes of the block of a rank. */
static void array_block(int r, int part[4], int start[4])
{
    for (int d = array.n - 1; d >= 0; d--) {
        int at = r % array.grid[d];
        r /= array.grid[d];
        start[d] = array.dims[d] * at / array.grid[d];
        part[d] = array.dims[d] * (at + 1) / array.grid[d] - start[d];
    }
}

static long array_bytes(const int *dims, int n)
{
    long bytes = sizeof(double);
    for (int d = 0; d < n; d++)
        bytes *= dims[d];
    return bytes;
}

static int common(int *lo, int *hi, int from, int to)
{
    if (*lo < from)
        *lo = from;
    if (*hi > to)
        *hi = to;
    return *lo < *hi;
}

static void array_plan(void)
{
    int n = array.n, at = 0;
    array.lo = array.dims[0] * rank / ranks;
    array.hi = array.dims[0] * (rank + 1) / ranks;
    array.slab_bytes = (array.hi - array.lo) * array_bytes(array.dims + 1, n - 1);
    array.slab = file_memory(array.slab_bytes + 1);
    array.staged = file_memory(array.slab_bytes + 1);
    array.give = calloc(4 * ranks, sizeof(int));
    array.give_at = array.give + ranks;
    array.take = array.give + 2 * ranks;
    array.take_at = array.give + 3 * ranks;
    for (int r = 0; r < ranks; r++) {
        int part[4], start[4], lo = array.dims[0] * r / ranks, hi = array.dims[0] * (r + 1) / ranks;
        if (common(&lo, &hi, array.start[0], array.start[0] + array.part[0])) {
            long plane = array_bytes(array.part + 1, n - 1);
            array.give[r] = (hi - lo) * plane;
            array.give_at[r] = (lo - array.start[0]) * plane;
        }
        array_block(r, part, start);
        array.take_at[r] = at;
        lo = array.lo, hi = array.hi;
        if (common(&lo, &hi, start[0], start[0] + part[0])) {
            array.take[r] = (hi - lo) * array_bytes(part + 1, n - 1);
            at += array.take[r];
        }
    }
}

/* Copies the rows of all blocks to the slab or from it. */
static void array_copy(int to_slab)
{
    int last = array.n - 1;
    for (int r = 0; r < ranks; r++) {
        int part[4], start[4], index[3] = {0, 0, 0};
        array_block(r, part, start);
        int lo = array.lo, hi = array.hi;
        if (!common(&lo, &hi, start[0], start[0] + part[0]))
            continue;
        start[0] = lo - array.lo;
        part[0] = hi - lo;
        char *staged = array.staged + array.take_at[r];
        long row = part[last] * sizeof(double);
        for (int d = last; d >= 0; staged += row) {
            long at = 0;
            for (int k = 0; k < last; k++)
                at = (at + start[k] + index[k]) * array.dims[k + 1];
            char *slab = array.slab + (at + start[last]) * sizeof(double);
            if (to_slab)
                memcpy(slab, staged, row);
            else
                memcpy(staged, slab, row);
            for (d = last - 1; d >= 0; d--) {
                if (++index[d] < part[d])
                    break;
                index[d] = 0;
            }
        }
    }
}

/* Each loop sets the view, since those of both arrays share the file, and waits for the slowest rank. */
static void array_view(void)
{
    OK(MPI_File_set_view(file.f, 0, MPI_DOUBLE, array.type, "native", MPI_INFO_NULL));
}

#define ARRAY_LOOP(name, call)       \
    static void name(long n)         \
    {                                \
        array_view();                \
        for (long i = 0; i < n; i++) \
            OK(call);                \
        MPI_Barrier(MPI_COMM_WORLD); \
    }

/* Ranks that access the file alone wait for each other after each access, as those that exchange by hand do. */
static int array_apart(int err) { return err ? err : MPI_Barrier(MPI_COMM_WORLD); }

ARRAY_LOOP(array_write, MPI_File_write_at_all(file.f, 0, sendbuf, array.doubles, MPI_DOUBLE, MPI_STATUS_IGNORE))
ARRAY_LOOP(array_read, MPI_File_read_at_all(file.f, 0, sendbuf, array.doubles, MPI_DOUBLE, MPI_STATUS_IGNORE))
ARRAY_LOOP(array_write_alone, array_apart(MPI_File_write_at(file.f, 0, sendbuf, array.doubles, MPI_DOUBLE, MPI_STATUS_IGNORE)))
ARRAY_LOOP(array_read_alone, array_apart(MPI_File_read_at(file.f, 0, sendbuf, array.doubles, MPI_DOUBLE, MPI_STATUS_IGNORE)))

static off_t slab_offset(void) { return array.lo * array_bytes(array.dims + 1, array.n - 1); }

static int array_pwrite(void)
{
    MPI_Alltoallv(sendbuf, array.give, array.give_at, MPI_BYTE, array.staged, array.take, array.take_at, MPI_BYTE, MPI_COMM_WORLD);
    array_copy(1);
    return pwrite(file.hand, array.slab, array.slab_bytes, slab_offset()) == array.slab_bytes ? MPI_SUCCESS : MPI_ERR_IO;
}

static int array_pread(void)
{
    if (pread(file.hand, array.slab, array.slab_bytes, slab_offset()) != array.slab_bytes)
        return MPI_ERR_IO;
    array_copy(0);
    return MPI_Alltoallv(array.staged, array.take, array.take_at, MPI_BYTE, sendbuf, array.give, array.give_at, MPI_BYTE, MPI_COMM_WORLD);
}

ARRAY_LOOP(array_write_by_hand, array_pwrite())
ARRAY_LOOP(array_read_by_hand, array_pread())

static void file_arrays(const char *name)
{
    for (array.n = 3; array.n <= 4; array.n++) {
        int dims[2][4] = {{size, size, size}, {size / 2, size / 2, size / 4, 16}};
        memcpy(array.dims, dims[array.n - 3], sizeof array.dims);
        memset(array.grid, 0, sizeof array.grid);
        MPI_Dims_create(ranks, array.n, array.grid);
        if (array.n == 4)
            for (int d = 0; d < 2; d++) {
                int g = array.grid[d];
                array.grid[d] = array.grid[3 - d];
                array.grid[3 - d] = g;
            }
        array_block(rank, array.part, array.start);
        array_plan();
        array.doubles = array_bytes(array.part, array.n) / sizeof(double);
        sendbuf = file_memory(array_bytes(array.part, array.n));
        MPI_Type_create_subarray(array.n, array.dims, array.part, array.start, MPI_ORDER_C, MPI_DOUBLE, &array.type);
        MPI_Type_commit(&array.type);
        const char *d = array.n == 3 ? "3-D" : "4-D";
        static const struct {
            const char *what;
            void (*loop)(long);
        } table[] = {
            {"write", array_write}, {"write alone", array_write_alone}, {"write by hand", array_write_by_hand},
            {"read", array_read},   {"read alone", array_read_alone},   {"read by hand", array_read_by_hand},
        };
        for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
            char what[32];
            snprintf(what, sizeof what, "%s %s", d, table[i].what);
            file_report(name, what, table[i].loop);
        }
        MPI_Type_free(&array.type);
        free(array.give);
        free(array.slab);
        free(array.staged);
        free(sendbuf);
    }
    sendbuf = NULL;
}
