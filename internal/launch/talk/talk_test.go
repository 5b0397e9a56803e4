//go:build unix

package talk

import (
	"bytes"
	"strings"
	"testing"
)

func TestBannerBeforeAnAgent(t *testing.T) {
	for _, before := range []string{"", "Welcome\n", "\x00halo-agen", strings.Repeat("x", bannerLimit-10)} {
		banner, rest, err := FindMagic(bytes.NewReader([]byte(before + Magic + "frames")))
		if banner != before || string(rest) != "frames" || err != nil {
			t.Errorf("%.20q: %.20q, %q, %v", before, banner, rest, err)
		}
	}
	if _, _, err := FindMagic(strings.NewReader(strings.Repeat("y\n", bannerLimit))); err == nil || !strings.Contains(err.Error(), `"y; y;`) {
		t.Errorf("endless text: %v", err)
	}
}
