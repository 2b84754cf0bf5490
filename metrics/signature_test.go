package metrics

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSignatureString(t *testing.T) {
	s := Signature{{"case", "mixed"}, {"tok", "a|b%7C:c"}}
	assert.Equal(t, "case:mixed|tok:a%7Cb%257C:c", s.String(), "signature")
	assert.Empty(t, (Signature)(nil).String(), "no settings are written")
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
		require.True(t, err == nil && slices.Equal(got, s), "%q comes back as %q, %v", s, got, err)
	})
}

func TestParseSignatureErrors(t *testing.T) {
	for _, bad := range []string{"", "case", "case:mixed|", "case:mixed||tok:13a", ":x"} {
		s, err := ParseSignature(bad)
		assert.ErrorContains(t, err, "key:value", "ParseSignature(%q) = %q", bad, s)
	}
}

func TestIsReserved(t *testing.T) {
	for key, want := range map[string]bool{"nrefs": true, "ended": true, "hello": true, "layer": false, "members": false, "model": false} {
		assert.Equal(t, want, IsReserved(key, "hello"), key)
	}
}
