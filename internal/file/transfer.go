package file

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
)

// An independent access makes, in this order of preference:
//
//   - one system call, where memory and view are contiguous
//   - vectored calls, where the view is contiguous and memory consists of long blocks
//   - a call for each run of the view; a read that finds several short runs with short holes
//     between them reads the holes, too (data sieving)
//
// Memory in short blocks is packed in pieces, which then are contiguous memory. Nothing depends on
// the number of runs: the loop program finds the runs of any position in logarithmic time.
//
// Rejected: data sieving for writes, which would write back bytes that another process may have
// written meanwhile.

const (
	// pieceSize is the number of bytes that are packed at a time: they stay near the core until they
	// are written. Rows of 256 bytes take 1.7 x the time of contiguous memory, also with 256 KiB, and 2 x with
	// 16 KiB. A vector of the kernel for each row takes 2.4 x.
	pieceSize = 64 << 10
	// batch is the number of runs that an access looks at first, and longBatch the number that it looks at
	// together from then on. 4096 runs of 64 bytes with holes of 192 bytes are read in 116 us by 64 at a time,
	// and in 91 us by 512.
	batch     = 64
	longBatch = 512
	// sieveHole and sieveRun are the longest hole, and the longest run, that are read together with
	// others: a system call takes as long as some 8 KiB more take to read from the page cache.
	sieveHole = 8 << 10
	sieveRun  = 32 << 10
)

// transfer moves bytes between m and the view, from position at on. It returns how many: a read
// returns less than m has where the file ends.
func (f *File) transfer(v *View, m mem.Mem, at int64, write bool) (int64, error) {
	if m.Len() == 0 {
		return 0, nil
	}
	if f.report != nil {
		f.tellTransfer(v, m, at, Direction(write))
	}
	b, row := m.Bytes()
	switch {
	case row && v.dense:
		return f.span(b, v.first+at, write)
	case row:
		return f.runs(v, b, at, write)
	case v.dense && m.Gathers():
		return f.vectors(m, v.first+at, write)
	}
	return f.pieces(v, m, at, write)
}

// span moves b to or from offset off of the file.
func (f *File) span(b []byte, off int64, write bool) (int64, error) {
	done := 0
	for done < len(b) {
		rest := b[done:]
		n, err := 0, error(nil)
		if write {
			n, err = f.within(len(rest), off+int64(done))
			if err == nil {
				n, err = f.store.WriteAt(rest[:n], off+int64(done))
				if n == 0 && err == nil {
					err = class.Errorf(class.IO, "the file system wrote nothing and gave no reason")
				}
			}
		} else {
			n, err = f.store.ReadAt(rest, off+int64(done))
			if n == 0 && err == nil {
				break // the end of the file
			}
		}
		if planted.ShortTaken && write && n > 0 {
			n = len(rest)
		}
		done += n
		if err != nil {
			return int64(done), f.accessError(err, len(rest), off+int64(done), write)
		}
	}
	return int64(done), nil
}

func (f *File) accessError(err error, n int, off int64, write bool) error {
	what := "read"
	if write {
		what = "write"
	}
	return failed(err, "%s of %d bytes at byte %d", what, n, off)
}

// within returns how many of n bytes at an offset the process may write: it does not begin a write
// beyond its limit on the size of files, for which the kernel would end a program in C.
func (f *File) within(n int, off int64) (int, error) {
	switch {
	case f.limit == 0 || off+int64(n) <= f.limit:
		return n, nil
	case off < f.limit:
		return int(f.limit - off), nil
	}
	return 0, class.Errorf(class.Quota, "this process may write files of up to %d bytes (ulimit -f)", f.limit)
}

// vectors moves memory in long blocks to or from contiguous bytes of the file.
func (f *File) vectors(m mem.Mem, off int64, write bool) (int64, error) {
	var list [64][]byte
	done := 0
	for done < m.Len() {
		most := m.Len()
		if write {
			n, err := f.within(m.Len()-done, off+int64(done))
			if err != nil {
				return int64(done), f.accessError(err, m.Len()-done, off+int64(done), write)
			}
			most = done + n
		}
		k, _ := m.Blocks(list[:min(len(list), sys.FileVectors)], done, most)
		move := f.store.ReadVectors
		if write {
			move = f.store.WriteVectors
		}
		n, err := move(list[:k], off+int64(done))
		if n == 0 && err == nil {
			if !write {
				break
			}
			err = class.Errorf(class.IO, "the file system wrote nothing and gave no reason")
		}
		if err != nil {
			return int64(done), f.accessError(err, m.Len()-done, off+int64(done), write)
		}
		done += n
	}
	return int64(done), nil
}

