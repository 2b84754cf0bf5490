// Package review lets people decide about answers that serve as references.
//
// [Pick] chooses what a person sees: accepted answers drawn at random, from
// which precision can be estimated, those that most likely lost the meaning,
// and some of each pattern of rejection. A [Server] shows them on a page and
// adds every [Decision] to a file as it comes; the page alone does the same
// with a file to save. [Decisions.Apply] carries decisions out on the dataset.
package review
