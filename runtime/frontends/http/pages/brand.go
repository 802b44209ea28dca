package pages

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A Brand is whose pages they are: the name, and the addresses of the logo and of the colours, "" for
// the usual ones.
type Brand struct {
	Name          string
	Logo, Colours string
}

// NewBrand makes the brand of an organisation from its name, the colour of what can be pressed as six
// hexadecimal digits, with a second one for dark pages, and a logo with the name of its file. It
// refuses a colour on which or in which text cannot be read.
func NewBrand(name, colours, file string, logo []byte) (Brand, error) {
	b := Brand{Name: name}
	if colours != "" {
		text, err := accents(colours)
		if err != nil {
			return b, err
		}
		b.Colours = own("brand.css", kinds[".css"], []byte(text))
	}
	if file != "" {
		kind := map[string]string{".svg": "image/svg+xml", ".png": "image/png"}[strings.ToLower(path.Ext(file))]
		if kind == "" {
			return b, fmt.Errorf("the logo is a file that ends in .svg or .png, not %q", path.Base(file))
		}
		b.Logo = own("logo"+strings.ToLower(path.Ext(file)), kind, logo)
	}
	return b, nil
}

// ours are the assets of the brands of this process, by name.
var ours sync.Map

// own keeps an asset, and returns its address.
func own(name, kind string, text []byte) string {
	a := newAsset(name, kind, text)
	ours.Store(a.name, a)
	return Assets + a.name
}

var isColour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`) })

// The surfaces that an accent stands on, and what stands on it, light and dark: as in style.css.
var accentOn = [2][]string{{"#FFFFFF", "#F6F7F9", "#E8F0FB"}, {"#171C23", "#0F1318", "#14263F", "#0B1220"}}

// accents makes the style sheet of one or two accents. Without the second, the first is lightened
// until it can be read on dark pages.
func accents(colours string) (string, error) {
	light, dark, two := strings.Cut(colours, ",")
	light, dark = strings.TrimSpace(light), strings.TrimSpace(dark)
	if !isColour().MatchString(light) || two && !isColour().MatchString(dark) {
		return "", fmt.Errorf("a colour is written like #1B4F9C, and two like #1B4F9C,#8AB8FF, not %q", colours)
	}
	if !two {
		for share := 0.0; share < 1 && least(dark, 1) < 4.5; share += 0.05 {
			dark = lighter(light, share)
		}
	}
	for i, colour := range [2]string{light, dark} {
		if got := least(colour, i); got < 4.5 {
			return "", fmt.Errorf("text in the colour %s has a contrast of %.1f on %s pages, and needs 4.5: take a %s one",
				colour, got, [2]string{"light", "dark"}[i], [2]string{"darker", "lighter"}[i])
		}
	}
	return fmt.Sprintf(":root{--accent:light-dark(%s,%s)}\n", light, dark), nil
}

// least returns the least contrast of an accent to what it stands on; 0 without a colour.
func least(colour string, look int) float64 {
	if colour == "" {
		return 0
	}
	lowest := math.Inf(1)
	for _, surface := range accentOn[look] {
		lowest = min(lowest, Contrast(colour, surface))
	}
	return lowest
}

func lighter(colour string, share float64) string {
	out := "#"
	for i := range 3 {
		c := channel(colour, i)
		out += fmt.Sprintf("%02X", int(c+(255-c)*share))
	}
	return out
}

func channel(colour string, i int) float64 {
	n, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
	return float64(n)
}

// Contrast returns the contrast of two colours, from 1 to 21, by WCAG 2.2.
func Contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(colour string) (sum float64) {
	for i, share := range []float64{0.2126, 0.7152, 0.0722} {
		c := channel(colour, i) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += share * c
	}
	return sum
}
