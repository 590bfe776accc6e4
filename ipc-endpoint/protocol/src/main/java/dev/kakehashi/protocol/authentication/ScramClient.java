package dev.kakehashi.protocol.authentication;

import dev.kakehashi.protocol.Protocol;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The client's half of SCRAM-SHA-256: the password is proved and never sent, and the endpoint proves in return that it knows a verifier of
/// it. For one exchange, and one thread.
public final class ScramClient {
  private final byte[] password;
  private final String nonce;
  private final String firstBare;
  private final ScramBinding binding;
  private byte @Nullable [] serverSignature;

  /// @param user who is asked for; empty: the OS user
  public ScramClient(String user, char[] password) {
    this(user, password, ScramBinding.NONE);
  }

  /// @param user who is asked for; empty: the OS user
  public ScramClient(String user, char[] password, ScramBinding binding) {
    this(user, password, binding, Scram.nonce());
  }

  ScramClient(String user, char[] password, ScramBinding binding, String nonce) {
    this.binding = binding;
    this.password = SaslPrep.prepare(password);
    this.nonce = nonce;
    this.firstBare = "n=" + Scram.escape(user) + ",r=" + nonce;
  }

  /// The client's first message.
  public String first() {
    return binding.header() + firstBare;
  }

  /// The client's final message, once for an exchange. The password is forgotten.
  ///
  /// @param serverFirst the endpoint's first message
  /// @param late asked now and then whether there is no time left
  /// @throws ScramException when the message makes no sense, or there is no time left
  public String prove(String serverFirst, BooleanSupplier late) {
    String[] values = Scram.attributes(serverFirst, "rsi");
    // Else it would be the answer of another exchange.
    if (!values[0].startsWith(nonce)
        || values[0].length() == nonce.length()
        || serverFirst.length() > Protocol.MAX_AUTHENTICATION_BYTES) {
      throw ScramException.malformed("the nonce is not of this exchange");
    }
    byte[] salt = Scram.base64(values[1], "the salt");
    if (salt.length == 0 || salt.length > Scram.MAX_SALT_BYTES) {
      throw ScramException.malformed("the salt");
    }
    int iterations = values[2].matches("[0-9]{1,7}") ? Integer.parseInt(values[2]) : 0;
    if (iterations < Scram.MIN_ITERATIONS || iterations > Scram.MAX_ITERATIONS) {
      throw ScramException.malformed(
          "%s iterations are not between %d and %d"
              .formatted(values[2], Scram.MIN_ITERATIONS, Scram.MAX_ITERATIONS));
    }
    byte[] salted = Scram.salted(password, salt, iterations, late);
    Arrays.fill(password, (byte) 0);
    byte[] clientKey = Scram.hmac(salted, "Client Key");
    String withoutProof = "c=" + binding.proof() + ",r=" + values[0];
    String signed = firstBare + "," + serverFirst + "," + withoutProof;
    serverSignature = Scram.hmac(Scram.hmac(salted, "Server Key"), signed);
    byte[] proof = Scram.xor(clientKey, Scram.hmac(Scram.sha256(clientKey), signed));
    Arrays.fill(salted, (byte) 0);
    Arrays.fill(clientKey, (byte) 0);
    return withoutProof + ",p=" + Scram.base64(proof);
  }

  /// Whether the endpoint has proved that it knows a verifier of the password.
  ///
  /// @param serverFinal the endpoint's final message
  public boolean verifies(String serverFinal) {
    byte[] expected = serverSignature;
    try {
      return expected != null
          && MessageDigest.isEqual(
              expected, Scram.base64(Scram.attributes(serverFinal, "v")[0], "the signature"));
    } catch (ScramException e) {
      return false;
    }
  }
}
