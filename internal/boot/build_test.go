package boot

import (
	"runtime/debug"
	"testing"
)

// The text of a build names version and commit, as far as the build recorded them.
func TestBuildNamesVersionAndCommit(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: modified}}
	}
	own := debug.Module{Path: module, Version: "v1.2.3"}
	devel := debug.Module{Path: module, Version: "(devel)"}
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Main: own}, "v1.2.3"},
		{debug.BuildInfo{Main: devel}, "(devel), no commit recorded"},
		{debug.BuildInfo{Main: devel, Settings: vcs("false")}, "(devel) commit 0123456789ab"},
		{debug.BuildInfo{Main: devel, Settings: vcs("true")}, "(devel) commit 0123456789ab modified"},
		{debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.0.0-1+dirty"}, Settings: vcs("true")}, "v0.0.0-1+dirty commit 0123456789ab"},
		// The recorded commit belongs to the program, which uses Halo as a dependency.
		{debug.BuildInfo{Main: debug.Module{Path: "x.org/solver"}, Settings: vcs("true"), Deps: []*debug.Module{&own}}, "v1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Path: "x.org/solver"}, Deps: []*debug.Module{{Path: module, Version: "v1.0.0",
			Replace: &debug.Module{Path: "../halo"}}}}, "(devel), no commit recorded"},
	} {
		if got := buildText(&c.info); got != c.want {
			t.Errorf("%+v: %q, want %q", c.info, got, c.want)
		}
	}
}
