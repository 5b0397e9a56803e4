package launch

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// halo ps reports a deadlock if all ranks have been asleep in calls for long. It reports none if
// one of them computes or has fallen asleep just now.
func TestF6_PsSuspectsADeadlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		steps []string
		want  bool
	}{
		{[]string{"init", "longnote:Recv"}, true},
		{[]string{"init", "longnote:Recv", "1@note:Recv"}, false},       // rank 1 has just fallen asleep
		{[]string{"init", "0@longnote:Recv", "2@longnote:Recv"}, false}, // rank 1 is not in a call
		{[]string{"init", "longnote:Recv", "1@spin"}, false},            // a goroutine of rank 1 computes
	} {
		ready := filepath.Join(t.TempDir(), "ready")
		steps := append([]string{"-n", "3", "rank"}, c.steps...)
		r := newRun(t, append(steps, "ready:"+ready, "forever")...).start()
		r.ready(ready, 3)
		s := r.state()
		// The ranks may still be busy with their start.
		for end := time.Now().Add(hangs); c.want && s.Deadlock == "" && time.Now().Before(end); {
			s = r.state()
		}
		if (s.Deadlock != "") != c.want {
			t.Errorf("%q: %q", c.steps, s.Deadlock)
		}
		out, _, _ := haloPS(t, fmt.Sprint(r.cmd.Process.Pid))
		if c.want && !strings.Contains(out, "\nAll ranks have been asleep in calls for ") {
			t.Errorf("%q: %s", c.steps, out)
		}
		r.stop()
	}
}
