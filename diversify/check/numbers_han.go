package check

import "unicode/utf8"

// hanDigit is the value of a Chinese numeral, -1 for the zeros, and 0 for other
// characters.
func hanDigit(r rune) float64 {
	switch r {
	case '〇', '零':
		return -1
	case '一', '壹':
		return 1
	case '二', '两', '貳', '贰':
		return 2
	case '三', '叁':
		return 3
	case '四', '肆':
		return 4
	case '五', '伍':
		return 5
	case '六', '陆':
		return 6
	case '七', '柒':
		return 7
	case '八', '捌':
		return 8
	case '九', '玖':
		return 9
	case '十', '拾':
		return 10
	case '百', '佰':
		return 100
	case '千', '仟':
		return 1000
	case '万', '萬':
		return 1e4
	case '亿', '億':
		return 1e8
	}
	return 0
}

func hanScale(s []byte) float64 {
	if s[0] < 0xe4 {
		return 0
	}
	r, _ := utf8.DecodeRune(s)
	if v := hanDigit(r); v >= 100 {
		return v
	}
	return 0
}

// scanHan reads Chinese numerals. One alone is part of so many words that it
// is only implied.
func (ns *numbers) scanHan(i int) int {
	s := ns.text
	begin, count := i, 0
	total, section, digit := 0.0, 0.0, 0.0
	positional, row := true, 0.0 // 二〇二一
	for i < len(s) {
		r, n := utf8.DecodeRune(s[i:])
		v := hanDigit(r)
		if v == 0 {
			break
		}
		count++
		i += n
		switch {
		case v < 10:
			v = max(v, 0)
			digit, row = v, 10*row+v
		case v < 1e4:
			positional = false
			section += max(digit, 1) * v
			digit = 0
		default:
			positional = false
			total += (section + digit) * v
			section, digit = 0, 0
		}
	}
	value := total + section + digit
	if positional {
		value = row
	}
	if count == 1 {
		ns.optional = append(ns.optional, value)
		return i
	}
	n := number{at: [2]int{begin, i}, weak: true}
	n.add(value)
	ns.list = append(ns.list, n)
	return i
}

// hanUnit notes what a Chinese character implies.
func (ns *numbers) hanUnit(r rune) {
	switch r {
	case '半':
		ns.optional = append(ns.optional, 0.5, 50, 30, 6)
	case '双':
		ns.optional = append(ns.optional, 2)
	case '天', '日':
		ns.optional = append(ns.optional, 24)
	case '周':
		ns.optional = append(ns.optional, 7)
	case '年':
		ns.optional = append(ns.optional, 12, 365)
	}
}
