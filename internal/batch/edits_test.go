package batch

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/refract-eval/refract/internal/llmtest"
)

// noOutputFile loses all answers.
func noOutputFile() llmtest.BatchEdit {
	return func(_, errors []string) ([]string, []string) { return nil, errors }
}

// noErrorFile loses what is said of the rows that failed.
func noErrorFile() llmtest.BatchEdit {
	return func(output, _ []string) ([]string, []string) { return output, nil }
}

// oneFile writes the rows that failed into the output file, as vLLM does.
func oneFile() llmtest.BatchEdit {
	return func(output, errors []string) ([]string, []string) { return slices.Concat(output, errors), nil }
}

// dropRows leaves out the first n lines of the output.
func dropRows(n int) llmtest.BatchEdit {
	return func(output, errors []string) ([]string, []string) { return output[min(n, len(output)):], errors }
}

// doubleRows writes every line twice.
func doubleRows() llmtest.BatchEdit {
	return func(output, errors []string) ([]string, []string) {
		return slices.Concat(output, output), slices.Concat(errors, errors)
	}
}

// shuffleRows puts the lines into another order.
func shuffleRows(seed uint64) llmtest.BatchEdit {
	return func(output, errors []string) ([]string, []string) {
		rng := rand.New(rand.NewPCG(seed, seed))
		mix := func(lines []string) []string {
			lines = slices.Clone(lines)
			rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			return lines
		}
		return mix(output), mix(errors)
	}
}

// replaceRow puts a text in place of line i of the output.
func replaceRow(i int, line string) llmtest.BatchEdit {
	return func(output, errors []string) ([]string, []string) {
		if i < len(output) {
			output = slices.Clone(output)
			output[i] = line
		}
		return output, errors
	}
}

// addRow writes a further line at the start of the output.
func addRow(line string) llmtest.BatchEdit {
	return func(output, errors []string) ([]string, []string) {
		return slices.Insert(slices.Clone(output), 0, line), errors
	}
}

// errorInRow makes line i of the output a 200 whose body is an error.
func errorInRow(i int, code any, message string) llmtest.BatchEdit {
	return func(output, errors []string) ([]string, []string) {
		if i >= len(output) {
			return output, errors
		}
		var row struct {
			ID       string `json:"id"`
			CustomID string `json:"custom_id"`
		}
		_ = json.Unmarshal([]byte(output[i]), &row)
		line, _ := json.Marshal(map[string]any{
			"id": row.ID, "custom_id": row.CustomID, "error": nil,
			"response": map[string]any{"status_code": 200, "request_id": "req", "body": map[string]any{
				"error": map[string]any{"message": message, "type": "server_error", "code": code}}},
		})
		return replaceRow(i, string(line))(output, errors)
	}
}
