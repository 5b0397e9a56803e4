package launch

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// BRD-08: with -check or -watch the launcher says by itself that all ranks sleep, with the table, and with the
// ranks that wait for each other in a cycle; in checking mode with the lines of their calls.
func TestBRD08_AHangExplainsItself(t *testing.T) {
	for _, c := range []struct {
		option, word, cycle, at string
	}{
		{"-watch", "recv", "rank 0 waits for rank 1 waits for rank 2 waits for rank 0: rank 0 in Recv on world from 1 tag 7", ""},
		{"-check", "recv", "rank 0 waits for rank 1 waits for rank 2 waits for rank 0: rank 0 in Recv on world from 1 tag 7", " at main.go:"},
		{"-watch", "ssend", "rank 0 waits for rank 1 waits for rank 2 waits for rank 0: rank 0 in Ssend on world to 1 tag 5", ""},
		{"-watch", "any", "", ""},
	} {
		for _, fabric := range []string{"shm", "tcp"} {
			t.Run(fmt.Sprint(c.option, c.word, fabric), func(t *testing.T) {
				t.Parallel()
				r := newRun(t, c.option, "-fabric", fabric, "-n", "3", hangPath, c.word, c.word, c.word)
				read, write, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer read.Close()
				r.cmd.Stderr = write
				r.start()
				write.Close()
				said, all := false, ""
				for lines := bufio.NewScanner(read); lines.Scan(); {
					line := lines.Text()
					all += line + "\n"
					if said = said || strings.HasPrefix(line, "All ranks have been asleep in calls for "); said && (c.cycle == "" || strings.HasPrefix(line, "rank 0 waits")) {
						r.cmd.Process.Signal(syscall.SIGTERM)
					}
				}
				r.wait(143)
				if n := strings.Count(all, "All ranks have been asleep"); n != 1 || !strings.Contains(all, c.cycle+c.at) || c.cycle == "" && strings.Contains(all, " waits for rank ") {
					t.Errorf("%d times: %s", n, all)
				}
			})
		}
	}
}
