package dev.kakehashi.protocol.authentication;

import java.nio.charset.StandardCharsets;

/// Channel binding: ties a SCRAM exchange to the TLS connection that it runs over (RFC 5802, section 6), as a client says it. Immutable.
public final class ScramBinding {
  /// The client cannot tie it.
  public static final ScramBinding NONE = new ScramBinding(Scram.BINDING, new byte[0]);

  /// The client could, and the server has not offered it. A server that has knows then that somebody took the offer away.
  public static final ScramBinding NOT_OFFERED = new ScramBinding("y,,", new byte[0]);

  private final String header;
  private final byte[] data;

  private ScramBinding(String header, byte[] data) {
    this.header = header;
    this.data = data;
  }

  /// To the server's certificate (RFC 5929, tls-server-end-point).
  ///
  /// @param hash of the certificate
  public static ScramBinding ofServerEndPoint(byte[] hash) {
    return new ScramBinding("p=tls-server-end-point,,", hash.clone());
  }

  /// Beginning of the client's first message.
  String header() {
    return header;
  }

  /// Header and data of the binding, which the client's final message has in base64.
  String proof() {
    byte[] begin = header.getBytes(StandardCharsets.US_ASCII);
    byte[] all = new byte[begin.length + data.length];
    System.arraycopy(begin, 0, all, 0, begin.length);
    System.arraycopy(data, 0, all, begin.length, data.length);
    return Scram.base64(all);
  }
}
