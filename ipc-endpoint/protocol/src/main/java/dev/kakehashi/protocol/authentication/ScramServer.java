package dev.kakehashi.protocol.authentication;

import dev.kakehashi.protocol.Protocol;
import java.security.MessageDigest;

/// The endpoint's half of SCRAM-SHA-256. For one exchange, and one thread.
public final class ScramServer {
  private final ScramVerifier verifier;
  private final String firstBare;
  private final String nonce;
  private final String first;

  /// @param user who is asked for, as in the client's message
  /// @param clientFirst the client's first message
  /// @throws ScramException when it makes no sense, or is another user's
  public ScramServer(ScramVerifier verifier, String user, String clientFirst) {
    this(verifier, user, clientFirst, Scram.nonce());
  }

  ScramServer(ScramVerifier verifier, String user, String clientFirst, String nonce) {
    if (clientFirst.length() > Protocol.MAX_AUTHENTICATION_BYTES / 2
        || !clientFirst.startsWith(Scram.BINDING)) {
      throw ScramException.malformed("the first message is too long, or asks for channel binding");
    }
    this.verifier = verifier;
    this.firstBare = clientFirst.substring(Scram.BINDING.length());
    String[] values = Scram.attributes(firstBare, "nr");
    if (!values[0].equals(Scram.escape(user))) {
      throw ScramException.malformed("it speaks of another user");
    }
    if (values[1].isEmpty() || values[1].chars().anyMatch(c -> c <= ' ' || c >= 0x7F)) {
      throw ScramException.malformed("the nonce");
    }
    this.nonce = values[1] + nonce;
    this.first =
        "r=" + this.nonce + ",s=" + Scram.base64(verifier.salt()) + ",i=" + verifier.iterations();
  }

  /// The endpoint's first message.
  public String first() {
    return first;
  }

  /// The endpoint's final message.
  ///
  /// @param clientFinal the client's final message
  /// @throws ScramException when it makes no sense, or the client has not proved that it knows the password
  public String verify(String clientFinal) {
    String[] values = Scram.attributes(clientFinal, "crp");
    String withoutProof = "c=" + values[0] + ",r=" + values[1];
    if (!values[0].equals("biws")
        || !values[1].equals(nonce)
        || !clientFinal.equals(withoutProof + ",p=" + values[2])) {
      throw ScramException.malformed("the final message is not of this exchange");
    }
    String signed = firstBare + "," + first + "," + withoutProof;
    byte[] proof = Scram.base64(values[2], "the proof");
    if (proof.length != Scram.KEY_BYTES) {
      throw ScramException.malformed("the proof");
    }
    byte[] clientKey = Scram.xor(proof, Scram.hmac(verifier.storedKey(), signed));
    if (!MessageDigest.isEqual(Scram.sha256(clientKey), verifier.storedKey())) {
      throw new ScramException(ScramException.Reason.NOT_PROVED, "the password is wrong");
    }
    return "v=" + Scram.base64(Scram.hmac(verifier.serverKey(), signed));
  }
}
