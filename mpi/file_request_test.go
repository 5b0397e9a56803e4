package mpi_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// P2P-11, IO-05: accesses of files, collective ones too, complete in every call that waits or tests, mixed with
// messages and requests of the program; one that fails has its own error, and one that the end of the file cuts
// its own count.
func TestP2P11_IO05_AccessesAmongOtherRequests(t *testing.T) {
	const n = 7
	bytesOf := [n]int64{3, 100, 50, 0, 200, 0, 8} // of each request, by the order in start
	const fails = 3
	note := func(t testing.TB, call string, seen *[n]bool, i int, st mpi.Status, err error) {
		t.Helper()
		if seen[i] || st.Bytes() != bytesOf[i] || (err != nil) != (i == fails) || err != nil && !errors.Is(err, mpi.ErrArg) {
			t.Errorf("%s: request %d, complete before: %v: %d bytes, want %d, %v", call, i, seen[i], st.Bytes(), bytesOf[i], err)
		}
		seen[i] = true
	}
	ways := []struct {
		name string
		all  func(t testing.TB, rs []mpi.Request, seen *[n]bool)
	}{
		{"Wait", func(t testing.TB, rs []mpi.Request, seen *[n]bool) {
			for i := range rs {
				st, err := rs[i].Wait()
				note(t, "Wait", seen, i, st, err)
			}
		}},
		{"Test", func(t testing.TB, rs []mpi.Request, seen *[n]bool) {
			for left := n; left > 0; {
				for i := range rs {
					if st, done, err := rs[i].Test(); done && !seen[i] {
						note(t, "Test", seen, i, st, err)
						left--
					}
				}
			}
		}},
		{"Waitany", func(t testing.TB, rs []mpi.Request, seen *[n]bool) {
			for i, st, err := mpi.Waitany(rs); i != mpi.Undefined; i, st, err = mpi.Waitany(rs) {
				note(t, "Waitany", seen, i, st, err)
			}
		}},
		{"Testany", func(t testing.TB, rs []mpi.Request, seen *[n]bool) {
			for {
				i, st, done, err := mpi.Testany(rs)
				if done && i == mpi.Undefined {
					return
				}
				if done {
					note(t, "Testany", seen, i, st, err)
				}
			}
		}},
		{"Waitsome", func(t testing.TB, rs []mpi.Request, seen *[n]bool) {
			at, sts := make([]int, n), make([]mpi.Status, n)
			for k, _ := mpi.Waitsome(rs, at, sts); k != mpi.Undefined; k, _ = mpi.Waitsome(rs, at, sts) {
				for j := range k {
					note(t, "Waitsome", seen, at[j], sts[j], sts[j].Err)
				}
			}
		}},
		{"Testsome", func(t testing.TB, rs []mpi.Request, seen *[n]bool) {
			at, sts := make([]int, n), make([]mpi.Status, n)
			for k, _ := mpi.Testsome(rs, at, sts); k != mpi.Undefined; k, _ = mpi.Testsome(rs, at, sts) {
				for j := range k {
					note(t, "Testsome", seen, at[j], sts[j], sts[j].Err)
				}
			}
		}},
		{"Waitall", func(t testing.TB, rs []mpi.Request, seen *[n]bool) {
			sts := make([]mpi.Status, n)
			wantClass(t, mpi.Waitall(rs, sts), mpi.ErrInStatus)
			for i, st := range sts {
				note(t, "Waitall", seen, i, st, st.Err)
			}
		}},
		{"Testall", func(t testing.TB, rs []mpi.Request, seen *[n]bool) {
			sts := make([]mpi.Status, n)
			done, err := mpi.Testall(rs, sts)
			for ; !done; done, err = mpi.Testall(rs, sts) {
				ok(t, err)
			}
			wantClass(t, err, mpi.ErrInStatus)
			for i, st := range sts {
				note(t, "Testall", seen, i, st, st.Err)
			}
		}},
	}
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		me, peer := int64(c.Rank()), 1-c.Rank()
		buf := bytes.Repeat([]byte{byte(me)}, 1000)
		if me == 0 {
			_, err := mpi.WriteAt(f, 0, make([]byte, 10_000))
			ok(t, err)
		}
		for _, way := range ways {
			ok(t, c.Barrier())
			rs := []mpi.Request{
				mpi.Irecv(c, make([]byte, 3), peer, 1),
				mpi.IwriteAt(f, 1000+100*me, buf[:100]),
				mpi.IreadAt(f, 9950, make([]byte, 200)), // the end of the file cuts it
				mpi.IwriteAt(f, -1, buf[:10]),
				mpi.IreadAtAll(f, 100*me, make([]byte, 200)),
				mpi.Isend(c, buf[:3], peer, 1),
				mpi.IwriteAtAll(f, 3000+8*me, buf[:8]),
			}
			var seen [n]bool
			way.all(t, rs, &seen)
			if seen != [n]bool{true, true, true, true, true, true, true} {
				t.Errorf("%s completes %v", way.name, seen)
			}
		}
		ok(t, f.Close())
	})
}

