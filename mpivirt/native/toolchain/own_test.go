package toolchain

import "testing"

func TestLibrariesOfTheSystem(t *testing.T) {
	for path, want := range map[string]bool{
		"/lib/x86_64-linux-gnu/libm.so.6":      true,
		"/lib64/libm.so.6":                     true,
		"/usr/lib/x86_64-linux-gnu/libz.so.1":  true,
		"/usr/lib64/libz.so.1":                 true,
		"/library/libsolver.so":                false,
		"/libs/libsolver.so":                   false,
		"/usr/libexec/solver/libsolver.so":     false,
		"/usr/local/lib/libsolver.so":          false,
		"/usrs/lib/libsolver.so":               false,
		"/opt/solver/lib/libsolver.so":         false,
		"/home/anyone/lib/x86_64/libsolver.so": false,
		"/home/anyone/usr/lib/libsolver.so":    false,
		"/scratch/usr/lib/../lib/libsolver.so": false,
		"/usr/lib32/libz.so.1":                 true,
		"/libx32/libz.so.1":                    true,
	} {
		if got := isSystem(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
