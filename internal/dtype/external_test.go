package dtype

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// pack32 returns count elements in mem packed as external32.
func pack32(t *testing.T, typ *Type, mem []byte) []byte {
	t.Helper()
	_, ex := typ.Extent()
	b, err := Bind(mem, 0, typ, int64(len(mem))/ex)
	if err != nil {
		t.Fatal(err)
	}
	size, _ := typ.ExternalSize(b.Count())
	out := make([]byte, size)
	if _, err := b.PackExternal(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// external32 has the sizes of the standard's table (DT-33), converts sizes (DT-31) and
// values (DT-26), and never converts bytes (DT-32).
func TestDT26External32Values(t *testing.T) {
	set := Predefined()
	le := binary.LittleEndian
	u64 := func(v uint64) []byte { return le.AppendUint64(nil, v) }
	u32 := func(v uint32) []byte { return le.AppendUint32(nil, v) }
	negative := func(v int64) []byte { return u64(uint64(-v)) }
	one := []byte{0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0} // 1.0L of the x87
	if cLongDouble() != Extended {
		one = []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x3f}
	}
	for _, c := range []struct {
		id   ID
		mem  []byte
		want string
	}{
		{Int, u32(1), "00000001"}, {Short, []byte{0xfe, 0xff}, "fffe"}, {Char, []byte{65}, "41"},
		{Long, u64(1), "00000001"}, {Long, negative(5), "fffffffb"}, {Long, u64(1<<40 + 3), "00000003"},
		{Long, negative(1<<40 + 3), "fffffffd"}, {Long, u64(1 << 31), "00000000"}, {UnsignedLong, u64(1 << 31), "80000000"},
		{LongLong, u64(258), "0000000000000102"}, {Aint, negative(2), "fffffffffffffffe"},
		{Wchar, u32(0x20ac), "20ac"}, {Packed, []byte{1, 2, 3}, "010203"}, {Byte, []byte{9, 8}, "0908"},
		{Float, u32(math.Float32bits(-2)), "c0000000"}, {Double, u64(math.Float64bits(1)), "3ff0000000000000"},
		{CFloatComplex, append(u32(math.Float32bits(1)), u32(math.Float32bits(2))...), "3f80000040000000"},
		{LongDouble, one, "3fff0000000000000000000000000000"},
		{Integer16, append(u64(2), u64(1)...), "00000000000000010000000000000002"},
		{Real2, []byte{0, 0x3c}, "3c00"}, {CBool, []byte{1}, "01"}, {Logical8, u64(1), "0000000000000001"},
		{ShortInt, []byte{1, 0, 0xcc, 0xcc, 2, 0, 0, 0}, "000100000002"},
	} {
		got := hex.EncodeToString(pack32(t, set.Type(c.id), c.mem))
		if got != c.want {
			t.Errorf("%s of % x: %s, want %s", set.Type(c.id), c.mem, got, c.want)
		}
	}
	sizes := map[ID]int64{Long: 4, UnsignedLong: 4, Wchar: 2, LongDouble: 16, CLongDoubleComplex: 32, CXXLongDoubleComplex: 32,
		LongInt: 8}
	set.Each(func(id ID, typ *Type) {
		want, ok := sizes[id]
		if !ok {
			want = typ.Size()
		}
		if got, err := typ.ExternalSize(3); err != nil || got != 3*want {
			t.Errorf("%s takes %d bytes, %v, want %d", typ, got, err, 3*want)
		}
	})
	if _, err := set.Type(Int).ExternalSize(-1); err == nil {
		t.Error("a negative count has a size")
	}
	// A long whose value fits 32 bits keeps value and sign.
	mem := make([]byte, 8)
	b, _ := Bind(mem, 0, set.Type(Long), 1)
	if _, err := b.UnpackExternal([]byte{0xff, 0xff, 0xff, 0xfb}); err != nil || int64(le.Uint64(mem)) != -5 {
		t.Errorf("-5 came back as % x, %v", mem, err)
	}
	b, _ = Bind(mem, 0, set.Type(UnsignedLong), 1)
	if _, err := b.UnpackExternal([]byte{0xff, 0xff, 0xff, 0xfb}); err != nil || le.Uint64(mem) != 0xfffffffb {
		t.Errorf("unsigned came back as % x, %v", mem, err)
	}
}

// quadValue is the exact value of a finite number, by its definition.
func quadValue(q quad) *big.Float {
	f := new(big.Int).SetUint64(q.hi & quadTop)
	f.Lsh(f, 64).Or(f, new(big.Int).SetUint64(q.lo))
	e := int(q.exponent())
	if e > 0 {
		f.SetBit(f, 112, 1)
	} else {
		e = 1
	}
	v := new(big.Float).SetPrec(200).SetInt(f)
	v.SetMantExp(v, e-16383-112)
	if q.sign() != 0 {
		v.Neg(v)
	}
	return v
}

func randomQuad(r *rand.Rand, exponents ...uint64) quad {
	q := makeQuad(uint64(r.IntN(2)), exponents[r.IntN(len(exponents))], r.Uint64(), r.Uint64())
	switch r.IntN(4) {
	case 0:
		q.lo = 0
	case 1: // near a tie
		q.lo = q.lo&^(1<<60-1) | 1<<59
	case 2:
		q.lo = q.lo&^(1<<49-1) | 1<<48
	}
	return q
}

// Narrowing to binary64 rounds like big.Float; widening is exact.
func TestDT26DoubleOfQuad(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		q := randomQuad(r, 0, 1, 16383, 16383+1023, 16383+1022, 16383+1024, 16383-1022, 16383-1023, 16383-1050, 16383-1074, 16383-1075, 16383-1080)
		want, _ := quadValue(q).Float64()
		if got := math.Float64frombits(doubleOfQuad(q)); got != want {
			t.Fatalf("%x: %v, want %v", q, got, want)
		}
		v := r.Uint64()
		if r.IntN(3) == 0 {
			v &^= 0x7ff << 52
		}
		f := math.Float64frombits(v)
		wide := quadOfDouble(v)
		if doubleOfQuad(wide) != v {
			t.Fatalf("%x comes back as %x", v, doubleOfQuad(wide))
		}
		if !math.IsNaN(f) && !math.IsInf(f, 0) && quadValue(wide).Cmp(big.NewFloat(f)) != 0 {
			t.Fatalf("%v became %v", f, quadValue(wide))
		}
	}
	for _, f := range []float64{math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)} {
		if v := math.Float64bits(f); doubleOfQuad(quadOfDouble(v)) != v {
			t.Errorf("%v", f)
		}
	}
	if f := math.Float64frombits(doubleOfQuad(quad{quadExponent << 48, 1})); !math.IsNaN(f) {
		t.Errorf("NaN became %v", f)
	}
}

