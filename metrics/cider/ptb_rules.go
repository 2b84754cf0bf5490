package cider

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// rule makes a token of the longest text that matches what and is followed by a match of
// before. Of rules whose matches are equally long, including the context, the first one
// counts.
type rule struct {
	what, before string
	back         int                   // characters to leave for the next token
	as           func(s string) string // rewrites the token; "" drops it
}

// caseless makes an expression for literal texts, separated by "|", in any case. Text in
// brackets stays as it is.
func caseless(s string) string {
	var b strings.Builder
	b.WriteString("(?:")
	class := false
	for _, r := range s {
		switch {
		case r == '[' || r == ']':
			class = r == '['
			b.WriteRune(r)
		case !class && (unicode.IsLetter(r)):
			fmt.Fprintf(&b, "[%c%c]", unicode.ToLower(r), unicode.ToUpper(r))
		case !class && r == '.':
			b.WriteString(`\.`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + ")"
}

// class lists the characters of a table below U+10000: the lexer reads UTF-16 and knows no
// letter beyond.
func class(t *unicode.RangeTable) string {
	var b strings.Builder
	for _, r := range t.R16 {
		if r.Stride == 1 {
			fmt.Fprintf(&b, `\x{%x}-\x{%x}`, r.Lo, r.Hi)
			continue
		}
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			fmt.Fprintf(&b, `\x{%x}`, c)
		}
	}
	return b.String()
}

// rules are the rules of Stanford's lexer for English, version 3.4.1, in its order.
func rules() []rule {
	any := func(of ...string) string { return "(?:" + strings.Join(of, "|") + ")" }
	c := caseless

	isLetter, isDigit := "["+class(unicode.L)+"]", class(unicode.Nd)
	splet := any(`&[aeiouAEIOU]` + c("acute|grave|uml") + ";")
	const marks = `\x{ad}\x{237}-\x{24f}\x{2c2}-\x{2c5}\x{2d2}-\x{2df}\x{2e5}-\x{2ff}\x{300}-\x{36f}\x{370}-\x{37d}\x{384}\x{385}\x{3cf}\x{3f6}\x{3fc}-\x{3ff}` +
		`\x{483}-\x{487}\x{4cf}\x{4f6}-\x{4ff}\x{510}-\x{525}\x{55a}-\x{55f}\x{591}-\x{5bd}\x{5bf}\x{5c1}\x{5c2}\x{5c4}\x{5c5}\x{5c7}\x{615}-\x{61a}\x{63b}-\x{63f}` +
		`\x{64b}-\x{65e}\x{670}\x{6d6}-\x{6ef}\x{6fa}-\x{6ff}\x{70f}\x{711}\x{730}-\x{74f}\x{750}-\x{77f}\x{7a6}-\x{7b1}\x{7ca}-\x{7f5}\x{7fa}` +
		`\x{900}-\x{903}\x{93c}\x{93e}-\x{94e}\x{951}-\x{955}\x{962}-\x{963}\x{981}-\x{983}\x{9bc}-\x{9c4}\x{9c7}\x{9c8}\x{9cb}-\x{9cd}\x{9d7}\x{9e2}\x{9e3}` +
		`\x{a01}-\x{a03}\x{a3c}\x{a3e}-\x{a4f}\x{a81}-\x{a83}\x{abc}-\x{acf}\x{b82}\x{bbe}-\x{bc2}\x{bc6}-\x{bc8}\x{bca}-\x{bcd}\x{c01}-\x{c03}\x{c3e}-\x{c56}` +
		`\x{d3e}-\x{d44}\x{d46}-\x{d48}\x{e30}-\x{e3a}\x{e47}-\x{e4e}\x{eb1}-\x{ebc}\x{ec8}-\x{ecd}`
	letter := any(isLetter, splet, "["+marks+"]")
	inner := any(isLetter, splet, "["+marks+isDigit+`\x{7c0}-\x{7c9}]`) // a letter or a digit
	digit := "[" + isDigit + `\x{7c0}-\x{7c9}]`
	plain := "[" + class(unicode.L) + isDigit + "]" // without marks
	const (
		space   = `[ \t\x{a0}\x{2000}-\x{200a}\x{3000}]`
		newline = `(?:\r|\r?\n|\x{2028}|\x{2029}|\x{b}|\x{c}|\x{85})`
		spacenl = `(?:` + space + `|` + newline + `)`
		name    = `[A-Za-z][A-Za-z0-9_:.\-]*`
		sgml    = `<(?:[!?][A-Za-z\-][^>\r\n]*|` + name + `(?:[ ]+(?:` + name + `|` + name + `[ ]*=[ ]*(?:'[^']*'|"[^"]*")))*[ ]*/?|/` + name + `)[ ]*>`
		hyphen  = `[\-_\x{58a}\x{2010}\x{2011}]`
		insentp = `[,;:\x{3001}]`
	)
	apos := any(`['\x{92}\x{2019}]`, c("&apos;"))
	aposEtc := any(apos, "[`\\x{91}\\x{2018}\\x{201b}]")
	amp := c("&amp;")

	word := letter + inner + `*(?:[.!?]` + letter + inner + `*)*`
	num := any(digit+`+`, digit+`*(?:[.:,\x{ad}\x{66b}\x{66c}]`+digit+`+)+`)
	elided := `(?:[dDoOlL]` + aposEtc + plain + `)?` + plain + `+`
	thing := elided + `(?:` + hyphen + elided + `)*`
	thingA := `[A-Z]+(?:(?:[+&]|` + amp + `)[A-Z]+)+`
	part := `[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}`
	us := c("(?:canada|sino|korean|eu|japan|non)-u.s|u.s.-(?:u.k|u.s.s.r)")
	acro, acro2 := any(`[A-Za-z](?:\.[A-Za-z])*`, us), any(`[A-Za-z](?:\.[A-Za-z])+`, us)
	hthing := `[A-Za-z0-9][A-Za-z0-9.,\x{ad}]*(?:-(?:[A-Za-z0-9\x{ad}]+|` + acro2 + `\.))+`
	redaux := apos + any("[msdMSD]", c("re|ve|ll"))
	sword, sredaux := `[A-Za-z\x{ad}]*[A-MO-Za-mo-z]\x{ad}*`, `[nN]`+aposEtc+`[tT]`
	apoword := any(apos+c("n")+apos+"?", "[lLdDjJ]"+apos, c("dunkin|somethin|ol")+apos, apos+c("em"),
		"[A-HJ-XZn]"+aposEtc+isLetter+"{2}"+isLetter+"*", apos+"[2-9]0[sS]", apos+c("till?"),
		isLetter+isLetter+"*[aeiouyAEIOUY]"+aposEtc+"[aeiouA-Z]"+isLetter+"*", apos+c("cause"),
		c("cont'd.?|'twas|nor'easter|c'mon|e'er|s'mores|ev'ry|li'l|nat'l"), c("o")+aposEtc+c("o"))
	const within, last = `[^ \t\n\f\r"<>|(){}]`, `[^ \t\n\f\r"<>|.!?(){},\-]`
	fullURL := c("http") + `[sS]?://` + within + `+` + last
	// The class of the second kind of host has a range from "," to "_", as in the lexer.
	likelyURL := any(c("www")+`\.(?:[^ \t\n\f\r"<>|.!?(){},]+\.)+[a-zA-Z]{2,4}`,
		"(?:[^ \\t\\n\\f\\r\"`'<>|.!?(){},-_$]+\\.)+"+c("com|net|org|edu")) + `(?:/[^ \t\n\f\r"<>|()]+` + last + `)?`
	email := any(c("&lt;"), "<") + `?[a-zA-Z0-9][^ \t\n\f\r"<>|()\x{a0}{}]*@(?:[^ \t\n\f\r"<>|(){}.\x{a0}]+\.)*[^ \t\n\f\r"<>|(){}.\x{a0}]+` + any(c("&gt;"), ">") + `?`
	twitter := any(`@[a-zA-Z_][a-zA-Z_0-9]*`, `#`+letter+`+`)
	frac := `(?:` + digit + `{1,4}[\- \x{a0}])?` + digit + `{1,4}(?:\\?/|\x{2044})` + digit + `{1,4}`
	phone := any(`(?:\([0-9]{2,3}\)[ \x{a0}]?|(?:\+\+?)?(?:[0-9]{2,4}[\- \x{a0}])?[0-9]{2,4}[\- \x{a0}])[0-9]{3,4}[\- \x{a0}]?[0-9]{3,5}`,
		`(?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5}`)

	abbrev1 := any(c("jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|mon|tue|tues|wed|thu|thurs|fri"),
		c("ala|ariz|[A]z|[A]rk|calif|colo|conn|ct|dak|[D]el|fla|ga|[I]ll|ind|kans?|ky|[L]a|[M]ass|md|mich|minn|[M]iss|mo|mont|neb|nev|okla|[O]re|[P]a|penn|tenn|[T]ex|va|vt|[W]ash|wisc?|wyo"),
		c("inc|cos?|corp|pp?t[ye]s?|ltd|plc|rt|bancorp|bhd|assn|univ|intl|sys|tel|est|ext|sq|jr|sr|bros|(?:ed|ph).d|blvd|rd|esq|etc|al|seq|bldg")) + `\.`
	abbrev4 := any(c("mr|mrs|ms|[M]iss|drs?|profs?|sens?|reps?|attys?|lt|col|gen|messrs|govs?|adm|rev|maj|sgt|cpl|pvt|capt|ste?|ave|pres|lieut|hon|brig|co?mdr|pfc|spc|supts?|det|mt|ft|adj|adv|asst|assoc|ens|insp|mlle|mme|msgr|sfc"),
		c("vs|alex|wm|jos|cie|a.k.a|cf|treas|ph"), acro, c("invt|elec|natl|m[ft]g|dept"))
	abbrev3 := c("ca|figs?|prop|nos?|art|bldg|prop|pp|op") + `\.`
	starts := any(c("[A]bout|[A]ccording|[A]dditionally|[A]fter|[A]n|[A]|[A]s|[A]t|[B]ut|[E]arlier|[H]e|[H]er|[H]ere|[H]owever|[I]f|[I]n|[I]t|[L]ast|[M]any|[M]ore|[M]r.|[M]s.|[N]ow|[O]nce|[O]ne|[O]ther|[O]ur|[S]he|[S]ince|[S]o|[S]ome|[S]uch|[T]hat|[T]he|[T]heir|[T]hen|[T]here|[T]hese|[T]hey|[T]his|[W]e|[W]hen|[W]hile|[W]hat|[Y]et|[Y]ou"), sgml)

	fixed := func(s string) func(string) string { return func(string) string { return s } }
	replaced := func(oldnew ...string) func(string) string { return strings.NewReplacer(oldnew...).Replace }
	ampersand := regexp.MustCompile(amp)
	unamp := func(s string) string { return ampersand.ReplaceAllString(s, "&") }
	soft := func(s string) string {
		if s = strings.ReplaceAll(s, "\u00ad", ""); s == "" {
			return "-"
		}
		return s
	}
	quotes := replaced("&apos;", "'", `"`, "''", "&quot;", "''", "\u0091", "`", "\u2018", "`", "\u201b", "`", "\u2039", "`",
		"\u0092", "'", "\u2019", "'", "\u203a", "'", "\u0093", "``", "\u201c", "``", "\u00ab", "``", "\u0094", "''", "\u201d", "''", "\u00bb", "''")
	parens := replaced("(", "-LRB-", ")", "-RRB-")
	none := fixed("")

	return []rule{
		{what: `[cC]\+\+`},
		{what: `[cCfF]#`},
		{what: c("cannot"), back: 3},
		{what: c("'twas"), back: 3},
		{what: c("'tis"), back: 2},
		{what: c("gonna|gotta|lemme|gimme|wanna"), back: 2},
		{what: sgml},
		{what: any("&"+c("md|mdash|ndash")+";", `[\x{96}\x{97}\x{2013}\x{2014}\x{2015}]`), as: none},
		{what: amp, as: unamp},
		{what: `&` + any(c("ht|tl|ur|lr|qc|ql|qr|odq|cdq"), `#[0-9]+`) + `;`},
		{what: word, before: redaux, as: soft},
		{what: sword, before: sredaux, as: soft},
		{what: word, as: soft},
		{what: apoword},
		{what: c("y") + apos, before: isLetter},
		{what: fullURL},
		{what: likelyURL},
		{what: email},
		{what: twitter},
		{what: redaux, before: `[^A-Za-z]`, as: quotes},
		{what: sredaux, before: `[^A-Za-z]`, as: quotes},
		{what: digit + `{1,2}[\-/]` + digit + `{1,2}[\-/]` + digit + `{2,4}`},
		{what: `[\-+]?` + num, as: soft},
		{what: `[\x{207a}\x{207b}\x{208a}\x{208b}]?(?:[\x{2070}\x{b9}\x{b2}\x{b3}\x{2074}-\x{2079}]+|[\x{2080}-\x{2089}]+)`},
		{what: frac},
		{what: `[\x{bc}\x{bd}\x{be}\x{2153}-\x{215e}]`, as: replaced("¼", "1/4", "½", "1/2", "¾", "3/4", "⅓", "1/3", "⅔", "2/3")},
		{what: any("-"+c("rrb|lrb|rcb|lcb|rsb|lsb")+"-", c("c.d.s|pro-|anti-"), c("s")+any("&", amp)+c("p-500"), c("s")+any("&", amp)+c("ls"), c("cap")+apos+c("n"), c("c")+apos+c("est")), as: unamp},
		{what: part + `(?:\\?/` + part + `){1,2}`},
		{what: `(?:[A-Z]*\$|#)`},
		{what: `[\x{a2}-\x{a5}\x{80}\x{20a0}\x{20ac}\x{60b}\x{e3f}\x{20a4}\x{ffe0}\x{ffe1}\x{ffe5}\x{ffe6}]`,
			as: replaced("¢", "cents", "£", "#", "\u0080", "$", "¤", "$", "₠", "$", "€", "$")},
		{what: any(acro) + `\.`, before: spacenl + `+` + starts + spacenl, as: func(s string) string {
			if len(s) == 2 {
				return s[:1] // "I." at the end of a sentence
			}
			return s
		}},
		{what: abbrev3, before: spacenl + `?[` + isDigit + `]`},
		{what: any("[pP][tT][eyEY]", c("co")) + `\.`, before: space + c("ltd|lim")},
		{what: abbrev1, before: spacenl + any(spacenl, `[`+class(unicode.Lu)+`]`, sgml)},
		{what: abbrev1, before: `(?s:..)`},
		{what: abbrev1},
		{what: abbrev4 + `\.`},
		{what: abbrev4, before: space},
		{what: acro, before: spacenl},
		{what: apos + `[0-9][0-9]`, before: spacenl},
		{what: inner + `+(?:\.` + inner + `+)*\.` + c("bat|bmp|c|class|cgi|cpp|dll|doc|docx|exe|gif|gz|h|htm|html|jar|java|jpeg|jpg|mov|mp3|pdf|php|pl|png|ppt|ps|py|sql|tar|txt|wav|x|xml|zip"),
			before: any(spacenl, `[.?!,]`)},
		{what: word + `\.`, before: insentp, as: soft},
		{what: phone, as: parens},
		{what: any(`"`, c("&quot;")), as: quotes},
		{what: `\x7f`, as: none},
		{what: any("<", c("&lt;")), as: fixed("<")},
		{what: any(">", c("&gt;")), as: fixed(">")},
		{what: "[<>]?[:;=][\\-o*']?[()DPdpO\\\\{@|\\[\\]]", before: `[^A-Za-z0-9]`, as: parens},
		{what: any("[\\^x=~<>]\\.\\[\\^[xX]=~<>\\]", "[\\-^x=~<>']_[\\-^x=~<>']", "\\([\\-^x=~<>'][_.]?[\\-^x=~<>']\\)", "\\([\\^x=~<>']-[\\^x=~<>'`]\\)"), as: parens},
		{what: `\{`, as: fixed("-LCB-")},
		{what: `\}`, as: fixed("-RCB-")},
		{what: `\[`, as: fixed("-LSB-")},
		{what: `\]`, as: fixed("-RSB-")},
		{what: `\(`, as: fixed("-LRB-")},
		{what: `\)`, as: fixed("-RRB-")},
		{what: `-{1,4}`, as: none},
		{what: `-{5}-*`},
		{what: any(`\.{3,5}`, `(?:\.[ \x{a0}]){2,4}\.`, `[\x{85}\x{2026}]`), as: none},
		{what: `(?:@+|#+|_+)`},
		{what: any(`\*+`, `(?:\\\*){1,3}`)},
		{what: insentp},
		{what: `[?!]+`},
		{what: `[.¡¿\x{37e}\x{589}\x{61f}\x{6d4}\x{700}-\x{702}\x{7fa}\x{3002}]`},
		{what: `=`},
		{what: `/`},
		{what: hthing + `\.`, before: insentp, as: soft},
		{what: hthing, as: soft},
		{what: thing + `\.`, before: insentp},
		{what: thing},
		{what: thingA + `\.`, before: insentp, as: unamp},
		{what: thingA, as: unamp},
		{what: `'`, before: `[A-Za-z][^ \t\n\r\x{a0}]`, as: none},
		{what: redaux, as: quotes},
		{what: sredaux, as: quotes},
		{what: any(apos, "''", "[`\\x{2018}\\x{2019}\\x{201a}\\x{201b}\\x{201c}\\x{201d}\\x{91}\\x{92}\\x{93}\\x{94}\\x{201e}\\x{201f}\\x{2039}\\x{203a}\\x{ab}\\x{bb}]{1,2}"), as: quotes},
		{what: `(?:<<|>>)`},
		{what: `[+%&~^|\\¦\x{a7}¨\x{a9}\x{ac}\x{ae}¯\x{b0}-\x{b3}\x{b4}-\x{ba}\x{d7}\x{f7}\x{387}\x{5be}\x{5c0}\x{5c3}\x{5c6}\x{5f3}\x{5f4}\x{600}-\x{603}\x{606}-\x{60a}\x{60c}\x{614}\x{61b}\x{61e}\x{66a}\x{66d}\x{703}-\x{70d}\x{7f6}\x{7f7}\x{7f8}\x{964}\x{965}\x{e4f}\x{1fbd}\x{2016}\x{2017}\x{2020}-\x{2023}\x{2030}-\x{2038}\x{203b}\x{203e}-\x{2042}\x{2044}\x{207a}-\x{207f}\x{208a}-\x{208e}\x{2100}-\x{214f}\x{2190}-\x{21ff}\x{2200}-\x{2bff}\x{3012}\x{30fb}\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff20}\x{ff3b}-\x{ff40}\x{ff5b}-\x{ff65}]`},
		{what: `(?:\x00|` + space + `+|[\x{200b}\x{200e}-\x{200f}\x{feff}])`, as: none},
		{what: newline, as: none},
		{what: c("&nbsp;"), as: none},
	}
}
