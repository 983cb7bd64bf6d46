package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
)

// The words of the default setting in many scripts, separated by |.
func TestScripts(t *testing.T) {
	for _, x := range []struct{ script, in, want string }{
		{"Devanagari", "हिन्दी में नमस्ते दुनिया, क्षेत्र १९८४", "हिन्दी|में|नमस्ते|दुनिया|क्षेत्र"},
		{"Tamil and Telugu", "தமிழ் మలయాళం", "தமிழ்|మలయాళం"},
		{"Arabic", "العَرَبِيَّةُ لغة جميلة، كتاب ١٩٨٤", "العَرَبِيَّةُ|لغة|جميلة|كتاب"},
		{"Persian, with a joiner", "می\u200cخواهم\u200c", "می\u200cخواهم"},
		{"Hebrew", "שָׁלוֹם עולם צה״ל ג'ירפה", "שָׁלוֹם|עולם|צה״ל|ג'ירפה"},
		{"marks of direction", "\u200fשלום\u200e \u202babc\u202c \u2066def\u2069", "שלום|abc|def"},
		{"Thai", "ภาษาไทยน้ำใจ ๒๕๖๗", "ภา|าษ|ษา|าไ|ไท|ทย|ยน้ำ|น้ำใ|ใจ"},
		{"Lao", "ພາສາລາວນ້ຳ", "ພາ|າສ|ສາ|າລ|ລາ|າວ|ວນ້ຳ"},
		{"Khmer", "ភាសាខ្មែរ", "ភាសា|សាខ្មែ|ខ្មែរ"},
		{"Burmese", "မြန်မာဘာသာ", "မြန်|န်မ|မာ|ာဘ|ဘာ|ာသ|သာ"},
		{"Thai in English", "ไทยEnglishไทย", "ไท|ทย|english|ไท|ทย"},
		{"Thai with zero width spaces", "ไทย\u200bลาว", "ไท|ทย|ลา|าว"},
		{"Chinese", "中文分词，很有趣。我 GPT-4模型2024年", "中文|文分|分词|很有|有趣|我|gpt-4|模型|年"},
		{"Japanese", "日本語のテキストを解析する コーヒー ﾃﾞｰﾀ らーめん 々", "日本|本語|テキスト|解析|する|コーヒー|データ|らー|ーめ|めん|々"},
		{"Korean", "한국어 자연어 처리 IT기술", "한국어|자연어|처리|it기술"},
		{"decomposed Hangul", "\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"},
		{"emoji", "👩\u200d👩\u200d👧 family 🇩🇪 flags 1\ufe0f\u20e3 ❤\ufe0f", "family|flags"},
		{"combining marks", "cafe\u0301 café e\u0323\u0302t ệt", "café|café|ệt|ệt"},
		{"compatible forms", "Å\u212b ﬁnal ｆｕｌｌ\u3000ｗｉｄｔｈ H₂O", "åå|final|full|width|h2o"},
		{"Greek", "Ελληνικά ΑΘΗΝΑΣ ΟΔΟΣ", "ελληνικά|αθηνας|οδος"},
		{"Cyrillic", "Привет, мир! ёлка м’яч м\u02bcяч", "привет|мир|ёлка|м'яч|м'яч"},
		{"Vietnamese", "Nguyễn Văn Tiếng Việt", "nguyễn|văn|tiếng|việt"},
		{"Turkish and German", "İstanbul ISPARTA ıı Straße GROẞE", "istanbul|isparta|ıı|straße|große"},
		{"French and Italian", "L’eau d'accord s'il c'est-à-dire aujourd'hui l'État d’été n’y; o'clock I'm d'you y'all 't", "eau|accord|il|est-à-dire|aujourd'hui|état|été|o'clock|i'm|you|y'all"},
		{"soft hyphen", "co\u00adoperate", "cooperate"},
		{"not UTF-8", "bad\xff\xfebytes a\xc3", "bad|bytes"},
	} {
		if got := strings.Join(text.Default().Tokenize(nil, x.in), "|"); got != x.want {
			t.Errorf("%s: %q gives\n%q, want\n%q", x.script, x.in, got, x.want)
		}
	}
}

