package oip

import (
	"slices"
	"testing"
)

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want []string
		err  string
	}{
		{"", nil, ""},
		{"\x00\x00\x00\x00", []string{""}, ""},
		{"\x02\x00\x00\x00é\x01\x00\x00\x00\x00", []string{"é", "\x00"}, ""},
		{"\x02\x00\x00", nil, "the bytes of a text are cut"},
		{"\x02\x00\x00\x00a", nil, "the bytes of a text are cut"},
		{"\xff\xff\xff\xffa", nil, "the bytes of a text are cut"},
		{"\x01\x00\x00\x00\xff", nil, "a text is not valid UTF-8"},
	} {
		got, err := Texts([]byte(c.raw))
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%q: %q, %v", c.raw, got, err)
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00é\x01\x00\x00\x00\x00"))
	f.Add([]byte("\xff\xff\xff\xffa"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if texts, err := Texts(b); err == nil && string(AppendTexts(nil, texts)) != string(b) {
			t.Fatalf("%q is read as %q", b, texts)
		}
	})
}
