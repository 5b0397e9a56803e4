/* raise.c: errors that the library finds itself. */
#include <stdarg.h>
#include <stdio.h>

#include "glue.h"

/*
 * Error handlers get a code of the class, whose text tells what is wrong. There is one such code for
 * each class: its text is that of the last error. Callers get the class itself, so that programs can
 * compare ierror with it.
 */
int halo_raise(int kind, MPI_Fint handle, int class, const char *format, ...) {
	static int codes[MPI_ERR_ABI + 1];
	char text[MPI_MAX_ERROR_STRING];
	int ready = 0, over = 1, code = class;
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	PMPI_Initialized(&ready);
	PMPI_Finalized(&over);
	if (!ready || over)
		return class;
	if (codes[class] == 0 && PMPI_Add_error_code(class, &code) == MPI_SUCCESS)
		codes[class] = code;
	if (codes[class] != 0) {
		code = codes[class];
		PMPI_Add_error_string(code, text);
	}
	switch (kind) {
	case HALO_COMM:
		PMPI_Comm_call_errhandler(in_MPI_Comm(handle), code);
		break;
	case HALO_WIN:
		PMPI_Win_call_errhandler(in_MPI_Win(handle), code);
		break;
	case HALO_FILE:
		PMPI_File_call_errhandler(in_MPI_File(handle), code);
		break;
	default:
		PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
	}
	return class;
}

int halo_refused(int kind, MPI_Fint handle, int class, const char *call, const char *argument) {
	return halo_raise(kind, handle, class, "%s: %s is a section of an array that is not contiguous, and the call cannot take it, or it has fewer elements than count and datatype say", call, argument);
}
