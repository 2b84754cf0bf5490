// Package review lets people decide about answers that serve as references.
//
// [Pick] chooses what a person sees: accepted answers drawn at random, from
// which precision can be estimated, those that most likely lost the meaning,
// and some of each pattern of rejection. A page shows them, and
// adds every [Decision] to a file. [Decisions.Apply] carries the decisions out on the dataset.
package review