func TestFoldAccents(t *testing.T) {
	tok := split(t, text.Setting{FoldAccents: true})
	in := "Café H₂O Ελληνικά ёлка שָׁלוֹם العَرَبِيَّةُ हिन्दी ไทย้ データが straße"
	want := "cafe|h2o|ελληνικα|елка|שלום|العربية|हिन्दी|ไท|ทย้|データ|straße"
	if got := strings.Join(tok.Tokenize(nil, in), "|"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestClean(t *testing.T) {
	for _, x := range []struct {
		set      text.Setting
		in, want string
	}{
		{text.Setting{}, "<p class=\"x\">One<br>two <b>thr</b>ee</p>four<!-- no --> caf&eacute; R&amp;D &#65;bc", "one|two|three|four|café|r&d|abc"},
		{text.Setting{}, "<script>if (a<b) no()</script>yes<style>p {color: red}</style> <title>Title &amp; text</title>", "yes|title|text"},
		{text.Setting{}, "water H<sub>2</sub>O <?xml version='1.0'?><tei:p rend='x'>body</tei:p>", "water|h2o|body"},
		// What is no markup stays.
		{text.Setting{}, "if a <bc and de> fg, gh<hi && jk>kl #include <stdio.h> <ann@example.org> I <3 you", "if|bc|and|de|fg|gh|hi|jk|kl|include|stdio.h|ann|example.org|you"},
		{text.Setting{}, "unclosed <a href=\"x and the rest", "unclosed|href|and|the|rest"},
		{text.Setting{}, "a lone <script> or <title> or <!-- or <style> in a text AT&T", "lone|or|or|or|style|in|text|at&t"},
		{text.Setting{KeepMarkup: true}, "<br>caf&eacute;", "br|caf|eacute"},
		{text.Setting{DropURLs: true}, "see https://www.example.com/a?b=c#d, www.example.org or <mailto:ann@example.org>! foo@bar a://b", "see|or|foo|bar"},
		{text.Setting{DropURLs: true}, "看http://例.jp/x吧 ann.b+c@example.co.uk. end", "看|例|jp/x|吧|end"},
		{text.Setting{DropHeaders: true}, "From ann Mon\nFrom: ann@x.org\nSubject: Garden\n news\nX-Y: drop\n\nbody: text", "garden|news|body|text"},
		{text.Setting{DropHeaders: true}, "Dear Ann:\nno: header\n\nbody", "dear|ann|no|header|body"},
		{text.Setting{DropHeaders: true}, "Note: not a mail\n\nbody", "note|not|mail|body"},
		{text.Setting{DropHeaders: true}, "Subject: only", "subject|only"},
		{text.Setting{DropQuotes: true}, "Hello\n\nOn Monday Ann wrote:\n> old\n>> older\n\nnew\n> again\nlast: \n", "hello|new|last"},
		{text.Setting{DropQuotes: true, DropHeaders: true, DropURLs: true}, "", ""},
	} {
		tok := split(t, x.set)
		if got := strings.Join(tok.Tokenize(nil, x.in), "|"); got != x.want {
			t.Errorf("%v: %q gives\n%q, want\n%q", x.set, x.in, got, x.want)
		}
	}
}

// reverser is a Segmenter that gives the characters of a run, the last first.
type reverser struct{ scripts []string }

func (reverser) Name() string        { return "reverser" }
func (r reverser) Scripts() []string { return r.scripts }
func (reverser) Segment(dst []string, run string) []string {
	for run != "" {
		_, n := utf8.DecodeLastRuneInString(run)
		dst = append(dst, run[len(run)-n:]+"字")
		run = run[:len(run)-n]
	}
	return append(dst, "", "、", "の")
}

func TestSegmenter(t *testing.T) {
	set := text.Setting{Segmenters: []string{"reverser"}}
	if _, err := set.Tokenizer(); err == nil || !strings.Contains(err.Error(), `"reverser", which is not given; pass it to Setting.Tokenizer`) {
		t.Errorf("without it: %v", err)
	}
	tok, err := set.Tokenizer(reverser{[]string{"Han", "Hiragana", "Katakana"}})
	if err != nil {
		t.Fatal(err)
	}
	got := tok.Tokenize([]string{"before"}, "本の、データ word ไทย")
	if want := []string{"before", "の字", "本字", "タ字", "ー字", "デ字", "word", "ไท", "ทย"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, x := range []struct {
		set   text.Setting
		tools []text.Tool
	}{
		{text.Setting{}, []text.Tool{reverser{[]string{"Han"}}}},
		{set, []text.Tool{reverser{}}},
		{set, []text.Tool{reverser{[]string{"Hun"}}}},
		{set, []text.Tool{reverser{[]string{"Han", "Han"}}}},
		{set, []text.Tool{reverser{[]string{"Han"}}, nil}},
		{text.Setting{Stemmer: "reverser"}, []text.Tool{reverser{[]string{"Han"}}}},
		{text.Setting{Own: "x"}, nil},
		{text.Setting{MinLength: 50}, nil},
		{text.Setting{Version: 2}, nil},
	} {
		if _, err := x.set.Tokenizer(x.tools...); err == nil {
			t.Errorf("%v with %v is accepted", x.set, x.tools)
		}
	}
}

func TestUnsegmented(t *testing.T) {
	for word, want := range map[string]string{"น้ำใจ": "Thai", "中文": "Han", "らー": "", "する": "Hiragana", "word": "", "": "", "中a": "", "データ": ""} {
		if got := text.Unsegmented(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
