package build

import (
	"encoding/json"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Forms of examples.
const (
	FormMessages   = "messages"   // TRL, axolotl (chat_template), LLaMA-Factory (sharegpt with tags)
	FormCompletion = "completion" // TRL: "prompt" and "completion", for metrics that complete a prompt
	FormAlpaca     = "alpaca"     // axolotl, LLaMA-Factory
	FormShareGPT   = "sharegpt"   // axolotl, LLaMA-Factory
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

// preferenceRow is a pair for TRL's DPO, axolotl and LLaMA-Factory.
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

func exampleRow(form, prompt, completion string) any {
	switch form {
	case FormCompletion:
		return completionRow{prompt, completion}
	case FormAlpaca:
		return alpacaRow{Instruction: prompt, Output: completion}
	case FormShareGPT:
		return shareGPTRow{[]turn{{"human", prompt}, {"gpt", completion}}}
	}
	return messagesRow{[]message{{"user", prompt}, {"assistant", completion}}}
}

// Pair is a better and a worse completion of a prompt.
type Pair struct {
	Group                    string
	Prompt, Chosen, Rejected string
}

// row is a pair of messages if the examples are messages, else of texts.
func (p Pair) row(form string) any {
	if form == FormMessages {
		return conversationRow{[]message{{"user", p.Prompt}}, []message{{"assistant", p.Chosen}}, []message{{"assistant", p.Rejected}}}
	}
	return preferenceRow{p.Prompt, p.Chosen, p.Rejected}
}

// writeRows writes rows of one type, as JSON Lines or Parquet.
func writeRows(w io.Writer, container string, rows []any) error {
	if container == JSONLines {
		return writeLines(w, rows)
	}
	p := parquet.NewWriter(w, parquet.SchemaOf(rows[0]), parquet.Compression(&parquet.Zstd), parquet.CreatedBy("refract", "1", "0"))
	for _, r := range rows {
		if err := p.Write(r); err != nil {
			return err
		}
	}
	return p.Close()
}

func writeLines[T any](w io.Writer, values []T) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
