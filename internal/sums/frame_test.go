package sums

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"testing"
)

// examples are plans of all kinds that count words.
func examples(t testing.TB) []Plan {
	t.Helper()
	census, err := NewCensus([]int{3, 0, number(1 << 40), 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	none, err := NewCensus(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	moment, err := NewMoment([]int{3, 0, number(1 << 40), 7, 2, 1, 1, 1, 5, 9}, []float64{1, 2, 0, 4, 5, 6, 7, 8, 9.5, 10}, []int{0, 2, 9}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []Plan{census, none, moment}
}

func encoded(t testing.TB, p Plan) []byte {
	t.Helper()
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A plan comes back from its bytes, and adds up the same.
func TestReadPlan(t *testing.T) {
	for _, p := range examples(t) {
		b := encoded(t, p)
		got, err := ReadPlan(b)
		if err != nil {
			t.Fatal(err)
		}
		if again := encoded(t, got); !bytes.Equal(again, b) || got.Len() != p.Len() {
			t.Errorf("%T: %x came back as %x", p, b, again)
		}
	}
	l := random(500, 60)
	e := l.encode(t)
	idf, words := best(e)
	moment, err := NewMoment(e.Info().DocFrequencies, idf, words, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadPlan(encoded(t, moment))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sumOf(t, NewLocal(e, 1), got), sumOf(t, NewLocal(e, 1), moment)) {
		t.Error("the decoded plan has another sum")
	}
}

// No bit can change, and no byte be missing or added, without an error.
func TestReadPlanDamage(t *testing.T) {
	for _, p := range examples(t) {
		b := encoded(t, p)
		for i := range b {
			bad := bytes.Clone(b)
			for bit := range 8 {
				bad[i] = b[i] ^ 1<<bit
				if _, err := ReadPlan(bad); err == nil {
					t.Errorf("%T: bit %d of byte %d changed without an error", p, bit, i)
				}
			}
			if _, err := ReadPlan(b[:i]); err == nil {
				t.Errorf("%T: cut after %d bytes without an error", p, i)
			}
		}
		if _, err := ReadPlan(append(bytes.Clone(b), 0)); err == nil {
			t.Errorf("%T: a byte more without an error", p)
		}
	}
}

// Bodies that no plan has are errors, whatever their checksum.
func TestReadPlanErrors(t *testing.T) {
	u64 := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	join := func(b ...[]byte) []byte { return bytes.Join(b, nil) }
	f64 := func(x float64) []byte { return u64(math.Float64bits(x)) }
	for _, x := range []struct {
		kind byte
		body []byte
		want string
	}{
		{0, nil, "unknown kind 0"},
		{9, nil, "unknown kind 9"},
		{kindCensus, nil, "it ends early"},
		{kindCensus, u64(1 << 60), "1152921504606846976 words in 8 bytes"},
		{kindCensus, join(u64(1), []byte{1, 1}), "1 bytes are left over"},
		{kindCensus, join(u64(1), bytes.Repeat([]byte{0xff}, 9), []byte{1}), "word 0 is in 18446744073709551615 documents"},
		{kindMoment, nil, "it ends early"},
		{kindMoment, join([]byte{2}, u64(1), []byte{1}), "flags 0x2"},
		{kindMoment, join([]byte{0}, u64(1<<40)), "1099511627776 words in 9 bytes"},
		{kindMoment, join([]byte{0}, u64(3), []byte{0}), "vocabulary"},
		{kindMoment, join([]byte{0}, u64(3), []byte{8}), "word 3 of 3"},
		{kindMoment, join([]byte{0}, u64(3), []byte{4, 1}), "it ends early"},
		{kindMoment, join([]byte{0}, u64(3), []byte{4, 1}, f64(math.NaN())), "word 2 is in 1 documents and has the idf NaN"},
		{kindMoment, join([]byte{0}, u64(3), []byte{4, 1}, f64(-1)), "the idf -1"},
		{kindMoment, join([]byte{0}, u64(3), []byte{4, 1}, f64(1), []byte{0}), "1 bytes are left over"},
	} {
		_, err := ReadPlan(seal(x.kind, x.body))
		wantError(t, err, x.want)
	}
	b := encoded(t, examples(t)[0])
	for at, want := range map[int]string{0: `begins with "XSUM"`, 5: "version 88", 6: "bytes 88 and 0", 8: "has a body of"} {
		bad := bytes.Clone(b)
		bad[at] = 'X'
		_, err := ReadPlan(bad)
		wantError(t, err, want)
	}
	if _, err := (&Census{weights: []float64{1}}).MarshalBinary(); err != errWeights {
		t.Errorf("census with weights: %v", err)
	}
	if _, err := (&Moment{weights: []float64{1}}).MarshalBinary(); err != errWeights {
		t.Errorf("moment with weights: %v", err)
	}
}

// A plan that can be read can be written to the same bytes, and used.
func FuzzReadPlan(f *testing.F) {
	for _, p := range examples(f) {
		b := encoded(f, p)
		f.Add(b[4], b[planHeader:len(b)-4])
	}
	e := random(20, 4).encode(f)
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		b := seal(kind, body)
		if got := crc32.Checksum(b[:len(b)-4], castagnoli); got != binary.LittleEndian.Uint32(b[len(b)-4:]) {
			t.Fatal("the checksum is not that of the frame")
		}
		p, err := ReadPlan(b)
		if err != nil {
			return
		}
		if n := p.Len(); n <= 0 || n > 1<<20 {
			return
		}
		again, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		q, err := ReadPlan(again)
		if err != nil {
			t.Fatal(err)
		}
		if kind == kindPass {
			return // it may take long
		}
		sum, err := NewLocal(e, 1).Sum(t.Context(), p)
		other, err2 := NewLocal(e, 2).Sum(t.Context(), q)
		if (err == nil) != (err2 == nil) || !slices.Equal(sum, other) {
			t.Fatalf("%v and %v, %v and %v", sum, other, err, err2)
		}
	})
}
