package llmtest

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
)

// BatchPlan is the fate of a batch. The zero plan is that of a good one that
// has ended when it is first asked for.
type BatchPlan struct {
	// Gets is how often the batch is asked for before it has ended.
	Gets int
	// Problems make the validation fail; no row is answered then.
	Problems []BatchProblem
	// Status is the last one, "expired" or "cancelled"; "" means "completed".
	Status string
	// Unanswered is how many rows, counted from the last, were not asked for
	// when the batch ended; the error file says so.
	Unanswered int
	// Edits change the lines of the output and the error file, in turn. A
	// file without lines is not there.
	Edits []BatchEdit
}

// BatchProblem is what a validation finds wrong.
type BatchProblem struct {
	Line    int    `json:"line,omitempty"` // from 1; 0 for the whole file
	Code    string `json:"code"`
	Message string `json:"message"`
}

// BatchEdit changes the lines of a batch's output and error file. Any function
// will do; the functions of this package that return one are the usual ones.
type BatchEdit func(output, errors []string) (newOutput, newErrors []string)

// NoOutputFile loses all answers.
func NoOutputFile() BatchEdit {
	return func(_, errors []string) ([]string, []string) { return nil, errors }
}

// NoErrorFile loses what is said of the rows that failed.
func NoErrorFile() BatchEdit {
	return func(output, _ []string) ([]string, []string) { return output, nil }
}

// OneFile writes the rows that failed into the output file, as vLLM does.
func OneFile() BatchEdit {
	return func(output, errors []string) ([]string, []string) { return slices.Concat(output, errors), nil }
}

// DropRows leaves out the first n lines of the output.
func DropRows(n int) BatchEdit {
	return func(output, errors []string) ([]string, []string) { return output[min(n, len(output)):], errors }
}

// DoubleRows writes every line twice.
func DoubleRows() BatchEdit {
	return func(output, errors []string) ([]string, []string) {
		return slices.Concat(output, output), slices.Concat(errors, errors)
	}
}

// ShuffleRows puts the lines into another order.
func ShuffleRows(seed uint64) BatchEdit {
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

// ReplaceRow puts a text in place of line i of the output.
func ReplaceRow(i int, line string) BatchEdit {
	return func(output, errors []string) ([]string, []string) {
		if i < len(output) {
			output = slices.Clone(output)
			output[i] = line
		}
		return output, errors
	}
}

// AddRow writes a further line at the start of the output.
func AddRow(line string) BatchEdit {
	return func(output, errors []string) ([]string, []string) {
		return slices.Insert(slices.Clone(output), 0, line), errors
	}
}

// ErrorInRow makes line i of the output a 200 whose body is an error.
func ErrorInRow(i int, code any, message string) BatchEdit {
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
		return ReplaceRow(i, string(line))(output, errors)
	}
}