// pieces moves memory that is not contiguous through a buffer.
func (f *File) pieces(v *View, m mem.Mem, at int64, write bool) (int64, error) {
	buf := f.e.buffers.get(min(pieceSize, m.Len()))
	defer f.e.buffers.put(buf)
	done := 0
	for done < m.Len() {
		piece := buf[:min(len(buf), m.Len()-done)]
		if write {
			m.Pack(piece, done)
		}
		n, err := int64(0), error(nil)
		if v.dense {
			n, err = f.span(piece, v.first+at+int64(done), write)
		} else {
			n, err = f.runs(v, piece, at+int64(done), write)
		}
		if !write {
			m.Unpack(piece[:n], done)
		}
		done += int(n)
		if err != nil || int(n) < len(piece) {
			return int64(done), err
		}
	}
	return int64(done), nil
}

// runs moves contiguous memory to or from the runs of the view.
func (f *File) runs(v *View, b []byte, at int64, write bool) (int64, error) {
	var list [batch]dtype.Run
	k, next := v.tiles.Runs(list[:], at, int64(len(b)))
	done, err := f.each(v, list[:k], b[:next-at], write)
	if err == nil && done == next-at && done < int64(len(b)) {
		var more int64
		more, err = f.manyRuns(v, b[done:], next, write)
		done += more
	}
	return done, err
}

// manyRuns is runs with a longer list, which a short access would clear in vain.
func (f *File) manyRuns(v *View, b []byte, at int64, write bool) (int64, error) {
	var list [longBatch]dtype.Run
	for done := int64(0); ; {
		k, next := v.tiles.Runs(list[:], at+done, int64(len(b))-done)
		want := next - at
		n, err := f.each(v, list[:k], b[done:want], write)
		done += n
		if err != nil || done < want || done == int64(len(b)) {
			return done, err
		}
	}
}

// each moves b to or from these runs.
func (f *File) each(v *View, runs []dtype.Run, b []byte, write bool) (done int64, err error) {
	for len(runs) > 0 {
		n, want, together := int64(0), runs[0].Len, 1
		if !write {
			together, want = f.sieved(runs)
		}
		if together > 1 {
			n, err = f.sieve(v, runs[:together], b)
		} else {
			n, err = f.span(b[:want], v.Disp+runs[0].Off, write)
		}
		done += n
		if err != nil || n < want {
			return done, err
		}
		b, runs = b[want:], runs[together:]
	}
	return done, nil
}

// sieved returns how many of the first runs a read takes together, and how many bytes these have.
func (f *File) sieved(runs []dtype.Run) (n int, bytes int64) {
	n, bytes = 1, runs[0].Len
	h := f.hints.Load()
	if h.Sieve == Disable || bytes > sieveRun {
		return n, bytes
	}
	for end := runs[0].Off + runs[0].Len; n < len(runs); n++ {
		r := runs[n]
		if r.Off < end || r.Off-end > sieveHole || r.Len > sieveRun || r.Off+r.Len-runs[0].Off > int64(h.ReadBuffer) {
			break
		}
		end = r.Off + r.Len
		bytes += r.Len
	}
	return n, bytes
}

// sieve reads all from the first run to the last, and copies the runs to b. It returns how many
// bytes of the runs the file has.
func (f *File) sieve(v *View, runs []dtype.Run, b []byte) (done int64, err error) {
	first, last := runs[0], runs[len(runs)-1]
	buf := f.e.buffers.get(int(last.Off + last.Len - first.Off))
	defer f.e.buffers.put(buf)
	n, err := f.span(buf, v.Disp+first.Off, false)
	for _, r := range runs {
		from := r.Off - first.Off
		if planted.SieveByOne && len(runs) >= batch {
			from++
		}
		k := int64(copy(b[:r.Len], buf[min(from, n):min(from+r.Len, n)]))
		done += k
		b = b[r.Len:]
		if k < r.Len {
			break
		}
	}
	return done, err
}
