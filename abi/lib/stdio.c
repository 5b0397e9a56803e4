#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Ranks write into pipes of the launcher, where the C library collects output until a buffer
 * is full: what a program has printed before it hangs or is killed would not be seen. So
 * standard output is buffered by lines when it is such a pipe. A program that chooses its own
 * buffering with setvbuf does so after this, which is a constructor, and keeps it. Files that
 * the program's output is redirected to keep their large buffer.
 */
__attribute__((constructor(102))) static void halo_stdio(void) {
	struct stat out;
	if (getenv("HALO_BOOT_FD") == NULL || getenv("_STDBUF_O") != NULL) /* no rank, or stdbuf(1) has chosen */
		return;
	if (fstat(STDOUT_FILENO, &out) != 0 || !(S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode)))
		return;
#ifdef __GLIBC__
	if (__fbufsize(stdout) != 0) /* the library was loaded late, by a program that has written or chosen */
		return;
#endif
	setvbuf(stdout, NULL, _IOLBF, 0);
}

const char halo_stdio_linked = 1; /* see thread.c */
