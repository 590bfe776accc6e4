package dev.kakehashi.server;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.store.StoreRestore;
import dev.kakehashi.requests.TransactionRegistry;
import dev.kakehashi.server.socket.OwnerSocket;
import dev.kakehashi.server.socket.RuntimeLocation;
import dev.kakehashi.server.standby.DirectoryMark;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/// A process that begins as a standby, and is an endpoint like others once it is promoted: the same process, the same doors, whose clients
/// come again.
final class StandbyServer implements AutoCloseable {
  /// Socket over which a running standby is promoted. It answers with [#DONE] and the position where its log goes on, or why not.
  static final String FILE = "promote.sock";

  static final String DONE = "promoted ";

  private static final Logger LOG = LoggerFactory.getLogger(StandbyServer.class);

  private final Settings settings;
  private final EngineFactory factory;
  private final Reload.Source source;

  /// Guards the change from the one to the other.
  private final Object turn = new Object();

  private volatile @Nullable EndpointServer serving;
  private @Nullable OwnerSocket promotions;
  private boolean closed;

  private StandbyServer(Settings settings, EngineFactory factory, Reload.Source source) {
    this.settings = settings;
    this.factory = factory;
    this.source = source;
  }

  /// Starts to follow the primary; when this returns, readers can attach.
  ///
  /// @throws SettingsException when settings cannot be used
  static StandbyServer start(Settings settings, EngineFactory factory, Reload.Source source)
      throws IOException {
    StandbyServer server = new StandbyServer(settings, factory, source);
    EndpointServer standby = EndpointServer.start(settings, factory, source);
    boolean started = false;
    try {
      server.serving = standby;
      server.promotions = OwnerSocket.open(settings.runtimeDirectory(), FILE, server::answer);
      started = true;
      return server;
    } finally {
      if (!started) {
        standby.close();
      }
    }
  }

  /// The endpoint that serves now.
  ///
  /// @throws IllegalStateException nothing does: a promotion has failed
  EndpointServer serving() {
    EndpointServer now = serving;
    if (now == null) {
      throw new IllegalStateException("the endpoint does not serve");
    }
    return now;
  }

  /// Which part is being closed, for people.
  String closing() {
    EndpointServer now = serving;
    return now == null ? "" : now.closing();
  }

  private void answer(SocketChannel client, Runnable served) throws IOException {
    served.run();
    try (Writer out = new BufferedWriter(Channels.newWriter(client, StandardCharsets.UTF_8))) {
      out.write(promoted());
    }
  }

  private String promoted() {
    try {
      return DONE + promote();
    } catch (IOException | RuntimeException e) {
      LOG.error("the standby could not be promoted", e);
      return Main.reason(e);
    }
  }

  /// Ends the standby, and begins an endpoint with all that it has.
  ///
  /// @return where its log goes on
  private LogPosition promote() throws IOException {
    synchronized (turn) {
      if (closed || !DirectoryMark.STANDBY.isSet(settings.dataDirectory())) {
        throw new SettingsException(
            "\"" + settings.dataDirectory() + "\" is no standby's, or ends");
      }
      Settings wanted = settingsNow();
      LOG.info("the standby is promoted: clients are sent away, and may come again");
      // A promotion that has failed before is tried again.
      EndpointServer standby = serving;
      if (standby != null) {
        standby.close();
        serving = null;
      }
      LogPosition begin = leave(wanted);
      serving = EndpointServer.start(wanted, factory, source, true);
      LOG.info("promoted; the log goes on at {}", begin);
      return begin;
    }
  }

  /// The settings that a start would find: a reload has changed those of the endpoint that ends.
  ///
  /// @throws SettingsException for what cannot be used, or what needs another process
  private Settings settingsNow() throws IOException {
    Settings wanted = source.read();
    if (!wanted.dataDirectory().equals(settings.dataDirectory())
        || !wanted.runtimeDirectory().equals(settings.runtimeDirectory())) {
      throw new SettingsException(
          "the directories of the settings have changed: stop the standby, and promote it then");
    }
    return wanted;
  }

  /// Makes the directory of a standby that does not run that of an endpoint.
  ///
  /// @return where its log goes on
  static LogPosition leave(Settings settings) throws IOException {
    Path data = settings.dataDirectory();
    try (DirectoryLock _ = DirectoryLock.take(data)) {
      LogPosition begin =
          StoreRestore.leaveTimeline(
              EmbeddedEngineFactory.storeConfig(
                  EmbeddedEngineFactory.storeDirectory(data), settings.number(Setting.MEMORY)));
      // It was told nothing of the primary's transactions.
      TransactionRegistry.forget(data);
      DirectoryMark.STANDBY.remove(data);
      return Objects.requireNonNull(begin, "a standby has a log");
    }
  }

  /// Has a running standby promoted.
  ///
  /// @return what it says
  static String ask(RuntimeLocation location) throws IOException {
    try (SocketChannel channel = OwnerSocket.connect(location, FILE)) {
      return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public void close() {
    synchronized (turn) {
      closed = true;
      OwnerSocket socket = promotions;
      if (socket != null) {
        try {
          socket.close();
        } catch (IOException e) {
          LOG.warn("could not close the socket for promotions", e);
        }
      }
      EndpointServer now = serving;
      if (now != null) {
        now.close();
      }
    }
  }

  /// `kakehashi promote`: ends a standby, and makes its directory that of an endpoint.
  @Command(
      name = "promote",
      description = {
        "Makes the directory of a standby that of an endpoint, with all that the standby has got. It begins a new timeline of the log.",
        "A standby that runs goes on as an endpoint, whose clients come again. The old primary must not go on: its clients would change what"
            + " nobody else sees."
      })
  static final class Promote implements Callable<Integer> {
    @CommandLine.Mixin private Main.Common common = new Main.Common();

    @Override
    public Integer call() throws Exception {
      Settings settings = common.settingsOfOther();
      Path data = settings.dataDirectory();
      if (!DirectoryMark.STANDBY.isSet(data)) {
        throw new SettingsException("\"" + data + "\" is no standby's");
      }
      StandbyCommand.refuseHalfRejoined(data);
      Optional<DirectoryLock.Owner> owner = DirectoryLock.owner(data);
      LogPosition begin;
      if (owner.isEmpty()) {
        begin = leave(settings);
      } else {
        String said = ask(common.location(owner.get(), settings));
        if (!said.startsWith(DONE)) {
          throw new SettingsException("the standby is not promoted: " + said);
        }
        begin = LogPosition.parse(said.substring(DONE.length()));
      }
      System.out.println("promoted; the log goes on at " + begin);
      return 0;
    }
  }
}
