// Package metrics defines what a metric is. The metrics themselves are
// packages below this one; they import it, and it imports none of them.
//
// A metric takes blocks, one per segment, and returns one matrix per block.
// That shape lets a metric read each text once, however many pairs the text
// is part of, and lets a metric on a server send each text once. What a
// metric can do beyond that is found by type assertion: [Preparer],
// [CorpusMetric], [CorpusDetail], [Fitter], [NativeScorer], and [Foreseeing] for metrics
// that ask a server or a program. Facts about a metric stand in its [Info].
//
// [Signature] is modelled on sacreBLEU's (Post, 2018): a number without its
// signature cannot be reproduced.
//
// # A metric of your own
//
// A function of two texts is a metric; [Func] adds what the engine needs:
//
//	short := metrics.Func(metrics.Info{Name: "short", NeedsReferences: true, Upper: 1},
//		func(hypothesis, reference string) float64 {
//			return min(1, float64(len(hypothesis))/float64(len(reference)))
//		})
//
// It gets the columns of all references, statuses for missing texts, and aggregators. A metric
// that pools counts over a corpus, as BLEU does, adds [CorpusMetric]; one that reads each text
// once adds [Preparer].
package metrics
