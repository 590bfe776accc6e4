package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.application.Application;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.tools.ToolProvider;

/// Jars of applications that tests write.
final class TestJar {
  private TestJar() {}

  /// A jar with the application class `shop.Shop`, as CREATE APPLICATION takes it.
  ///
  /// @param work a directory for it
  static String literal(Path work, String source) throws IOException {
    Path file = Files.createDirectories(work.resolve("shop")).resolve("Shop.java");
    Files.writeString(file, source);
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-d",
                work.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                file.toString());
    assertEquals(0, failed);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes);
        Stream<Path> files = Files.walk(work)) {
      for (Path each : files.filter(found -> found.toString().endsWith(".class")).toList()) {
        zip.putNextEntry(new ZipEntry(work.relativize(each).toString()));
        zip.write(Files.readAllBytes(each));
      }
      zip.putNextEntry(new ZipEntry("META-INF/services/" + Application.class.getName()));
      zip.write("shop.Shop\n".getBytes(StandardCharsets.UTF_8));
    }
    return "bytea '\\x" + HexFormat.of().formatHex(bytes.toByteArray()) + "' as 'shop.jar'";
  }
}
