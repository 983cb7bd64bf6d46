package recovery

import (
	"errors"
	"fmt"
)

// Tree says which topics were split from which, where many topics were found by splitting fewer.
type Tree struct {
	// Groups has a list for each level above the topics, the coarsest first: the number of the group
	// of each of the K topics. Numbers begin at 0, every group has a topic, and the topics of a group
	// are in one group of the level above. The topics themselves are not listed.
	Groups [][]int `json:"groups"`
}

// Validate checks that t is a tree of k topics with one level or more. O(k) a level.
func (t *Tree) Validate(k int) error {
	if len(t.Groups) == 0 {
		return errors.New("a tree without levels")
	}
	above := make([]int, k) // all topics are in one group
	for level, group := range t.Groups {
		if len(group) != k {
			return fmt.Errorf("level %d has groups of %d topics, want %d", level, len(group), k)
		}
		parent, groups := make(map[int]int), 0
		for topic, g := range group {
			if g < 0 || g >= k {
				return fmt.Errorf("level %d: topic %d is in group %d, which is not in [0, %d)", level, topic, g, k)
			}
			if p, ok := parent[g]; ok && p != above[topic] {
				return fmt.Errorf("level %d: group %d is in groups %d and %d of the level above", level, g, p, above[topic])
			}
			parent[g], groups = above[topic], max(groups, g+1)
		}
		if len(parent) < groups {
			return fmt.Errorf("level %d: of %d groups %d have no topic", level, groups, groups-len(parent))
		}
		above = group
	}
	return nil
}

// Members returns the topics of each group of a level, in ascending order.
func (t *Tree) Members(level int) [][]int {
	var out [][]int
	for topic, g := range t.Groups[level] {
		for len(out) <= g {
			out = append(out, nil)
		}
		out[g] = append(out[g], topic)
	}
	return out
}
