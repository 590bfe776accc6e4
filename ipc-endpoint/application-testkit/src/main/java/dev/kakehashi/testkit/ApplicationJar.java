package dev.kakehashi.testkit;

import dev.kakehashi.application.Application;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/// A jar of what lies beside a class in the class path: a directory or a jar.
public final class ApplicationJar {
  private static final String SERVICE = "META-INF/services/" + Application.class.getName();

  private ApplicationJar() {}

  /// @return the jar's bytes, which name the class as its application
  public static byte[] of(Class<? extends Application> application) {
    try {
      Path source =
          Path.of(application.getProtectionDomain().getCodeSource().getLocation().toURI());
      if (Files.isDirectory(source)) {
        return of(source, application.getName());
      }
      try (FileSystem jar = FileSystems.newFileSystem(source)) {
        return of(jar.getPath("/"), application.getName());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("could not read the classes beside " + application, e);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(application + " comes from no file", e);
    }
  }

  private static byte[] of(Path root, String name) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JarOutputStream jar = new JarOutputStream(bytes);
        Stream<Path> files = Files.walk(root)) {
      List<Path> all = files.filter(Files::isRegularFile).sorted().toList();
      for (Path file : all) {
        String entry = root.relativize(file).toString();
        if (!entry.equals(SERVICE)
            && !entry.equals("module-info.class")
            && !entry.equals("META-INF/MANIFEST.MF")) {
          jar.putNextEntry(new JarEntry(entry));
          Files.copy(file, jar);
        }
      }
      jar.putNextEntry(new JarEntry(SERVICE));
      jar.write((name + "\n").getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }
}
