package page_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/refract-eval/refract/internal/page"
)

func ExampleWrite() {
	segment := &page.Segment{
		ID: "7", Domain: "news", Source: page.Text{Value: "Es regnet.", Valid: true},
		References: []page.Reference{
			{Text: page.Text{Value: "It is raining.", Valid: true}, Prompt: -1},
			{Text: page.Text{Value: "Rain is falling.", Valid: true}, Prompt: 0},
		},
		Outputs: []page.Output{{
			Text:  page.Text{Value: "Rain falls.", Valid: true},
			Human: []float64{-1}, Scores: []page.Score{page.DecidedBy(1, 31.2)},
		}},
	}
	document := &page.Document{
		Title: "More references for BLEU",
		Lead:  "Use max of 2 references: +0.048 BLEU",
		Explorer: &page.Explorer{
			Systems: []string{"A"}, Humans: []string{"mqm"}, Prompts: []string{"reorder"},
			Settings: []page.Setting{{Name: "bleu, max of 2", Metric: -1, Digits: 1}},
			Segments: func(yield func(*page.Segment, error) bool) { yield(segment, nil) },
		},
	}
	var file bytes.Buffer
	if err := page.Write(context.Background(), &file, document); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.HasPrefix(file.String(), "<!DOCTYPE html>"), strings.Contains(file.String(), "Use max of 2"))
	// Output: true true
}
