package dev.kakehashi.protocol.authentication;

import org.jspecify.annotations.Nullable;

/// Verifiers of users who do not exist, so that these users look like existing ones and take as long to refuse. Thread-safe.
public final class Nobodies {
  /// Salts are made of it, the same ones after a restart.
  private final byte[] secret;

  /// Iterations of the last user who does exist. Any thread writes and reads them; an older number does no harm.
  private volatile int iterations = ScramVerifier.ITERATIONS;

  /// @param secret that only the endpoint knows
  public Nobodies(byte[] secret) {
    this.secret = secret.clone();
  }

  /// Verifier that a password is compared with. The comparison takes the same time for everybody.
  ///
  /// @param verifier of the user, in SCRAM's form; null: there is none, and no password is right
  /// @throws IllegalArgumentException the verifier is none
  public ScramVerifier of(String user, @Nullable String verifier) {
    ScramVerifier nobody = ScramVerifier.ofNobody(secret, user, iterations);
    ScramVerifier somebody = verifier == null ? null : ScramVerifier.parse(verifier);
    if (somebody == null) {
      return nobody;
    }
    iterations = somebody.iterations();
    return somebody;
  }
}
