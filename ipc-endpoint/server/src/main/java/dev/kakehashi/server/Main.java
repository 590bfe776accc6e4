package dev.kakehashi.server;

import ch.qos.logback.classic.Level;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.server.report.ControlReport;
import dev.kakehashi.server.report.SchedulerReport;
import dev.kakehashi.server.report.SessionReport;
import dev.kakehashi.server.report.StopLimit;
import dev.kakehashi.server.socket.RuntimeLocation;
import dev.kakehashi.server.standby.DirectoryMark;
import dev.kakehashi.server.start.HangUp;
import dev.kakehashi.server.start.Logging;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.MeantEndpoint;
import dev.kakehashi.transport.os.ServiceManager;
import dev.kakehashi.transport.os.Umask;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The command `kakehashi`.
@Command(
    name = "kakehashi",
    description = "Endpoint of the bridge between PostgreSQL and a Java data engine.",
    subcommands = {
      Main.Start.class,
      Main.Stop.class,
      Main.Status.class,
      CheckCommand.class,
      BackupCommand.class,
      RestoreCommand.class,
      ArchiveCommand.class,
      StandbyCommand.class,
      StandbyCommand.Rejoin.class,
      StandbyServer.Promote.class,
      DumpSchemaCommand.class,
      AppRunCommand.Group.class,
      DoctorCommand.class,
      ReloadCommand.class,
      UserCommand.class
    },
    versionProvider = Main.Version.class,
    mixinStandardHelpOptions = true,
    footer = "Clients: kakehashi sql, load, dump, inspect, queue, app, replay, tpch.",
    scope = CommandLine.ScopeType.INHERIT)
