package dev.kakehashi.console.html;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Files of others are as they were published: nobody has changed a byte.
final class VendoredFilesTest {
  private static final Map<String, String> DIGESTS =
      Map.of(
          "htmx-4.0.1.min.js", "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
          "uplot-1.6.32.min.js", "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
          "uplot-1.6.32.min.css",
              "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04");

  @Test
  void shouldBeAsPublished() throws IOException, NoSuchAlgorithmException {
    for (Map.Entry<String, String> file : DIGESTS.entrySet()) {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes(file.getKey()));
      assertEquals(file.getValue(), HexFormat.of().formatHex(digest), file.getKey());
    }
  }

  @Test
  void shouldHaveTheirLicences() throws IOException {
    assertNotNull(bytes("htmx-LICENSE.txt"));
    assertNotNull(bytes("uplot-LICENSE.txt"));
  }

  private static byte[] bytes(String name) throws IOException {
    try (InputStream in = Assets.class.getResourceAsStream(name)) {
      assertNotNull(in, name);
      return in.readAllBytes();
    }
  }
}
