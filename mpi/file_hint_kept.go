package mpi

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// A keptKey is an info key of files that Halo knows and has no use for: it describes storage that Halo does
// not see, or a way of access that Halo does not have. Info tells the value that was set.
type keptKey struct {
	name  string
	valid func(value string) bool
}

// keptKeys are those of the standard, and of ROMIO, whose programs pass them.
func keptKeys() [12]keptKey {
	return [...]keptKey{
		{"cb_block_size", isCount},
		{"chunked", areCounts},
		{"chunked_item", areCounts},
		{"chunked_size", areCounts},
		{"io_node_list", isText},
		{"nb_proc", isCount},
		{"num_io_nodes", isCount},
		{"striping_factor", isCount},
		{"striping_unit", isCount},
		{"cb_config_list", isText},
		{"ind_wr_buffer_size", isCount},
		{"romio_ds_write", isChoice},
	}
}

// items are the parts of a list, which commas separate.
func items(list string) (all []string) {
	for item := range strings.SplitSeq(list, ",") {
		all = append(all, strings.TrimSpace(item))
	}
	return all
}

func isText(v string) bool { return v != "" }

func isChoice(v string) bool {
	for _, name := range choiceNames() {
		if strings.EqualFold(v, name) {
			return true
		}
	}
	return false
}

// isCount reports whether v is a number of at least 1.
func isCount(v string) bool {
	n, err := strconv.ParseInt(v, 10, 64)
	return err == nil && n > 0
}

// areCounts reports whether v is a list of such numbers.
func areCounts(v string) bool {
	for _, item := range items(v) {
		if !isCount(item) {
			return false
		}
	}
	return true
}

// hintsVariable names a file with hints for all files of the process: lines of a key and a value, of which the
// first with a key counts. A line that begins with # is a comment. Other lines are ignored, and so is a file that
// cannot be read: hints make no errors.
const hintsVariable = "ROMIO_HINTS"

// hintsFileMax is how much of such a file is read, in bytes.
const hintsFileMax = 64 << 10

// hintsOfEnvironment is the hints in that file, nil if the variable is not set.
func hintsOfEnvironment() *Info {
	name := variable(hintsVariable)
	if name == "" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	i := NewInfo()
	for lines := bufio.NewScanner(io.LimitReader(f, hintsFileMax)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 2 && !strings.HasPrefix(words[0], "#") && len(words[0]) <= MaxInfoKey && len(words[1]) <= MaxInfoVal {
			if _, found := i.Get(words[0]); !found {
				_ = i.Set(words[0], words[1]) // it has been checked
			}
		}
	}
	return i
}

// Environment sets a function that looks up environment variables in place of os.Getenv, which has the
// environment of the beginning. It exists for bindings of languages whose programs change the environment
// without Go. It applies to the whole process; nil removes it.
//
// C: none; setenv and putenv.
func (internals) Environment(lookup func(name string) string) {
	if lookup == nil {
		current.getenv.Store(nil)
		return
	}
	current.getenv.Store(&lookup)
}

// variable is the present value of an environment variable, "" if it is not set.
func variable(name string) string {
	if lookup := current.getenv.Load(); lookup != nil {
		return (*lookup)(name)
	}
	return os.Getenv(name)
}