// TRM-13, X-CNT-01: offsets have 64 bits in every call: accesses at 5 GiB, and beyond 2^40 bytes and 2^32 elements,
// of all families, in a file that has next to no blocks on the disk.
func TestTRM13_XCNT01_FarOffsets(t *testing.T) {
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile|mpi.ModeDeleteOnClose)
		double := typeOf[float64]()
		me := int64(c.Rank())
		for _, disp := range []int64{0, 1 << 33} {
			ok(t, f.SetView(disp, double, double, "native"))
			for _, at := range []int64{5 << 30 / 8, 1<<37 + 3} {
				value := func(k int64) []float64 { return []float64{float64(at+disp) + float64(k)/16} }
				got := make([]float64, 1)
				wants := func(k int64, st mpi.Status, err error) {
					t.Helper()
					ok(t, err)
					if st.Bytes() != 8 || got[0] != value(k)[0] {
						t.Errorf("at %d: read %v, want %v; %d bytes", at, got, value(k), st.Bytes())
					}
				}
				if b, err := f.ByteOffset(at); b != disp+8*at || err != nil {
					t.Errorf("element %d is at byte %d, %v", at, b, err)
				}
				_, err := mpi.WriteAt(f, at+me, value(me))
				ok(t, err)
				st, err := mpi.ReadAt(f, at+me, got)
				wants(me, st, err)
				_, err = f.Seek(at+2+me, mpi.SeekSet)
				ok(t, err)
				_, err = mpi.WriteAll(f, value(2+me))
				ok(t, err)
				if now, err := f.Position(); now != at+3+me || err != nil {
					t.Errorf("pointer at %d, %v", now, err)
				}
				st, err = mpi.ReadAtAll(f, at+2+me, got)
				wants(2+me, st, err)
				_, err = f.SeekShared(at+4, mpi.SeekSet)
				ok(t, err)
				_, err = mpi.WriteOrdered(f, value(4+me))
				ok(t, err)
				ok(t, c.Barrier())
				st, err = mpi.ReadAt(f, at+5-me, got) // what the other one has written
				wants(5-me, st, err)
				if now, err := f.PositionShared(); now != at+6 || err != nil {
					t.Errorf("shared pointer at %d, %v", now, err)
				}
				if size, err := f.Size(); size != disp+8*(at+6) || err != nil {
					t.Errorf("%d bytes, %v, want %d", size, err, disp+8*(at+6))
				}
				ok(t, c.Barrier())
				ok(t, f.SetSize(0))
			}
		}
		ok(t, f.Close())
	})
}

// ERR-13, IO-14: errors of RegisterDatarep, which has no file, go to the default error handler of files.
func TestERR13_IO14_RegistrationsWithoutAFile(t *testing.T) {
	defer func() { ok(t, mpi.SetDefaultFileErrhandler(mpi.ErrorsReturn)) }()
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		var seen []*mpi.Error
		ok(t, mpi.SetDefaultFileErrhandler(mpi.CreateFileErrhandler(func(f *mpi.File, err *mpi.Error) { seen = append(seen, err) })))
		extent := func(d mpi.Datatype) (int, error) { return d.Size() }
		for name, class := range map[string]mpi.Class{"native": mpi.ErrDupDatarep, strings.Repeat("x", 1+rand.IntN(100)+mpi.MaxDatarepString): mpi.ErrArg} {
			seen = nil
			err := mpi.RegisterDatarep(c, name, mpi.Datarep{Extent: extent})
			wantClass(t, err, class)
			if len(seen) != 1 || seen[0] != err {
				t.Errorf("the default handler got %v, the call returned %v", seen, err)
			}
		}
		ok(t, mpi.SetDefaultFileErrhandler(mpi.ErrorsReturn))
	})
}
