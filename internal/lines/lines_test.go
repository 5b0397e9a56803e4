package lines_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/lines"
)

func TestMain(m *testing.M) { leak.Main(m) }

// Every question has an answer, in the order of the questions, also where nothing is known of a file.
// conformance/run tests the lines of programs in C.
func TestEveryQuestionIsAnswered(t *testing.T) {
	text := filepath.Join(t.TempDir(), "a text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	questions := boot.Question(os.Getpid(), 0x10, text) + boot.Question(1<<30, 0x20, "/nowhere/lib.so") + boot.Question(os.Getpid(), 0x30, text)
	var answers strings.Builder
	if err := lines.Answer(strings.NewReader(questions), &answers); err != nil {
		t.Fatal(err)
	}
	if got, want := answers.String(), "a text+0x10\nlib.so+0x20\na text+0x30\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A text that is no question is an error, and has no answer.
func TestNoQuestionIsAnError(t *testing.T) {
	for _, question := range []string{"\n", "1\n", "x 1 /a\n", "1 -1 /a\n", "1 0x10 /a\n"} {
		var answers strings.Builder
		if err := lines.Answer(strings.NewReader(question), &answers); err == nil || answers.Len() > 0 {
			t.Errorf("%q: %q, %v", question, answers.String(), err)
		}
	}
}
