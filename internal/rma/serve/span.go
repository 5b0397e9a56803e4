package serve

import (
	"math"

	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// takeSpan checks that the memory is attached which the following frames of an operation access: link.Link sends such an
// announcement before a long operation on a dynamic window.
func (s *Server) takeSpan(from int, w *Window, h *wire.Header, payload []byte) {
	k := faultKey{int32(from), h.Chan}
	if h.Flags&wire.Spanned == 0 {
		delete(w.denied, k)
	}
	if w.Attached == nil {
		s.link.Refuse(from, "it has told of an access to memory that is not attached, but made with its window")
		return
	}
	count := int(h.Tag)
	if count == 0 {
		n := s.length(from, payload)
		if n < 0 {
			return
		}
		if _, _, err := w.Place(h.Arg, n); err != nil {
			w.denies(k, w.fault(h, uint64(n), err))
		}
		return
	}
	if count < 0 || count > operation.RunsMax || len(payload) != count*operation.RunSize {
		s.link.Refuse(from, "it has told of %d runs in %d bytes", count, len(payload))
		return
	}
	for i := range count {
		r := operation.DecodeRuns(payload, i)
		size, ok := r.Bytes(math.MaxInt64, 1)
		if !ok {
			s.link.Refuse(from, "it has told of a run of %d blocks of %d bytes", r.Count, r.Length)
			return
		}
		err := error(errReach)
		if lo, n, ok := r.Reach(h.Arg); ok && n <= math.MaxInt64 {
			_, _, err = w.Place(lo, int64(n))
			if err != nil && w.holds(lo, n, &r) {
				err = nil
			}
		}
		if err != nil {
			w.denies(k, w.fault(h, uint64(size), err))
			return
		}
	}
}

// denies notes that the following frames of an operation, from a member by a channel, are to be
// refused.
func (w *Window) denies(k faultKey, f *operation.Fault) {
	if w.denied == nil {
		w.denied = make(map[faultKey]operation.Fault)
	}
	if _, ok := w.denied[k]; !ok {
		w.denied[k] = *f
	}
}

// spanned refuses a frame of an operation that was denied, and reports whether it did.
func (s *Server) spanned(from int, w *Window, h *wire.Header) bool {
	if h.Flags&wire.Spanned == 0 || len(w.denied) == 0 {
		return false
	}
	f, denied := w.denied[faultKey{int32(from), h.Chan}]
	if denied {
		f.Kind = h.Kind
		s.deny(from, w, h, &f)
	}
	return denied
}

// holds reports whether the blocks of a run are attached, which reach n bytes from lo on; bytes between
// blocks need not be.
func (w *Window) holds(lo, n uint64, r *operation.Runs) bool {
	return w.Attached.Holds(lo, n, func(from, to uint64) bool { return r.Overlaps(from-lo, to-lo) })
}
