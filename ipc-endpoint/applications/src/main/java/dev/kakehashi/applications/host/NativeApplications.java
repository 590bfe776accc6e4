package dev.kakehashi.applications.host;

import dev.kakehashi.applications.ApplicationDefaults;
import dev.kakehashi.applications.call.HereCalls;
import dev.kakehashi.applications.version.ApplicationLimits;
import dev.kakehashi.applications.version.LoadedVersion;
import dev.kakehashi.applications.version.VersionInspection;
import dev.kakehashi.applications.version.VersionOwner;
import dev.kakehashi.applications.watch.ApplicationJournal;
import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.TaskScheduler;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Native applications in this JVM, and by [IsolatedVersions] in processes of their own. Thread-safe.
public final class NativeApplications implements ApplicationSystem {
  private static final Logger LOG = LoggerFactory.getLogger(NativeApplications.class);

  /// How long the code of a version that no commit has named stays after its last use.
  private static final long UNCOMMITTED_NANOS = Duration.ofMinutes(1).toNanos();

  private final TaskScheduler scheduler;
  private final @Nullable IsolatedVersions isolated;
  private final CallWatch watch = new CallWatch();
  private final ApplicationJournal journal;
  private final Map<String, String> disabled = new ConcurrentHashMap<>();
  private final Map<Long, LoadedVersion> versions = new ConcurrentHashMap<>();
  private final Map<Long, Outside> outside = new ConcurrentHashMap<>();
  private final Map<Long, ApplicationLimits> limits = new ConcurrentHashMap<>();
  private final ReferenceQueue<ClassLoader> collected = new ReferenceQueue<>();
  private final Set<Reference<ClassLoader>> loaders = ConcurrentHashMap.newKeySet();
  private final Set<Long> committedVersions = new HashSet<>(); // guarded by this
  private final Owner owner = new Owner();
  private volatile HereCalls here = new HereCalls(BlockingExecutor.NONE);
  private volatile @Nullable ApplicationHost host;

  /// @param scheduler runs steps of processes; not owned
  /// @param isolated for code in processes of its own; null: there is none. Owned
  public NativeApplications(TaskScheduler scheduler, @Nullable IsolatedVersions isolated) {
    this(scheduler, isolated, new ApplicationJournal());
  }

  /// With a journal that others look at, too.
  public NativeApplications(
      TaskScheduler scheduler, @Nullable IsolatedVersions isolated, ApplicationJournal journal) {
    this.scheduler = scheduler;
    this.isolated = isolated;
    this.journal = journal;
  }

  @Override
  public BlockingExecutor lent(BlockingExecutor executor) {
    HereCalls made = new HereCalls(executor);
    here = made;
    return made;
  }

  @Override
  public boolean isShort(ApplicationDefinition definition, int index, boolean isRoute) {
    LoadedVersion version = versions.get(definition.version().versionId());
    return version != null && version.isShort(index, isRoute);
  }

  /// A version in a process of its own, with the options that the process has.
  private record Outside(ApplicationOptions options, LoadedApplication version) {}

  @Override
  public void start(ApplicationHost engine, List<ApplicationDefinition> committed) {
    host = engine;
    define(committed);
  }

  @Override
  public ApplicationContents inspect(
      String application, List<JarContent> jars, CodeIsolation isolation) {
    return isolation == CodeIsolation.PROCESS
        ? isolated().inspect(application, jars)
        : VersionInspection.inspect(application, jars, watch, journal, owner::made);
  }

  @Override
  public LoadedApplication load(ApplicationDefinition definition) {
    if (definition.version().isolation() == CodeIsolation.PROCESS) {
      return outside
          .computeIfAbsent(
              definition.version().versionId(),
              id ->
                  new Outside(
                      definition.options(), isolated().load(definition, owner.host(), journal)))
          .version();
    }
    LoadedVersion version = version(definition);
    version.load();
    return version;
  }

  private LoadedVersion version(ApplicationDefinition definition) {
    return versions.computeIfAbsent(
        definition.version().versionId(),
        id -> new LoadedVersion(owner, limits(definition), definition));
  }

  private ApplicationLimits limits(ApplicationDefinition definition) {
    return limits.computeIfAbsent(
        definition.applicationId(),
        id ->
            new ApplicationLimits(
                definition.schema() + "." + definition.name(), definition.options()));
  }

