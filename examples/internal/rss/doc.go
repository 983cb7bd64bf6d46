// Package rss measures the memory that the example programs have used.
package rss
