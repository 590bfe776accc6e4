package dev.kakehashi.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipFile;

/// The JDK of this JVM as Fray instruments it, with the agents that it wants, in a directory. Made once, by the JDK's own jlink, from the
/// jars on the class path: no network.
final class InstrumentedJdk {
  /// Modules that the programs use. Fewer are made sooner.
  private static final String MODULES =
      "java.base,java.instrument,java.logging,java.management,java.rmi,jdk.unsupported";

  private static final List<String> TRANSFORMER =
      List.of(
          "fray-instrumentation-jdk-",
          "fray-instrumentation-base-",
          "fray-runtime-",
          "kotlin-stdlib-",
          "kotlin-reflect-",
          "annotations-13",
          "asm-");

  private final Path directory;
  private final List<String> classPath =
      Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator));

  InstrumentedJdk(Path directory) {
    this.directory = directory;
  }

  /// Makes what is missing.
  void make() throws IOException, InterruptedException {
    Files.createDirectories(directory);
    Path made = directory.resolve("made-of");
    String source =
        System.getProperty("java.vm.version")
            + " "
            + jar("fray-instrumentation-jdk-")
            + " "
            + MODULES;
    if (!Files.exists(made) || !Files.readString(made).equals(source)) {
      link();
      Files.writeString(made, source);
    }
    try (ZipFile jar = new ZipFile(jar("fray-jvmti-"));
        InputStream in = jar.getInputStream(jar.getEntry("libjvmti.so"))) {
      Files.write(directory.resolve("libjvmti.so"), in.readAllBytes());
    }
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", MemoryPoints.class.getName());
    try (OutputStream out = Files.newOutputStream(directory.resolve("points.jar"))) {
      new JarOutputStream(out, manifest).close();
    }
  }

  private void link() throws IOException, InterruptedException {
    Path jdk = directory.resolve("jdk");
    deleteAll(jdk);
    String jars =
        String.join(
            File.pathSeparator,
            classPath.stream()
                .filter(each -> TRANSFORMER.stream().anyMatch(fileName(each)::startsWith))
                .toList());
    run(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "jlink").toString(),
            "-J-javaagent:" + jar("fray-instrumentation-jdk-"),
            "-J--module-path=" + jars,
            "-J--add-modules=org.pastalab.fray.instrumentation.jdk",
            "-J--class-path=" + jars,
            "--output=" + jdk,
            "--add-modules=" + MODULES,
            "--fray-instrumentation"));
  }

  private void run(List<String> command) throws IOException, InterruptedException {
    Path log = directory.resolve("link.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      process.waitFor();
    } finally {
      process.destroyForcibly();
    }
    assertEquals(0, process.exitValue(), () -> command.getFirst() + " failed, see " + log);
  }

  static void deleteAll(Path directory) throws IOException {
    if (Files.exists(directory)) {
      List<Path> files;
      try (var walk = Files.walk(directory)) {
        files = new ArrayList<>(walk.toList());
      }
      for (Path each : files.reversed()) {
        Files.delete(each);
      }
    }
  }

  private static String fileName(String path) {
    return Path.of(path).getFileName().toString();
  }

  private String jar(String prefix) {
    return classPath.stream()
        .filter(each -> fileName(each).startsWith(prefix))
        .findFirst()
        .orElseThrow(() -> new AssertionError("not on the class path: " + prefix));
  }

  /// A command that runs a class of the class path in it.
  List<String> command(List<String> options, Class<?> main, List<String> arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                directory.resolve("jdk/bin/java").toString(),
                "-Xmx1g",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-javaagent:" + directory.resolve("points.jar"),
                "-javaagent:" + jar("fray-instrumentation-agent-"),
                "-agentpath:" + directory.resolve("libjvmti.so"),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                "-cp",
                String.join(File.pathSeparator, classPath)));
    command.addAll(options);
    command.add(main.getName());
    command.addAll(arguments);
    return command;
  }
}
