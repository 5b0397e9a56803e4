package boot

import (
	"os"
	"strings"
)

// singleton is the Boot of a process that no launcher started.
type singleton struct{ Boot }

// Single makes a world of one, without a launcher.
func Single() Boot {
	b := Memory(1)[0]
	b.Job().ID = strings.Replace(b.Job().ID, "memory", "single", 1)
	return singleton{b}
}

// Abort ends the process, which is the whole job.
func (s singleton) Abort(code int, _ string) { os.Exit(ExitStatus(code)) }

// ExitStatus is the exit status of a job that was aborted with a code: the lowest 8 bits of
// the code, which the system keeps, or 1 if these bits are 0 and the code is not.
func ExitStatus(code int) int {
	if code != 0 && code&0xff == 0 {
		return 1
	}
	return code & 0xff
}
