package values

// BIC reads a Business Identifier Code (ISO 9362:2022): four letters or digits, a country, two
// letters or digits, and three more for a branch. It is kept in capitals.
func BIC(text string) (string, error) { return kept(text, checkBIC) }

func checkBIC(b []byte) *Fault {
	if len(b) != 8 && len(b) != 11 {
		return long(len(b), "a BIC", "has 8, or 11 with its branch")
	}
	if f := of(capital, b[4:6], 5); f != nil {
		return f
	}
	if c := string(b[4:6]); !IsCountry(c) {
		return fault("characters 5 and 6 are its country, and %s is none", c).instead("characters 5 and 6 are no country")
	}
	return nil
}

// LEI reads a Legal Entity Identifier (ISO 17442): 18 letters or digits, and two check digits. It is
// kept in capitals.
func LEI(text string) (string, error) { return kept(text, checkLEI) }

func checkLEI(b []byte) *Fault {
	if len(b) != 20 {
		return long(len(b), "an LEI", "has 20")
	}
	if f := of(digit, b[18:], 19); f != nil {
		return f
	}
	return checkDigits(b[18:], b)
}
