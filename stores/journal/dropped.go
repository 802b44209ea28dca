package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"verbatim/stores"
)

// JobValue returns a dropped job as the value that the record of the call's entry commits to.
func JobValue(j *stores.Job) stores.Value {
	texts := []struct{ key, text string }{
		{"at", stores.NewTime(j.At).Text()}, {"kind", j.Kind}, {"origins", j.Origins}, {"payload", j.Payload},
		{"principal", j.Principal}, {"unique", j.Unique},
	}
	keys, values := []string{"attempts"}, []stores.Value{stores.NewInt(int64(j.Attempts))}
	for _, t := range texts {
		keys, values = append(keys, t.key), append(values, stores.NewString(t.text))
	}
	return stores.NewObject(keys, values)
}

// ReadJob reads what JobValue wrote. The job has no id: the caller that enqueues it again gives
// it a new one.
func ReadJob(v stores.Value) (stores.Job, error) {
	var j struct {
		Attempts                                  int
		At                                        time.Time
		Kind, Origins, Payload, Principal, Unique string
	}
	if err := json.Unmarshal([]byte(v.Text()), &j); err != nil {
		return stores.Job{}, fmt.Errorf("a job that was dropped cannot be read: %w", err)
	}
	return stores.Job{Kind: j.Kind, Payload: j.Payload, At: j.At, Attempts: j.Attempts, Unique: j.Unique, Principal: j.Principal, Origins: j.Origins}, nil
}
