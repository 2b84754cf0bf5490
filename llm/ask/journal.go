package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/refract-eval/refract/internal/files"
)

// journal is the file that tells the next run which batches there are. It is only
// appended to, one JSON object a line, and a last line without a line break is one
// that was never written. So each event is written whole or not at all.
type journal struct {
	path    string
	f       *os.File
	head    journalHead
	batches []*batch
	written func(line []byte, done bool) // for tests: around every write; or nil
}

// journalHead is the first line: whose journal it is.
type journalHead struct {
	Version int    `json:"refract_batch_journal"`
	Server  string `json:"server"`
	URL     string `json:"url"`
	Model   string `json:"model"`
}

const journalVersion = 1

// batch is a batch whose file was uploaded. Without an id it may have been created
// or not: the server's list tells.
type batch struct {
	nonce, file, id string
	tried           time.Time // when it was uploaded, or its creation last tried
	rows            []string
	wanted          int // rows of this run that wait for its answers
}

// The events of a batch, in the order in which they come.
const (
	eventUploaded = "uploaded" // its file is at the server
	eventCreated  = "created"
	eventDropped  = "dropped" // it was not created or was refused: its rows go into another
)

// event is a line after the first.
type event struct {
	Event string     `json:"event"`
	Nonce string     `json:"batch,omitempty"`
	Rows  []string   `json:"rows,omitempty"`
	File  string     `json:"file,omitempty"`
	Time  *time.Time `json:"time,omitempty"`
	ID    string     `json:"id,omitempty"`
}

// openJournal locks and reads a journal, which a missing file becomes. head says
// whose it is to be.
func openJournal(path string, head journalHead, written func([]byte, bool)) (*journal, error) {
	f, err := lockedFile(path)
	if err != nil {
		return nil, err
	}
	j, good := &journal{path: path, f: f, written: written}, false
	defer func() {
		if !good {
			_ = f.Close()
		}
	}()
	head.Version = journalVersion
	err = j.load()
	switch {
	case err != nil || j.head == head:
	case j.head.Version == 0:
		err = j.write(head)
	default:
		err = fmt.Errorf("batch journal %s is of server %q, %s and model %q, this run of server %q, %s and model %q; name another journal",
			path, j.head.Server, j.head.URL, j.head.Model, head.Server, head.URL, head.Model)
	}
	good = err == nil
	return j, err
}

var errLocked = errors.New("it is in use")

// lockedFile opens a file that no other process can lock then. A journal that
// is removed between its opening and its locking is made anew.
func lockedFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, fmt.Errorf("batch journal: %w", files.CannotCreate(path, path, err))
		}
		free, err := files.TryLock(f)
		if err == nil && !free {
			err = errLocked
		}
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			_ = f.Close()
			return nil, fmt.Errorf("batch journal %s: %w: wait for the other process to end, or name another journal", path, err)
		}
		here, err := f.Stat()
		if err == nil {
			if there, err := os.Stat(path); err == nil && os.SameFile(here, there) {
				return f, nil
			}
		}
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("batch journal: %w", files.CannotCreate(path, path, err))
		}
	}
}

// load reads all events, and cuts a last line off that is not whole.
func (j *journal) load() error {
	all, err := io.ReadAll(j.f)
	if err != nil {
		return fmt.Errorf("read the batch journal: %w", err)
	}
	all = all[:bytes.LastIndexByte(all, '\n')+1]
	n := 0
	for line := range bytes.Lines(all) {
		if n++; n == 1 {
			if err = json.Unmarshal(line, &j.head); err == nil && j.head.Version != journalVersion {
				err = fmt.Errorf("it is no batch journal of version %d", journalVersion)
			}
		} else {
			var e event
			if err = json.Unmarshal(line, &e); err == nil {
				err = j.apply(e)
			}
		}
		if err != nil {
			return fmt.Errorf("damaged batch journal %s, line %d: %w; name another journal, or remove this one and pay anew for what it holds", j.path, n, err)
		}
	}
	if err := j.f.Truncate(int64(len(all))); err != nil {
		return fmt.Errorf("cut the batch journal's last line, which is not whole: %w", err)
	}
	if _, err := j.f.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("read the batch journal: %w", err)
	}
	return nil
}

// apply changes what is known of a batch as an event says.
func (j *journal) apply(e event) error {
	at := slices.IndexFunc(j.batches, func(b *batch) bool { return b.nonce == e.Nonce })
	switch {
	case e.Event == eventUploaded && at < 0 && e.Nonce != "" && e.Rows != nil && e.File != "" && e.Time != nil:
		j.batches = append(j.batches, &batch{nonce: e.Nonce, rows: e.Rows, file: e.File, tried: *e.Time})
	case e.Event == eventCreated && at >= 0 && e.ID != "":
		j.batches[at].id = e.ID
	case e.Event == eventDropped && at >= 0:
		j.batches = slices.Delete(j.batches, at, at+1)
	default:
		return fmt.Errorf("the event %q of batch %q is unknown, perhaps of another version of the program, out of order, or lacks what it tells", e.Event, e.Nonce)
	}
	return nil
}

// note writes an event, and applies it. An upload can be found from then on, also
// after the machine went down.
func (j *journal) note(e event) error {
	if err := j.write(e); err != nil {
		return err
	}
	if e.Event == eventUploaded {
		if err := j.f.Sync(); err != nil {
			return fmt.Errorf("write the batch journal %s: %w", j.path, err)
		}
	}
	return j.apply(e)
}

// write appends a line. After an error the journal must not be written to.
func (j *journal) write(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		line = append(line, '\n')
		if j.written != nil {
			j.written(line, false)
		}
		_, err = j.f.Write(line)
	}
	if err != nil {
		return fmt.Errorf("write the batch journal %s: %w; nothing is lost: make room and run again", j.path, err)
	}
	if j.written != nil {
		j.written(line, true)
	}
	return nil
}
