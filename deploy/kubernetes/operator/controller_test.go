package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	mpifake "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/fake"
	mpiinformers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

const (
	manifest  = "../mpijob.yaml"
	folder    = "../testdata/mpijob" // of the objects, one file for each mode
	namespace = "default"
	// hangs bounds the time until the controller has done its part, which takes it milliseconds.
	hangs = 20 * time.Minute
	// changed is the version of an object that the test has changed: the controller takes an update without another
	// version for none, and a cluster in memory makes no versions.
	changed = "2"
)

var update = flag.Bool("update", false, "write the objects instead of comparing them")

// A cluster is a cluster that runs one MPIJob. It has the controller of the operator, and nothing that
// would start pods.
type cluster struct {
	t    *testing.T
	kube *kubefake.Clientset
	mpi  *mpifake.Clientset
	job  *kubeflow.MPIJob
}

// newCluster starts the controller with the job of the manifest in a mode of the operator.
func newCluster(t *testing.T, mode kubeflow.MPIImplementation) *cluster {
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	job := &kubeflow.MPIJob{}
	if err := yaml.UnmarshalStrict(text, job); err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
	job.Namespace, job.UID, job.Spec.MPIImplementation = namespace, "of-the-MPIJob", mode
	c := &cluster{t: t, kube: kubefake.NewSimpleClientset(), mpi: mpifake.NewSimpleClientset(), job: job}
	watched := &watches{}
	c.kube.PrependWatchReactor("*", watched.of(c.kube.Tracker()))
	c.mpi.PrependWatchReactor("*", watched.of(c.mpi.Tracker()))
	ofKube, ofMPI := informers.NewSharedInformerFactory(c.kube, 0), mpiinformers.NewSharedInformerFactory(c.mpi, 0)
	k, b := ofKube.Core().V1(), ofKube.Batch().V1()
	run, err := controller.NewMPIJobController(t.Context(), c.kube, c.mpi, nil, nil, k.ConfigMaps(), k.Secrets(), k.Services(), b.Jobs(), k.Pods(),
		ofKube.Scheduling().V1().PriorityClasses(), ofMPI.Kubeflow().V2beta1().MPIJobs(),
		&options.ServerOption{Namespace: namespace, ControllerRateLimit: 10, ControllerBurst: 100}) // as by default
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan error)
	ofKube.Start(stop)
	ofMPI.Start(stop)
	go func() { ended <- run.Run(1, stop) }()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	c.await("begun to watch all that it makes", func() bool {
		return watched.all("configmaps", "secrets", "services", "jobs", "pods", "mpijobs")
	})
	if _, err := c.mpi.KubeflowV2beta1().MPIJobs(namespace).Create(t.Context(), job, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// watches are the kinds of objects that are watched. A cluster in memory does not tell a client of objects
// that are made between its list and its watch.
type watches struct {
	mu    sync.Mutex
	kinds []string
}

// of returns a function that watches the objects of a tracker.
func (w *watches) of(tracker clienttesting.ObjectTracker) clienttesting.WatchReactionFunc {
	return func(a clienttesting.Action) (bool, watch.Interface, error) {
		i, err := tracker.Watch(a.GetResource(), a.GetNamespace())
		w.mu.Lock()
		defer w.mu.Unlock()
		w.kinds = append(w.kinds, a.GetResource().Resource)
		return true, i, err
	}
}

// all reports whether all of these kinds are watched.
func (w *watches) all(kinds ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(kinds, func(kind string) bool { return !slices.Contains(w.kinds, kind) })
}

// await waits until the controller has done something.
func (c *cluster) await(what string, is func() bool) {
	c.t.Helper()
	for end := time.Now().Add(hangs); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("the controller has not %s within %v; its actions: %v", what, hangs, c.kube.Actions())
		}
	}
}

// launcher returns the Job of the launcher, nil if there is none.
func (c *cluster) launcher() *batch.Job {
	job, _ := c.kube.BatchV1().Jobs(namespace).Get(context.Background(), c.job.Name+"-launcher", meta.GetOptions{})
	if job == nil || job.Name == "" {
		return nil
	}
	return job
}

