package dev.kakehashi.pgwire.wire;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.authentication.ScramBinding;
import dev.kakehashi.protocol.authentication.ScramClient;
import dev.kakehashi.protocol.authentication.ScramException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// The begin of a connection: who wants what, and the proof that he may. For one connection, and one thread.
///
/// A password is never sent so that whoever listens could use it: without TLS there is SCRAM alone.
final class WireLogIn {
  private static final int VERSION_3 = 3 << 16;
  private static final String SCRAM = "SCRAM-SHA-256";
  private static final String SCRAM_BOUND = "SCRAM-SHA-256-PLUS";

  /// Longest message of a peer that has not proved yet that it is the server.
  private static final int MAX_MESSAGE_BYTES = 64 << 10;

  private final WireConnection connection;
  private final WireSettings settings;
  private final @Nullable SSLSocket tls;
  private final WireInput in;
  private final WireOutput out;
  private @Nullable ScramClient scram;
  private boolean proved;

  WireLogIn(WireConnection connection, WireSettings settings, Socket socket) {
    this.connection = connection;
    this.settings = settings;
    this.tls = socket instanceof SSLSocket protectedOne ? protectedOne : null;
    this.in = connection.in();
    this.out = connection.out();
  }

  /// Returns when the server takes statements.
  ///
  /// @throws ServerError the server refuses
  /// @throws EngineException the password cannot be had, or is not to be sent
  /// @throws WireException the server cannot be used
  void run() {
    in.limit(MAX_MESSAGE_BYTES);
    begin();
    while (true) {
      switch (in.next()) {
        case 'R' -> authenticate(in.getInt());
        case 'K' -> connection.key(in.getInt(), in.getInt());
        case 'S' -> connection.parameter(in.getText(), in.getText());
        case 'N', 'v' -> {}
        case 'E' -> throw in.error();
        case 'Z' -> {
          in.limit(WireInput.MAX_MESSAGE_BYTES);
          return;
        }
        default -> throw wrong("does not speak the protocol", null);
      }
    }
  }

  private void begin() {
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
    connection.send();
  }

  private void option(String name, String value) {
    out.putText(name).putText(value);
  }

  private void authenticate(int kind) {
    switch (kind) {
      case 0 -> {
        if (scram != null && !proved) {
          throw wrong("does not prove that it knows the password", null);
        }
      }
      case 3 -> sendPassword(protectedPassword("in clear text"));
      case 5 -> sendPassword(md5(protectedPassword("as MD5")));
      case 10 -> startScram();
      case 11 -> proveScram();
      case 12 -> checkScram();
      default -> throw wrong("wants authentication " + kind + ", which is not known", null);
    }
  }

  private WireException wrong(String what, @Nullable Throwable cause) {
    return new WireException("the server at " + connection.address() + " " + what, cause);
  }

  private String password() {
    Path file = settings.password();
    if (file == null) {
      throw wrong("wants a password of \"" + settings.user() + "\", and none is set", null);
    }
    return ServerPasswordFile.read(file);
  }

  private String protectedPassword(String form) {
    if (tls == null) {
      throw new EngineException(
              ErrorCode.AUTHENTICATION_FAILED,
              "the server at %s wants the password %s, which is not sent without TLS"
                  .formatted(connection.address(), form))
          .withHint("Use scram-sha-256 in pg_hba.conf, or set \"pgwire_tls\".");
    }
    return password();
  }

  private void sendPassword(String text) {
    out.begin('p').putText(text).end();
    connection.send();
  }

  private String md5(String password) {
    byte[] salt = new byte[4];
    for (int i = 0; i < salt.length; i++) {
      salt[i] = (byte) in.getByte();
    }
    try {
      MessageDigest digest = MessageDigest.getInstance("MD5");
      digest.update(password.getBytes(StandardCharsets.UTF_8));
      digest.update(settings.user().getBytes(StandardCharsets.UTF_8));
      String inner = HexFormat.of().formatHex(digest.digest());
      digest.update(inner.getBytes(StandardCharsets.US_ASCII));
      digest.update(salt);
      return "md5" + HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new WireException("this JVM has no MD5", e);
    }
  }

  private void startScram() {
    Set<String> offered = new HashSet<>();
    while (in.remaining() > 1) {
      offered.add(in.getText());
    }
    byte[] certificate = tls == null ? null : WireTls.certificateHash(tls);
    ScramBinding binding = ScramBinding.NONE;
    String mechanism = SCRAM;
    if (certificate != null && offered.contains(SCRAM_BOUND)) {
      binding = ScramBinding.ofServerEndPoint(certificate);
      mechanism = SCRAM_BOUND;
    } else if (certificate != null) {
      binding = ScramBinding.NOT_OFFERED;
    }
    if (!offered.contains(mechanism)) {
      throw wrong("does not offer " + SCRAM, null);
    }
    ScramClient client = new ScramClient("", password().toCharArray(), binding);
    byte[] first = client.first().getBytes(StandardCharsets.UTF_8);
    out.begin('p').putText(mechanism).putInt(first.length).putBytes(first).end();
    connection.send();
    scram = client;
  }

  private void proveScram() {
    ScramClient client = scram;
    if (client == null) {
      throw wrong("does not keep to SCRAM", null);
    }
    try {
      out.begin('p')
          .putBytes(client.prove(rest(), () -> false).getBytes(StandardCharsets.UTF_8))
          .end();
    } catch (ScramException e) {
      throw wrong("does not keep to SCRAM: " + e.getMessage(), e);
    }
    connection.send();
  }

  private void checkScram() {
    ScramClient client = scram;
    if (client == null || !client.verifies(rest())) {
      throw wrong("does not know the password", null);
    }
    proved = true;
  }

  private String rest() {
    String text = new String(in.array(), in.position(), in.remaining(), StandardCharsets.UTF_8);
    in.skip(in.remaining());
    return text;
  }
}
