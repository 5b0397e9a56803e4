package mpi

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
)

const (
	// MaxInfoKey is the longest key in bytes; the NUL of C does not count.
	//
	// C: MPI_MAX_INFO_KEY, section 10.
	MaxInfoKey = 255
	// MaxInfoVal is the longest value in bytes; the NUL of C does not count.
	//
	// C: MPI_MAX_INFO_VAL, section 10.
	MaxInfoVal = 1023
)

// launchedVariable is an environment variable that launchers set for their ranks, so that it
// tells before Init and after Finalize whether a launcher started the process.
const launchedVariable = "HALO_SIZE"

// Info is a set of pairs of a key and a value. Both are case-sensitive strings, and a key has
// one value. An Info holds any pairs; calls that take one read the keys that they know before
// they return, and ignore the others. Boolean values are "true" and "false". The nil *Info has
// no pairs and cannot be changed. An Info need not be freed.
//
// C: MPI_Info, MPI_INFO_NULL and MPI_Info_free, section 10.
type Info struct {
	mu     sync.Mutex
	keys   []string // in the order in which they were first set
	values map[string]string
}

// NewInfo makes an Info without pairs. It may be called before Init.
//
// C: MPI_Info_create, section 10.
func NewInfo() *Info { return &Info{values: map[string]string{}} }

// Set sets the value of the key and replaces an existing value. ErrInfoKey if the key is empty
// or too long, ErrInfoValue if the value is too long, ErrInfo for the nil Info.
//
// C: MPI_Info_set, section 10.
func (i *Info) Set(key, value string) error {
	switch {
	case i == nil:
		return fail(ErrInfo, call.InfoSet, nil, "info is nil")
	case key == "" || len(key) > MaxInfoKey:
		return fail(ErrInfoKey, call.InfoSet, nil, "key of %d bytes, want 1 to %d", len(key), MaxInfoKey)
	case len(value) > MaxInfoVal:
		return fail(ErrInfoValue, call.InfoSet, nil, "value of %d bytes for key %q, the limit is %d", len(value), key, MaxInfoVal)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, old := i.values[key]; !old {
		i.keys = append(i.keys, key)
	}
	i.values[key] = value
	return nil
}

// Get returns the value of the key, and whether it has one.
//
// C: MPI_Info_get_string, section 10.
func (i *Info) Get(key string) (string, bool) {
	if i == nil {
		return "", false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	v, ok := i.values[key]
	return v, ok
}

// Delete removes the key. ErrInfoNoKey if it has no value, ErrInfo for the nil Info.
//
// C: MPI_Info_delete, section 10.
func (i *Info) Delete(key string) error {
	if i == nil {
		return fail(ErrInfo, call.InfoDelete, nil, "info is nil")
	}
	i.mu.Lock()
	_, ok := i.values[key]
	if ok {
		delete(i.values, key)
		i.keys = slices.DeleteFunc(i.keys, func(k string) bool { return k == key })
	}
	i.mu.Unlock()
	if !ok {
		return fail(ErrInfoNoKey, call.InfoDelete, nil, "no key %q", key)
	}
	return nil
}

// NKeys is the number of keys.
//
// C: MPI_Info_get_nkeys, section 10.
func (i *Info) NKeys() int {
	if i == nil {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.keys)
}

// NthKey is the key with number n, from 0. The numbers are valid until a pair is set or deleted.
// ErrArg if there is no key n.
//
// C: MPI_Info_get_nthkey, section 10.
func (i *Info) NthKey(n int) (string, error) {
	have := 0
	if i != nil {
		i.mu.Lock()
		have = len(i.keys)
		if n >= 0 && n < have {
			defer i.mu.Unlock()
			return i.keys[n], nil
		}
		i.mu.Unlock()
	}
	return "", fail(ErrArg, call.InfoGetNthkey, nil, "key %d of %d", n, have)
}

// Dup makes an Info with the same pairs in the same order.
//
// C: MPI_Info_dup, section 10.
func (i *Info) Dup() *Info {
	d := NewInfo()
	if i == nil {
		return d
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	d.keys = slices.Clone(i.keys)
	for k, v := range i.values {
		d.values[k] = v
	}
	return d
}

// InfoEnv returns what is known of how this process was started: the keys command, argv, host,
// arch, wdir and thread_level, and maxprocs if no launcher started the process. Values longer
// than MaxInfoVal are left out. It may be called before Init.
//
// C: MPI_Info_create_env and MPI_INFO_ENV, section 10.
func InfoEnv() *Info {
	i := NewInfo()
	add := func(key, value string) {
		if value != "" && len(value) <= MaxInfoVal {
			i.keys = append(i.keys, key)
			i.values[key] = value
		}
	}
	add("command", os.Args[0])
	add("argv", strings.Join(os.Args[1:], " "))
	add("host", GetProcessorName())
	add("arch", runtime.GOARCH)
	if dir, err := os.Getwd(); err == nil {
		add("wdir", dir)
	}
	add(keyThreadLevel, "MPI_THREAD_MULTIPLE")
	if _, requested := os.LookupEnv(kindsVariable); requested {
		add(keyAllocKinds, worldKinds())
	}
	if os.Getenv(launchedVariable) == "" {
		add("maxprocs", "1")
	}
	return i
}
