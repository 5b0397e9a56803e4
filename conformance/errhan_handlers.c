/*
 * errhan_handlers: error handlers of the program (MPI-5, 9.3): they get the handle and the code, are
 * inherited, and MPI_Comm_call_errhandler and the like call them; classes, codes and texts that the
 * program adds (9.5). A handler may ignore the arguments behind the code: there are none (ERR-05).
 */
#include "check.h"

static int calls, code_seen;
static MPI_Comm comm_seen;
static MPI_Win win_seen;

static void on_comm(MPI_Comm *c, int *code, ...)
{
	calls++;
	comm_seen = *c;
	code_seen = *code;
}

/* The second argument is the code that the call is to return: what the handler leaves there is returned. */
static void change(MPI_Comm *c, int *code, ...)
{
	(void)c;
	*code = *code == MPI_ERR_RANK ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void on_win(MPI_Win *w, int *code, ...)
{
	calls++;
	win_seen = *w;
	code_seen = *code;
}

int main(int argc, char **argv)
{
	MPI_Errhandler h, got;
	MPI_Comm c, d;
	MPI_Win w;
	int x = 0, cl, code, len, code_class;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Init(&argc, &argv);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
	CHECK(got == MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&got);
	CHECK(got == MPI_ERRHANDLER_NULL);

	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Comm_create_errhandler(on_comm, &h);
	MPI_Comm_set_errhandler(c, h);
	MPI_Comm_get_errhandler(c, &got);
	CHECK(got == h);
	MPI_Errhandler_free(&h);
	MPI_Errhandler_free(&got);
	CHECK(h == MPI_ERRHANDLER_NULL);
	code = MPI_Send(&x, 1, MPI_INT, 1 << 20, 0, c);
	CHECK(calls == 1 && comm_seen == c && code_seen == code && class_of(code) == MPI_ERR_RANK);
	MPI_Comm_dup(c, &d);
	code = MPI_Bcast(&x, -1, MPI_INT, 0, d);
	CHECK(calls == 2 && comm_seen == d && class_of(code_seen) == MPI_ERR_COUNT);
	CHECK(MPI_Comm_call_errhandler(d, MPI_ERR_TOPOLOGY) == MPI_SUCCESS);
	CHECK(calls == 3 && class_of(code_seen) == MPI_ERR_TOPOLOGY);
	MPI_Comm_create_errhandler(change, &h);
	MPI_Comm_set_errhandler(d, h);
	MPI_Errhandler_free(&h);
	CHECK(MPI_Send(&x, 1, MPI_INT, 1 << 20, 0, d) == MPI_SUCCESS);
	CHECK(MPI_Send(&x, -1, MPI_INT, 0, 0, d) == MPI_ERR_OTHER);
	MPI_Comm_free(&d);
	MPI_Comm_free(&c);

	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_create_errhandler(on_win, &h);
	MPI_Win_set_errhandler(w, h);
	MPI_Errhandler_free(&h);
	MPI_Win_call_errhandler(w, MPI_ERR_RMA_SYNC);
	CHECK(calls == 4 && win_seen == w && class_of(code_seen) == MPI_ERR_RMA_SYNC);
	MPI_Win_get_errhandler(w, &got);
	MPI_Errhandler_free(&got);
	MPI_Win_free(&w);

	/* Added classes and codes. */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	int *last, before, flag;
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
	before = *last;
	MPI_Add_error_class(&cl);
	MPI_Add_error_code(cl, &code);
	CHECK(cl > before && code > before);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
	CHECK(*last >= cl);
	MPI_Add_error_string(code, "of the program");
	MPI_Error_class(code, &code_class);
	CHECK(code_class == cl);
	MPI_Error_string(code, text, &len);
	CHECK(strcmp(text, "of the program") == 0 && len == 14);
	MPI_Error_string(cl, text, &len);
	CHECK(len == 0 && text[0] == 0);
	MPI_Error_class(MPI_ERR_TRUNCATE, &code_class);
	CHECK(code_class == MPI_ERR_TRUNCATE);
	MPI_Error_string(MPI_SUCCESS, text, &len);
	CHECK(len > 0 && (int)strlen(text) == len);
#ifdef MPI_ABI_VERSION
	MPI_Remove_error_string(code);
	MPI_Error_string(code, text, &len);
	CHECK(len == 0);
	MPI_Remove_error_code(code);
	MPI_Remove_error_class(cl);
	FAILS(MPI_Remove_error_class(cl), MPI_ERR_ARG);
#endif
	return done();
}
