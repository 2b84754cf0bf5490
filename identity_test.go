package refract_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
)

func identityOf(segments ...*refract.Segment) string {
	id := refract.NewIdentity()
	for _, s := range segments {
		id.Add(s)
	}
	return id.Hash()
}

// The hash is computed as documented.
func TestIdentity(t *testing.T) {
	text := refract.NewText
	sum := sha256.Sum256([]byte("refract references 1\n" +
		"\x03\x01\x01a\x00\x01\x02\xc3\xa9" +
		"\x00" +
		"\x01\x01\x00"))
	got := identityOf(
		&refract.Segment{ID: "1", References: []refract.Text{text("a"), {}}, Variants: []refract.Variant{{Reference: 1, Text: text("é")}}},
		&refract.Segment{ID: "2"},
		&refract.Segment{ID: "3", References: []refract.Text{text("")}},
	)
	assert.Equal(t, hex.EncodeToString(sum[:]), got, "hash")
	id := refract.NewIdentity()
	id.Add(&refract.Segment{})
	if id.Segments() != 1 || id.Name() != id.Hash()[:12] || len(id.Hash()) != 64 {
		t.Errorf("%d segments, name %s of %s", id.Segments(), id.Name(), id.Hash())
	}
}

// single uses the set of first references.
func TestIdentityOf(t *testing.T) {
	all, first := refract.NewIdentity(), refract.NewIdentity()
	for _, refs := range [][]refract.Text{{refract.NewText("a"), refract.NewText("b")}, {{}, refract.NewText("c")}, nil} {
		all.Add(&refract.Segment{References: refs})
		first.Add(&refract.Segment{References: refs[:min(1, len(refs))]})
	}
	all.Add(&refract.Segment{Variants: []refract.Variant{{Text: refract.NewText("d")}, {}}})
	first.Add(&refract.Segment{References: []refract.Text{refract.NewText("d")}})
	for spec, want := range map[string]string{"single": first.Name(), "max": all.Name(), "native": all.Name()} {
		a, err := aggregate.Parse(spec)
		require.NoError(t, err)
		assert.Equal(t, want, all.Of(a), "%s uses", spec)
		assert.Empty(t, (*refract.Identity)(nil).Of(a), "%s of no identity", spec)
	}
}
