package dev.kakehashi.applications.jar;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;

class JarImageTest {
  private static final String MANIFEST = "META-INF/MANIFEST.MF";
  private static final String TEXT = "some text, some text, some text, some text\n".repeat(20);

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] jar(Map<String, String> files, boolean stored) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.setComment("a comment behind the directory");
      for (Map.Entry<String, String> each : files.entrySet()) {
        byte[] content = utf8(each.getValue());
        ZipEntry entry = new ZipEntry(each.getKey());
        if (stored) {
          CRC32 crc = new CRC32();
          crc.update(content);
          entry.setMethod(ZipEntry.STORED);
          entry.setSize(content.length);
          entry.setCrc(crc.getValue());
        }
        zip.putNextEntry(entry);
        zip.write(content);
        zip.closeEntry();
      }
    }
    return bytes.toByteArray();
  }

  private static byte[] jar(String... namesAndTexts) throws IOException {
    Map<String, String> files = new TreeMap<>();
    for (int i = 0; i < namesAndTexts.length; i += 2) {
      files.put(namesAndTexts[i], namesAndTexts[i + 1]);
    }
    return jar(files, false);
  }

  private static String refusal(byte[] jar) {
    EngineException e =
        assertThrows(
            EngineException.class,
            () -> {
              JarImage image = JarImage.of("lib/shop.jar", jar);
              image.files().forEach(image::file);
            });
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code());
    return String.valueOf(e.getMessage());
  }

  @Test
  void shouldReadStoredAndCompressedFiles() throws IOException {
    Map<String, String> files =
        Map.of(
            "a/b/C.class",
            TEXT,
            "a/D.class",
            "",
            "META-INF/x/E.class",
            "x",
            "Plain.class",
            "y",
            "dir/",
            "");
    for (boolean stored : new boolean[] {false, true}) {
      JarImage image = JarImage.of("shop.jar", jar(files, stored));
      assertEquals(
          Set.of("a/b/C.class", "a/D.class", "META-INF/x/E.class", "Plain.class"), image.files());
      assertEquals(Set.of("a", "a.b"), image.packages());
      assertArrayEquals(utf8(TEXT), image.file("a/b/C.class"));
      assertArrayEquals(new byte[0], image.file("a/D.class"));
      assertNull(image.file("a/b/c.class"));
      assertEquals("", image.mainAttribute("Main-Class"));
    }
  }

  @Test
  void shouldTakeTheHighestReleaseOfAMultiReleaseJar() throws IOException {
    int now = Runtime.version().feature();
    String[] files = {
      "a.txt",
      "old",
      "META-INF/versions/9/a.txt",
      "nine",
      "META-INF/versions/" + now + "/a.txt",
      "now",
      "META-INF/versions/" + (now + 1) + "/a.txt",
      "later",
      "META-INF/versions/x/a.txt",
      "none",
      "META-INF/versions/9/only.txt",
      "added"
    };
    String[] multi = Arrays.copyOf(files, files.length + 2);
    multi[files.length] = MANIFEST;
    multi[files.length + 1] = "Manifest-Version: 1.0\nMulti-Release: true\nMain-Class:  m.Main\n\n";
    JarImage image = JarImage.of("shop.jar", jar(multi));
    assertArrayEquals(utf8("now"), image.file("a.txt"));
    assertArrayEquals(utf8("added"), image.file("only.txt"));
    assertEquals("m.Main", image.mainAttribute("Main-Class"));
    JarImage plain = JarImage.of("shop.jar", jar(files));
    assertArrayEquals(utf8("old"), plain.file("a.txt"));
    assertNull(plain.file("only.txt"));
  }

  @Test
  void shouldDeriveModuleNamesAsJavaDoes() throws IOException {
    byte[] empty = jar("a/B.class", "");
    Map.of(
            "lib/shop.jar", "shop",
            "order-service-1.2.3-SNAPSHOT.jar", "order.service",
            "my_lib.v2.JAR", "my.lib.v2",
            "--x--.jar", "x",
            "7zip.jar", "application.jar4",
            ".jar", "application.jar4")
        .forEach(
            (name, module) -> assertEquals(module, JarImage.of(name, empty).derivedName(4), name));
  }

  @Test
  void shouldRefuseWhatIsNoJar() throws IOException {
    assertEquals("\"lib/shop.jar\" is no jar", refusal(new byte[0]));
    assertEquals("\"lib/shop.jar\" is no jar", refusal(new byte[21]));
    assertEquals("\"lib/shop.jar\" is no jar", refusal(utf8(TEXT)));
    byte[] twice = jar("a/B.txt", "1", "a/C.txt", "2");
    // The name in the directory, which is behind both files.
    int at = new String(twice, StandardCharsets.ISO_8859_1).lastIndexOf("a/C.txt");
    twice[at + 2] = 'B';
    assertEquals("jar \"lib/shop.jar\" is damaged: it has two files \"a/B.txt\"", refusal(twice));
    byte[] wrong = jar(Map.of("a.txt", TEXT), true);
    wrong["a.txt".length() + 30] ^= 1;
    assertEquals(
        "jar \"lib/shop.jar\" is damaged: the checksum of \"a.txt\" is wrong", refusal(wrong));
  }

  /// Damage is refused, or does not matter. No other error, and no other content, comes of it.
  @Test
  void shouldNeverReadDamageAsContent() throws IOException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    Random random = new Random(seed);
    byte[] whole = jar("a/b.txt", TEXT, "c.txt", "short", MANIFEST, "Manifest-Version: 1.0\n\n");
    int refused = 0;
    for (int i = 0; i < 3_000; i++) {
      byte[] damaged = whole.clone();
      int at = random.nextInt(damaged.length);
      damaged[at] = (byte) random.nextInt();
      if (i % 10 == 0) {
        damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
      }
      String where = "seed " + seed + ", round " + i + ", at " + at;
      try {
        JarImage image = JarImage.of("shop.jar", damaged);
        byte[] text = image.file("a/b.txt");
        byte[] other = image.file("c.txt");
        if (text != null) {
          assertArrayEquals(utf8(TEXT), text, where);
        }
        if (other != null) {
          assertArrayEquals(utf8("short"), other, where);
        }
      } catch (EngineException e) {
        assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code(), where);
        refused++;
      }
    }
    assertTrue(refused > 500, "refused: " + refused);
  }
}
