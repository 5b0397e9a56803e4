#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The standard output of a rank is a pipe of the launcher. The C library buffers output to a pipe
 * until a buffer is full, so output from before a hang or a kill would be lost. Therefore this
 * constructor sets line buffering if standard output is a pipe or socket. A program may choose
 * another buffering with setvbuf later. If standard output is redirected to a file, it keeps its
 * large buffer.
 */
__attribute__((constructor(102))) static void halo_stdio(void) {
	struct stat out;
	if (getenv("HALO_BOOT_FD") == NULL || getenv("_STDBUF_O") != NULL) /* not a rank, or stdbuf(1) has chosen */
		return;
	if (fstat(STDOUT_FILENO, &out) != 0 || !(S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode)))
		return;
#ifdef __GLIBC__
	if (__fbufsize(stdout) != 0) /* the library was loaded late: the program has written or chosen a buffer */
		return;
#endif
	setvbuf(stdout, NULL, _IOLBF, 0);
}

const char halo_stdio_linked = 1; /* see attach.c */
