package mpi

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// announce makes the engine of c announce to rank dest a message of size bytes that does not
// exist.
func announce(c *Comm, dest, tag int, size uint64) {
	p := c.w.Proc
	p.Lock()
	defer p.Unlock()
	h := wire.Header{Kind: wire.Ready, Ctx: c.core.Ctx, Tag: int32(tag), Arg: size, Name: 77<<32 | 1<<20}
	p.Queue(int(c.core.Members[dest]), &h, nil, nil)
}

// RecvSlice allocates nothing for a message that cannot fit: it fails, and the sender and all
// ranks continue. BRD-09: the sender does not read the message either. It is in a file without pages, so that each
// page that is read takes memory on any kernel, and is counted.
func TestS6_BRD09_RecvSliceOfMoreThanMemory(t *testing.T) {
	const mostRead = 32 << 20 // of each fabric; pages of 2 MiB count whole
	have := sys.PhysicalMemory()
	f, err := sys.Memfd("test", int64(have)+1<<20)
	if err != nil {
		t.Skip("the kernel gives no file that is larger than the memory: ", err)
	}
	defer f.Close()
	huge, err := sys.Map(f, int64(have)+1<<20)
	if err != nil {
		t.Skipf("the kernel gives no %d bytes of address space: %v", have+1<<20, err)
	}
	defer sys.Unmap(huge)
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		err := internals{}.RunOver(fabric, 2, func(c *Comm) error {
			if c.Rank() == 1 {
				if err := Ssend(c, huge, 0, 1); err != nil { // it returns
					return err
				}
				announce(c, 0, 1, have+1)
				announce(c, 0, 1, math.MaxInt64)
				if err := Send(c, []int64{5}, 0, 1); err != nil {
					return err
				}
				return Send(c, huge[:1<<20], 0, 2)
			}
			for _, size := range []uint64{uint64(len(huge)), have + 1, math.MaxInt64} {
				b, st, err := RecvSlice[int64](c, 1, AnyTag)
				if !errors.Is(err, ErrNoMem) || b != nil || st.Source != 1 || st.Tag != 1 ||
					!strings.Contains(err.Error(), fmt.Sprintf("message of %d bytes does not fit into the %d bytes of memory", size, have)) {
					return fmt.Errorf("RecvSlice of %d bytes where there are %d: %d elements, %+v, %v", size, have, len(b), st, err)
				}
			}
			if b, _, err := RecvSlice[int64](c, 1, 1); err != nil || len(b) != 1 || b[0] != 5 {
				return fmt.Errorf("the next message: %v, %v", b, err)
			}
			if b, _, err := RecvSlice[byte](c, 1, 2); err != nil || len(b) != 1<<20 {
				return fmt.Errorf("a long one after it: %d bytes, %v", len(b), err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("over %s: %v", fabric, err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if read := 512 * info.Sys().(*syscall.Stat_t).Blocks; read > mostRead {
			t.Fatalf("over %s: %d bytes of messages that are not received are read", fabric, read)
		}
	}
}
