package launch

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// BRD-08: with -check or -watch the launcher says by itself which ranks wait for each other, though others compute; in
// checking mode with the lines of their calls. Then it says that all ranks sleep, with the table.
func TestBRD08_AHangExplainsItself(t *testing.T) {
	const ring = "this looks like a deadlock: rank 0 waits for rank 1 waits for rank 2 waits for rank 0: rank 0 in "
	for _, c := range []struct {
		option string
		tasks  string
		stuck  string
		all    bool // ranks sleep
	}{
		{"-watch", "recv recv recv", ring + "Recv on world from 1 tag 7; rank 1 in Recv on world from 2 tag 7; rank 2 in Recv on world from 0 tag 7\n", true},
		{"-check", "recv recv recv", ring + "Recv on world from 1 tag 7 at main.go:", true},
		{"-watch", "ssend ssend ssend", ring + "Ssend on world to 1 tag 5; ", true},
		{"-watch", "recv ssend recv", "rank 1 in Ssend on world to 2 tag 5; rank 2 in Recv on world from 0 tag 7\n", true},
		{"-watch", "any any any", "this looks like a deadlock: ranks 0-2 wait for each other: rank 0 in Recv on world; rank 1 in Recv on world; rank 2 in Recv on world\n", true},
		{"-watch", "waits waits waits", "this looks like a deadlock: ranks 0-2 wait for each other: rank 0 in Recv on turned tag 3; ", true},
		{"-watch", "barrier finalize recv", "this looks like a deadlock: ranks 0-2 wait for each other: rank 0 in Barrier on world; rank 1 in Finalize", true},
		{"-watch", "spin itself spin", "this looks like a deadlock: rank 1 waits for rank 1: rank 1 in Recv on world from 1 tag 7\n", false},
	} {
		for _, over := range []string{"shm", "tcp", "hosts"} {
			t.Run(fmt.Sprint(c.option, " ", c.tasks, " ", over), func(t *testing.T) {
				t.Parallel()
				words := append([]string{c.option, "-n", "3", hangPath}, strings.Fields(c.tasks)...)
				var r *run
				if over == "hosts" {
					r = far(t, "run", append([]string{"-host", "localhost:1,a:1,b:1"}, words...)...)
				} else {
					r = newRun(t, append([]string{"-fabric", over}, words...)...)
				}
				read, write, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer read.Close()
				r.cmd.Stderr = write
				r.start()
				write.Close()
				lines, all := bufio.NewScanner(read), ""
				for lines.Scan() {
					all += lines.Text() + "\n"
					if c.all && strings.HasPrefix(lines.Text(), "All ranks have been asleep in calls for ") || !c.all && strings.Contains(lines.Text(), "deadlock") {
						r.cmd.Process.Signal(syscall.SIGTERM)
					}
				}
				r.wait(143)
				if strings.Count(all, "this looks like a deadlock: ") != 1 || !strings.Contains(all, c.stuck) {
					t.Errorf("want once %q: %s", c.stuck, all)
				}
				if want := map[bool]int{true: 1}[c.all]; strings.Count(all, "All ranks have been asleep") != want || c.all && strings.Count(all, " waiting ") != 3 {
					t.Errorf("want %d times a table with 3 ranks: %s", want, all)
				}
			})
		}
	}
}
