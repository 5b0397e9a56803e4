package dtype

// ID names a predefined type by the value of its handle in the MPI-5 ABI.
type ID uint16

// The predefined types (MPI-5, annex A.1.1).
const (
	Aint                 ID = 0x201
	Count                ID = 0x202
	Offset               ID = 0x203
	Packed               ID = 0x207
	Short                ID = 0x208
	Int                  ID = 0x209
	Long                 ID = 0x20a
	LongLong             ID = 0x20b // MPI_LONG_LONG_INT, MPI_LONG_LONG its synonym
	UnsignedShort        ID = 0x20c
	Unsigned             ID = 0x20d
	UnsignedLong         ID = 0x20e
	UnsignedLongLong     ID = 0x20f
	Float                ID = 0x210
	CFloatComplex        ID = 0x212 // MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX its synonym
	CXXFloatComplex      ID = 0x213
	Double               ID = 0x214
	CDoubleComplex       ID = 0x216
	CXXDoubleComplex     ID = 0x217
	FortranLogical       ID = 0x218
	FortranInteger       ID = 0x219
	FortranReal          ID = 0x21a
	FortranComplex       ID = 0x21b
	DoublePrecision      ID = 0x21c
	DoubleComplex        ID = 0x21d
	FortranCharacter     ID = 0x21e
	LongDouble           ID = 0x220
	CLongDoubleComplex   ID = 0x224
	CXXLongDoubleComplex ID = 0x225
	FloatInt             ID = 0x228
	DoubleInt            ID = 0x229
	LongInt              ID = 0x22a
	TwoInt               ID = 0x22b
	ShortInt             ID = 0x22c
	LongDoubleInt        ID = 0x22d
	TwoReal              ID = 0x230
	TwoDoublePrecision   ID = 0x231
	TwoInteger           ID = 0x232
	CBool                ID = 0x238
	CXXBool              ID = 0x239
	Wchar                ID = 0x23c
	Int8                 ID = 0x240
	Uint8                ID = 0x241
	Char                 ID = 0x243
	SignedChar           ID = 0x244
	UnsignedChar         ID = 0x245
	Byte                 ID = 0x247
	Int16                ID = 0x248
	Uint16               ID = 0x249
	Int32                ID = 0x250
	Uint32               ID = 0x251
	Int64                ID = 0x258
	Uint64               ID = 0x259
	Logical1             ID = 0x2c0
	Integer1             ID = 0x2c1
	Logical2             ID = 0x2c8
	Integer2             ID = 0x2c9
	Real2                ID = 0x2ca
	Logical4             ID = 0x2d0
	Integer4             ID = 0x2d1
	Real4                ID = 0x2d2
	Complex4             ID = 0x2d3
	Logical8             ID = 0x2d8
	Integer8             ID = 0x2d9
	Real8                ID = 0x2da
	Complex8             ID = 0x2db
	Logical16            ID = 0x2e0
	Integer16            ID = 0x2e1
	Real16               ID = 0x2e2
	Complex16            ID = 0x2e3
	Complex32            ID = 0x2eb
)

// firstID and lastID are the least and the greatest ID; not all values between are used.
const (
	firstID = Aint
	lastID  = Complex32
)

