package dev.kakehashi.pgwire.wire;

import dev.kakehashi.protocol.authentication.ScramClient;
import dev.kakehashi.protocol.authentication.ScramException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
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
  private static final int VERSION_3 = 3 << 16;
  private static final int TLS_REQUEST = 80_877_103;
  private static final int CANCEL_REQUEST = 80_877_102;
  private static final int MAX_PASSWORD_BYTES = 1 << 16;

  /// What fits into a socket's buffer: a longer write may wait for the server to read.
  private static final int SHORT_WRITE_BYTES = 32 << 10;

  private final ServerAddress address;
  private final WireSettings settings;
  private final ScheduledExecutorService timer;
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
  private WireInput.Silence patience = this::impatient;
  private volatile boolean broken;

  private WireConnection(
      ServerAddress address, WireSettings settings, ScheduledExecutorService timer, Socket socket)
      throws IOException {
    this.address = address;
    this.settings = settings;
    this.timer = timer;
    this.socket = socket;
    this.in = new WireInput(socket.getInputStream(), () -> patience.waited());
    this.stream = socket.getOutputStream();
  }

  /// Connects and logs in.
  ///
  /// @param timer ends writes that nobody reads
  /// @throws WireException when the server cannot be reached
  /// @throws ServerError when it refuses
  public static WireConnection open(
      ServerAddress address, WireSettings settings, ScheduledExecutorService timer) {
    Socket socket = new Socket();
    boolean opened = false;
    try {
      int timeout = millis(settings.connectTimeout().toMillis());
      socket.connect(new InetSocketAddress(address.host(), address.port()), timeout);
      socket.setTcpNoDelay(true);
      socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
      socket.setSoTimeout(timeout);
      if (settings.tls() != WireSettings.Tls.DISABLE) {
        socket = tls(socket, address, settings);
      }
      WireConnection connection = new WireConnection(address, settings, timer, socket);
      connection.logIn();
      socket.setSoTimeout(millis(settings.operationTimeout().toMillis()));
      opened = true;
      return connection;
    } catch (IOException e) {
      throw new WireException("could not connect to " + address + ": " + e.getMessage(), e);
    } finally {
      if (!opened) {
        closeQuietly(socket);
      }
    }
  }

  private static int millis(long millis) {
    return Math.clamp(millis, 1, Integer.MAX_VALUE);
  }

  private static Socket tls(Socket socket, ServerAddress address, WireSettings settings)
      throws IOException {
    WireOutput request = new WireOutput().beginUntyped().putInt(TLS_REQUEST).end();
    socket.getOutputStream().write(request.array(), 0, request.size());
    int answer = socket.getInputStream().read();
    if (answer != 'S') {
      throw new IOException("the server does not offer TLS");
    }
    return WireTls.over(socket, address, settings);
  }

  // ---- beginning ----

  private void logIn() {
    out.beginUntyped().putInt(VERSION_3);
    option("user", settings.user());
    option("database", settings.database());
    option("application_name", settings.applicationName());
    option("client_encoding", "UTF8");
    option("DateStyle", "ISO, MDY");
    option("IntervalStyle", "postgres");
    option("extra_float_digits", "3");
    option("bytea_output", "hex");
    option("TimeZone", settings.timeZone());
    option("lock_timeout", Long.toString(settings.lockTimeout().toMillis()));
    // Locks of an endpoint whose machine is gone do not stay.
    option("tcp_keepalives_idle", "10");
    option("tcp_keepalives_interval", "5");
    option("tcp_keepalives_count", "3");
    out.put(0).end();
    send();
    ScramClient scram = null;
    while (true) {
      switch (in.next()) {
        case 'R' -> {
          int kind = in.getInt();
          switch (kind) {
            case 0 -> {}
            case 3 -> password(passwordOfFile());
            case 5 -> password(md5(in));
            case 10 -> scram = startScram();
            case 11 -> proveScram(scram);
            case 12 -> checkScram(scram);
            default ->
                throw new WireException(
                    "the server at "
                        + address
                        + " wants authentication "
                        + kind
                        + ", which is not known");
          }
        }
        case 'K' -> {
          processId = in.getInt();
          secret = in.getInt();
        }
        case 'S' -> parameters.put(in.getText(), in.getText());
        case 'N', 'v' -> {}
        case 'E' -> throw in.error();
        case 'Z' -> {
          return;
        }
        default ->
            throw new WireException("the server at " + address + " does not speak the protocol");
      }
    }
  }

  private void option(String name, String value) {
    out.putText(name).putText(value);
  }

  private String passwordOfFile() {
    Path file = settings.password();
    if (file == null) {
      throw new WireException(
          "the server at "
              + address
              + " wants a password of \""
              + settings.user()
              + "\", and none is set");
    }
    try {
      if (Files.size(file) > MAX_PASSWORD_BYTES) {
        throw new WireException("password file \"" + file + "\" is too long");
      }
      return Files.readString(file).stripTrailing();
    } catch (IOException e) {
      throw new WireException(
          "could not read password file \"" + file + "\": " + e.getMessage(), e);
    }
  }

  private void password(String text) {
    out.begin('p').putText(text).end();
    send();
  }

  private String md5(WireInput message) {
    byte[] salt = new byte[4];
    for (int i = 0; i < salt.length; i++) {
      salt[i] = (byte) message.getByte();
    }
    try {
      MessageDigest digest = MessageDigest.getInstance("MD5");
      digest.update(passwordOfFile().getBytes(StandardCharsets.UTF_8));
      digest.update(settings.user().getBytes(StandardCharsets.UTF_8));
      String inner = HexFormat.of().formatHex(digest.digest());
      digest.update(inner.getBytes(StandardCharsets.US_ASCII));
      digest.update(salt);
      return "md5" + HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new WireException("this JVM has no MD5", e);
    }
  }

  private ScramClient startScram() {
    boolean offered = false;
    while (in.remaining() > 1) {
      offered |= in.getText().equals("SCRAM-SHA-256");
    }
    if (!offered) {
      throw new WireException("the server at " + address + " does not offer SCRAM-SHA-256");
    }
    ScramClient scram = new ScramClient("", passwordOfFile().toCharArray());
    byte[] first = scram.first().getBytes(StandardCharsets.UTF_8);
    out.begin('p').putText("SCRAM-SHA-256").putInt(first.length).putBytes(first).end();
    send();
    return scram;
  }

  private void proveScram(@Nullable ScramClient scram) {
    if (scram == null) {
      throw new WireException("the server at " + address + " does not keep to SCRAM");
    }
    try {
      out.begin('p')
          .putBytes(scram.prove(rest(), () -> false).getBytes(StandardCharsets.UTF_8))
          .end();
    } catch (ScramException e) {
      throw new WireException(
          "the server at " + address + " does not keep to SCRAM: " + e.getMessage(), e);
    }
    send();
  }

  private void checkScram(@Nullable ScramClient scram) {
    if (scram == null || !scram.verifies(rest())) {
      throw new WireException("the server at " + address + " does not know the password");
    }
  }

  private String rest() {
    String text = new String(in.array(), in.position(), in.remaining(), StandardCharsets.UTF_8);
    in.skip(in.remaining());
    return text;
  }

  // ---- exchange ----

  /// What is to be sent.
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

  /// Whoever sends next does not want the answers to what was sent up to the last [#sync()]: they are passed over before his own.
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

  /// What is done when nothing has come for the operation time-out; null: the connection is given up.
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

  /// Whether it is of no use any more.
  public boolean isBroken() {
    return broken;
  }

  /// Asks the server, by a connection of its own, to end what runs here. Returns when the server has been told.
  ///
  /// @throws WireException when it cannot be told
  public void cancel() {
    Socket socket = new Socket();
    try {
      int timeout = millis(settings.connectTimeout().toMillis());
      socket.connect(new InetSocketAddress(address.host(), address.port()), timeout);
      socket.setSoTimeout(timeout);
      if (settings.tls() != WireSettings.Tls.DISABLE) {
        socket = tls(socket, address, settings);
      }
      WireOutput request =
          new WireOutput()
              .beginUntyped()
              .putInt(CANCEL_REQUEST)
              .putInt(processId)
              .putInt(secret)
              .end();
      socket.getOutputStream().write(request.array(), 0, request.size());
      socket.getOutputStream().flush();
      // The server closes it when the signal is sent.
      int end = socket.getInputStream().read();
      if (end >= 0) {
        throw new WireException("the server at " + address + " answered a cancel");
      }
    } catch (IOException e) {
      throw new WireException("could not cancel at " + address + ": " + e.getMessage(), e);
    } finally {
      closeQuietly(socket);
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
