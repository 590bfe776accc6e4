package dev.kakehashi.console.access;

import dev.kakehashi.requests.RequestUser;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/// A user who has logged in, with the token that his browser keeps. Immutable.
public final class Visitor {
  private final RequestUser user;
  private final String token;
  private final String address;
  private final String csrf;

  /// @param address from which he comes
  Visitor(RequestUser user, String token, String address) {
    this.user = user;
    this.token = token;
    this.address = address;
    this.csrf = csrf(token);
  }

  /// Made of the token, so nothing more is kept; who sees it does not know the token.
  private static String csrf(String token) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] bytes = digest.digest(("console form " + token).getBytes(StandardCharsets.UTF_8));
      return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  public RequestUser user() {
    return user;
  }

  String token() {
    return token;
  }

  public String address() {
    return address;
  }

  /// Token that a form of his pages has to have, so that no other page can send one in his name.
  public String csrf() {
    return csrf;
  }

  boolean hasSent(String sent) {
    return MessageDigest.isEqual(
        csrf.getBytes(StandardCharsets.UTF_8), sent.getBytes(StandardCharsets.UTF_8));
  }

  /// Hides the secret.
  @Override
  public String toString() {
    return user.name() + " from " + address;
  }
}
