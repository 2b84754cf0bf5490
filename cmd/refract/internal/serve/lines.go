package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// errLong is the error of a request that was skipped because it is too long.
var errLong = &Usage{fmt.Errorf("the request has more than %d MiB; split it", MaxLine>>20)}

// lines reads lines of bounded length.
type lines struct {
	in   *bufio.Reader
	most int
}

// next returns the next line as a new slice, without its line end, which the last line
// may lack. After errLong the next call returns the line that follows; other errors come
// from the input.
func (l *lines) next() ([]byte, error) {
	var parts []byte
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(parts)+len(part) > l.most+1; !long {
			parts = append(parts, part...)
		} else {
			parts = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(parts) == 0 && !long):
			return nil, err
		case long:
			return nil, errLong
		}
		return bytes.TrimSuffix(parts, []byte{'\n'}), nil
	}
}
