package dtype

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
	"strings"

	"github.com/halo-mpi/halo/internal/class"
)

// sig is a type signature: the sequence of basic datatypes of a typemap without
// displacements. It is a tree like that of the constructor calls, so its size depends
// on their number and not on the number of elements.
//
// Two trees of one sequence may differ. Therefore signatures are compared by a
// polynomial hash of the sequence, sum(code(i) * base^(n-1-i)) modulo 2^61-1. Hashes
// compose: the hash of two sequences in a row follows from their hashes, the hash of n
// repetitions takes log(n) steps, and the hash of a prefix takes one descent of the
// tree. Rejected: run-length normal forms, which grow without bound for vectors of structs.
type sig struct {
	n, bytes int64
	external int64 // bytes in external32
	hash     uint64
	power    uint64 // base^n
	raw      bool   // MPI_BYTE and MPI_PACKED only: matches any signature of that length
	parts    []sigPart
	one      [1]sigPart // memory of parts if there is one part
	elem     *Elem      // of a leaf
	only     *Elem      // all elements have this name, nil if they differ
}

// sigPart is count repetitions of a signature.
type sigPart struct {
	count int64
	*sig
}

const (
	sigPrime = 1<<61 - 1
	sigBase  = 0x1b873593cc9e2d51 % sigPrime // any number without structure
)

func sigMul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	// hi*2^64 + lo with 2^61 = 1.
	s := lo&sigPrime + (lo>>61 | hi<<3)
	if s >= sigPrime {
		s -= sigPrime
	}
	return s
}

func sigAdd(a, b uint64) uint64 {
	s := a + b
	if s >= sigPrime {
		s -= sigPrime
	}
	return s
}

// span is the hash of a sequence and the base to the power of its length.
type span struct{ hash, power uint64 }

func (a span) then(b span) span {
	return span{sigAdd(sigMul(a.hash, b.power), b.hash), sigMul(a.power, b.power)}
}

func (a span) times(n int64) span {
	r := span{0, 1}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r = r.then(a)
		}
		a = a.then(a)
	}
	return r
}

func (s *sig) span() span { return span{s.hash, s.power} }

// elemSig is the signature of a basic datatype.
func elemSig(e *Elem) *sig {
	// Codes are small; the multiplier spreads them over the field.
	h := sigMul(e.code%sigPrime, 0x9e3779b97f4a7c15%sigPrime) + 1
	return &sig{n: 1, bytes: e.Size, external: e.External, hash: h % sigPrime, power: sigBase, raw: e.raw(), elem: e, only: e}
}

// repeat makes s, which must be empty, the signature of n repetitions of old.
func (s *sig) repeat(c *checked, n int64, old *sig) { s.sum(c, []sigPart{{n, old}}) }

// sum makes s, which must be empty, the signature of all parts in order.
func (s *sig) sum(c *checked, parts []sigPart) {
	s.power, s.raw, s.parts = 1, true, s.one[:0]
	if len(parts) > len(s.one) {
		s.parts = make([]sigPart, 0, len(parts))
	}
	all := span{0, 1}
	for _, p := range parts {
		if p.count == 0 || p.n == 0 {
			continue
		}
		s.n = c.add(s.n, c.mul(p.count, p.n))
		s.bytes = c.add(s.bytes, c.mul(p.count, p.bytes))
		s.external = c.add(s.external, c.mul(p.count, p.external))
		s.raw = s.raw && p.raw
		all = all.then(p.span().times(p.count))
		if len(s.parts) == 0 {
			s.only = p.only
		} else if s.only != nil && (p.only == nil || p.only.Name != s.only.Name) {
			s.only = nil
		}
		s.parts = append(s.parts, p)
	}
	s.hash, s.power = all.hash, all.power
}

// first is the hash of the first n elements of s.
func (s *sig) first(n int64) span {
	if n >= s.n {
		return s.span()
	}
	all := span{0, 1}
	for _, p := range s.parts {
		if whole := p.count * p.n; n >= whole {
			all = all.then(p.span().times(p.count))
			n -= whole
			continue
		}
		all = all.then(p.span().times(n / p.n))
		return all.then(p.first(n % p.n))
	}
	return all
}

// elements is the number n of basic elements that fit the first bytes of s; whole reports
// whether they fill these bytes exactly.
func (s *sig) elements(bytes int64) (n int64, whole bool) {
	if s.elem != nil {
		if bytes >= s.elem.Size {
			return 1, bytes == s.elem.Size
		}
		return 0, bytes == 0
	}
	for _, p := range s.parts {
		if all := p.count * p.bytes; bytes >= all {
			n += p.count * p.n
			bytes -= all
			continue
		}
		k, whole := p.elements(bytes % p.bytes)
		return n + bytes/p.bytes*p.n + k, whole
	}
	return n, bytes == 0
}

// Signature identifies the sequence of basic datatypes of a message; a sender sends it with
// HALO_CHECK=1. Equal Signatures mean equal sequences, except for hash collisions, whose
// probability is 2^-50 for messages of a thousand elements.
type Signature struct {
	Elements int64 // basic ones
	Bytes    int64
	Hash     uint64
	Raw      bool // bytes without type, MPI_BYTE or MPI_PACKED
}

