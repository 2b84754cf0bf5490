package embeddings

import "testing"

// decode accepts only what encode writes.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "AAAA", "AACAPw==", "AACAPwAAAEA=", "AACAfw==", "AACAPx==", "AACA\nPw==", "x", encode([]float32{1, -2, 0.5})} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := decode(s)
		if err != nil {
			return
		}
		if len(v) == 0 || encode(v) != s {
			t.Fatalf("%q was read as %v, which is %q", s, v, encode(v))
		}
	})
}
