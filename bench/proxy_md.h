/*
 * A part of proxy.h: particles on a ring of cells, in whole numbers, so that forces do not depend on the order in which
 * they are summed up. Every rank has a part of the cells and the particles in them. A particle is pushed away by those
 * in its cell and the next ones, and moves by less than a cell in a step. The result is a sum over all particles.
 */

#define MD_CELLS 256
#define MD_WIDTH 4096 /* of a cell */
#define MD_RING (MD_CELLS * MD_WIDTH)
#define MD_PARTICLES 4096
#define MD_STEPS 300
#define MD_SPEED (MD_WIDTH / 4) /* the greatest */
#define MD_WEAK 9     /* bits by which a force is less than a distance */
#define MD_RESULT 8677922545167

/* A particle is two numbers, its place and its speed. */
static struct {
    int first, cells; /* of this rank */
    int left, right;
    int n;
    int32_t *own, *sorted;     /* this rank's particles; the same in the order of the cells */
    int begin[MD_CELLS + 1];   /* in sorted: of each cell, and the end */
    int32_t *before, *after;   /* particles in the cells before the first and after the last one */
    int befores, afters;
    int32_t *leaving[2];       /* to the left and to the right */
    int leavers[2];
} md;

static int32_t *md_room(void)
{
    int32_t *p = calloc(2 * MD_PARTICLES, 4);
    if (!p)
        fail("out of memory", "");
    return p;
}

static void open_md(void)
{
    if (ranks > MD_CELLS)
        fail("md has no cell for each rank", "");
    md.first = first_of(MD_CELLS, rank, ranks);
    md.cells = first_of(MD_CELLS, rank + 1, ranks) - md.first;
    md.left = (rank + ranks - 1) % ranks;
    md.right = (rank + 1) % ranks;
    md.own = md_room();
    md.sorted = md_room();
    md.before = md_room();
    md.after = md_room();
    md.leaving[0] = md_room();
    md.leaving[1] = md_room();
}

static void close_md(void)
{
    free(md.own);
    free(md.sorted);
    free(md.before);
    free(md.after);
    free(md.leaving[0]);
    free(md.leaving[1]);
}

static void md_add(int32_t *list, int *n, int32_t x, int32_t v)
{
    list[2 * *n] = x;
    list[2 * *n + 1] = v;
    ++*n;
}

static void md_begin(void)
{
    md.n = 0;
    for (int i = 0; i < MD_PARTICLES; i++) {
        uint32_t h = mixed(i + 1);
        int32_t x = h % MD_RING;
        if (x / MD_WIDTH >= md.first && x / MD_WIDTH < md.first + md.cells)
            md_add(md.own, &md.n, x, (int32_t)(h >> 24) - 128);
    }
}

/* md_sort puts the particles of each cell together. */
static void md_sort(void)
{
    int next[MD_CELLS] = {0}, at = 0;
    for (int i = 0; i < md.n; i++)
        next[md.own[2 * i] / MD_WIDTH - md.first]++;
    for (int c = 0; c < md.cells; c++) {
        int n = next[c];
        md.begin[c] = next[c] = at;
        at += n;
    }
    md.begin[md.cells] = at;
    for (int i = 0; i < md.n; i++) {
        int to = next[md.own[2 * i] / MD_WIDTH - md.first]++;
        md.sorted[2 * to] = md.own[2 * i];
        md.sorted[2 * to + 1] = md.own[2 * i + 1];
    }
}

static int md_receive(int32_t *into, int from, int tag)
{
    MPI_Status s;
    int words;
    MPI_Probe(from, tag, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_INT32_T, &words);
    MPI_Recv(into, words, MPI_INT32_T, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return words / 2;
}

/* md_borders sends the first and the last cell to the neighbours, and receives theirs. Tag 1 is to the left. */
static void md_borders(void)
{
    MPI_Request q[2];
    int last = md.cells - 1;
    MPI_Isend(md.sorted, 2 * md.begin[1], MPI_INT32_T, md.left, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(md.sorted + 2 * md.begin[last], 2 * (md.n - md.begin[last]), MPI_INT32_T, md.right, 2, MPI_COMM_WORLD, &q[1]);
    md.befores = md_receive(md.before, md.left, 2);
    md.afters = md_receive(md.after, md.right, 1);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

/* md_force is that of n particles on one at x. */
static int32_t md_force(int32_t x, const int32_t *particles, int n)
{
    int32_t sum = 0;
    for (int i = 0; i < n; i++) {
        int32_t d = ((x - particles[2 * i] + MD_RING / 2) & (MD_RING - 1)) - MD_RING / 2, sign = d >> 31;
        int32_t force = (2 * MD_WIDTH - ((d ^ sign) - sign)) >> MD_WEAK;
        sum += (force ^ sign) - sign;
    }
    return sum;
}

/* md_move moves one particle, and puts it to its new place: own, or those that leave. */
static void md_move(int32_t x, int32_t v)
{
    if (v > MD_SPEED)
        v = MD_SPEED;
    if (v < -MD_SPEED)
        v = -MD_SPEED;
    x = (x + v) & (MD_RING - 1);
    int cell = x / MD_WIDTH;
    if (cell >= md.first && cell < md.first + md.cells)
        md_add(md.own, &md.n, x, v);
    else if (cell == (md.first + MD_CELLS - 1) % MD_CELLS)
        md_add(md.leaving[0], &md.leavers[0], x, v);
    else
        md_add(md.leaving[1], &md.leavers[1], x, v);
}

static void md_advance(void)
{
    const int32_t *s = md.sorted;
    md.n = md.leavers[0] = md.leavers[1] = 0;
    for (int c = 0; c < md.cells; c++) {
        int begin = md.begin[c], end = md.begin[c + 1];
        const int32_t *before = md.before, *after = md.after;
        int befores = md.befores, afters = md.afters;
        if (c > 0) {
            before = s + 2 * md.begin[c - 1];
            befores = begin - md.begin[c - 1];
        }
        if (c < md.cells - 1) {
            after = s + 2 * end;
            afters = md.begin[c + 2] - end;
        }
        for (int i = begin; i < end; i++) {
            int32_t x = s[2 * i], f = -((2 * MD_WIDTH) >> MD_WEAK); /* its force on itself, below */
            f += md_force(x, before, befores) + md_force(x, s + 2 * begin, end - begin) + md_force(x, after, afters);
            md_move(x, s[2 * i + 1] + f);
        }
    }
}

/* md_migrate sends the particles that leave, and receives those that come: first their number. */
static void md_migrate(void)
{
    int to[2] = {md.left, md.right}, from[2] = {md.right, md.left};
    for (int k = 0; k < 2; k++) {
        int coming;
        MPI_Sendrecv(&md.leavers[k], 1, MPI_INT, to[k], 3 + k, &coming, 1, MPI_INT, from[k], 3 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(md.leaving[k], 2 * md.leavers[k], MPI_INT32_T, to[k], 5 + k, md.own + 2 * md.n, 2 * coming, MPI_INT32_T, from[k], 5 + k,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        md.n += coming;
    }
}

static void run_md(void)
{
    uint64_t sum = 0;
    md_begin();
    for (int step = 0; step < MD_STEPS; step++) {
        md_sort();
        md_borders();
        md_advance();
        md_migrate();
    }
    for (int i = 0; i < md.n; i++)
        sum += mixed((uint32_t)md.own[2 * i] * 4096 + (uint32_t)md.own[2 * i + 1]);
    expect_total("md", sum, MD_RESULT);
}
