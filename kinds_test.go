package gigarank_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kinds are the packages that hold kinds of rank, and those that make calls for them. The scripted kind is in the
// tests of mpivirt.
var kinds = strings.Fields("mpivirt mpivirt_test mpivirt/steps mpivirt/native mpivirt/record mpivirt/replay mpivirt/timeline mpivirt/internal/typed")

// port is what kinds of rank may use of the kernel. They do not reach past it, into the rooms below: what these have
// to do for a kind is a method of the kernel.
var port = struct {
	methods string // of Kernel
	values  string // types of the kernel, whatever room defines them, whose fields and methods are free
	names   string // other names of the package
}{
	methods: `
		Activity Adopt Alone Attach Awaits Barrier BeginPhase Behind Blank Bursting Caches ChargeBurst ClockPolled Clocks
		ClocksOnly Closed CollectJoiners Combining Communicator CompletedRequest Completion CompletionOf Compose
		Composed Compute ComputeSummed Create CreateGroup CreateGroupAs DataOf Departures Die Dup DupInter End EndsSendsAtOnce EndsWith EnterBarrier EnterJoiners ErredAt Fail
		FailHost FailingPolls First Flush Foreign GiveBurst Global GroupOf HandSite HasContents HasFailed HasProcessors HoldsRequest HoldsTails InParts
		IsBlocked IsStandIn Joiners KeepList KeepMemory KeepSlice KeepSliceUnread KeepsBursts Label Limited Local LocalDuplicate
		LookAround MayPause Meeting Membership Merge NewComm NewCompletion NextReady OwnRequest Pause PollClock PolledInVain Postpone PostponeEnd
		Prepare Print Raise ReadMemory ReadSlice ReceiveOnWorld Record RequestList RequestStatus RequestTime Running SampleOf
		Seed SendAtOnce SendOnWorld SetAside SetErrorsReturn SetMayCancel SetRunning SetTiming SharedResult Sited Sized
		Split StartBurst StartClockPolls StatusOf StopBurst Submit Swallowed Target Throttle Timing Token
		Unwound WaitSet WaitSetSlice Yield`,
	values: `
		Activity ActivityTimes Balance Blocked Call CallBegin CallEnd CallStatistics CallTimes Cause Causes Collective Communicator Completion Config CourseTimes CriticalPath
		DeadlockError Departed Departures Distribution Exchange Failure Fault Form FunctionShare Joiners Kind LateSends Operands OperationTimes Part PathSegment Persistent
		PhaseTimes Program RankBlame RankShare Received Repeated Result Sample Simulation SiteTimes SizeClass Task TaskCalls Total`,
	names: `
		AnyLength Auto Body Bulk Bursts CacheKey Computing Customs EmptyCompletion Envelope Gatherer HardwareOf Interpreter Keeps
		Kinds
		Late LateSender Message MessageNoProc MessageNull New Noise NumberOfCauses Observer OutsideMPI Passing Receiver Recorder RegisterKind Reserve Simulate Site Told ToldOf`,
}

// rooms are the packages that kinds reach by the port only. Of room world they use the vocabulary, and no partition.
var rooms = strings.Fields("kernel coll p2p resource maxplus stats")

// built is a package as go list reports it.
type built struct {
	ImportPath, Dir, Export string
	CompiledGoFiles         []string
	ImportMap               map[string]string
}

// listBuilt returns packages, their tests and what they import, by path, compiled.
func listBuilt(t *testing.T, packages ...string) map[string]*built {
	t.Helper()
	arguments := append([]string{"list", "-test", "-deps", "-export", "-compiled", "-json=ImportPath,Dir,Export,CompiledGoFiles,ImportMap"}, packages...)
	command := exec.Command("go", arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(arguments, " "), err)
	}
	all := map[string]*built{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		b := &built{}
		if err := d.Decode(b); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(b.ImportPath, " ") // without the test that it is built for
		if first, known := all[name]; !known || len(b.CompiledGoFiles) > len(first.CompiledGoFiles) {
			all[name] = b // with the files of its tests
		}
		all[b.ImportPath] = b
	}
}

