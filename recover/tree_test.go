package recovery

import (
	"reflect"
	"strings"
	"testing"
)

func TestTree(t *testing.T) {
	tree := &Tree{Groups: [][]int{{1, 0, 1, 0, 1}, {2, 0, 3, 1, 2}}}
	if err := tree.Validate(5); err != nil {
		t.Error(err)
	}
	if got, want := tree.Members(1), [][]int{{1}, {3}, {0, 4}, {2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	for want, groups := range map[string][][]int{
		"without levels":                      nil,
		"level 0 has groups of 2 topics":      {{0, 0}},
		"topic 1 is in group -1":              {{0, -1, 0}},
		"topic 2 is in group 3":               {{0, 1, 3}},
		"level 0: of 3 groups 1 have no":      {{0, 2, 2}},
		"level 1: group 1 is in groups 0 and": {{0, 0, 1}, {0, 1, 1}},
	} {
		if err := (&Tree{Groups: groups}).Validate(3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", groups, err, want)
		}
	}
}
