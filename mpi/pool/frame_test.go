package pool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Tasks and errors arrive as they were sent.
func TestMessages(t *testing.T) {
	for _, name := range []string{"", "f", strings.Repeat("long", 100)} {
		for _, arg := range [][]byte{nil, {0}, bytes.Repeat([]byte{1, 200}, 1000)} {
			number, gotName, gotArg, err := decodeTask(encodeTask(1<<40, name, arg))
			if number != 1<<40 || gotName != name || !bytes.Equal(gotArg, arg) || err != nil {
				t.Errorf("task %q of %d bytes arrives as task %d %q of %d bytes, %v", name, len(arg), number, gotName, len(gotArg), err)
			}
		}
	}
	for _, cause := range []error{errors.New("alone"), mpi.ErrTruncate, context.Canceled, context.DeadlineExceeded} {
		kind, class := causeOf(fmt.Errorf("because: %w", cause))
		_, err := decodeAnswer(encodeError(answerPanic, kind, class, "text", "stack"))
		if err == nil || err.Text != "text" || err.Stack != "stack" || kind != causeUnknown && !errors.Is(err, cause) || kind == causeUnknown && err.cause != nil {
			t.Errorf("error %v arrives as %+v", cause, err)
		}
	}
}

// No message makes a process panic: what is malformed is an error.
func FuzzMessages(f *testing.F) {
	f.Add(encodeTask(7, "name", []byte("argument")))
	f.Add(encodeError(answerError, causeClass, mpi.ErrArg, "text", "stack"))
	f.Add([]byte{answerResult, 1, 2, 3})
	f.Add([]byte{answerPanic + 1})
	f.Add([]byte{7, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if number, name, arg, err := decodeTask(b); err == nil {
			again, sameName, sameArg, err := decodeTask(encodeTask(number, name, arg))
			if again != number || sameName != name || !bytes.Equal(sameArg, arg) || err != nil {
				t.Errorf("task %d %q of %d bytes changes: %v", number, name, len(arg), err)
			}
		}
		if result, err := decodeAnswer(b); err == nil && len(result) != len(b)-1 {
			t.Errorf("result of %d bytes in an answer of %d", len(result), len(b))
		}
	})
}

var (
	_    = Register("known", func(context.Context, int) (int, error) { return 0, nil })
	word = Register("word", func(context.Context, int) (string, error) { return "seven", nil })
)

// A worker with another program says what it knows.
func TestFunctionsThatNobodyKnows(t *testing.T) {
	unknown := &Func[int, int]{name: "unknown", codec: Gob()}
	err := Local(1, func(p *Pool) error {
		_, err := Submit(context.Background(), p, unknown, 1).Wait()
		return err
	})
	if err == nil || !strings.Contains(err.Error(), `pool: unknown on worker 0: no function "unknown" is registered in this process, which has `) || !strings.Contains(err.Error(), "known") {
		t.Errorf("function that is not registered: %v", err)
	}
}

// A result that does not decode as the type of the function is an error.
func TestResultsThatDoNotDecode(t *testing.T) {
	wrong := &Func[int, int]{name: word.name, codec: Gob()}
	bad := &Func[string, string]{name: word.name, codec: Gob()}
	Local(1, func(p *Pool) error {
		if _, err := Submit(context.Background(), p, wrong, 1).Wait(); err == nil || !strings.Contains(err.Error(), "pool: word: cannot decode the result of ") || !strings.Contains(err.Error(), " as int: gob: ") {
			t.Errorf("result of another type: %v", err)
		}
		if _, err := Submit(context.Background(), p, bad, "seven").Wait(); err == nil || !strings.Contains(err.Error(), "pool: word on worker 0: cannot decode the argument of ") || !strings.Contains(err.Error(), " as int: gob: ") {
			t.Errorf("argument of another type: %v", err)
		}
		return nil
	})
}
