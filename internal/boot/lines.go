package boot

import (
	"fmt"
	"strconv"
	"strings"
)

// A rank starts the launcher's program to find source lines of C code: see package lines. The
// rank writes all questions to the program's standard input and reads the answers from its
// standard output.
const (
	// EnvHalo is the environment variable in which Halo's launcher gives ranks its path.
	EnvHalo = "HALO_LAUNCHER"
	// EnvJob is the environment variable that marks all processes of a job.
	EnvJob = "HALO_JOB"
	// LinesWord is the argument with which the launcher's program answers questions.
	LinesWord = "halo-lines"
)

// Question returns the question for the source line of the code that process pid has mapped from
// offset of the file path. It is one line: path contains no newline, because the kernel escapes
// newlines in the names of mapped files.
func Question(pid int, offset uint64, path string) string {
	return fmt.Sprintf("%d %d %s\n", pid, offset, path)
}

// ParseQuestion parses a line from Question.
func ParseQuestion(line string) (pid int, offset uint64, path string, err error) {
	process, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	number, path, _ := strings.Cut(rest, " ")
	pid, err = strconv.Atoi(process)
	if err == nil {
		offset, err = strconv.ParseUint(number, 10, 64)
	}
	if err != nil {
		return 0, 0, "", fmt.Errorf("boot: %q asks for no line: %w", line, err)
	}
	return pid, offset, path, nil
}
