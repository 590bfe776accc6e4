package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.host.IsolatedVersions;
import dev.kakehashi.applications.watch.ApplicationJournal;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.ApplicationSystem.ApplicationFailure;
import dev.kakehashi.engine.api.application.ApplicationSystem.CallState;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Versions with `isolation = 'process'`. Thread-safe; [#inspect] and [#load] block for about a second, while a JVM begins.
public final class ApplicationProcesses implements IsolatedVersions {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationProcesses.class);

  private final ProcessSettings settings;
  private final Set<RemoteApplication> open = ConcurrentHashMap.newKeySet();

  public ApplicationProcesses(ProcessSettings settings) {
    this.settings = settings;
  }

  @Override
  public ApplicationContents inspect(String application, List<JarContent> jars) {
    ApplicationDefinition definition =
        new ApplicationDefinition(
            0,
            "",
            application,
            "",
            new VersionDefinition(0, 0, CodeIsolation.PROCESS, List.of(), ApplicationContents.NONE),
            ApplicationOptions.DEFAULT);
    try {
      OwnProcess.Started started =
          OwnProcess.start(
              settings,
              definition,
              jars,
              true,
              new NoHost(),
              new ReportsToLog(application),
              () -> LOG.debug("a process that looked at {} has ended", application));
      started.process().kill("its contents are known");
      ContentsCheck.check(started.contents());
      return started.contents();
    } catch (EngineException e) {
      throw e.code() == ErrorCode.CONNECTION_FAILURE
          ? new EngineException(
              ErrorCode.INVALID_PARAMETER_VALUE,
              "application \"" + application + "\" has ended its process in define()",
              e)
          : e;
    }
  }

  private record ReportsToLog(String application) implements ProcessReports {
    @Override
    public void logged(long call, String line) {
      LOG.info("{}: {}", application, line);
    }

    @Override
    public void failed(String member, long call, String sqlstate, String message, String stack) {
      LOG.info("{} in {}: {} {}\n{}", application, member, sqlstate, message, stack);
    }
  }

  @Override
  public LoadedApplication load(
      ApplicationDefinition definition, ApplicationHost host, ApplicationJournal journal) {
    List<JarContent> jars =
        definition.version().jars().stream()
            .map(jar -> new JarContent(jar.name(), host.jar(jar)))
            .toList();
    return open(definition, jars, host, new ReportsToJournal(definition, journal));
  }

  private record ReportsToJournal(ApplicationDefinition definition, ApplicationJournal journal)
      implements ProcessReports {
    private String name() {
      return definition.schema() + "." + definition.name();
    }

    @Override
    public void logged(long call, String line) {
      journal.log(name(), definition.version().number(), call, line);
    }

    @Override
    public void failed(String member, long call, String sqlstate, String message, String stack) {
      LOG.warn("{} in {}: {} {}\n{}", name(), member, sqlstate, message, stack);
      journal.add(
          new ApplicationFailure(
              System.currentTimeMillis(),
              name(),
              definition.version().number(),
              member,
              call,
              sqlstate,
              message,
              stack));
    }
  }

  /// Begins the process of a version, which begins again whenever it dies, until the version is retired or this is closed.
  ///
  /// @param jars in the order of the definition
  LoadedApplication open(
      ApplicationDefinition definition,
      List<JarContent> jars,
      ApplicationHost host,
      ProcessReports reports) {
    RemoteApplication application =
        RemoteApplication.open(settings, definition, jars, host, reports);
    open.removeIf(RemoteApplication::isEnded);
    open.add(application);
    return application;
  }

  @Override
  public List<CallState> calls() {
    List<CallState> all = new ArrayList<>();
    for (RemoteApplication one : open) {
      try {
        all.addAll(one.counts());
      } catch (EngineException e) {
        LOG.debug("the process of {} does not tell its counts", one.name(), e);
      }
    }
    return all;
  }

  /// PIDs of the processes that run, for tests and displays.
  List<Long> pids() {
    return open.stream().flatMap(one -> one.pid().stream()).toList();
  }

  @Override
  public void close() {
    List<Thread> ends =
        open.stream()
            .map(one -> Thread.ofPlatform().name("end of " + one.name()).start(one::end))
            .toList();
    try {
      for (Thread end : ends) {
        end.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    open.clear();
  }
}
