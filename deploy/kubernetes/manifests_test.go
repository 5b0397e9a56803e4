package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A schema is the part of JSON Schema that testdata/schema.json uses. Properties that it does not name
// are errors, as with kubectl's strict validation.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Enum       []string           `json:"enum"`
	Pattern    string             `json:"pattern"`
	Required   []string           `json:"required"`
	Properties map[string]*schema `json:"properties"`
	Additional *schema            `json:"additionalProperties"`
	Items      *schema            `json:"items"`
}

// check returns what in v contradicts the schema.
func (s *schema) check(all map[string]*schema, path string, v any) (wrong []string) {
	if s.Ref != "" {
		return all[s.Ref].check(all, path, v)
	}
	bad := func(format string, args ...any) { wrong = append(wrong, path+": "+fmt.Sprintf(format, args...)) }
	switch {
	case s.Items != nil:
		list, ok := v.([]any)
		if !ok {
			bad("%v is no list", v)
		}
		for i, item := range list {
			wrong = append(wrong, s.Items.check(all, fmt.Sprintf("%s[%d]", path, i), item)...)
		}
		return wrong
	case s.Properties != nil || s.Additional != nil:
		m, ok := v.(map[string]any)
		if !ok {
			bad("%v is no object", v)
		}
		for _, name := range s.Required {
			if _, ok := m[name]; !ok {
				bad("%s is missing", name)
			}
		}
		for name, value := range m {
			if p := s.Properties[name]; p != nil {
				wrong = append(wrong, p.check(all, path+"."+name, value)...)
			} else if s.Additional != nil {
				wrong = append(wrong, s.Additional.check(all, path+"."+name, value)...)
			} else {
				bad("there is no %s", name)
			}
		}
		return wrong
	}
	kinds := map[string]reflect.Kind{"string": reflect.String, "integer": reflect.Int, "boolean": reflect.Bool}
	if k, ok := kinds[s.Type]; ok && (v == nil || reflect.TypeOf(v).Kind() != k) {
		bad("%v is no %s", v, s.Type)
	}
	if s.Enum != nil && !slices.Contains(s.Enum, fmt.Sprint(v)) {
		bad("%v is not one of %v", v, s.Enum)
	}
	if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(fmt.Sprint(v)) {
		bad("%v is not like %s", v, s.Pattern)
	}
	return wrong
}

// check returns what is wrong in the objects of a manifest.
func check(t *testing.T, text string) (objects map[string]any, wrong []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]*schema
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	list, err := documents(text)
	if err != nil {
		return nil, []string{err.Error()}
	}
	objects = map[string]any{}
	for _, o := range list {
		kind, _ := at(o, "kind").(string)
		s := all[kind]
		if s == nil || kind == strings.ToLower(kind) {
			return nil, []string{fmt.Sprintf("%q is no kind of object", kind)}
		}
		objects[kind] = o
		wrong = append(wrong, s.check(all, kind, o)...)
	}
	return objects, wrong
}

// at returns what is in v under a path of keys and indexes; nil if there is nothing.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// X-LCH-01: the APIs of Kubernetes and of the MPI operator accept the manifests.
func TestManifestsAreValid(t *testing.T) {
	for _, file := range []string{"mpijob.yaml", "indexed-job.yaml"} {
		if _, wrong := check(t, read(t, file)); wrong != nil {
			t.Errorf("%s: %s", file, strings.Join(wrong, "; "))
		}
	}
}

