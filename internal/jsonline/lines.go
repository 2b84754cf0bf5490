package jsonline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Line is a line of a file, numbered from 1. Its Text is valid until the next line is read.
type Line struct {
	Number int
	Text   []byte
}

// Lines yields the lines that are not blank, without a byte order mark. An error comes with the number
// of its line; what says what a line of more than most bytes, in whole MiB, should have been.
func Lines(in io.Reader, most int, what string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, most)
		n := 1
		for ; lines.Scan() && lines.Err() == nil; n++ { // after a read error the last line may be cut off
			text := lines.Bytes()
			if n == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			if text = bytes.TrimSpace(text); len(text) > 0 && !yield(Line{n, text}, nil) {
				return
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line has more than %d MiB; %s", most>>20, what)
		}
		if err != nil {
			yield(Line{Number: n}, err)
		}
	}
}
