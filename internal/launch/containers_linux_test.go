package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// copied is what a rank says of memory that it may not read, up to the reason.
const copied = "long messages between processes of this node are copied twice: process "

// needUnshare skips t where a test cannot make namespaces. Users who are not root may execute the programs under
// test.
func needUnshare(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, for namespaces")
	}
	for _, tool := range []string{"unshare", "setpriv", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is missing")
		}
	}
	if err := os.Chmod(filepath.Dir(haloPath), 0o755); err != nil {
		t.Fatal(err)
	}
}

// X-LCH-01: ranks in containers of their own share memory, whatever else they do not share. What a container
// keeps from them costs a copy, and -v says so.
func TestXLCH01_RanksInContainers(t *testing.T) {
	t.Parallel()
	needUnshare(t)
	for name, x := range map[string]struct {
		words []string // before the program
		why   string   // of two copies, "" if there is one
	}{
		"host name, mounts and System V objects": {[]string{"unshare", "--uts", "--mount", "--ipc"}, ""},
		"network":                                {[]string{"unshare", "--net"}, ""},
		"processes":                              {[]string{"unshare", "--pid", "--fork", "--mount-proc"}, ""}, // the kernel or the probe refuses: it depends on who has the ids here
		"users":                                  {[]string{"setpriv", "--reuid=23456", "--regid=23456", "--clear-groups", "unshare", "--user", "--map-root-user"}, "operation not permitted"},
		"system calls":                           {[]string{denier(t), "process_vm_readv,process_vm_writev"}, "operation not permitted"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, append(append([]string{"-v", "-n", "2"}, x.words...), hangPath, "long")...)
			r.start().wait(0)
			if x.why != "" {
				r.said(copied+"1 may not read the memory of process 0: process_vm_readv", x.why)
			}
		})
	}
}

// X-LCH-01: a job in a container that has nothing of the machine but its files works as outside: without
// /dev/shm, and as a user who is root there only.
func TestXLCH01_JobInAContainer(t *testing.T) {
	t.Parallel()
	needUnshare(t)
	const setUp = `unshare --user --map-root-user --pid --fork --mount --mount-proc --net --ipc --uts sh -c 'mount -t tmpfs -o size=4k,ro none /dev/shm && exec "$0" "$@"' "$0" "$@"`
	for _, fabric := range []string{"shm", "tcp"} {
		r := newRun(t, "-v", "-fabric", fabric, "-n", "3", hangPath, "long")
		script := "exec " + setUp
		if fabric == "tcp" {
			script = "exec " + strings.Replace(setUp, "mount -t", "ip link set lo up && mount -t", 1)
		}
		r.through(script).start().wait(0).said("3 ranks on ", "fabric "+fabric)
		if text := r.stderr.String(); strings.Contains(text, copied) {
			t.Errorf("stderr: %s", text)
		}
	}
}

// X-LCH-01: a program that its user may execute but not read hides its memory from others. Its messages are
// copied twice, and nothing of the job is left.
func TestXLCH01_ProgramThatCannotBeRead(t *testing.T) {
	t.Parallel()
	needUnshare(t)
	dir, err := os.MkdirTemp("", "halo-secret-program-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "program")
	text, err := os.ReadFile(hangPath)
	if err == nil {
		err = os.WriteFile(program, text, 0o711)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	as := fmt.Sprintf("setpriv --reuid=%[1]d --regid=%[1]d --clear-groups", operatorUser)
	newRun(t, "-v", "-n", "2", program, "long").through(`cd / && exec `+as+` "$0" "$@"`).start().wait(0).
		said(copied+"1 may not read the memory of process 0: process_vm_readv", "operation not permitted")
}
