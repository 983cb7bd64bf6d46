// Package effects tells how topic proportions depend on what is known of documents, such
// as their date, their author's party or a rating.
package effects
