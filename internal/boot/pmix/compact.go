package pmix

// compact is the first byte of values in the encoding of serializers 4 and later; in serializer 21 it
// is 0. A server that gets a value from the server of another node passes it on as that one has
// encoded it, whatever its client has asked for.
const compact = 2

// compactReader takes items of these serializers, in which integers have 7 bits a byte, the lowest
// first, and all bytes but the last have the highest bit set. Signed ones are counted 0, -1, 1, -2, and
// so on. Only what Put and Publish store can be read: strings.
type compactReader struct{ reader }

// unsigned takes an unsigned integer.
func (r *compactReader) unsigned() (n uint64) {
	for shift := 0; shift < 63; shift += 7 {
		b := r.u8()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.fail("an integer of more than 9 bytes")
	return 0
}

// signed takes a signed integer that is not negative, such as a length or a number of elements.
func (r *compactReader) signed() uint64 {
	n := r.unsigned()
	if n&1 != 0 {
		r.fail("the length %d", -int64(n/2)-1)
	}
	return n / 2
}

func (r *compactReader) one() {
	if n := r.signed(); r.err == nil && n != 1 {
		r.fail("an item of %d elements where one is due", n)
	}
}

func (r *compactReader) text() string { return trimNUL(r.take(r.signed())) }

// compactStored is stored for this encoding.
func compactStored(b []byte, of proc, key string) (text string, ok bool, err error) {
	r := &compactReader{reader{left: b}}
	for r.more() {
		r.one()
		in := &compactReader{reader{left: r.take(r.unsigned()), err: r.err}}
		in.one()
		if p := (proc{in.text(), uint32(in.unsigned())}); in.err == nil && p != of {
			continue
		}
		for in.more() {
			in.one()
			k, kind := in.text(), in.unsigned()
			if kind != uint64(typeString) {
				in.fail("the value of %.60q has type %d, not that of a string", k, kind)
			}
			if v := in.text(); in.err == nil && k == key {
				text, ok = v, true
			}
		}
		if in.err != nil && !ok {
			return "", false, in.err
		}
	}
	if !ok {
		err = r.err
	}
	return text, ok, err
}
