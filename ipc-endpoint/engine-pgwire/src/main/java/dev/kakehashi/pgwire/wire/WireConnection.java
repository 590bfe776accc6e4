package dev.kakehashi.pgwire.wire;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One connection to a server. Used by one thread at a time, which it blocks, except [#close()] and [#cancel()]: any thread.
///
/// Messages are gathered in [#out()] and sent by [#send()]; [#next()] reads the answers. [#query] is for statements of the endpoint itself.
public final class WireConnection implements AutoCloseable {
  private static final int CANCEL_REQUEST = 80_877_102;

  /// Bytes that fit into a socket's buffer: a longer write may wait for the server to read.
  private static final int SHORT_WRITE_BYTES = 32 << 10;

  private final ServerAddress address;
  private final WireSettings settings;
  private final ScheduledExecutorService timer;

  /// That below TLS: it is closed at once, whoever writes.
  private final Socket socket;

  private final WireInput in;
  private final OutputStream stream;
  private final WireOutput out = new WireOutput();
  private final Map<String, String> parameters = new HashMap<>();
  private final WireStatements statements = new WireStatements();
  private int processId;
  private int secret;
  private char transactionStatus = 'I';
  private int unreadSyncs;
  private long answeredNanos = System.nanoTime();
  private WireInput.Silence patience = this::impatient;
  private volatile boolean broken;

  private WireConnection(
      ServerAddress address,
      WireSettings settings,
      ScheduledExecutorService timer,
      Socket socket,
      Socket reached)
      throws IOException {
    this.address = address;
    this.settings = settings;
    this.timer = timer;
    this.socket = socket;
    this.in = new WireInput(reached.getInputStream(), () -> patience.waited());
    this.stream = reached.getOutputStream();
  }

  /// Connects and logs in.
  ///
  /// @param timer ends writes that nobody reads
  /// @throws WireException when the server cannot be reached
  /// @throws ServerError when it refuses
  /// @throws dev.kakehashi.engine.api.error.EngineException when the password cannot be had, or is not to be sent
  public static WireConnection open(
      ServerAddress address, WireSettings settings, ScheduledExecutorService timer) {
    Socket plain = new Socket();
    // A server that says a little now and then would never run into the time-out of a read.
    ScheduledFuture<?> watch =
        timer.schedule(
            () -> closeQuietly(plain), settings.connectTimeout().toMillis(), TimeUnit.MILLISECONDS);
    boolean opened = false;
    try {
      Socket reached = reach(plain, address, settings);
      WireConnection connection = new WireConnection(address, settings, timer, plain, reached);
      new WireLogIn(connection, settings, reached).run();
      if (!watch.cancel(false)) {
        throw new IOException("time-out");
      }
      reached.setSoTimeout(millis(settings.operationTimeout().toMillis()));
      opened = true;
      return connection;
    } catch (IOException e) {
      throw new WireException("could not connect to " + address + ": " + e.getMessage(), e);
    } finally {
      if (!opened) {
        watch.cancel(false);
        closeQuietly(plain);
      }
    }
  }

  /// @param plain not connected yet
  /// @return the socket to be used: the same, or TLS above it
  private static Socket reach(Socket plain, ServerAddress address, WireSettings settings)
      throws IOException {
    int timeout = millis(settings.connectTimeout().toMillis());
    plain.connect(new InetSocketAddress(address.host(), address.port()), timeout);
    plain.setTcpNoDelay(true);
    plain.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    plain.setSoTimeout(timeout);
    return settings.tls() == WireSettings.Tls.DISABLE
        ? plain
        : WireTls.over(plain, address, settings);
  }

  private static int millis(long millis) {
    return Math.clamp(millis, 1, Integer.MAX_VALUE);
  }

  void key(int process, int key) {
    processId = process;
    secret = key;
  }

  void parameter(String name, String value) {
    parameters.put(name, value);
  }

  // ---- exchange ----

  /// Messages that are to be sent.
  public WireOutput out() {
    return out;
  }

  /// The message that was read last.
  public WireInput in() {
    return in;
  }

  /// Ends a series of messages; the server answers them with ReadyForQuery at the end, whatever happens.
  public void sync() {
    out.begin('S').end();
  }

  /// Sends what was gathered.
  ///
  /// @throws WireException the connection is of no use any more
  public void send() {
    ScheduledFuture<?> watch =
        out.size() <= SHORT_WRITE_BYTES
            ? null
            : timer.schedule(
                this::breakOff,
                settings.operationTimeout().toMillis() * (1 + out.size() / (1 << 20)),
                TimeUnit.MILLISECONDS);
    try {
      stream.write(out.array(), 0, out.size());
      out.clear();
    } catch (IOException e) {
      broken = true;
      throw new WireException("the connection to " + address + " broke: " + e.getMessage(), e);
    } finally {
      if (watch != null) {
        watch.cancel(false);
      }
    }
  }

  /// The next sender does not want the answers to messages up to the last [#sync()]: they are passed over before its own.
  public void leaveUnread() {
    unreadSyncs++;
  }

  /// The next message that is an answer; its type. ErrorResponse is one; FATAL ones break the connection.
  ///
  /// @throws WireException the connection is of no use any more
  public char next() {
    try {
      passOver();
      return answer();
    } catch (WireException e) {
      broken = true;
      throw e;
    }
  }

  private void passOver() {
    while (unreadSyncs > 0) {
      if (answer() == 'Z') {
        unreadSyncs--;
        transactionStatus = (char) in.getByte();
      }
    }
  }

  private char answer() {
    while (true) {
      char type = in.next();
      switch (type) {
        case 'N', 'A' -> {}
        case 'S' -> parameters.put(in.getText(), in.getText());
        default -> {
          return type;
        }
      }
    }
  }

  /// The error that was just read.
  ///
  /// @throws WireException when the server ends the connection with it
  public ServerError error() {
    ServerError error = in.error();
    if (error.isFatal()) {
      broken = true;
      throw new WireException(
          "the server at " + address + " ended the connection: " + error.getMessage(), error);
    }
    return error;
  }

  /// Takes the end of a series that was just read.
  public void ready() {
    answeredNanos = System.nanoTime();
    transactionStatus = (char) in.getByte();
  }

  /// Whether the server is in a transaction that has failed, as of the last end of a series.
  public boolean hasFailed() {
    return transactionStatus == 'E';
  }

  /// Whether the server is in no transaction, as of the last end of a series.
  public boolean isIdle() {
    return transactionStatus == 'I';
  }

  /// Reads up to the end of the series, passing over everything but the first error.
  ///
  /// @throws ServerError the first error
  public void finish() {
    ServerError first = null;
    while (true) {
      switch (next()) {
        case 'E' -> {
          ServerError error = error();
          if (first == null) {
            first = error;
          }
        }
        case 'Z' -> {
          ready();
          if (first != null) {
            throw first;
          }
          return;
        }
        default -> {}
      }
    }
  }

  /// Runs statements of the endpoint's own, without parameters, and takes the rows of the last as texts.
  ///
  /// @throws ServerError the server has refused it
  /// @throws WireException the connection is of no use any more
  public List<List<@Nullable String>> query(String sql) {
    out.begin('Q').putText(sql).end();
    send();
    List<List<@Nullable String>> rows = new ArrayList<>();
    ServerError failure = null;
    while (true) {
      switch (next()) {
        case 'T' -> rows.clear();
        case 'D' -> rows.add(textRow());
        case 'E' -> failure = error();
        case 'Z' -> {
          ready();
          if (failure != null) {
            throw failure;
          }
          return rows;
        }
        default -> {}
      }
    }
  }

  private List<@Nullable String> textRow() {
    int columns = in.getShort();
    List<@Nullable String> row = new ArrayList<>(columns);
    for (int i = 0; i < columns; i++) {
      int length = in.getInt();
      if (length < 0) {
        row.add(null);
      } else {
        int at = in.position();
        in.skip(length);
        row.add(new String(in.array(), at, length, StandardCharsets.UTF_8));
      }
    }
    return row;
  }

  /// Sets the reaction when nothing has come for the operation time-out; null: the connection is given up.
  public void patience(WireInput.@Nullable Silence silence) {
    patience = silence == null ? this::impatient : silence;
  }

  private void impatient() {
    throw new WireException(
        "the server at "
            + address
            + " has not answered within "
            + settings.operationTimeout().toMillis()
            + " ms");
  }

  /// Its prepared statements.
  public WireStatements statements() {
    return statements;
  }

  public ServerAddress address() {
    return address;
  }

  /// Number of the server's process.
  public int processId() {
    return processId;
  }

  /// A parameter that the server has told; null: it has not.
  public @Nullable String parameter(String name) {
    return parameters.get(name);
  }

  /// Whether the server has ended a series within a time that is not longer than this.
  public boolean wasAnsweredWithin(long nanos) {
    return System.nanoTime() - answeredNanos <= nanos;
  }

  /// Whether it is of no use any more.
  public boolean isBroken() {
    return broken;
  }

  /// Asks the server, by a connection of its own, to end what runs here. Returns when the server has been told.
  ///
  /// @throws WireException when it cannot be told
  public void cancel() {
    Socket plain = new Socket();
    try {
      Socket reached = reach(plain, address, settings);
      WireOutput request =
          new WireOutput()
              .beginUntyped()
              .putInt(CANCEL_REQUEST)
              .putInt(processId)
              .putInt(secret)
              .end();
      reached.getOutputStream().write(request.array(), 0, request.size());
      reached.getOutputStream().flush();
      // The server closes it when the signal is sent.
      int end = reached.getInputStream().read();
      if (end >= 0) {
        throw new WireException("the server at " + address + " answered a cancel");
      }
    } catch (IOException e) {
      throw new WireException("could not cancel at " + address + ": " + e.getMessage(), e);
    } finally {
      closeQuietly(plain);
    }
  }

  /// Ends it at once, whoever uses it: his next read or write fails.
  public void breakOff() {
    broken = true;
    closeQuietly(socket);
  }

  /// Ends it in order.
  @Override
  public void close() {
    if (!broken) {
      try {
        out.clear();
        out.begin('X').end();
        send();
      } catch (WireException e) {
        broken = true; // and the server will notice by itself
      }
    }
    breakOff();
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Nobody is there any more to whom it would matter: the socket is closed all the same.
      return;
    }
  }

  @Override
  public String toString() {
    return "process " + processId + " at " + address;
  }
}