public final class Main implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  public static void main(String[] args) {
    Logging.configureCommand();
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    CommandLine command = new CommandLine(new Main());
    command.setExecutionExceptionHandler((exception, line, result) -> {
      line.getErr().println("kakehashi: " + reason(exception));
      if (exception instanceof EngineException refused && !refused.hint().isEmpty()) {
        line.getErr().println("HINT:  " + refused.hint());
      }
      if (exception instanceof TransportException refused && !refused.failure().hint().isEmpty()) {
        line.getErr().println("HINT:  " + refused.failure().hint());
      }
      LoggerFactory.getLogger(Main.class).debug("failed", exception);
      return 1;
    });
    command.setParameterExceptionHandler((refused, words) -> {
      PrintWriter err = refused.getCommandLine().getErr();
      CommandSpec spec = refused.getCommandLine().getCommandSpec();
      err.println("kakehashi: " + refused.getMessage());
      CommandLine.UnmatchedArgumentException.printSuggestions(refused, err);
      err.printf("HINT:  \"%s --help\" lists what there is%n", spec.qualifiedName());
      return spec.exitCodeOnInvalidInput();
    });
    return command;
  }

  /// One line for whoever ran a command. Messages of file systems are often no more than the name of a file.
  static String reason(Exception exception) {
    return switch (exception) {
      case NoSuchFileException e -> "\"" + e.getFile() + "\" does not exist";
      case AccessDeniedException e -> "permission denied for \"" + e.getFile() + "\"";
      case NotDirectoryException e -> "\"" + e.getFile() + "\" is not a directory";
      case FileAlreadyExistsException e -> "\"" + e.getFile() + "\" already exists";
      default -> exception.getMessage() == null ? exception.toString() : exception.getMessage();
    };
  }

  @Override
  public void run() {
    throw new ParameterException(
        java.util.Objects.requireNonNull(spec).commandLine(), "a command is required");
  }

  /// Options of every command.
  static final class Common {
    @Option(
        names = {"-c", "--config"},
        paramLabel = "FILE",
        description =
            "settings, see kakehashi.conf (default of commands about an endpoint: the file beside client.conf)")
    private @Nullable Path config;

    @Option(
        names = {"-D", "--data-directory"},
        paramLabel = "DIRECTORY",
        description = "overrides data_directory")
    private @Nullable Path dataDirectory;

    @Option(
        names = {"-R", "--runtime-directory"},
        paramLabel = "DIRECTORY",
        description = "overrides runtime_directory")
    private @Nullable Path runtimeDirectory;

    @Option(
        names = {"-s", "--set"},
        paramLabel = "KEY=VALUE",
        description = "overrides a setting")
    private Map<String, String> overrides = Map.of();

    @Option(
        names = "--requirepeer",
        paramLabel = "USER",
        description =
            "OS user, by name or number, that a running endpoint has to run as (default: $KAKEHASHI_REQUIREPEER, or what client.conf says, or our own)")
    private String requiredPeer = "";

    /// Whether the command line names a data directory.
    boolean hasDataDirectory() {
      return dataDirectory != null;
    }

    /// Where the commands that ask a running endpoint find it.
    RuntimeLocation location(DirectoryLock.Owner owner, Settings settings) throws IOException {
      MeantEndpoint meant =
          MeantEndpoint.of(owner.runtimeDirectory(settings.runtimeDirectory()), requiredPeer);
      return new RuntimeLocation(meant.directory(), meant.requiredPeer());
    }

    /// Settings of the endpoint that a command is about. Where no option says which one, those beside `client.conf` count: the packages' or
    /// those of `make run`.
    Settings settingsOfOther() throws IOException {
      boolean said =
          dataDirectory != null
              || runtimeDirectory != null
              || overrides.containsKey(Setting.DATA_DIRECTORY.key());
      return settings(config != null || said ? config : MeantEndpoint.settings());
    }

    Settings settings() throws IOException {
      return settings(config);
    }

    private Settings settings(@Nullable Path file) throws IOException {
      Settings settings = file == null ? Settings.defaults() : Settings.read(file);
      if (dataDirectory != null) {
        settings.set(Setting.DATA_DIRECTORY.key(), dataDirectory.toString());
      }
      if (runtimeDirectory != null) {
        settings.set(Setting.RUNTIME_DIRECTORY.key(), runtimeDirectory.toString());
      }
      // It may come from an option, and the file in it comes before options.
      @Nullable String named = overrides.get(Setting.DATA_DIRECTORY.key());
      AutoSettings.addTo(settings, named == null ? settings.dataDirectory() : Path.of(named));
      overrides.forEach(settings::set);
      return settings;
    }
  }

  /// Runs until SIGTERM or SIGINT; SIGHUP reads the settings again.
  @Command(name = "start", description = "Runs an endpoint in the foreground until SIGTERM.")
  static final class Start implements Callable<Integer> {
    @CommandLine.Mixin private Common common = new Common();

    @Override
    public Integer call() throws Exception {
      Settings settings = common.settings();
      ServiceManager manager = ServiceManager.ofEnvironment();
      Umask.keepPrivate();
      PrivateDirectory.prepare(settings.dataDirectory());
      Logging.configure(
          settings.dataDirectory(), Level.toLevel(settings.text(Setting.LOG_LEVEL), Level.INFO));
      if (DirectoryMark.STANDBY.isSet(settings.dataDirectory())) {
        StandbyServer standby = StandbyServer.start(settings, engine(settings), common::settings);
        HangUp.handle(() -> standby.serving().reload().runForSignal());
        return serve(manager, standby::close, standby::closing, settings);
      }
      EndpointServer server = EndpointServer.start(settings, engine(settings), common::settings);
      HangUp.handle(server.reload()::runForSignal);
      return serve(manager, server::close, server::closing, settings);
    }

    /// Runs until it is told to end.
    private static int serve(
        ServiceManager manager, Runnable close, Supplier<String> closing, Settings settings)
        throws InterruptedException {
      CountDownLatch closed = new CountDownLatch(1);
      Duration limit = settings.duration(Setting.STOP_LIMIT);
      Thread shutdown =
          new Thread(
              () -> {
                tell(manager::stopping);
                StopLimit.begin(limit, closing);
                close.run();
                closed.countDown();
              },
              "kakehashi-shutdown");
      try {
        Runtime.getRuntime().addShutdownHook(shutdown);
      } catch (IllegalStateException _) {
        // SIGTERM came while the endpoint started: the process ends, nothing was promised to
        // anybody.
        StopLimit.begin(limit, closing);
        close.run();
        return 0;
      }
      System.out.println("ready");
      System.out.flush();
      tell(manager::ready);
      closed.await();
      return 0;
    }

    /// Message to a service manager.
    private interface Notice {
      void send() throws IOException;
    }

    /// Clients are served all the same: a manager that waits in vain ends the process, and says why.
    private static void tell(Notice notice) {
      try {
        notice.send();
      } catch (IOException e) {
        LoggerFactory.getLogger(Main.class)
            .warn("the service manager does not know how the endpoint is: {}", e.getMessage());
      }
    }

    private static EngineFactory engine(Settings settings) {
      String name = settings.text(Setting.ENGINE);
      List<EngineFactory> factories =
          ServiceLoader.load(EngineFactory.class).stream()
              .map(ServiceLoader.Provider::get)
              .toList();
      return factories.stream()
          .filter(factory -> factory.name().equals(name))
          .findFirst()
          .orElseThrow(() ->
              new SettingsException(
                  "engine \"%s\" does not exist, there are %s"
                      .formatted(name, factories.stream().map(EngineFactory::name).toList())));
    }
  }

  /// Ends a running endpoint.
  @Command(name = "stop", description = "Ends the endpoint of a data directory and waits for it.")
  static final class Stop implements Callable<Integer> {
    @CommandLine.Mixin private Common common = new Common();

    @Option(
        names = {"-t", "--timeout"},
        paramLabel = "SECONDS",
        defaultValue = "60",
        description = "how long to wait (default ${DEFAULT-VALUE})")
    private int timeoutSeconds;

    @Override
    public Integer call() throws Exception {
      Path data = common.settingsOfOther().dataDirectory();
      ProcessHandle process =
          DirectoryLock.owner(data)
              .flatMap(owner -> ProcessHandle.of(owner.pid()))
              .orElseThrow(() -> new SettingsException("no endpoint runs on \"" + data + "\""));
      process.destroy();
      try {
        process.onExit().get(timeoutSeconds, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        throw new SettingsException(
            "process %d has not ended within %d s; it goes on ending"
                .formatted(process.pid(), timeoutSeconds));
      }
      return 0;
    }
  }

  /// Says whether an endpoint runs, from its control page, and what its scheduler does.
  @Command(name = "status", description = "Shows whether an endpoint runs; exit code 3 if not.")
  static final class Status implements Callable<Integer> {
    @CommandLine.Mixin private Common common = new Common();

    @Option(
        names = {"-j", "--json"},
        description = "only the scheduler's metrics, as one line of JSON")
    private boolean json;

    @Option(
        names = {"-J", "--jobs"},
        description = "also the scheduler's workers, jobs and processes")
    private boolean jobs;

    @Option(
        names = {"-S", "--sessions"},
        description = "also every session: user, application, process, what it uses")
    private boolean sessions;

    @Override
    public Integer call() throws Exception {
      Settings settings = common.settingsOfOther();
      DirectoryLock.Owner owner = DirectoryLock.owner(settings.dataDirectory()).orElse(null);
      if (owner == null) {
        System.out.println("no endpoint runs on \"" + settings.dataDirectory() + "\"");
        return 3;
      }
      RuntimeLocation location = common.location(owner, settings);
      Path runtime = location.directory();
      if (json) {
        System.out.println(StatusSocket.ask(location).metrics());
        return 0;
      }
      EndpointStatus said =
          Files.exists(runtime.resolve(StatusSocket.FILE))
              ? StatusSocket.ask(location)
              : EndpointStatus.NONE;
      System.out.println(
          ControlReport.read(runtime, owner.pid(), SessionReport.summary(said.sessions())));
      print(said.engine());
      if (!said.metrics().isEmpty()) {
        System.out.println(SchedulerReport.text(said.metrics()));
        print(sessions ? SessionReport.text(said.sessions()) : "");
        print(jobs ? said.jobs() : "");
      }
      return 0;
    }
  }

  private static void print(String lines) {
    if (!lines.isEmpty()) {
      System.out.println(lines);
    }
  }

  /// Version of the jar.
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"kakehashi " + EndpointServer.version()};
    }
  }
}
