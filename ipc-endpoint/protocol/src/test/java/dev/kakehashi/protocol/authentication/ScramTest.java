package dev.kakehashi.protocol.authentication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Both halves against the example of RFC 7677, against each other, and against what they have to refuse.
class ScramTest {
  private static final String NONCE = "rOprNGfwEbeRWgbNEkqO";
  private static final String SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
  private static final String CLIENT_FIRST = "n,,n=user,r=" + NONCE;
  private static final String SERVER_FIRST =
      "r=" + NONCE + SERVER_NONCE + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
  private static final String CLIENT_FINAL =
      "c=biws,r=" + NONCE + SERVER_NONCE + ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
  private static final String SERVER_FINAL = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

  private static final ScramVerifier VERIFIER =
      ScramVerifier.parse(
          "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
              + ":wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");

  private static ScramClient client(String password) {
    return new ScramClient("user", password.toCharArray(), ScramBinding.NONE, NONCE);
  }

  private static ScramServer server() {
    return new ScramServer(VERIFIER, "user", CLIENT_FIRST, SERVER_NONCE);
  }

  private static void refuses(ScramException.Reason reason, Runnable step) {
    assertEquals(reason, assertThrows(ScramException.class, step::run).reason());
  }

  @Test
  void shouldSayWhatTheExampleOfRfc7677Says() {
    ScramClient client = client("pencil");
    assertEquals(CLIENT_FIRST, client.first());
    assertEquals(SERVER_FIRST, server().first());
    assertEquals(CLIENT_FINAL, client.prove(SERVER_FIRST, () -> false));
    assertEquals(SERVER_FINAL, server().verify(CLIENT_FINAL));
    assertTrue(client.verifies(SERVER_FINAL));
  }

  @Test
  void shouldRepeatItsBindingInTheProof() {
    ScramBinding binding = ScramBinding.ofServerEndPoint(new byte[] {1, 2, 3});
    ScramClient client = new ScramClient("user", "pencil".toCharArray(), binding, NONCE);
    assertEquals("p=tls-server-end-point,,n=user,r=" + NONCE, client.first());
    String proof = client.prove(SERVER_FIRST, () -> false);
    assertTrue(proof.startsWith("c=cD10bHMtc2VydmVyLWVuZC1wb2ludCwsAQID,r="), proof);
    client = new ScramClient("user", "pencil".toCharArray(), ScramBinding.NOT_OFFERED, NONCE);
    assertTrue(client.prove(SERVER_FIRST, () -> false).startsWith("c=eSws,r="));
  }

  @Test
  void shouldLetTheRightPasswordInAndNoOther() {
    ScramVerifier verifier = ScramVerifier.of("p\u00e4ss \u2168".toCharArray());
    for (String password : new String[] {"p\u00e4ss \u2168", "pa\u0308ss IX", "other", ""}) {
      ScramClient client = new ScramClient("a,b=c", password.toCharArray());
      ScramServer server = new ScramServer(verifier, "a,b=c", client.first());
      String proof = client.prove(server.first(), () -> false);
      if (password.contains("ss")) {
        assertTrue(client.verifies(server.verify(proof)), "prepared, both are the same");
      } else {
        refuses(ScramException.Reason.NOT_PROVED, () -> server.verify(proof));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "v=",
        "e=other-error",
        "v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        "v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95A=="
      })
  void shouldNotTrustAnyOtherSignature(String serverFinal) {
    ScramClient client = client("pencil");
    assertFalse(client.verifies(serverFinal), "nothing was proved yet");
    client.prove(SERVER_FIRST, () -> false);
    assertFalse(client.verifies(serverFinal));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "r=" + NONCE + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        "r=x" + NONCE + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        "m=x,r=" + NONCE + "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        "r=" + NONCE + "x,s=,i=4096",
        "r=" + NONCE + "x,s=W2=Z,i=4096",
        "r=" + NONCE + "x,s=W22ZaJ0SNY7soEsUEjb6gQ==",
        "r=" + NONCE + "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4095",
        "r=" + NONCE + "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1000001",
        "r=" + NONCE + "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=-4096"
      })
  void shouldRefuseAChallengeThatMakesNoSense(String serverFirst) {
    refuses(
        ScramException.Reason.MALFORMED, () -> client("pencil").prove(serverFirst, () -> false));
  }

  @Test
  void shouldGiveUpWhenThereIsNoTime() {
    refuses(
        ScramException.Reason.TIMED_OUT, () -> client("pencil").prove(SERVER_FIRST, () -> true));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "n,,n=user",
        "n,,n=other,r=" + NONCE,
        "n,,n=user,r=",
        "n,,n=user,r=a b",
        "y,,n=user,r=" + NONCE,
        "p=tls-unique,,n=user,r=" + NONCE,
        "n,a=admin,n=user,r=" + NONCE,
        "n,,m=x,n=user,r=" + NONCE
      })
  void shouldRefuseAFirstMessageThatMakesNoSense(String clientFirst) {
    refuses(ScramException.Reason.MALFORMED, () -> new ScramServer(VERIFIER, "user", clientFirst));
  }

  @Test
  void shouldRefuseAProofOfAnotherExchange() {
    // Recorded, and said again: the endpoint's nonce is another.
    refuses(
        ScramException.Reason.MALFORMED,
        () -> new ScramServer(VERIFIER, "user", CLIENT_FIRST).verify(CLIENT_FINAL));
    for (String other :
        new String[] {
          "",
          CLIENT_FINAL.replace("biws", "eSws"),
          CLIENT_FINAL.replace(",p=", ",x=1,p="),
          CLIENT_FINAL + ",x=1",
          CLIENT_FINAL.replace("dHzb", ""),
          CLIENT_FINAL.replace("dHzb", "&&&&")
        }) {
      refuses(ScramException.Reason.MALFORMED, () -> server().verify(other));
    }
    refuses(
        ScramException.Reason.NOT_PROVED,
        () -> server().verify(CLIENT_FINAL.replace("dHzb", "dHzc")));
  }

  @Test
  void shouldMakeNobodyLookLikeSomebody() {
    byte[] secret = {1, 2, 3};
    ScramServer first =
        new ScramServer(ScramVerifier.ofNobody(secret, "user", 4096), "user", CLIENT_FIRST);
    ScramServer second =
        new ScramServer(ScramVerifier.ofNobody(secret, "user", 4096), "user", CLIENT_FIRST);
    assertEquals(
        first.first().replaceFirst("r=[^,]*", ""), second.first().replaceFirst("r=[^,]*", ""));
    assertEquals(
        SERVER_FIRST.replaceFirst("s=[^,]*", "").length(),
        first.first().replaceFirst("s=[^,]*", "").length() + SERVER_NONCE.length() - 24);
    assertNotEquals(
        ScramVerifier.ofNobody(secret, "other", 4096).format().split("\\$", -1)[1],
        ScramVerifier.ofNobody(secret, "user", 4096).format().split("\\$", -1)[1]);
    String proof = client("pencil").prove(first.first(), () -> false);
    refuses(ScramException.Reason.NOT_PROVED, () -> first.verify(proof));
  }
}
