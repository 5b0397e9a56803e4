package mpi_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// line is the file and line of its caller.
func line() string {
	_, file, n, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), n)
}

// printed is the text that fn prints on standard error.
func printed(t *testing.T, fn func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	ok(t, err)
	text := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		text <- string(b)
	}()
	was := os.Stderr
	os.Stderr = w
	fn()
	os.Stderr = was
	w.Close()
	defer r.Close()
	return <-text
}

// In checking mode Finalize lists what was never freed or waited for, with the places of the
// calls. It lists neither what was freed nor what cannot be freed.
func TestFinalizeListsWhatIsLeft(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			var dup, win, send, again string
			text := printed(t, func() {
				ok(t, mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
					for range 200 { // these are freed
						d, err := c.Dup()
						ok(t, err)
						ok(t, d.Free())
					}
					w, err := mpi.WinAllocate[int64](c, 4)
					ok(t, err)
					ok(t, w.Free())
					other := 1 - c.Rank()
					ok(t, waitFor(mpi.Isend(c, []int32{1}, other, 1)))
					_, err = mpi.Recv(c, make([]int32, 1), other, 1)
					ok(t, err)
					q := mpi.Isend(c, []int32{1}, other, 1)
					ok(t, q.Free())
					_, err = mpi.Recv(c, make([]int32, 1), other, 1)
					ok(t, err)

					_, err = c.Dup()
					at := line()
					ok(t, err)
					if c.Rank() == 0 {
						dup = at
					}
					_, err = mpi.WinAllocate[int64](c, 4)
					at = line()
					ok(t, err)
					if c.Rank() == 0 {
						win = at
						for range 3 {
							mpi.Isend(c, []int32{1}, 1, 2)
							send = line()
						}
						mpi.RecvInit(c, make([]int32, 1), 1, 3)
						again = line()
						return nil
					}
					for range 3 {
						_, err = mpi.Recv(c, make([]int32, 1), 0, 2)
						ok(t, err)
					}
					return nil
				}))
			})
			number := func(at string, before int) string {
				var n int
				file, digits, _ := strings.Cut(at, ":")
				fmt.Sscan(digits, &n)
				return fmt.Sprintf("%s:%d", file, n-before)
			}
			for _, rank := range []int{0, 1} {
				want := fmt.Sprintf("halo: rank %d: never freed: 1 communicator, made at %s\n", rank, number(dup, 1))
				if rank == 0 {
					want += fmt.Sprintf("halo: rank 0: never freed: 1 persistent request of RecvInit, made at %s\n", number(again, 1))
				}
				want += fmt.Sprintf("halo: rank %d: never freed: 1 window, made at %s\n", rank, number(win, 1))
				if rank == 0 {
					want += fmt.Sprintf("halo: rank 0: never waited for: 3 requests of Isend, made at %s\n", number(send, 1))
				}
				if !strings.Contains(text, want) || strings.Count(text, "\n") != 6 {
					t.Errorf("%swant\n%s", text, want)
				}
			}
		})
	}
}

// BRD-08: messages that nobody has received are listed with their senders' lines, those on a communicator that was
// freed, too; those of sessions and of collectives are not.
func TestBRD08_UnreceivedMessagesAreListed(t *testing.T) {
	for _, check := range []string{"1", ""} {
		for _, fabric := range mpitest.Fabrics() {
			t.Run(check+fabric, func(t *testing.T) {
				t.Setenv("HALO_CHECK", check)
				var first, other string
				text := printed(t, func() {
					ok(t, mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
						d, err := c.Dup()
						ok(t, err)
						if c.Rank() == 0 {
							for range 2 {
								ok(t, mpi.Send(c, []int64{1}, 1, 7))
							}
							first = line()
							ok(t, mpi.Send(d, make([]byte, 100), 1, 8))
							other = line()
							ok(t, mpi.Send(c, []int64{1}, 1, 9))
						} else {
							ok(t, second(mpi.Recv(c, make([]int64, 1), 0, 9)))
						}
						ok(t, c.Barrier())
						return d.Free()
					}))
				})
				want := ""
				if check != "" {
					want = fmt.Sprintf("halo: rank 1: never received: 2 messages of 8 bytes from 0 tag 7, made at %s\n"+
						"halo: rank 1: never received: 1 message of 100 bytes from 0 tag 8, made at %s\n", earlier(first, 2), earlier(other, 1))
				}
				if text != want {
					t.Errorf("%swant\n%s", text, want)
				}
			})
		}
	}
}

// earlier is the place some lines before another one.
func earlier(at string, lines int) string {
	file, digits, _ := strings.Cut(at, ":")
	n, _ := strconv.Atoi(digits)
	return fmt.Sprintf("%s:%d", file, n-lines)
}

// A receive that is still posted is ErrPending, and is listed with its place; without checking
// mode nothing is listed.
func TestFinalizePlacesPendingRequests(t *testing.T) {
	for _, check := range []string{"1", ""} {
		t.Setenv("HALO_CHECK", check)
		var at string
		text := printed(t, func() {
			err := mpi.Run(1, func(c *mpi.Comm) error {
				mpi.Irecv(c, make([]int32, 1), 0, 5)
				at = line()
				_, err := c.Dup()
				return err
			})
			refused(t, err, mpi.ErrPending, "1 receive is still posted")
		})
		var n int
		fmt.Sscan(at[strings.Index(at, ":")+1:], &n)
		want := fmt.Sprintf("halo: rank 0: never waited for: 1 request of Irecv, made at leftover_test.go:%d\n", n-1)
		if check == "" {
			want = ""
		}
		if text != want {
			t.Errorf("HALO_CHECK=%s: %q, want %q", check, text, want)
		}
	}
}
