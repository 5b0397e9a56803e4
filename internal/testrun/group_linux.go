package testrun

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Groups is the environment variable that names a folder below which tests can make control groups with a limit of
// memory. tools/parts sets it.
const Groups = "HALO_TEST_GROUPS"

// MemoryGroup makes a control group with a limit of memory in bytes, which exists until the test ends, and returns
// its folder. A process joins it by writing its id to the file cgroup.procs there. The test is skipped where nobody
// can make such a group.
func MemoryGroup(t testing.TB, limit int64) (dir string) {
	t.Helper()
	err := fs.ErrNotExist
	for _, top := range groupTops() {
		dir := filepath.Join(top, fmt.Sprint("halo-", t.Name(), "-", os.Getpid()))
		err = os.Mkdir(dir, 0o755)
		if err != nil {
			continue
		}
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
			_, err = os.Stat(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), []byte(strconv.FormatInt(limit, 10)), 0)
				break
			}
		}
		if err == nil {
			t.Cleanup(func() { os.Remove(dir) })
			return dir
		}
		os.Remove(dir)
	}
	t.Skip("this machine lets nobody make a control group with a limit of memory: ", err)
	return ""
}

// groupTops returns the folders of control groups below which a group may be made.
func groupTops() (tops []string) {
	if dir := os.Getenv(Groups); dir != "" {
		return []string{dir}
	}
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		// Number, controllers, path; version 2 has no controllers.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) == 3 && parts[1] == "memory":
			tops = append(tops, filepath.Join("/sys/fs/cgroup/memory", parts[2]))
		case len(parts) == 3 && parts[1] == "":
			tops = append(tops, filepath.Join("/sys/fs/cgroup", parts[2]))
		}
	}
	return tops
}
