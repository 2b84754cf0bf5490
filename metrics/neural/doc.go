// Package neural scores with models on servers that speak the Open Inference Protocol,
// version 2: Triton, MLServer, KServe and others. "-m oip:URL/MODEL" is such a metric.
//
//  1. The server is asked whether it is ready, and for the model's tensors, which tell
//     what texts the metric needs. It scores one pair, which shows the model's facts: its
//     signature, direction and bounds.
//  2. Score turns the cells into rows, equal ones once, and cuts them into requests by
//     the bytes of their texts.
//  3. A request goes over REST, with tensors in JSON. Package llm sends it and retries.
//  4. An answer is checked against its request, and against the model as first described.
//     A row without a number, or at which the server fails though it scores others, has no
//     score; to find it, the request is halved.
//
// docs/reference/neural.md describes the tensors.
package neural