  private IsolatedVersions isolated() {
    if (isolated == null) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "this server runs no applications in processes of their own");
    }
    return isolated;
  }

  @Override
  public synchronized void define(List<ApplicationDefinition> committed) {
    Set<Long> now = new HashSet<>();
    Set<Long> applications = new HashSet<>();
    for (ApplicationDefinition definition : committed) {
      now.add(definition.version().versionId());
      applications.add(definition.applicationId());
      limits(definition).set(definition.options());
    }
    versions.forEach((id, version) -> {
      // A version that no commit has named may belong to a transaction that is under way, or was
      // rolled back.
      if (!now.contains(id)
          && (committedVersions.contains(id) || version.isUnusedFor(UNCOMMITTED_NANOS))) {
        retire(version);
      }
    });
    retireOutside(committed, now);
    for (ApplicationDefinition definition : committed) {
      long id = definition.version().versionId();
      LoadedVersion present = versions.get(id);
      boolean isRenamed = present != null && !present.isOf(definition);
      if (present != null && (isRenamed || present.isRetired())) {
        // A version that comes back, or has another name or owner, begins anew.
        versions.put(id, new LoadedVersion(owner, limits(definition), definition));
        retire(present);
      }
      if (isRenamed || !committedVersions.contains(id)) {
        forgetDisabled(definition);
        begin(definition);
      }
    }
    committedVersions.clear();
    committedVersions.addAll(now);
    limits.keySet().removeIf(id -> !applications.contains(id) && !isUsed(id));
  }

  private void retire(LoadedVersion version) {
    version.retire(limits(version.definition()).options().timeLimitMillis());
    if (version.isUnloaded()) {
      versions.remove(version.definition().version().versionId(), version);
    }
  }

  /// Processes whose version is not used any more, or has other options: a new one begins with those.
  private void retireOutside(List<ApplicationDefinition> committed, Set<Long> now) {
    outside.forEach((id, one) -> {
      if (!now.contains(id) && committedVersions.contains(id) && outside.remove(id, one)) {
        one.version().retire(ApplicationDefaults.DRAIN_MILLIS);
      }
    });
    for (ApplicationDefinition definition : committed) {
      long id = definition.version().versionId();
      Outside one = outside.get(id);
      if (one != null && !one.options().equals(definition.options()) && outside.remove(id, one)) {
        one.version().retire(ApplicationDefaults.DRAIN_MILLIS);
        begin(definition);
      }
    }
  }

  private boolean isUsed(long applicationId) {
    return versions.values().stream()
        .anyMatch(version -> version.definition().applicationId() == applicationId);
  }

  /// A new version may do better.
  private void forgetDisabled(ApplicationDefinition definition) {
    definition
        .version()
        .contents()
        .functions()
        .forEach(function -> disabled.remove(definition.schema() + "." + function.name()));
  }

  private void begin(ApplicationDefinition definition) {
    ApplicationContents contents = definition.version().contents();
    if (contents.handlers().isEmpty() && contents.processes().isEmpty()) {
      return;
    }
    if (definition.version().isolation() == CodeIsolation.PROCESS) {
      inBackground(definition, () -> load(definition));
    } else {
      LoadedVersion version = version(definition);
      inBackground(definition, version::activate);
    }
  }

  private void inBackground(ApplicationDefinition definition, Runnable body) {
    Thread.ofVirtual()
        .name("kakehashi-application-begin")
        .inheritInheritableThreadLocals(false)
        .start(() -> {
          try {
            body.run();
          } catch (RuntimeException e) {
            LOG.error(
                "application {}.{} version {} could not begin",
                definition.schema(),
                definition.name(),
                definition.version().number(),
                e);
          }
        });
  }

  // ---- for people ----

  @Override
  public Map<String, String> disabled() {
    return Map.copyOf(disabled);
  }

  @Override
  public List<ApplicationFailure> failures() {
    return journal.failures();
  }

  @Override
  public List<LogLine> log() {
    return journal.lines();
  }

  @Override
  public List<CallState> calls() {
    List<CallState> states = new ArrayList<>();
    versions.values().forEach(version -> states.addAll(version.calls()));
    if (isolated != null) {
      states.addAll(isolated.calls());
    }
    return states;
  }

  @Override
  public int loadersAlive() {
    for (Reference<?> gone = collected.poll(); gone != null; gone = collected.poll()) {
      loaders.remove(gone);
    }
    return loaders.size();
  }

  @Override
  public void close() {
    List<LoadedVersion> all;
    synchronized (this) {
      all = new ArrayList<>(versions.values());
      outside.clear();
    }
    if (isolated != null) {
      isolated.close();
    }
    all.forEach(LoadedVersion::end);
    versions.clear();
    watch.close();
  }

  /// Environment of the versions.
  private final class Owner implements VersionOwner {
    @Override
    public ApplicationHost host() {
      return Objects.requireNonNull(host, "the system has not been started");
    }

    @Override
    public TaskScheduler scheduler() {
      return scheduler;
    }

    @Override
    public CallWatch watch() {
      return watch;
    }

    @Override
    public HereCalls here() {
      return here;
    }

    @Override
    public ApplicationJournal journal() {
      return journal;
    }

    @Override
    public Map<String, String> disabled() {
      return disabled;
    }

    @Override
    public void made(ClassLoader loader) {
      loadersAlive();
      loaders.add(new PhantomReference<>(loader, collected));
    }

    @Override
    public void drained(LoadedVersion version) {
      versions.remove(version.definition().version().versionId(), version);
    }
  }
}
