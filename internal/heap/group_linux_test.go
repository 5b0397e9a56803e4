package heap

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/testrun"
)

// groupMark is an environment variable that makes the test binary run inGroup. Its value is the
// file of the control group to which processes write their id to join.
const groupMark = "HALO_HEAP_TEST_GROUP"

// groupLimit is the memory limit of that group in bytes.
const groupLimit = 96 << 20

func TestMain(m *testing.M) {
	if list := os.Getenv(groupMark); list != "" {
		if err := inGroup(list); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	leak.Main(m)
}

// inGroup joins the group, and allocates more than its limit, which must fail, and less.
func inGroup(list string) error {
	if err := os.WriteFile(list, []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		return err
	}
	for name, open := range backings(alone{}) {
		if name == "loose" {
			continue // the collector and the race detector take more memory than the block
		}
		h := open(NewBudget())
		for range 3 {
			for _, size := range []int64{groupLimit * 4, groupLimit, groupLimit - 1<<20} {
				_, _, err := h.Alloc(size, 0)
				var e *class.Error
				if !errors.As(err, &e) || e.Class != class.NoMem || !strings.Contains(e.Text, "control group") {
					return fmt.Errorf("%s: %d bytes: %v", name, size, err)
				}
			}
			b, err := allocate(h, groupLimit/3, 0, 1) // stores into every byte
			if err == nil {
				err = b.release(h)
			}
			if err != nil {
				return fmt.Errorf("%s: %v", name, err)
			}
		}
	}
	return nil
}

// alone substitutes for a testing.TB in the process that runs inGroup without a test.
type alone struct{ testing.TB }

func (alone) Helper()           {}
func (alone) Cleanup(func())    {}
func (alone) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// MEM-04: in a real control group Alloc refuses more than the limit, and the kernel kills no
// process.
func TestMEM04ControlGroupOfThisMachine(t *testing.T) {
	list := filepath.Join(testrun.MemoryGroup(t, groupLimit), "cgroup.procs")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), groupMark+"="+list)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
