package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A version that several builds can have is extended by a digest of the executable. One
// that names a commit or a release is left as it is.
func TestBuildsAreToldApart(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"one": "abc", "copy": "abc", "two": "abd"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	of := func(version, name string) string {
		build, err := buildOf(version, filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s, %s: %v", version, name, err)
		}
		return build
	}
	for _, version := range []string{"(devel)", "(unknown)", "(devel)+modified", "0123456789ab+modified", "v0.0.0-20260102030405-0123456789ab+dirty", "v1.2.3+dirty"} {
		// FIPS 180-4's example: SHA-256 of "abc" begins ba7816bf 8f01cfea.
		if got := of(version, "one"); got != version+" ba7816bf8f01" || got != of(version, "copy") || got == of(version, "two") {
			t.Errorf("%s is %q, a copy %q, another build %q", version, got, of(version, "copy"), of(version, "two"))
		}
	}
	for _, version := range []string{"v1.2.3", "0123456789ab", "v0.0.0-20260102030405-0123456789ab"} {
		if got := of(version, "none"); got != version {
			t.Errorf("%s is %q", version, got)
		}
	}
	if _, err := buildOf("(devel)", filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("an executable that is not there: %v", err)
	}
}