// workers returns the pods of the workers in the order of their names.
func (c *cluster) workers() []core.Pod {
	list, err := c.kube.CoreV1().Pods(namespace).List(context.Background(), meta.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b core.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list.Items
}

// config returns the ConfigMap.
func (c *cluster) config() *core.ConfigMap {
	m, err := c.kube.CoreV1().ConfigMaps(namespace).Get(context.Background(), c.job.Name+"-config", meta.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// objects returns all that the controller has made, as JSON, without what a cluster adds. A Secret has the kinds
// of its keys instead of them.
func (c *cluster) objects() []byte {
	service, err := c.kube.CoreV1().Services(namespace).Get(context.Background(), c.job.Name, meta.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	secret, err := c.kube.CoreV1().Secrets(namespace).Get(context.Background(), c.job.Name+"-ssh", meta.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	kinds := map[string]string{}
	for name, value := range secret.Data {
		if block, _ := pem.Decode(value); block != nil {
			kinds[name] = block.Type
		} else {
			kinds[name], _, _ = strings.Cut(string(value), " ")
		}
	}
	secret.Data, secret.StringData = nil, kinds
	all := map[string]any{"service": service, "config": c.config(), "secret": secret, "launcher": c.launcher(), "workers": c.workers()}
	text, err := json.Marshal(all)
	if err != nil {
		c.t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		c.t.Fatal(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(bare(plain)); err != nil {
		c.t.Fatal(err)
	}
	return b.Bytes()
}

// bare removes what a cluster adds to objects, and what is empty.
func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"status", "creationTimestamp", "managedFields", "resourceVersion"} {
			delete(v, name)
		}
		for name := range v {
			v[name] = bare(v[name])
		}
		maps.DeleteFunc(v, func(_ string, value any) bool {
			m, ok := value.(map[string]any)
			return value == nil || ok && len(m) == 0
		})
	case []any:
		for i := range v {
			v[i] = bare(v[i])
		}
	}
	return v
}

// The objects that the controller makes are those of which package launch plays the pods, in each of the
// operator's modes. The MPIJob has ended when its launcher has: then the workers, which would run for ever,
// are removed.
func TestObjects(t *testing.T) {
	for _, mode := range []kubeflow.MPIImplementation{kubeflow.MPIImplementationOpenMPI, kubeflow.MPIImplementationIntel, kubeflow.MPIImplementationMPICH} {
		t.Run(string(mode), func(t *testing.T) {
			c, ctx := newCluster(t, mode), context.Background()
			c.await("made the launcher", func() bool { return c.launcher() != nil })
			pods := c.workers()
			for i := range pods {
				pods[i].Status.Phase, pods[i].ResourceVersion = core.PodRunning, changed
				if _, err := c.kube.CoreV1().Pods(namespace).UpdateStatus(ctx, &pods[i], meta.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			c.await("told which workers run", func() bool {
				return strings.Count(c.config().Data["discover_hosts.sh"], "\necho ") == len(pods)
			})
			compare(t, filepath.Join(folder, string(mode)+".json"), c.objects())

			job := c.launcher()
			now := meta.Now()
			job.Status.CompletionTime, job.ResourceVersion = &now, changed
			job.Status.Conditions = []batch.JobCondition{{Type: batch.JobComplete, Status: core.ConditionTrue}}
			if _, err := c.kube.BatchV1().Jobs(namespace).UpdateStatus(ctx, job, meta.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			c.await("removed the workers", func() bool { return len(c.workers()) == 0 })
			c.await("ended the job", func() bool {
				job, err := c.mpi.KubeflowV2beta1().MPIJobs(namespace).Get(ctx, c.job.Name, meta.GetOptions{})
				return err == nil && slices.ContainsFunc(job.Status.Conditions, func(s kubeflow.JobCondition) bool {
					return s.Type == kubeflow.JobSucceeded && s.Status == core.ConditionTrue
				})
			})
		})
	}
}

// compare compares a text with a file, or writes the file.
func compare(t *testing.T, file string, text []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old, made := strings.Split(string(want), "\n"), strings.Split(string(text), "\n")
	for i := range max(len(old), len(made)) {
		if i >= len(old) || i >= len(made) || old[i] != made[i] {
			t.Fatalf("%s:%d: the controller makes %s; go test . -update writes it", file, i+1, fmt.Sprint(made[min(i, len(made)-1)]))
		}
	}
}