// In an indexed job the names of the service, of rank 0 in it and of the secret's mounts agree. The size is
// the number of pods, which all run at once and are not replaced.
func TestIndexedJobAgrees(t *testing.T) {
	objects, _ := check(t, read(t, "indexed-job.yaml"))
	job, service := objects["Job"], objects["Service"]
	name, pod := at(job, "metadata", "name"), at(job, "spec", "template", "spec")
	env := map[any]any{}
	for i := 0; at(pod, "containers", 0, "env", i) != nil; i++ {
		env[at(pod, "containers", 0, "env", i, "name")] = at(pod, "containers", 0, "env", i, "value")
	}
	for what, pair := range map[string][2]any{
		"mode":         {at(job, "spec", "completionMode"), "Indexed"},
		"pods":         {at(job, "spec", "parallelism"), at(job, "spec", "completions")},
		"size":         {env["HALO_SIZE"], fmt.Sprint(at(job, "spec", "completions"))},
		"retries":      {at(job, "spec", "backoffLimit"), 0},
		"restarts":     {at(pod, "restartPolicy"), "Never"},
		"address":      {env["HALO_ADDR"], fmt.Sprintf("%v-0.%v:7777", name, at(service, "metadata", "name"))},
		"subdomain":    {at(pod, "subdomain"), at(service, "metadata", "name")},
		"headless":     {at(service, "spec", "clusterIP"), "None"},
		"early names":  {at(service, "spec", "publishNotReadyAddresses"), true},
		"selector":     {at(service, "spec", "selector", "batch.kubernetes.io/job-name"), name},
		"mount":        {at(pod, "containers", 0, "volumeMounts", 0, "name"), at(pod, "volumes", 0, "name")},
		"copy's mount": {at(pod, "containers", 0, "volumeMounts", 1, "name"), at(pod, "volumes", 1, "name")},
		"secret file":  {env["HALO_SECRET_FILE"], fmt.Sprint(at(pod, "containers", 0, "volumeMounts", 1, "mountPath"), "/secret")},
		"copy": {at(pod, "containers", 0, "command", 2), fmt.Sprintf("umask 077 && cat %v/secret >%v && exec /usr/local/bin/heat",
			at(pod, "containers", 0, "volumeMounts", 0, "mountPath"), env["HALO_SECRET_FILE"])},
		"secret's mode":  {at(pod, "volumes", 0, "secret", "defaultMode"), 0o400},
		"secret's group": {at(pod, "securityContext", "fsGroup"), at(pod, "containers", 0, "securityContext", "runAsUser")},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}

// The pods of an MPIJob run as one user, whose home directory has the keys.
func TestMPIJobAgrees(t *testing.T) {
	objects, _ := check(t, read(t, "mpijob.yaml"))
	spec := at(objects["MPIJob"], "spec")
	launcher, worker := at(spec, "mpiReplicaSpecs", "Launcher", "template", "spec", "containers", 0), at(spec, "mpiReplicaSpecs", "Worker", "template", "spec", "containers", 0)
	home := fmt.Sprint(at(worker, "workingDir"))
	for what, pair := range map[string][2]any{
		"image":    {at(launcher, "image"), at(worker, "image")},
		"user":     {at(launcher, "securityContext", "runAsUser"), at(worker, "securityContext", "runAsUser")},
		"home":     {at(launcher, "workingDir"), home},
		"keys":     {at(spec, "sshAuthMountPath"), home + "/.ssh"},
		"sshd":     {at(worker, "command", 3), home + "/.sshd_config"},
		"launcher": {at(launcher, "command", 0), "mpirun"},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
	if image := read(t, "Dockerfile"); !strings.Contains(image, home+"/.sshd_config") || !strings.Contains(image, "WORKDIR "+home) {
		t.Errorf("the image has not the home %s", home)
	}
}

// The checks find mistakes in manifests.
func TestMistakesInManifestsAreFound(t *testing.T) {
	for _, file := range []string{"mpijob.yaml", "indexed-job.yaml"} {
		text := read(t, file)
		for _, x := range [][3]string{
			{"kind: MPIJob", "kind: MPIjob", `"MPIjob" is no kind`},
			{"kubeflow.org/v2beta1", "kubeflow.org/v1", "MPIJob.apiVersion: kubeflow.org/v1 is not one of"},
			{"slotsPerWorker: 2", "slots: 2", "there is no slots"},
			{"slotsPerWorker: 2", "slotsPerWorker: two", "two is no integer"},
			{"    Launcher:\n", "    Laucher:\n", "Launcher is missing"},
			{"image: registry.example/heat:latest", "images: x", "image is missing"},
			{"cleanPodPolicy: Running", "cleanPodPolicy: Some", "Some is not one of"},
			{"memory: 1Gi", "memory: 1GB", "1GB is not like"},
			{"completionMode: Indexed", "completionMode: indexed", "indexed is not one of"},
			{`value: "4"`, "value: 4", "4 is no string"},
			{"  name: heat\n", "  name: Heat\n", "Heat is not like"},
			{"  completions: 4\n", "  completions: 4\n  completions: 4\n", "completions is there twice"},
			{"  completions: 4\n", "    completions: 4\n", "indentation"},
		} {
			if !strings.Contains(text, x[0]) {
				continue
			}
			if _, wrong := check(t, strings.Replace(text, x[0], x[1], 1)); !strings.Contains(strings.Join(wrong, "; "), x[2]) {
				t.Errorf("%s with %q: %q, want %q", file, x[1], wrong, x[2])
			}
		}
	}
}
