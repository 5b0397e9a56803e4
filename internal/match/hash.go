package match

// Source and tag of a key are one word, with the source in the upper half, so that a
// comparison with a pattern is one xor and one and: the mask has zeros for a wildcard.
const (
	exact     = ^uint64(0)          // mask that respects source and tag
	tagBits   = uint64(1)<<32 - 1   // the tag's half of a word
	wildcards = tagBits<<32 | 1<<31 // word of (AnySource, AnyTag)
)

// word packs source and tag.
func (k *Key) word() uint64 { return uint64(uint32(k.Src))<<32 | uint64(uint32(k.Tag)) }

// mask has ones for the parts of k's word that are not wildcards.
func (k *Key) mask() uint64 {
	m := exact
	if k.Src == AnySource {
		m = tagBits
	}
	if k.Tag == AnyTag {
		m &^= tagBits
	}
	return m
}

// The four classes of patterns: a bit for each wildcard.
const (
	anySource = 1 << iota
	anyTag
	classes // how many there are
)

// classOf returns the class of a mask, maskOf the mask of a class.
func classOf(mask uint64) int { return int(^mask>>63&1*anySource | ^mask&1*anyTag) }

func maskOf(class int) uint64 {
	m := exact
	if class&anySource != 0 {
		m &= tagBits
	}
	if class&anyTag != 0 {
		m &^= tagBits
	}
	return m
}

// masked returns the word of the pattern that matches the message with word, in the
// class of mask.
func masked(word, mask uint64) uint64 { return word&mask | wildcards&^mask }

// hasher is multiply-shift hashing of four 32-bit words with random 64-bit
// factors (Dietzfelbinger). Any two different inputs agree in given k bits of the
// upper half of the sum with probability 2^-k, if they are chosen without knowledge
// of the factors.
//
// The lowest three bits of the tag are not hashed but xored onto the result, so
// that eight neighbouring tags have eight different buckets of one cache line. A
// program that counts its tags up or down finds the next bucket in cache. An
// adversary gains nothing from it.
type hasher struct{ ctxLo, ctxHi, src, tag, add uint64 }

// newHasher expands seed by SplitMix64.
func newHasher(seed uint64) hasher {
	next := func() uint64 {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	return hasher{next(), next(), next(), next(), next()}
}

// sum hashes a context and a word.
func (h *hasher) sum(ctx, word uint64) uint32 {
	v := h.ctxLo*(ctx&tagBits) + h.ctxHi*(ctx>>32) + h.src*(word>>32) + h.tag*(word&tagBits>>3) + h.add
	return uint32(v>>32) ^ uint32(word)&7
}
