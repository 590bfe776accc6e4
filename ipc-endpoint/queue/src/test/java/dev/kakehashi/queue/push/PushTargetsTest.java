package dev.kakehashi.queue.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The list of hosts and networks.
class PushTargetsTest {
  private static final PushTargets TARGETS =
      PushTargets.of("mail.example.com, *.example.org:8443, localhost, 127.0.0.0/8, 10.1.0.0/16");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://mail.example.com/a?b=c",
        "https://MAIL.example.com:444/",
        "https://a.b.example.org:8443/x",
        "http://127.0.0.1:9000",
        "http://10.1.255.3/"
      })
  void shouldAllowWhatTheListHas(String url) {
    assertEquals(url, TARGETS.check(url).toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://example.com/",
        "http://mail.example.com.evil.test/",
        "http://evilexample.org:8443/",
        "https://example.org:8443/",
        "https://a.example.org/",
        "http://10.2.0.1/",
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://93.184.216.34/"
      })
  void shouldRefuseWhatTheListLacks(String url) {
    EngineException refused = assertThrows(EngineException.class, () -> TARGETS.check(url));
    assertEquals(ErrorCode.INSUFFICIENT_PRIVILEGE, refused.code());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://mail.example.com/",
        "file:///etc/passwd",
        "http://user@mail.example.com/",
        "http://mail.example.com/#a",
        "mail.example.com",
        "http:///x",
        "http://a b/"
      })
  void shouldRefuseWhatIsNoTarget(String url) {
    EngineException refused = assertThrows(EngineException.class, () -> TARGETS.check(url));
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, refused.code());
  }

  @Test
  void shouldLookAtTheAddressesOfAName() {
    assertEquals(
        "127.0.0.1",
        PushTargets.of("localhost, 127.0.0.0/8, ::1/128")
            .resolve("localhost")
            .getFirst()
            .getHostAddress());
    EngineException refused =
        assertThrows(EngineException.class, () -> PushTargets.of("localhost").resolve("localhost"));
    assertEquals(ErrorCode.INSUFFICIENT_PRIVILEGE, refused.code());
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "10.1.0.0/33", "10.1.0.0", "x/8", "http://a", "*", "::1/129"})
  void shouldRefuseEntriesThatMeanNothing(String entry) {
    EngineException refused =
        assertThrows(EngineException.class, () -> PushTargets.of("a.test, " + entry));
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, refused.code());
  }
}
