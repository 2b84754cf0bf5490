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

// journal is the file that tells the next run about batches. It has one JSON object per line, and is
// only appended to. A last line without a line break is ignored, so each event is written completely
// or not at all.
type journal struct {
	path    string
	f       *os.File
	head    journalHead
	batches []*batch
	written func(line []byte, done bool) // for tests: called around every write; or nil
}

// journalHead is the first line, which says to which server, endpoint and model the journal belongs.
type journalHead struct {
	Version int    `json:"refract_batch_journal"`
	Server  string `json:"server"`
	URL     string `json:"url"`
	Model   string `json:"model"`
}

const journalVersion = 1

// batch is a batch whose file was uploaded. If it has no id, it may or may not have been created; the
// server's list tells.
type batch struct {
	nonce, file, id string
	tried           time.Time // when the file was uploaded, or creating the batch was last tried
	rows            []string
	wanted          int  // number of rows of this run that wait for its answers
	strange         bool // its status was said to be unknown
}

// Events of a batch, in the order in which they occur.
const (
	eventUploaded = "uploaded" // its file is on the server
	eventCreated  = "created"
	eventDropped  = "dropped" // it was not created or was refused; its rows go into another batch
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

// openJournal locks and reads a journal, and creates a missing one. head says to what the journal
// must belong.
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
		err = fmt.Errorf("batch journal %s is of server %q, %s and model %q, this run of server %q, %s and model %q; finish that run first, or name another journal, as another cache does",
			path, j.head.Server, j.head.URL, j.head.Model, head.Server, head.URL, head.Model)
	}
	good = err == nil
	return j, err
}

var errLocked = errors.New("it is in use")

// lockedFile opens a file and locks it against other processes. If a journal is removed between
// opening and locking, lockedFile creates a new one.
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

// load reads all events, and removes an incomplete last line.
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
				err = fmt.Errorf("it is not a batch journal of version %d", journalVersion)
			}
		} else {
			var e event
			if err = json.Unmarshal(line, &e); err == nil {
				err = j.apply(e)
			}
		}
		if err != nil {
			return fmt.Errorf("damaged batch journal %s, line %d: %w; name another journal, or remove this one and pay again for its batches", j.path, n, err)
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

// apply updates the state of a batch by an event.
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

// note writes an event and applies it. From then on an upload can be found, even after the machine
// went down.
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

// write appends a line. After an error the journal must not be written any more.
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
