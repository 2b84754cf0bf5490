// Package audit measures how far judges can be trusted: it collects the reports of
// a run, and reads answers that were generated elsewhere.
//
//	reports := audit.NewReports(engine.Metrics())
//	err := engine.Run(ctx, dataset, func(s *refract.SegmentScores) error {
//		return reports.Add(s, nil)
//	})
//	err = reports.Trust.Covered(0.05)                 // do at least 95 % of the answers have a score?
//	err = audit.WriteTrust(os.Stderr, &reports.Trust) // what is wrong in the reports
package audit
