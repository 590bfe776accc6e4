package dev.kakehashi.rest.server;

import dev.kakehashi.rest.login.LoginCredentials;
import dev.kakehashi.rest.login.Users;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.security.cert.X509Certificate;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import jdk.net.ExtendedSocketOptions;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Clients, as connections tell of them. Found once for each connection and kept there. Thread-safe.
final class Clients {
  private static final Logger LOG = LoggerFactory.getLogger(Clients.class);
  private static final String ATTRIBUTE = "dev.kakehashi.client";
  private static final String UNIX = "unix socket";

  private final Users users;

  Clients(Users users) {
    this.users = users;
  }

  /// @param proven null: the connection proves nobody
  private record Client(String address, Users.@Nullable Known proven) {}

  /// Credentials of a request. The first request of a connection may ask the operating system for a name.
  LoginCredentials credentials(Request request) {
    ConnectionMetaData connection = request.getConnectionMetaData();
    Client client = (Client) connection.getAttribute(ATTRIBUTE);
    if (client == null || (client.proven() != null && !isCurrent(client.proven()))) {
      client = client(connection);
      connection.setAttribute(ATTRIBUTE, client);
    }
    return new LoginCredentials(
        request.getHeaders().get(HttpHeader.AUTHORIZATION), client.address(), client.proven());
  }

  private boolean isCurrent(Users.Known known) {
    return users.isCurrent(known.user(), known.epoch());
  }

  private Client client(ConnectionMetaData connection) {
    EndPoint endPoint = connection.getConnection().getEndPoint();
    if (connection.getConnector() instanceof UnixConnector) {
      return new Client(UNIX, peer(endPoint));
    }
    String address =
        connection.getRemoteSocketAddress() instanceof InetSocketAddress tcp
            ? tcp.getAddress().getHostAddress()
            : "";
    return new Client(address, certificate(endPoint));
  }

  /// The OS user at the other end of a Unix socket.
  private Users.@Nullable Known peer(EndPoint endPoint) {
    if (endPoint.getTransport() instanceof SocketChannel channel) {
      try {
        return users.ofOsUser(
            channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName());
      } catch (IOException e) {
        LOG.debug("a client of the Unix socket has gone", e);
      }
    }
    return null;
  }

  /// The user of a certificate that TLS has verified.
  private Users.@Nullable Known certificate(EndPoint endPoint) {
    EndPoint.SslSessionData data = endPoint.getSslSessionData();
    X509Certificate @Nullable [] chain = data == null ? null : data.peerCertificates();
    if (chain != null && chain.length > 0) {
      String name = commonName(chain[0]);
      return name.isEmpty() ? null : users.ofCertificate(name);
    }
    return null;
  }

  /// Empty: it has none, or several.
  private static String commonName(X509Certificate certificate) {
    String found = "";
    try {
      for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
        if (part.getType().equalsIgnoreCase("CN")) {
          if (!found.isEmpty()) {
            return "";
          }
          found = part.getValue().toString();
        }
      }
    } catch (InvalidNameException e) {
      LOG.warn("the name in a client's certificate is broken: {}", e.getMessage());
      return "";
    }
    return found;
  }
}
