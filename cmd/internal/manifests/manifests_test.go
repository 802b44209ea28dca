// Package manifests judges the shipped manifests by the types of Kubernetes. It is a module of its own, so that
// nothing of these is in the program's.
package manifests

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// judge decodes the documents of a file strictly: a key that Kubernetes does not know is an error.
func judge(text string) (deployments []appsv1.Deployment, services []corev1.Service, err error) {
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(doc), &kind); err != nil {
			return nil, nil, err
		}
		switch kind.APIVersion + " " + kind.Kind {
		case "apps/v1 Deployment":
			var d appsv1.Deployment
			if err := yaml.UnmarshalStrict([]byte(doc), &d); err != nil {
				return nil, nil, err
			}
			deployments = append(deployments, d)
		case "v1 Service":
			var s corev1.Service
			if err := yaml.UnmarshalStrict([]byte(doc), &s); err != nil {
				return nil, nil, err
			}
			services = append(services, s)
		default:
			return nil, nil, os.ErrInvalid
		}
	}
	return deployments, services, nil
}

// The manifests are what Kubernetes takes: keys and types, labels that select their pods, ports and volumes that
// are there. 59
func TestManifestsAreThoseOfKubernetes(t *testing.T) {
	text, err := os.ReadFile("../../verbatim/release/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	deployments, services, err := judge(string(text))
	if err != nil || len(deployments) != 2 || len(services) != 1 {
		t.Fatalf("%d deployments, %d services, %v", len(deployments), len(services), err)
	}
	covers := func(selector, labels map[string]string) bool {
		for k, v := range selector {
			if labels[k] != v {
				return false
			}
		}
		return len(selector) > 0
	}
	ports, scraped := map[string]bool{}, false
	for _, d := range deployments {
		pod := d.Spec.Template
		if d.Spec.Selector == nil || !covers(d.Spec.Selector.MatchLabels, pod.Labels) {
			t.Errorf("%s selects pods that it does not make", d.Name)
		}
		volumes := map[string]bool{}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = true
		}
		for _, c := range pod.Spec.Containers {
			for _, m := range c.VolumeMounts {
				if !volumes[m.Name] {
					t.Errorf("%s mounts %s, which is no volume", c.Name, m.Name)
				}
			}
			own := map[string]bool{}
			for _, p := range c.Ports {
				own[p.Name] = true
				if covers(services[0].Spec.Selector, pod.Labels) {
					ports[p.Name] = true
				}
			}
			for i, arg := range c.Args {
				if arg == "--metrics" && !slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
					return p.Name == "metrics" && i+1 < len(c.Args) && c.Args[i+1] == fmt.Sprintf(":%d", p.ContainerPort)
				}) {
					t.Errorf("%s answers metrics at a port that it does not name", c.Name)
				}
				scraped = scraped || arg == "--metrics"
			}
			for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
				if probe != nil && (probe.HTTPGet == nil || !own[probe.HTTPGet.Port.StrVal]) {
					t.Errorf("%s is probed at a port that it has not", c.Name)
				}
			}
		}
	}
	if !scraped {
		t.Error("no pod answers metrics")
	}
	for _, p := range services[0].Spec.Ports {
		if !ports[p.TargetPort.StrVal] {
			t.Errorf("the service leads to port %s, which no pod of it has", p.TargetPort.String())
		}
	}

	// What is misspelt is noticed.
	for right, wrong := range map[string]string{"containerPort:": "containerPorts:", "readOnlyRootFilesystem": "readOnlyRoot", "maxUnavailable": "maxUnavailables", "replicas: 2": "replicas: two"} {
		if _, _, err := judge(strings.Replace(string(text), right, wrong, 1)); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}
