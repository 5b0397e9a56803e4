package heap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/leak"
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
	dir, list, err := makeGroup()
	if err != nil {
		t.Skip("this machine lets nobody make a control group with a limit of memory: ", err)
	}
	defer os.Remove(dir)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), groupMark+"="+list)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// makeGroup makes a control group of version 1 or 2 below the group of this process.
func makeGroup() (dir, list string, err error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err
	}
	err = fs.ErrNotExist
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		top, limit := "/sys/fs/cgroup", "memory.max"
		if len(parts) == 3 && parts[1] == "memory" {
			top, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if len(parts) != 3 || parts[1] != "" {
			continue
		}
		dir = filepath.Join(top, parts[2], fmt.Sprint("halo-heap-test-", os.Getpid()))
		if err = os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		if err = os.WriteFile(filepath.Join(dir, limit), []byte(strconv.Itoa(groupLimit)), 0); err == nil {
			return dir, filepath.Join(dir, "cgroup.procs"), nil
		}
		os.Remove(dir)
	}
	return "", "", err
}
