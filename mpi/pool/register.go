package pool

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A Codec turns arguments and results into bytes and back, as json.Marshal and json.Unmarshal do.
type Codec struct {
	Marshal   func(v any) ([]byte, error)
	Unmarshal func(data []byte, v any) error // v points to the value
}

// Gob is the codec of encoding/gob, which Register uses if it gets none. Values of types without
// size, such as struct{}, are empty.
func Gob() Codec {
	return Codec{
		Marshal: func(v any) ([]byte, error) {
			if reflect.TypeOf(v) != nil && reflect.TypeOf(v).Size() == 0 {
				return nil, nil // gob has no encoding for a struct without fields
			}
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(v)
			return b.Bytes(), err
		},
		Unmarshal: func(data []byte, v any) error {
			if len(data) == 0 && reflect.TypeOf(v).Elem().Size() == 0 {
				return nil
			}
			return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
		},
	}
}

// A Func is a function that workers can run: Register makes it.
type Func[A, R any] struct {
	name  string
	codec Codec
}

// Register registers fn under a name, for tasks with arguments of type A and results of type R. Every
// process of the pool makes the same call, before the pool is made: mostly in the declaration of a
// variable. ctx ends when the context of the task does, or when the rank that has the pool is lost.
// Arguments and results are encoded by gob, or by a codec that the call names. Register panics if the
// name is taken.
func Register[A, R any](name string, fn func(ctx context.Context, arg A) (R, error), codec ...Codec) *Func[A, R] {
	f := &Func[A, R]{name: name, codec: append(codec, Gob())[0]}
	functions.add(name, func(ctx context.Context, data []byte) ([]byte, error) {
		var arg A
		if err := f.codec.Unmarshal(data, &arg); err != nil {
			return nil, fmt.Errorf("cannot decode the argument of %d bytes as %T: %w", len(data), arg, err)
		}
		result, err := fn(ctx, arg)
		if err != nil {
			return nil, err
		}
		out, err := f.codec.Marshal(result)
		if err != nil {
			return nil, fmt.Errorf("cannot encode the result, a %T: %w", result, err)
		}
		return out, nil
	})
	return f
}

// A table holds the registered functions by name.
type table struct {
	mu    sync.RWMutex
	named map[string]func(ctx context.Context, arg []byte) ([]byte, error)
}

// functions holds what Register has registered in this OS process.
var functions = table{named: map[string]func(ctx context.Context, arg []byte) ([]byte, error){}}

func (t *table) add(name string, f func(ctx context.Context, arg []byte) ([]byte, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named[name] != nil {
		panic(fmt.Sprintf("pool: Register: a function %q is registered already", name))
	}
	t.named[name] = f
}

// call runs a function of the table.
func (t *table) call(ctx context.Context, name string, arg []byte) ([]byte, error) {
	t.mu.RLock()
	f := t.named[name]
	t.mu.RUnlock()
	if f == nil {
		return nil, fmt.Errorf("no function %q is registered in this process, which has %s: every process must make the same calls of Register", name, t.list())
	}
	return f(ctx, arg)
}

// list is the names in order, for messages.
func (t *table) list() string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	names := slices.Sorted(maps.Keys(t.named))
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
