// Package rss tells the example programs how much memory they have used.
package rss
