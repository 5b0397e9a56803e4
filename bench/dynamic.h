/*
 * spawn    time until `size` spawned processes have sent a message, and have ended
 * connect  time in which ranks 0 and 1 connect at a port, and disconnect
 * across   half a round trip of one message to a spawned process
 *
 * The spawned processes run this program, and serve their parent: see serve.
 */
#define ECHO 1           /* tag of a message that is sent back */
#define OVER 2           /* tag of the message that ends a spawned process */
#define MAX_ECHO (4 << 20)
#define MAX_SPAWNED 1024

static char *program;    /* the name of this program */
static char port[MPI_MAX_PORT_NAME];
static MPI_Comm inter;

/* serve sends a message to the parent, sends back those that it gets, and ends when the parent says so. */
static void serve(MPI_Comm parent)
{
    static char buf[MAX_ECHO];
    MPI_Send(buf, 1, MPI_BYTE, 0, ECHO, parent);
    for (;;) {
        MPI_Status st;
        int n;
        MPI_Recv(buf, MAX_ECHO, MPI_BYTE, 0, MPI_ANY_TAG, parent, &st);
        if (st.MPI_TAG == OVER)
            break;
        MPI_Get_count(&st, MPI_BYTE, &n);
        MPI_Send(buf, n, MPI_BYTE, 0, ECHO, parent);
    }
    MPI_Comm_disconnect(&parent);
}

/* serves_parent does what a spawned process does until it ends, and returns 1; 0 in other processes. */
static int serves_parent(char *self)
{
    MPI_Comm parent;
    program = self;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        return 0;
    serve(parent);
    MPI_Finalize();
    return 1;
}

static void spawn(int n)
{
    char *args[] = {"spawned", NULL}, first;
    MPI_Comm_spawn(program, args, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    for (int i = 0; i < n; i++)
        MPI_Recv(&first, 1, MPI_BYTE, i, ECHO, inter, MPI_STATUS_IGNORE);
}

static void end_spawned(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Send(NULL, 0, MPI_BYTE, i, OVER, inter);
    MPI_Comm_disconnect(&inter);
}

static void spawns(long n)
{
    for (long i = 0; i < n; i++) {
        spawn(size);
        end_spawned(size);
    }
}

static void connections(long n)
{
    for (long i = 0; i < n; i++) {
        if (rank == 0)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Comm_disconnect(&inter);
    }
}

static void echoes(long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Send(sendbuf, size, MPI_BYTE, 0, ECHO, inter);
        MPI_Recv(recvbuf, size, MPI_BYTE, 0, ECHO, inter, MPI_STATUS_IGNORE);
    }
}

static void dynamic(const char *name, void (*loop)(long))
{
    double us;
    if (loop == connections) {
        if (rank == 0)
            MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
        us = measure(loop);
        if (rank == 0)
            MPI_Close_port(port);
    } else if (loop == spawns) {
        us = measure(loop);
    } else {
        sendbuf = calloc(1, size + 1);
        recvbuf = calloc(1, size + 1);
        spawn(1);
        us = measure(loop) / 2;
        end_spawned(1);
        free(sendbuf);
        free(recvbuf);
    }
    if (rank == 0) {
        printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d", name, fabric, ranks);
        if (loop != connections)
            printf(",\"size\":%ld", size);
        printf(",\"us\":%.4f}\n", us);
        fflush(stdout);
    }
}
