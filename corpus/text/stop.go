package text

import (
	"slices"
	"strings"
)

// The list is by word class, so that it can be read and judged: closed classes
// only, in the form that the default Setting gives them.
const englishStopWords = `
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself
they them their theirs themselves one ones
who whom whose which what whatever whichever whoever where when why how
whenever wherever whether
someone somebody something somewhere anyone anybody anything anywhere everyone
everybody everything everywhere nobody nothing nowhere none
all any both each either every few fewer less many more most much neither no
other others another several some such own same enough
am is are was were be been being
have has had having do does did doing done
can could may might must shall should will would ought need cannot
about above across after against along among around as
at before behind below beneath beside besides between beyond by despite down
during except for from in inside into like near of off on onto out outside over
past per since than through throughout till to toward towards under underneath
until unto up upon via with within without
and but or nor so yet if because although though unless while whereas
once
not never ever always often sometimes usually seldom perhaps maybe
also too very quite rather almost nearly just only even still already again
else instead otherwise however moreover furthermore therefore thus hence
nevertheless nonetheless meanwhile indeed then there here now later
thereby therein whereby
back
ok okay please etc ie eg vs
get gets got getting go goes going gone went come comes came
make makes made let say says said
aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't
mustn't needn't shan't shouldn't wasn't weren't won't wouldn't ain't
i'm i've i'll i'd you're you've you'll you'd he'll he'd he's she'll she'd she's
it'll it'd it's we're we've we'll we'd they're they've they'll they'd
that'll that'd that's there'll there'd there's here's who'll who'd who's what's
where's when's how's let's could've should've would've might've must've
don didn doesn isn wasn weren aren couldn wouldn shouldn hasn haven hadn ain
ll ve re
`

// EnglishStopWords returns some 350 English function words in lower case, sorted: articles,
// pronouns, prepositions, conjunctions, auxiliaries, adverbs without content, a few common verbs,
// and contractions, both whole ("don't") and as the pieces that other tokenizers leave ("don",
// "ll").
func EnglishStopWords() []string {
	list := strings.Fields(englishStopWords)
	slices.Sort(list)
	return slices.Compact(list)
}
