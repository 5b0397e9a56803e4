package boot

import (
	"fmt"
	"strconv"
	"strings"
)

// How a rank asks the launcher's program for lines of C: see package lines. It writes questions
// to its standard input, all at once, and reads the answers from its standard output.
const (
	// EnvHalo is the environment variable by which Halo's launcher tells ranks where it is.
	EnvHalo = "HALO_LAUNCHER"
	// EnvJob is the one that marks all processes of a job.
	EnvJob = "HALO_JOB"
	// LinesWord is the argument that has the launcher's program answer.
	LinesWord = "halo-lines"
)

// Question asks where the code is in the source that a process has mapped from an offset of a
// file. It is a line, as the kernel writes names of files without the end of one.
func Question(pid int, offset uint64, path string) string {
	return fmt.Sprintf("%d %d %s\n", pid, offset, path)
}

// ParseQuestion reads what Question has made.
func ParseQuestion(line string) (pid int, offset uint64, path string, err error) {
	process, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	number, path, _ := strings.Cut(rest, " ")
	if pid, err = strconv.Atoi(process); err == nil {
		offset, err = strconv.ParseUint(number, 10, 64)
	}
	if err != nil {
		return 0, 0, "", fmt.Errorf("boot: %q asks for no line: %w", line, err)
	}
	return pid, offset, path, nil
}