// extendedValue is the exact value of a valid finite number of the x87.
func extendedValue(b []byte) *big.Float {
	se := int(binary.LittleEndian.Uint16(b[8:]))
	e := max(se&quadExponent, 1)
	v := new(big.Float).SetPrec(200).SetUint64(binary.LittleEndian.Uint64(b))
	v.SetMantExp(v, e-16383-63)
	if se>>15 != 0 {
		v.Neg(v)
	}
	return v
}

// The x87 format: widening is exact, narrowing rounds to nearest even.
func TestDT26ExtendedOfQuad(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	b, again := make([]byte, 16), make([]byte, 16)
	for range 20000 {
		q := randomQuad(r, 0, 1, 2, 16383, 20000, quadExponent-2)
		if r.IntN(8) == 0 {
			q.hi |= quadTop
			q.lo |= 0x7fff << 49
		}
		extendedOfQuad(b, q)
		exact := quadValue(q)
		got := extendedValue(b)
		want := new(big.Float).SetPrec(64).SetMode(big.ToNearestEven)
		if q.exponent() == 0 { // fixed point: 63 bits of the fraction
			scaled := new(big.Float).SetPrec(200).SetMantExp(exact, 16382+63)
			i, _ := scaled.Int(nil)
			rest := new(big.Float).Sub(scaled, new(big.Float).SetPrec(200).SetInt(i))
			half := big.NewFloat(0.5)
			switch c := rest.Abs(rest).Cmp(half); {
			case c > 0 || c == 0 && i.Bit(0) == 1:
				i.Add(i, big.NewInt(int64(scaled.Sign())))
			}
			want.SetInt(i)
			want.SetMantExp(want, -16382-63)
		} else {
			want.Set(exact)
		}
		if got.Cmp(want) != 0 {
			t.Fatalf("%x: %v (% x), want %v", q, got, b, want)
		}
		wide := quadOfExtended(b)
		if quadValue(wide).Cmp(got) != 0 {
			t.Fatalf("% x became %v, want %v", b, quadValue(wide), got)
		}
		extendedOfQuad(again, wide)
		if !bytes.Equal(again, b) {
			t.Fatalf("% x comes back as % x", b, again)
		}
	}
	for _, c := range []struct {
		in   string
		want quad
	}{
		{"0000000000000080ff7f", quad{quadExponent << 48, 0}},                       // infinity
		{"00000000000000c0ffff", quad{1<<63 | quadExponent<<48 | quietNaN, 0}},      // NaN
		{"0000000000000080" + "0000", quad{1 << 48, 0}},                             // pseudo-denormal
		{"0000000000000040" + "0140", quad{quadExponent<<48 | quietNaN, 0}},         // invalid
		{"0000000000000000" + "0080", quad{1 << 63, 0}},                             // -0
		{"ffffffffffffffff" + "fe7f", quad{0x7ffeffffffffffff, 0xfffe000000000000}}, // the largest
	} {
		in, _ := hex.DecodeString(c.in)
		if got := quadOfExtended(append(in, make([]byte, 6)...)); got != c.want {
			t.Errorf("%s: %x, want %x", c.in, got, c.want)
		}
	}
	extendedOfQuad(b, quad{quadExponent << 48, 1})
	if hex.EncodeToString(b[:10]) != "00000000000000c0ff7f" {
		t.Errorf("a NaN with low bits only became % x", b)
	}
	extendedOfQuad(b, quad{0x7ffeffffffffffff, 1<<63 | 0xffff<<48})
	if hex.EncodeToString(b[:10]) != "0000000000000080ff7f" {
		t.Errorf("what rounds beyond the largest became % x", b)
	}
}
