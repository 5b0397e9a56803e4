/*
 * A part of proxy.h: the local alignment of two texts of four letters. Scores are rows, of which every rank has some
 * columns. A row on a rank begins with the last score of the row on the rank before, which is a message of 8 bytes.
 * The result is the sum of the last scores of all rows.
 */

#define WAVEFRONT_ROWS 60000
#define WAVEFRONT_COLUMNS 1024
#define WAVEFRONT_MATCH 3
#define WAVEFRONT_MISMATCH 2
#define WAVEFRONT_GAP 4
#define WAVEFRONT_RESULT 18708809

static struct {
    int columns;
    int64_t *scores;  /* of the row before */
    uint32_t *letters; /* of the columns */
} wavefront;

static void open_wavefront(void)
{
    int first = first_of(WAVEFRONT_COLUMNS, rank, ranks);
    wavefront.columns = first_of(WAVEFRONT_COLUMNS, rank + 1, ranks) - first;
    wavefront.scores = calloc(wavefront.columns + 1, 8);
    wavefront.letters = calloc(wavefront.columns + 1, 4);
    if (!wavefront.scores || !wavefront.letters)
        fail("out of memory", "");
    for (int i = 0; i < wavefront.columns; i++)
        wavefront.letters[i] = mixed(1000000 + first + i) % 4;
}

static void close_wavefront(void)
{
    free(wavefront.scores);
    free(wavefront.letters);
}

/* wavefront_row computes a row, and returns its last score. West is the score before the first column in this row,
 * corner the one in the row before. */
static int64_t wavefront_row(uint32_t letter, int64_t west, int64_t corner)
{
    int64_t *scores = wavefront.scores;
    for (int i = 0; i < wavefront.columns; i++) {
        int64_t north = scores[i], best = corner + (letter == wavefront.letters[i] ? WAVEFRONT_MATCH : -WAVEFRONT_MISMATCH);
        best = best > north - WAVEFRONT_GAP ? best : north - WAVEFRONT_GAP;
        best = best > 0 ? best : 0;
        west = best > west - WAVEFRONT_GAP ? best : west - WAVEFRONT_GAP;
        scores[i] = west;
        corner = north;
    }
    return west;
}

static void run_wavefront(void)
{
    int64_t west = 0, corner = 0, last = 0, sum = 0;
    memset(wavefront.scores, 0, 8L * wavefront.columns);
    for (int i = 0; i < WAVEFRONT_ROWS; i++) {
        if (rank > 0)
            MPI_Recv(&west, 1, MPI_INT64_T, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        last = wavefront_row(mixed(i) % 4, west, corner);
        corner = west;
        sum += last;
        if (rank < ranks - 1)
            MPI_Send(&last, 1, MPI_INT64_T, rank + 1, 1, MPI_COMM_WORLD);
    }
    expect_total("wavefront", rank == ranks - 1 ? sum : 0, WAVEFRONT_RESULT);
}
