/*
 * text.c: strings of Fortran, which have a length and blanks at their end, and memory for what does
 * not fit on the stack.
 */
#include <stdio.h>

#include "glue.h"

void *halo_malloc(size_t bytes) {
	void *p = malloc(bytes ? bytes : 1);
	if (!p) {
		fprintf(stderr, "libmpifort_abi: no memory for %zu bytes\n", bytes);
		abort();
	}
	return p;
}

static size_t stripped(const char *text, size_t n) {
	while (n > 0 && text[n - 1] == ' ')
		n--;
	return n;
}

char *halo_string(char room[HALO_STRING], const char *text, size_t n) {
	n = stripped(text, n);
	char *c = n < HALO_STRING ? room : halo_malloc(n + 1);
	memcpy(c, text, n);
	c[n] = 0;
	return c;
}

char *halo_stripped(char room[HALO_STRING], const char *text, size_t n) {
	while (n > 0 && *text == ' ') {
		text++;
		n--;
	}
	return halo_string(room, text, n);
}

char *halo_room(char room[HALO_STRING], size_t size) {
	char *c = size <= HALO_STRING ? room : halo_malloc(size);
	*c = 0;
	return c;
}

void halo_pad(char *text, size_t n, const char *c) {
	size_t k = strlen(c);
	if (k > n)
		k = n;
	memcpy(text, c, k);
	memset(text + k, ' ', n - k);
}
