package launch

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/launch/ps"
)

// Promise F6: halo ps gives each call that blocks its name.
func TestF6_PsNamesTheCall(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		r := newRun(t, "-fabric", fabric, "-n", "7", hangPath, "send", "rsend", "ssend", "sendrecv", "replace", "mprobe", "sleep").start()
		r.awaitPs(
			"waiting: Send on world to 1 tag 12;",
			"waiting: Rsend on world to 2 tag 11;",
			"waiting: Ssend on world to 3 tag 5;",
			"waiting: Sendrecv on world from 4 tag 13;",
			"waiting: SendrecvReplace on world from 5 tag 14;",
			"waiting: Mprobe on world from 6 tag 9;",
			"running:",
		)
		r.stop()
	}
}

// Promise F6: halo ps shows a process that was started without a launcher, and has spawned, as every other rank.
func TestF6_ProcessWithoutALauncher(t *testing.T) {
	t.Parallel()
	r := alone(t)
	r.cmd.Path, r.cmd.Args = hangPath, []string{hangPath, "parent"}
	r.start()
	pid := r.cmd.Process.Pid
	var text string
	for end := time.Now().Add(hangs); ; time.Sleep(10 * time.Millisecond) {
		var jobs []*ps.JobState
		text, _, _ = haloPS(t, "-json")
		if err := json.Unmarshal([]byte(text), &jobs); err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(jobs, func(j *ps.JobState) bool { return j.Size == 1 && j.Ranks[0].Pid == pid })
		if at >= 0 {
			k := jobs[at].Ranks[0]
			if k.State == ps.Waiting && len(k.Waits) == 1 && strings.Contains(k.Waits[0].For, "Recv") && k.Detail == "started without a launcher" {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("halo ps says %s; stderr %s", text, r.stderr.String())
		}
	}
	r.cmd.Process.Kill()
	r.end()
	r.nothingLeft()
}
