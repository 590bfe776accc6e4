package dev.kakehashi.applications.version;

import dev.kakehashi.applications.call.CallEnvironment;
import dev.kakehashi.applications.call.CallRegistry;
import dev.kakehashi.applications.define.DefinedMembers;
import dev.kakehashi.applications.define.HandlerMember;
import dev.kakehashi.applications.define.ProcedureMember;
import dev.kakehashi.applications.handler.QueueHandler;
import dev.kakehashi.applications.process.VersionProcesses;
import dev.kakehashi.applications.table.Shapes;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationSystem.CallState;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/// The loaded code of a version, with all that runs of it. Thread-safe.
final class VersionCode {
  private final VersionOwner owner;
  private final ApplicationDefinition definition;
  private final UserCode code;
  private final UserFailures failures;
  private final CallEnvironment environment;
  private final VersionProcesses processes;
  private final Map<String, MemberCounts> counts = new ConcurrentHashMap<>();
  private final Set<FunctionUse> uses = ConcurrentHashMap.newKeySet();
  private final List<Called> procedures;
  private final List<Called> routes;
  private final Runnable changed;
  private final List<QueueHandler> handlers = new CopyOnWriteArrayList<>();
  private boolean hasBegun; // guarded by the version

  private VersionCode(
      VersionOwner owner,
      ApplicationLimits limits,
      ApplicationDefinition definition,
      UserCode code,
      Runnable changed) {
    this.owner = owner;
    this.definition = definition;
    this.code = code;
    this.changed = changed;
    failures =
        new UserFailures(
            owner.journal(),
            definition.schema() + "." + definition.name(),
            definition.version().number());
    processes =
        new VersionProcesses(
            owner.scheduler(),
            definition.owner(),
            failures,
            owner.watch(),
            this::environment,
            this::counts,
            changed);
    processes.define(code.members().processes());
    environment =
        new CallEnvironment(
            owner.host(),
            owner.watch(),
            failures,
            limits::options,
            limits.slots(),
            new CallRegistry(changed),
            owner::here,
            code.loader(),
            new Shapes(),
            processes);
    procedures = called("procedure", code.members().procedures());
    routes = called("route", code.members().routes());
  }

  /// @param changed is run when something of it has ended
  static VersionCode load(
      VersionOwner owner,
      ApplicationLimits limits,
      ApplicationDefinition definition,
      Runnable changed) {
    List<JarContent> jars =
        definition.version().jars().stream()
            .map(jar -> new JarContent(jar.name(), owner.host().jar(jar)))
            .toList();
    String name = definition.name() + "-" + definition.version().number();
    UserCode code = UserCode.load(name, jars, owner.watch());
    owner.made(code.loader());
    VersionCode loaded = new VersionCode(owner, limits, definition, code, changed);
    if (!code.members().contents().equals(definition.version().contents())) {
      code.close(owner.watch(), loaded.failures);
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE,
              "version "
                  + definition.version().number()
                  + " of application "
                  + definition.name()
                  + " defines something else than when it was deployed")
          .withHint("What define() says may not depend on anything outside of the jars.");
    }
    return loaded;
  }

  /// A procedure or route, as it is called.
  ///
  /// @param label as `procedure place`
  record Called(ProcedureMember member, String label, MemberCounts counts) {}

  private List<Called> called(String kind, List<ProcedureMember> members) {
    return members.stream()
        .map(member -> {
          String label = kind + " " + member.signature().name();
          return new Called(member, label, counts(label));
        })
        .toList();
  }

  Called procedure(int index) {
    return procedures.get(index);
  }

  Called route(int index) {
    return routes.get(index);
  }

  DefinedMembers members() {
    return code.members();
  }

  CallEnvironment environment() {
    return environment;
  }

  MemberCounts counts(String member) {
    MemberCounts known = counts.get(member);
    return known != null ? known : counts.computeIfAbsent(member, first -> new MemberCounts());
  }

  /// @param release is run when the use ends
  LoadedApplication.Use use(Runnable release) {
    return new FunctionUse(this, release);
  }

  void add(FunctionUse use) {
    uses.add(use);
  }

  void remove(FunctionUse use) {
    uses.remove(use);
  }

  VersionOwner owner() {
    return owner;
  }

  ApplicationDefinition definition() {
    return definition;
  }

  List<CallState> calls() {
    List<CallState> states = new ArrayList<>();
    counts.forEach((member, its) -> {
      if (its.running() > 0 || its.calls() > 0 || its.failures() > 0) {
        states.add(
            new CallState(
                failures.application(),
                failures.version(),
                member,
                its.running(),
                its.calls(),
                its.failures(),
                its.nanos()));
      }
    });
    return states;
  }

  // ---- life ----

  /// Begins handlers and processes, once.
  void begin() {
    if (!hasBegun) {
      hasBegun = true;
      processes.begin();
      for (HandlerMember member : code.members().handlers()) {
        handlers.add(
            new QueueHandler(
                environment,
                member,
                definition.schema(),
                definition.owner(),
                counts(QueueHandler.label(member.signature())),
                changed));
      }
    }
  }

  /// Asks handlers and processes to end.
  void end() {
    processes.end();
    handlers.forEach(QueueHandler::end);
  }

  boolean isIdle() {
    return environment.calls().count() == 0
        && processes.count() == 0
        && handlers.stream().allMatch(QueueHandler::isOver);
  }

  /// Ends all that runs, as far as code can be ended.
  void kill(EngineException why) {
    environment.calls().cancel(why);
    processes.kill();
    uses.forEach(use -> use.stop(String.valueOf(why.getMessage())));
  }

  /// Blocks; never fails.
  void close() {
    code.close(owner.watch(), failures);
  }
}
