package values

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Times of day are read as people write them, in four languages. What is a part of one, or one of two,
// has a problem or two meanings, and a number is none by itself.
func TestClocks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"tomorrow at 10":                      "10:00",
		"tomorrow at 10:00":                   "10:00",
		"3 January 2027, 10:00":               "10:00",
		"2027-01-03 10:00":                    "10:00",
		"3 pm on Friday":                      "15:00",
		"at 12 a.m., at 12 p.m.":              "00:00, 12:00",
		"on Friday at 3.30 in the afternoon":  "15:30",
		"at 9 o'clock on Monday":              "09:00",
		"tomorrow at 3":                       "03:00 or 15:00",
		"tomorrow at noon, please":            "12:00",
		"at 10 tomorrow":                      "10:00",
		"morgen um 10 Uhr":                    "10:00",
		"am 3. Januar um 10.30 Uhr":           "10:30",
		"um 17 Uhr 30 am Freitag":             "17:30",
		"heute um 8 Uhr abends":               "20:00",
		"Freitag um 11":                       "11:00",
		"demain à 10 h":                       "10:00",
		"demain à 10h30":                      "10:30",
		"vendredi à 3 heures de l’après-midi": "15:00",
		"lundi à midi":                        "12:00",
		"mañana a las 10":                     "10:00",
		"mañana a las 10 de la mañana":        "10:00",
		"el viernes a las 8 de la tarde":      "20:00",
		"el 3 mayo a las 11:15":               "11:15",
		"half past 8 pm":                      "not-understood",
		"a las 10 y media":                    "not-understood",
		"demain à 10 h moins le quart":        "not-understood",
		"at 10 or 11":                         "not-understood",
		"zwischen 10 und 12 Uhr":              "not-understood",
		"at 10:00 and at 11:00":               "not-understood, not-understood",
		"not at 10":                           "not-understood",
		"after 10:00":                         "not-understood",
		"in 2 h":                              "not-understood",
		"dans 2 heures":                       "not-understood",
		"at 25:00 or at 10:99":                "not-understood, not-understood",
		"13 am":                               "not-understood",
		"at 10 Downing Street":                "",
		"at the 10th of May":                  "",
		"10 boxes, 10.5 %, 3/4, 1,5 h, 12-14": "",
		"03.01.2027":                          "",
		"ratio 1:2, version 10:30:15 of 3.1":  "",
		"https://10:30":                       "",
		"cet après-midi":                      "",
	} {
		var got []string
		for _, c := range Clocks(text, false) {
			says := c.Problem.String()
			if c.Problem == 0 {
				var all []string
				for _, m := range c.Minutes {
					all = append(all, SayClock(m))
				}
				says = strings.Join(all, " or ")
			}
			got = append(got, says)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %s, want %s", text, strings.Join(got, ", "), want)
		}
	}
	if all := Clocks("10", true); len(all) != 1 || len(all[0].Minutes) != 1 || all[0].Minutes[0] != 600 {
		t.Errorf("an hour that was asked for: %+v", all)
	}
}

// Moments as programs write them are read with or without their offset, and days that no calendar has
// are not.
func TestInstants(t *testing.T) {
	t.Parallel()
	in := In{Now: time.Date(2026, 11, 27, 9, 0, 0, 0, time.FixedZone("", 3600))}
	for text, want := range map[string]string{
		"at 2027-01-03T10:00:00Z please":          "2027-01-03T10:00:00Z",
		"2027-01-03t10:00:00.5+02:00":             "2027-01-03T08:00:00Z",
		"2027-01-03 10:00, 2027-01-03T11:30":      "2027-01-03T09:00:00Z 2027-01-03T10:30:00Z",
		"2027-02-30 10:00 2027-01-03 25:00 x 1-2": "",
	} {
		got := ""
		for _, i := range Instants(text, in) {
			got += " " + i.Time.UTC().Truncate(time.Second).Format(time.RFC3339)
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%q: %s, want %s", text, fmt.Sprint(got), want)
		}
	}
}
