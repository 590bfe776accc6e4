package dev.kakehashi.benchmarks.applications;

import dev.kakehashi.application.Application;
import dev.kakehashi.benchmarks.applications.code.MeasuredCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/// The jar that is deployed: the classes of one package of this benchmark's own jar.
final class MeasuredJar {
  private static final String CODE = MeasuredCode.class.getPackageName().replace('.', '/') + "/";

  private MeasuredJar() {}

  /// As a literal of SQL.
  static String literal() throws IOException {
    return "bytea '\\x" + HexFormat.of().formatHex(bytes()) + "'";
  }

  private static byte[] bytes() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JarFile own = new JarFile(location().toFile());
        JarOutputStream jar = new JarOutputStream(bytes)) {
      for (JarEntry entry : (Iterable<JarEntry>) own.stream()::iterator) {
        if (entry.getName().startsWith(CODE) && entry.getName().endsWith(".class")) {
          jar.putNextEntry(new JarEntry(entry.getName()));
          own.getInputStream(entry).transferTo(jar);
          jar.closeEntry();
        }
      }
      jar.putNextEntry(new JarEntry("META-INF/services/" + Application.class.getName()));
      jar.write((MeasuredCode.class.getName() + "\n").getBytes(StandardCharsets.UTF_8));
      jar.closeEntry();
    }
    return bytes.toByteArray();
  }

  private static Path location() throws IOException {
    try {
      return Path.of(
          MeasuredCode.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IOException("the benchmark does not run from a jar", e);
    }
  }
}
