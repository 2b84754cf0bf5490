package jsonline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Line is a line of a file.
type Line struct {
	Number int    // from 1
	Text   []byte // without white space around it; valid until the next line
}

// Lines yields the lines that are not blank, each of up to most bytes. An error ends them; its
// Line has the number of the line that could not be read.
func Lines(in io.Reader, most int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, most)
		n := 1
		for ; lines.Scan() && lines.Err() == nil; n++ { // after a read error the last line may be cut off
			text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
			if len(text) > 0 && !yield(Line{n, text}, nil) {
				return
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line has more than %d MiB; write one JSON object on each line", most>>20)
		}
		if err != nil {
			yield(Line{Number: n}, err)
		}
	}
}