// elements returns the basic datatypes with sizes that Fortran does not choose. The last
// argument is the size in external32 by the standard's table (14.2), 0 if it equals the
// size in memory.
func elements() []*Elem {
	long, wide, ld := cLong(), cWide(), cLongDouble()
	e := newElem
	return []*Elem{
		e(Aint, "MPI_AINT", pointerSize, Integer, 0, 8),
		e(Count, "MPI_COUNT", 8, Integer, 0, 0),
		e(Offset, "MPI_OFFSET", 8, Integer, 0, 0),
		e(Packed, "MPI_PACKED", 1, Opaque, 0, 0),
		e(Short, "MPI_SHORT", 2, Integer, 0, 0),
		e(Int, "MPI_INT", 4, Integer, 0, 0),
		e(Long, "MPI_LONG", long, Integer, 0, 4),
		e(LongLong, "MPI_LONG_LONG_INT", 8, Integer, 0, 0),
		e(UnsignedShort, "MPI_UNSIGNED_SHORT", 2, Natural, 0, 0),
		e(Unsigned, "MPI_UNSIGNED", 4, Natural, 0, 0),
		e(UnsignedLong, "MPI_UNSIGNED_LONG", long, Natural, 0, 4),
		e(UnsignedLongLong, "MPI_UNSIGNED_LONG_LONG", 8, Natural, 0, 0),
		e(Float, "MPI_FLOAT", 4, Floating, Single, 0),
		e(CFloatComplex, "MPI_C_COMPLEX", 8, Complex, Single, 0),
		e(CXXFloatComplex, "MPI_CXX_FLOAT_COMPLEX", 8, Complex, Single, 0),
		e(Double, "MPI_DOUBLE", 8, Floating, Double64, 0),
		e(CDoubleComplex, "MPI_C_DOUBLE_COMPLEX", 16, Complex, Double64, 0),
		e(CXXDoubleComplex, "MPI_CXX_DOUBLE_COMPLEX", 16, Complex, Double64, 0),
		e(FortranCharacter, "MPI_CHARACTER", 1, Character, 0, 0),
		e(LongDouble, "MPI_LONG_DOUBLE", ld.size(), Floating, ld, 16),
		e(CLongDoubleComplex, "MPI_C_LONG_DOUBLE_COMPLEX", 2*ld.size(), Complex, ld, 32),
		e(CXXLongDoubleComplex, "MPI_CXX_LONG_DOUBLE_COMPLEX", 2*ld.size(), Complex, ld, 32),
		e(CBool, "MPI_C_BOOL", 1, Boolean, 0, 0),
		e(CXXBool, "MPI_CXX_BOOL", 1, Boolean, 0, 0),
		e(Wchar, "MPI_WCHAR", wide, Wide, 0, 2),
		e(Int8, "MPI_INT8_T", 1, Integer, 0, 0),
		e(Uint8, "MPI_UINT8_T", 1, Natural, 0, 0),
		e(Char, "MPI_CHAR", 1, Character, 0, 0),
		e(SignedChar, "MPI_SIGNED_CHAR", 1, Integer, 0, 0),
		e(UnsignedChar, "MPI_UNSIGNED_CHAR", 1, Natural, 0, 0),
		e(Byte, "MPI_BYTE", 1, Raw, 0, 0),
		e(Int16, "MPI_INT16_T", 2, Integer, 0, 0),
		e(Uint16, "MPI_UINT16_T", 2, Natural, 0, 0),
		e(Int32, "MPI_INT32_T", 4, Integer, 0, 0),
		e(Uint32, "MPI_UINT32_T", 4, Natural, 0, 0),
		e(Int64, "MPI_INT64_T", 8, Integer, 0, 0),
		e(Uint64, "MPI_UINT64_T", 8, Natural, 0, 0),
		e(Logical1, "MPI_LOGICAL1", 1, Logical, 0, 0),
		e(Integer1, "MPI_INTEGER1", 1, Integer, 0, 0),
		e(Logical2, "MPI_LOGICAL2", 2, Logical, 0, 0),
		e(Integer2, "MPI_INTEGER2", 2, Integer, 0, 0),
		e(Real2, "MPI_REAL2", 2, Floating, Half, 0),
		e(Logical4, "MPI_LOGICAL4", 4, Logical, 0, 0),
		e(Integer4, "MPI_INTEGER4", 4, Integer, 0, 0),
		e(Real4, "MPI_REAL4", 4, Floating, Single, 0),
		e(Complex4, "MPI_COMPLEX4", 4, Complex, Half, 0),
		e(Logical8, "MPI_LOGICAL8", 8, Logical, 0, 0),
		e(Integer8, "MPI_INTEGER8", 8, Integer, 0, 0),
		e(Real8, "MPI_REAL8", 8, Floating, Double64, 0),
		e(Complex8, "MPI_COMPLEX8", 8, Complex, Single, 0),
		e(Logical16, "MPI_LOGICAL16", 16, Logical, 0, 0),
		e(Integer16, "MPI_INTEGER16", 16, Integer, 0, 0),
		e(Real16, "MPI_REAL16", 16, Floating, Quad, 0),
		e(Complex16, "MPI_COMPLEX16", 16, Complex, Double64, 0),
		e(Complex32, "MPI_COMPLEX32", 32, Complex, Quad, 0),
	}
}

// pair describes a predefined type of a value and an index for MINLOC and MAXLOC, with
// the layout of a struct of C.
type pair struct {
	id           ID
	name         string
	value, index ID
}

// pairs returns the predefined pair types, as an array so that a lookup does not allocate.
func pairs() [9]pair {
	return [...]pair{
		{FloatInt, "MPI_FLOAT_INT", Float, Int},
		{DoubleInt, "MPI_DOUBLE_INT", Double, Int},
		{LongInt, "MPI_LONG_INT", Long, Int},
		{TwoInt, "MPI_2INT", Int, Int},
		{ShortInt, "MPI_SHORT_INT", Short, Int},
		{LongDoubleInt, "MPI_LONG_DOUBLE_INT", LongDouble, Int},
		{TwoReal, "MPI_2REAL", FortranReal, FortranReal},
		{TwoDoublePrecision, "MPI_2DOUBLE_PRECISION", DoublePrecision, DoublePrecision},
		{TwoInteger, "MPI_2INTEGER", FortranInteger, FortranInteger},
	}
}
