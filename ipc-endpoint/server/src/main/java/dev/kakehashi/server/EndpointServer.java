package dev.kakehashi.server;

import dev.kakehashi.bulk.BulkFiles;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.FollowedLog;
import dev.kakehashi.engine.store.StoreRestore;
import dev.kakehashi.engine.store.log.TimelineStart;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.requests.InProcessRequests;
import dev.kakehashi.requests.RequestCore;
import dev.kakehashi.requests.RequestLimits;
import dev.kakehashi.requests.TransactionRegistry;
import dev.kakehashi.requests.TransactionTokens;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.server.standby.DirectoryMark;
import dev.kakehashi.server.standby.PrimaryClient;
import dev.kakehashi.server.standby.StandbyReceiver;
import dev.kakehashi.server.start.ArchivingHandler;
import dev.kakehashi.server.start.RegistryOpening;
import dev.kakehashi.sharedmemory.EndpointPoller;
import dev.kakehashi.sharedmemory.SharedMemoryRequests;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.endpoint.Authenticator;
import dev.kakehashi.transport.endpoint.RequestHandler;
import dev.kakehashi.transport.endpoint.RuntimeDirectory;
import dev.kakehashi.transport.endpoint.TransportEndpoint;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One running endpoint: data directory, engine, registry, transport. Also embeddable, for tests.
///
/// Parts are closed in the reverse order of their making: clients first, so that nothing uses the engine when it ends.
public final class EndpointServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EndpointServer.class);

  private final ArrayDeque<AutoCloseable> parts = new ArrayDeque<>();
  private final Settings settings;
  private final Reload.Source source;
  private boolean isPromoted;
  private volatile String closing = ""; // written by who closes it, for people
  private @Nullable TransportEndpoint transport;
  private @Nullable InProcessRequests requests;
  private @Nullable Reload reload;
  private @Nullable RequestCore core;
  private @Nullable HttpInterface httpInterface;

  private EndpointServer(Settings settings, Reload.Source source) {
    this.settings = settings;
    this.source = source;
  }

  /// Starts an endpoint; when this returns, clients can attach.
  ///
  /// @throws SettingsException when settings cannot be used or directories are in use
  public static EndpointServer start(Settings settings, EngineFactory factory) {
    return start(settings, factory, () -> settings);
  }

  /// @param source where the settings come from when they are read again
  static EndpointServer start(Settings settings, EngineFactory factory, Reload.Source source) {
    return start(settings, factory, source, false);
  }

  /// @param isPromoted whether it has just taken over: it asks nobody whether another one has
  static EndpointServer start(
      Settings settings, EngineFactory factory, Reload.Source source, boolean isPromoted) {
    EndpointServer server = new EndpointServer(settings, source);
    server.isPromoted = isPromoted;
    boolean started = false;
    try {
      server.open(factory);
      started = true;
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(
          "could not use data directory \"" + settings.dataDirectory() + "\": " + Main.reason(e),
          e);
    } finally {
      if (!started) {
        server.close();
      }
    }
  }

  private void open(EngineFactory factory) throws IOException {
    Path data = settings.dataDirectory();
    PrivateDirectory.prepare(data);
    parts.push(DirectoryLock.take(data, settings.runtimeDirectory()));
    RestoreCommand.refuseUnfinished(data);
    StandbyCommand.refuseHalfRejoined(data);
    boolean isStandby = DirectoryMark.STANDBY.isSet(data);
    checkPrimary(data, isStandby);
    var config = settings.transport(version());
    // Before the engine, whose applications have their processes' links in it.
    RuntimeDirectory runtime = RuntimeDirectory.open(config);
    parts.push(runtime);
    TaskScheduler scheduler = TaskScheduler.start(SchedulerSettings.config(settings));
    parts.push(scheduler);
    // Beside the engine's recovery, which takes longer.
    RegistryOpening opening =
        RegistryOpening.begin(
            data,
            settings.count(Setting.OUTCOMES_KEPT),
            settings.duration(Setting.OUTCOME_RETENTION));
    parts.push(opening);
    Engine engine = factory.open(settings, scheduler);
    parts.push(engine);
    UserFile users = new UserFile(data);
    engine.roles().users(users::verifiers);
    BulkSettings bulk = new BulkSettings(settings);
    BulkFiles files = bulk.open();
    engine.bulkAccess(files);
    RequestLimits limits =
        new RequestLimits(
            settings.count(Setting.MAX_TRANSACTIONS),
            config.sessions().lease().toNanos(),
            settings.number(Setting.MAX_LEASE),
            scheduler,
            SchedulerSettings.sessionLimit(settings));
    TransactionRegistry registry = opening.await();
    TransactionTokens tokens = TransactionTokens.open(data);
    engine.transactionTokens(tokens::handle);
    DirectMemory memory = DirectMemory.of(engine, settings);
    parts.push(memory);
    TransportEndpoint endpoint =
        TransportEndpoint.start(
            config,
            runtime,
            self -> {
              EndpointPoller poller = new EndpointPoller(self);
              RequestCore made = new RequestCore(engine, registry, tokens, poller, limits);
              made.idleLimits(settings.idleLimits());
              core = made;
              requests =
                  new InProcessRequests(made, poller, tokens, settings.count(Setting.MAX_SESSIONS));
              return archived(new SharedMemoryRequests(self, made), data);
            },
            authenticator(users, engine),
            memory);
    parts.push(endpoint);
    parts.push(requests());
    transport = endpoint;
    InProcessRequests inProcess = requests();
    engine.requestTimes(() -> {
      long[] times = endpoint.requestTimes().counts();
      long[] others = inProcess.requestTimes().counts();
      Arrays.setAll(times, step -> times[step] + others[step]);
      return times;
    });
    parts.push(StatusSocket.open(settings.runtimeDirectory(), engine, scheduler, endpoint));
    parts.push(BackupSocket.open(settings.runtimeDirectory(), data, engine));
    parts.push(SchemaSocket.open(settings.runtimeDirectory(), engine));
    Reload changes =
        new Reload(
            settings,
            source,
            factory,
            engine,
            changed -> Objects.requireNonNull(core).idleLimits(changed.idleLimits()));
    reload = changes;
    parts.push(ReloadSocket.open(settings.runtimeDirectory(), changes));
    HttpSettings http = new HttpSettings(settings);
    if (http.isOn()) {
      HttpInterface opened =
          HttpInterface.start(
              http,
              new HttpInterface.Parts(
                  engine,
                  scheduler,
                  endpoint,
                  java.util.Objects.requireNonNull(core),
                  requests(),
                  bulk.sent(files)),
              data,
              settings.text(Setting.AUTHENTICATION).equals("peer"));
      parts.push(opened);
      httpInterface = opened;
    }
    if (isStandby) {
      follow(Objects.requireNonNull(engine.followedLog(), "an engine of a standby"));
    }
    engine.warmUp();
    LOG.info(
        "endpoint {} is ready: data directory {}, runtime directory {}",
        version(),
        data,
        settings.runtimeDirectory());
  }

  /// @throws SettingsException if it is not said what a standby follows, or what is to follow is none
  private void checkPrimary(Path data, boolean isStandby) throws IOException {
    boolean isNamed = !settings.text(Setting.PRIMARY).isEmpty();
    if (isStandby && !isNamed) {
      throw new SettingsException(
          "\"%s\" is a standby's: \"%s\" has to say what it follows, or \"kakehashi promote\" ends that"
              .formatted(data, Setting.PRIMARY.key()));
    }
    if (!isStandby && isNamed && Files.notExists(EmbeddedEngineFactory.storeDirectory(data))) {
      throw new SettingsException(
          "\"%s\" is no standby's: make one by \"kakehashi standby init\"".formatted(data));
    }
    if (!isStandby && isNamed && !isPromoted) {
      refuseLeft(data);
    }
  }

  /// Refuses to serve when the endpoint that the setting names goes on from our log: it was promoted while we were away.
  ///
  /// @throws SettingsException then
  private void refuseLeft(Path data) throws IOException {
    String theirs;
    try (PrimaryClient other = new PrimaryClient(StandbySettings.address(settings))) {
      theirs = other.timelines();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while another endpoint was asked");
    } catch (IOException e) {
      LOG.warn(
          "{} could not be asked whether it has taken over; serving: {}",
          settings.text(Setting.PRIMARY),
          Main.reason(e));
      return;
    }
    TimelineStart.Fork fork =
        theirs.isEmpty()
            ? null
            : StoreRestore.fork(EmbeddedEngineFactory.storeDirectory(data), theirs);
    if (fork != null) {
      throw new SettingsException(
          "%s has taken over: its timeline %d has left the log of \"%s\" at %s, and here it goes on to %s at least. \"kakehashi rejoin\" makes it a standby"
              .formatted(
                  settings.text(Setting.PRIMARY), fork.timeline(), data, fork.at(), fork.end()));
    }
    LOG.info("\"{}\" has not taken over: this is no standby", settings.text(Setting.PRIMARY));
  }

  /// Closed first: what it has received is applied, or found at the next start.
  private void follow(FollowedLog log) throws IOException {
    PrimaryClient primary = new PrimaryClient(StandbySettings.address(settings));
    parts.push(primary);
    parts.push(new StandbyReceiver(log, primary));
    LOG.info("standby of {} from {} on", primary.name(), log.position());
  }

  private RequestHandler archived(RequestHandler handler, Path data) {
    String archive = settings.text(Setting.ARCHIVE);
    return switch (archive) {
      case "off" -> handler;
      case "on" -> {
        try {
          var archiving =
              new ArchivingHandler(
                  handler, data.resolve("archive"), settings.number(Setting.ARCHIVE_SIZE));
          parts.push(archiving);
          yield archiving;
        } catch (IOException e) {
          throw new UncheckedIOException("could not begin the request archive", e);
        }
      }
      default ->
          throw new SettingsException(
              "\"archive\" cannot be \"%s\": it has to be on or off".formatted(archive));
    };
  }

  private Authenticator authenticator(UserFile users, Engine engine) {
    String method = settings.text(Setting.AUTHENTICATION);
    return switch (method) {
      case "peer" -> new PeerAuthenticator(engine.roles());
      case "password" -> {
        try {
          yield new PasswordAuthenticator(users, engine.roles());
        } catch (IOException e) {
          throw new UncheckedIOException("could not read the users", e);
        }
      }
      default ->
          throw new SettingsException(
              "\"authentication\" cannot be \"%s\": it has to be peer or password"
                  .formatted(method));
    };
  }

  /// The HTTP door, for tests; null: it is shut.
  @Nullable HttpInterface http() {
    return httpInterface;
  }

  /// Where the HTTP door is.
  ///
  /// @throws IllegalStateException it is shut
  public URI httpAddress() {
    HttpInterface open = httpInterface;
    if (open == null) {
      throw new IllegalStateException("the endpoint has no HTTP door");
    }
    return open.uri(0);
  }

  /// Adds a user with a password, as the command `user add` does, or gives him another one.
  public void addUser(String name, String password) {
    try {
      new UserFile(settings.dataDirectory())
          .add(name, ScramVerifier.of(password.toCharArray()), true);
    } catch (IOException e) {
      throw new UncheckedIOException("could not add user \"" + name + "\"", e);
    }
  }

  static String version() {
    String version = EndpointServer.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  /// Changes settings, of an endpoint that has started.
  Reload reload() {
    return Objects.requireNonNull(reload);
  }

  /// The transport, for status and tests.
  public TransportEndpoint transport() {
    TransportEndpoint endpoint = transport;
    if (endpoint == null) {
      throw new TransportException(ErrorCode.SHUTTING_DOWN, "the endpoint has not started");
    }
    return endpoint;
  }

  /// The door for interfaces of this process; they end before it does.
  public InProcessRequests requests() {
    return Objects.requireNonNull(requests, "the endpoint has not started");
  }

  /// Which part is being closed, for people; empty: none. Any thread.
  String closing() {
    return closing;
  }

  /// Orderly shutdown: sessions end, running work is canceled, everything committed is durable.
  @Override
  public void close() {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      closing = part.getClass().getSimpleName();
      try {
        part.close();
      } catch (Exception e) {
        LOG.error("shutdown: could not close {}", part, e);
      }
    }
    closing = "";
  }
}
