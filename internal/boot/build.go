package boot

import (
	"runtime/debug"
	"strings"
)

// module is the path of Halo's module.
const module = "github.com/halo-mpi/halo"

// Build describes, for people, the Halo that this program was built with: its version, and
// the commit if the build recorded one.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	return buildText(info)
}

// buildText describes Halo, which is the main module of a program or one of its
// dependencies. The commit is known for the main module only.
func buildText(info *debug.BuildInfo) string {
	m := info.Main
	settings := map[string]string{}
	if m.Path == module {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	for _, d := range info.Deps {
		if d.Path == module {
			m = *d
			if d.Replace != nil {
				m = *d.Replace
			}
		}
	}
	text := m.Version
	if text == "" {
		text = "(devel)"
	}
	if commit := settings["vcs.revision"]; commit != "" {
		text += " commit " + commit[:min(len(commit), 12)]
		if settings["vcs.modified"] == "true" && !strings.Contains(text, "+dirty") {
			text += " modified"
		}
	} else if text == "(devel)" {
		text += ", no commit recorded"
	}
	return text
}
