/* Floating-point environments, and numbers whose combinations depend on the environment: see
 * fpenv.c. */
#ifndef FPENV_H
#define FPENV_H

#include <stdint.h>
#include <string.h>

/* A floating-point environment. */
struct environment {
	const char *name;
	int round; /* 0 nearest, 1 down, 2 up, 3 towards zero */
	int flush, zeros; /* subnormal results become zeros; subnormal operands count as zeros */
	int precision; /* of the x87: 3 is 64 bits, 2 is 53, 0 is 24 */
};

static const struct environment environments[] = {
	{"default", 0, 0, 0, 3}, {"down", 1, 0, 0, 3}, {"up", 2, 0, 0, 3}, {"zero", 3, 0, 0, 3},
	{"flush", 0, 1, 1, 3}, {"flush up", 2, 1, 1, 3},
	{"results only", 0, 1, 0, 3}, {"operands only", 0, 0, 1, 3}, {"53 bits", 0, 0, 0, 2}, {"24 bits up", 2, 0, 0, 0},
};

enum { environments_n = sizeof environments / sizeof *environments };

/* The control words of the processor, without the exception flags. */
struct words { uint32_t main, x87; };

#if defined __x86_64__
static struct words words_of(const struct environment *e, int traps) {
	return (struct words){
		(uint32_t)((traps ? 0 : 0x1f80) | e->round << 13 | e->flush << 15 | e->zeros << 6),
		(uint32_t)((traps ? 0x40 : 0x7f) | e->precision << 8 | e->round << 10),
	};
}
static void set_words(struct words w) {
	uint16_t x87 = (uint16_t)w.x87;
	__asm__ volatile("fnclex\n\tfldcw %0\n\tldmxcsr %1" : : "m"(x87), "m"(w.main) : "memory");
}
static struct words get_words(void) {
	uint16_t x87;
	uint32_t main;
	__asm__ volatile("fnstcw %0\n\tstmxcsr %1" : "=m"(x87), "=m"(main) : : "memory");
	return (struct words){main & 0xffc0, x87};
}
#elif defined __aarch64__
static struct words words_of(const struct environment *e, int traps) {
	static const int mode[] = {0, 2, 1, 3};
	(void)traps; /* most processors have none */
	return (struct words){(uint32_t)(mode[e->round] << 22 | (e->flush && e->zeros) << 24), 0};
}
static void set_words(struct words w) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)w.main) : "memory"); }
static struct words get_words(void) {
	uint64_t main;
	__asm__ volatile("mrs %0, fpcr" : "=r"(main) : : "memory");
	return (struct words){(uint32_t)main, 0};
}
#else
#error "what is the word of the floating-point environment here?"
#endif

/* Formats of numbers. */
struct format { int bytes, used, exponent, fraction, integer; };

static const struct format single = {4, 4, 8, 23, 0}, twice = {8, 8, 11, 52, 0}, half = {2, 2, 5, 10, 0};
static const struct format extended = {16, 10, 15, 63, 1}, quadruple = {16, 16, 15, 112, 0};

static uint64_t state;

static uint64_t next(void) {
	state += 0x9e3779b97f4a7c15;
	uint64_t z = state;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* A number for rank r, of a kind that depends on its place: ordinary, subnormal, nearly subnormal, the
 * greatest, with subnormal products, much less than that of the other rank, the negative of that of
 * the other rank, zero. */
static void set_number(char *to, const struct format *f, int place, int r) {
	unsigned __int128 fraction = ((unsigned __int128)next() << 64 | next()) >> (128 - f->fraction), bits;
	uint64_t most = ((uint64_t)1 << f->exponent) - 1, bias = most >> 1, any = next(), exponent = bias + any % 4, negative = any >> 8 & 1;
	switch (place % 8) {
	case 1: exponent = 0; break;
	case 2: exponent = 1 + any % 3; break;
	case 3: exponent = most - 1 - any % 2; break;
	case 4: exponent = bias / 2 + any % 3; break;
	case 5: exponent = r % 2 == 0 ? bias : bias - (uint64_t)f->fraction + any % 6 - 3; break;
	case 6: exponent = bias, fraction = 12345 % ((uint64_t)1 << f->fraction), negative = r % 2 == 0; break;
	case 7: exponent = any >> 16 & 1 ? 0 : exponent, fraction = exponent == 0 ? 0 : fraction; break;
	}
	if (f->bytes == 2 && place % 8 == 5) exponent = r % 2 == 0 ? bias : 4 + any % 3;
	bits = (unsigned __int128)exponent << (f->fraction + f->integer) | fraction;
	if (f->integer && exponent != 0) bits |= (unsigned __int128)1 << f->fraction;
	bits |= (unsigned __int128)negative << (f->fraction + f->integer + f->exponent);
	memcpy(to, &bits, (size_t)f->bytes);
}

#endif
