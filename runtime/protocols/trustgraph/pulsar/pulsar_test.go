//go:build pulsar

package pulsar

import (
	"testing"

	"verbatim/runtime/protocols/trustgraph"
)

var _ trustgraph.Queue = (*Queue)(nil)

// T18: topics are those of TrustGraph.
func TestATopicIsWhereTrustGraphHasIt(t *testing.T) {
	for name, want := range map[string]string{
		"flow:tg:agent-request:default":      "persistent://tg/flow/agent-request:default",
		"request:tg:agent-request:default":   "non-persistent://tg/request/agent-request:default",
		"response:tg:agent-response:default": "non-persistent://tg/response/agent-response:default",
	} {
		topic, err := trustgraph.ParseTopic(name)
		if got := address(topic); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := Open(Config{URL: "pulsar://localhost:1", Request: "x:y"}); err == nil {
		t.Error("a queue without a name is opened")
	}
}
