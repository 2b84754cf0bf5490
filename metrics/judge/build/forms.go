package build

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Forms of examples.
const (
	FormMessages   = "messages"   // TRL, axolotl (chat_template), LLaMA-Factory (sharegpt with tags)
	FormCompletion = "completion" // TRL: "prompt" and "completion" as they are, for metrics that complete a prompt
	FormAlpaca     = "alpaca"     // axolotl, LLaMA-Factory
	FormShareGPT   = "sharegpt"   // axolotl, LLaMA-Factory
	formPreference = "preference" // TRL's DPO, axolotl, LLaMA-Factory
)

// Forms lists the forms of examples.
func Forms() []string { return []string{FormMessages, FormCompletion, FormAlpaca, FormShareGPT} }

// Containers of rows.
const (
	JSONLines = "jsonl"
	Parquet   = "parquet"
)

// Containers lists them.
func Containers() []string { return []string{JSONLines, Parquet} }

type message struct {
	Role    string `json:"role" parquet:"role"`
	Content string `json:"content" parquet:"content"`
}

type turn struct {
	From  string `json:"from" parquet:"from"`
	Value string `json:"value" parquet:"value"`
}

type messagesRow struct {
	Messages []message `json:"messages" parquet:"messages,list"`
}

type completionRow struct {
	Prompt     string `json:"prompt" parquet:"prompt"`
	Completion string `json:"completion" parquet:"completion"`
}

type alpacaRow struct {
	Instruction string `json:"instruction" parquet:"instruction"`
	Input       string `json:"input" parquet:"input"`
	Output      string `json:"output" parquet:"output"`
}

type shareGPTRow struct {
	Conversations []turn `json:"conversations" parquet:"conversations,list"`
}

type preferenceRow struct {
	Prompt   string `json:"prompt" parquet:"prompt"`
	Chosen   string `json:"chosen" parquet:"chosen"`
	Rejected string `json:"rejected" parquet:"rejected"`
}

// conversationRow is a pair as TRL takes it for a chat.
type conversationRow struct {
	Prompt   []message `json:"prompt" parquet:"prompt,list"`
	Chosen   []message `json:"chosen" parquet:"chosen,list"`
	Rejected []message `json:"rejected" parquet:"rejected,list"`
}

// Pair is a better and a worse completion of a prompt.
type Pair struct {
	Group                    string
	Prompt, Chosen, Rejected string
}

// writeExamples writes items in a form.
func writeExamples(w io.Writer, form, container string, items []*Item) error {
	switch form {
	case FormMessages:
		return writeRows(w, container, items, func(it *Item) messagesRow {
			return messagesRow{[]message{{"user", it.Prompt}, {"assistant", it.Completion}}}
		})
	case FormCompletion:
		return writeRows(w, container, items, func(it *Item) completionRow { return completionRow{it.Prompt, it.Completion} })
	case FormAlpaca:
		return writeRows(w, container, items, func(it *Item) alpacaRow { return alpacaRow{it.Prompt, "", it.Completion} })
	case FormShareGPT:
		return writeRows(w, container, items, func(it *Item) shareGPTRow {
			return shareGPTRow{[]turn{{"human", it.Prompt}, {"gpt", it.Completion}}}
		})
	}
	return fmt.Errorf("unknown form %q", form)
}

// writePairs writes pairs: as messages where the examples are, else as texts.
func writePairs(w io.Writer, form, container string, pairs []Pair) error {
	if form == FormMessages {
		return writeRows(w, container, pairs, func(p Pair) conversationRow {
			return conversationRow{[]message{{"user", p.Prompt}}, []message{{"assistant", p.Chosen}}, []message{{"assistant", p.Rejected}}}
		})
	}
	return writeRows(w, container, pairs, func(p Pair) preferenceRow { return preferenceRow{p.Prompt, p.Chosen, p.Rejected} })
}

// writeRows writes rows as JSON Lines or Parquet.
func writeRows[V, R any](w io.Writer, container string, values []V, row func(V) R) error {
	if container == JSONLines {
		for _, v := range values {
			if err := writeLine(w, row(v)); err != nil {
				return err
			}
		}
		return nil
	}
	p := parquet.NewGenericWriter[R](w, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("refract", "1", "0"))
	rows := make([]R, len(values))
	for i, v := range values {
		rows[i] = row(v)
	}
	if _, err := p.Write(rows); err != nil {
		return err
	}
	return p.Close()
}

// writeLine writes a line of JSON.
func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
