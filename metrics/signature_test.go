package metrics

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSignatureString(t *testing.T) {
	s := Signature{{"case", "mixed"}, {"tok", "a|b%7C:c"}}
	if got, want := s.String(), "case:mixed|tok:a%7Cb%257C:c"; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
	if got := (Signature)(nil).String(); got != "" {
		t.Errorf("no settings are written %q", got)
	}
}

func TestSignatureRoundTrip(t *testing.T) {
	setting := rapid.Custom(func(t *rapid.T) Setting {
		return Setting{
			Key:   rapid.StringMatching(`[a-z-]{1,6}`).Draw(t, "key"),
			Value: rapid.OneOf(rapid.String(), rapid.StringMatching(`[%|:27C5]*`)).Draw(t, "value"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		s := Signature(rapid.SliceOfN(setting, 1, 6).Draw(t, "settings"))
		got, err := ParseSignature(s.String())
		if err != nil || !slices.Equal(got, s) {
			t.Fatalf("%q comes back as %q, %v", s, got, err)
		}
	})
}

func TestParseSignatureErrors(t *testing.T) {
	for _, bad := range []string{"", "case", "case:mixed|", "case:mixed||tok:13a", ":x"} {
		if s, err := ParseSignature(bad); err == nil || !strings.Contains(err.Error(), "key:value") {
			t.Errorf("ParseSignature(%q) = %q, %v, want an error", bad, s, err)
		}
	}
}

func TestIsReserved(t *testing.T) {
	for key, want := range map[string]bool{"nrefs": true, "ended": true, "hello": true, "layer": false, "members": false, "model": false} {
		if got := IsReserved(key, "hello"); got != want {
			t.Errorf("%s: %t", key, got)
		}
	}
}
