package file

import (
	"math/rand/v2"
	"syscall"
)

// flaky is a file in memory whose calls transfer as little as they like, and fail when they are told
// to.
type flaky struct {
	b     []byte
	r     *rand.Rand
	room  int64 // a write beyond fails with full; 0: no limit
	full  error
	calls int
	wrote [][2]int64 // offsets and lengths of writes
}

func (s *flaky) short(n int) int {
	if s.r == nil || s.r.IntN(3) > 0 {
		return n
	}
	return 1 + s.r.IntN(n)
}

func (s *flaky) ReadAt(b []byte, off int64) (int, error) {
	s.calls++
	if off >= int64(len(s.b)) || len(b) == 0 {
		return 0, nil
	}
	n := copy(b, s.b[off:])
	return s.short(n), nil
}

func (s *flaky) WriteAt(b []byte, off int64) (int, error) {
	s.calls++
	if s.room > 0 && off >= s.room {
		return 0, s.full
	}
	if s.room > 0 {
		b = b[:min(int64(len(b)), s.room-off)]
	}
	b = b[:s.short(len(b))]
	if end := off + int64(len(b)); end > int64(len(s.b)) {
		s.b = append(s.b, make([]byte, end-int64(len(s.b)))...)
	}
	s.wrote = append(s.wrote, [2]int64{off, int64(len(b))})
	return copy(s.b[off:], b), nil
}

func (s *flaky) vectors(list [][]byte, off int64, move func([]byte, int64) (int, error)) (n int, err error) {
	for _, b := range list {
		k, err := move(b, off+int64(n))
		n += k
		if err != nil || k < len(b) {
			if n > 0 {
				err = nil
			}
			return n, err
		}
	}
	return n, nil
}

func (s *flaky) ReadVectors(list [][]byte, off int64) (int, error) {
	return s.vectors(list, off, s.ReadAt)
}

func (s *flaky) WriteVectors(list [][]byte, off int64) (int, error) {
	return s.vectors(list, off, s.WriteAt)
}

func (s *flaky) Sync() error                       { return nil }
func (s *flaky) Size() (int64, error)              { return int64(len(s.b)), nil }
func (s *flaky) Truncate(int64) error              { return syscall.EIO }
func (s *flaky) Allocate(int64) error              { return syscall.EIO }
func (s *flaky) Lock(int64, int64, bool) error     { return nil }
func (s *flaky) Unlock(int64, int64) error         { return nil }
func (s *flaky) Identity() (uint64, uint64, error) { return 0, 0, nil }
func (s *flaky) Close() error                      { return nil }