// Signature returns the signature of count elements of t; Bind must accept count.
func (t *Type) Signature(count int64) Signature {
	s := t.sig
	return Signature{count * s.n, count * s.bytes, s.span().times(count).hash, s.raw && count*s.n > 0}
}

// Then returns the signature of the elements of s followed by those of t. If one of the two has no
// type, the result has none.
func (s Signature) Then(t Signature) Signature {
	switch {
	case s.Elements == 0:
		return t
	case t.Elements == 0:
		return s
	}
	all := span{s.Hash, 1}.then(span{t.Hash, span{0, sigBase}.times(t.Elements).power})
	return Signature{s.Elements + t.Elements, s.Bytes + t.Bytes, all.hash, s.Raw || t.Raw}
}

// Check returns nil if a message of signature s can be received as count elements of t, else
// an error with the reason. The message may be shorter, and bytes match any type (DT-16).
// The error names both counts, and t; the caller adds the sender's type from the sender's
// Describe.
func (s Signature) Check(t *Type, count int64) error {
	room := count * t.sig.bytes
	switch {
	case s.Bytes > room:
		return class.Errorf(class.Truncate, "a message of %d elements in %d bytes for %s of %d bytes",
			s.Elements, s.Bytes, t.Describe(count), room)
	case s.Raw || t.sig.raw:
		return nil
	case s.Elements > count*t.sig.n:
		return class.Errorf(class.Type, "%d elements in %d bytes were sent, received are %s", s.Elements, s.Bytes, t.Describe(count))
	}
	if s.Elements == 0 {
		return nil
	}
	whole := s.Elements / t.sig.n
	if got := t.sig.span().times(whole).then(t.sig.first(s.Elements % t.sig.n)); got.hash != s.Hash {
		return class.Errorf(class.Type, "%d elements in %d bytes were sent of other types than are received as %s",
			s.Elements, s.Bytes, t.Describe(count))
	}
	return nil
}

// SameSignature reports whether na elements of a are the same sequence of basic
// datatypes as nb of b.
func SameSignature(a *Type, na int64, b *Type, nb int64) bool {
	return a.Signature(na) == b.Signature(nb)
}

// Elements is the number of basic elements in a message of so many bytes that is received
// as elements of t; ok is false if the message ends within an element (MPI_Get_elements).
func (t *Type) Elements(bytes int64) (n int64, ok bool) {
	s := t.sig
	if s.bytes == 0 {
		return 0, bytes == 0
	}
	k, whole := s.elements(bytes % s.bytes)
	return bytes/s.bytes*s.n + k, whole
}

// ElementsSize is the number of bytes of the first n basic elements in a message of elements
// of t, the inverse of Elements; ok is false if that number exceeds 64 bits, or if n > 0 and
// t has no elements.
func (t *Type) ElementsSize(n int64) (bytes int64, ok bool) {
	s := t.sig
	if s.n == 0 {
		return 0, n == 0
	}
	over, whole := bits.Mul64(uint64(n/s.n), uint64(s.bytes))
	if over != 0 || whole > math.MaxInt64-uint64(s.bytes) {
		return 0, false
	}
	rest := sort.Search(int(s.bytes), func(b int) bool { k, _ := s.elements(int64(b)); return k >= n%s.n })
	return int64(whole) + int64(rest), true
}

// Count is the number of elements of t in so many bytes; ok is false if bytes is not a
// multiple of the size of t (MPI_Get_count).
func (t *Type) Count(bytes int64) (n int64, ok bool) {
	if t.sig.bytes == 0 {
		return 0, bytes == 0
	}
	return bytes / t.sig.bytes, bytes%t.sig.bytes == 0
}

// describeRuns is the largest number of runs that Describe names.
const describeRuns = 6

// Describe describes count elements of t for error messages: the type, and the beginning of
// the signature as runs of basic datatypes.
func (t *Type) Describe(count int64) string {
	d := description{left: describeRuns}
	d.times(count, t.sig)
	d.flush()
	text := fmt.Sprintf("%d x %s", count, t)
	if t.elem != nil || d.b.Len() == 0 {
		return text
	}
	if d.left < 0 {
		fmt.Fprintf(&d.b, " ... %d elements in all", count*t.sig.n)
	}
	return text + " [" + strings.TrimPrefix(d.b.String(), ", ") + "]"
}

// description collects runs of basic datatypes.
type description struct {
	b    strings.Builder
	elem *Elem
	n    int64
	left int // runs that may still be written
}

// times adds count repetitions of s and reports whether there is room for more runs. It
// ends soon, because each repetition of a signature with several datatypes adds a run.
func (d *description) times(count int64, s *sig) bool {
	if s.n == 0 || count == 0 {
		return true
	}
	if s.only != nil {
		return d.add(count*s.n, s.only)
	}
	for range count {
		for _, p := range s.parts {
			if !d.times(p.count, p.sig) {
				return false
			}
		}
	}
	return true
}

func (d *description) add(n int64, e *Elem) bool {
	if d.elem != nil && d.elem.Name == e.Name {
		d.n += n
		return true
	}
	d.flush()
	d.elem, d.n = e, n
	return d.left > 0
}

func (d *description) flush() {
	if d.elem == nil {
		return
	}
	d.left--
	if d.left >= 0 {
		fmt.Fprintf(&d.b, ", %d %s", d.n, d.elem.Name)
	}
	d.elem, d.n = nil, 0
}