// usesOf returns what the package's files use of the rooms, each with one place. A name of a type is "Type.", that of
// one of its fields or methods "Type.Name", any other one of a package "Name".
func usesOf(t *testing.T, b *built, all map[string]*built) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range b.CompiledGoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(b.Dir, name)
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	exports := func(imported string) (io.ReadCloser, error) {
		if mapped := b.ImportMap[imported]; mapped != "" {
			imported = mapped
		}
		if all[imported] == nil {
			return nil, fmt.Errorf("go list has not reported %s", imported)
		}
		return os.Open(all[imported].Export)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", exports), FakeImportC: true}
	if _, err := config.Check(b.ImportPath, set, files, info); err != nil {
		t.Fatal(err)
	}
	uses := map[string]string{}
	for id, object := range info.Uses {
		if object.Pkg() != nil && object.Parent() == object.Pkg().Scope() && isRoom(object.Pkg().Path()) {
			uses[object.Name()] = set.Position(id.Pos()).String()
		}
	}
	for s, selection := range info.Selections {
		if owner := ownerOf(selection); owner != nil && owner.Pkg() != nil && (isRoom(owner.Pkg().Path()) || owner.Name() == "Partition") {
			uses[owner.Name()+"."+selection.Obj().Name()] = set.Position(s.Sel.Pos()).String()
		}
	}
	return uses
}

// isRoom reports whether a package is one of those that kinds reach by the port only.
func isRoom(imported string) bool {
	name, inside := strings.CutPrefix(imported, module+"/mpivirt/internal/")
	return inside && slices.Contains(rooms, name)
}

// ownerOf returns the type that declares the selected field or method.
func ownerOf(s *types.Selection) *types.TypeName {
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		t = pointedTo(t).Underlying().(*types.Struct).Field(i).Type()
	}
	if named, is := types.Unalias(pointedTo(t)).(*types.Named); is {
		return named.Obj()
	}
	return nil
}

func pointedTo(t types.Type) types.Type {
	if pointer, is := t.Underlying().(*types.Pointer); is {
		return pointer.Elem()
	}
	return t
}

// remedyFor says how a name of a room comes into the port.
func remedyFor(owner string, member bool) string {
	switch {
	case !member:
		return "if it is part of results or arguments, add a type to port.values and another name to port.names; if not, add a method to the kernel (port.go) that does the work"
	case owner == "Kernel":
		return "add the method to port.methods, if kinds of rank need it"
	}
	return "add a method to the kernel (port.go) that does the work, and its name to port.methods; if all fields and methods of " + owner + " are for kinds of rank, add the type to port.values"
}

// Kinds of rank use of the kernel what is in the port, and nothing of the rooms below it. Nothing in the port is idle.
func TestKindsKeepToTheirPort(t *testing.T) {
	var packages []string
	for _, kind := range kinds {
		if !strings.HasSuffix(kind, "_test") {
			packages = append(packages, "./"+kind)
		}
	}
	all := listBuilt(t, packages...)
	used := map[string]string{}
	for _, kind := range kinds {
		b := all[module+"/"+kind]
		if b == nil {
			t.Fatalf("go list reports no package %s", kind)
		}
		maps.Copy(used, usesOf(t, b, all))
	}
	values := strings.Fields(port.values)
	allowed := slices.Concat(values, strings.Fields(port.names), []string{"Kernel"})
	for _, method := range strings.Fields(port.methods) {
		allowed = append(allowed, "Kernel."+method)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		owner, _, member := strings.Cut(name, ".")
		if member && slices.Contains(values, owner) {
			continue
		}
		if !slices.Contains(allowed, name) {
			t.Errorf("%s: a kind of rank uses %s, which is not in the port in kinds_test.go: %s", used[name], name, remedyFor(owner, member))
		}
	}
	for name := range used {
		owner, _, _ := strings.Cut(name, ".")
		used[owner] = used[name]
	}
	for _, name := range allowed {
		if used[name] == "" {
			t.Errorf("no kind of rank uses %s: take it out of the port in kinds_test.go", name)
		}
	}
}
