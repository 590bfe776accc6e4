package dev.kakehashi.applications.remote;

import dev.kakehashi.engine.api.application.ApplicationOptions;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The command line of a process.
final class ProcessCommand {
  /// Where a process of another user finds the link: it may not go into the endpoint's directories.
  private static final String DESCRIPTOR = "/proc/self/fd/3";

  private static final long ID_SECONDS = 10;

  private ProcessCommand() {}

  /// Begins it. Standard input stays open as long as the endpoint lives; standard error goes to standard output.
  static Process start(ProcessSettings settings, ApplicationOptions options, Path link)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(words(settings, options, link));
    builder.redirectErrorStream(true).directory(new File("/"));
    // Nothing of the endpoint's environment: it may have passwords.
    builder.environment().clear();
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.environment().put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    return builder.start();
  }

  private static List<String> words(ProcessSettings settings, ApplicationOptions options, Path link)
      throws IOException {
    List<String> words = new ArrayList<>(prefix(settings, link));
    words.add(settings.java().toString());
    words.add("-Xmx" + Math.max(16L << 20, options.memoryBytes()));
    words.add("-Xss" + Math.clamp(options.maxStackBytes(), 256L << 10, 1L << 30));
    words.addAll(
        List.of(
            "-Xms16m",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:-UsePerfData",
            "-XX:MaxMetaspaceSize=256m",
            "-XX:MaxDirectMemorySize=64m",
            "--enable-native-access=ALL-UNNAMED",
            // Calls of the engine wait in the system, which holds their carriers.
            "-Djdk.virtualThreadScheduler.parallelism=64",
            "-Djdk.virtualThreadScheduler.maxPoolSize=512",
            "-Djava.awt.headless=true",
            "-cp",
            settings.classPath(),
            settings.mainClass(),
            settings.hasOtherUser() ? DESCRIPTOR : link.toString()));
    return words;
  }

  /// Words before the program that open the link with the endpoint's rights, and give them up then; none without another user.
  private static List<String> prefix(ProcessSettings settings, Path link) throws IOException {
    return settings.hasOtherUser()
        ? List.of(
            "/bin/sh",
            "-c",
            "link=$1; shift; exec \"$@\" 3<>\"$link\"",
            "sh",
            link.toString(),
            "setpriv",
            "--reuid=" + settings.user(),
            "--regid=" + group(settings.user()),
            "--clear-groups",
            "--inh-caps=-all",
            "--ambient-caps=-all",
            "--no-new-privs")
        : List.of();
  }

  /// Number of the user's own group, which need not have his name.
  private static String group(String user) throws IOException {
    Process id =
        new ProcessBuilder("id", "-g", "--", user)
            .redirectErrorStream(true)
            .directory(new File("/"))
            .start();
    try (InputStream output = id.getInputStream()) {
      id.getOutputStream().close();
      String text = new String(output.readNBytes(1024), StandardCharsets.UTF_8).strip();
      if (!id.waitFor(ID_SECONDS, TimeUnit.SECONDS) || id.exitValue() != 0) {
        throw new IOException("the setting application_user names no OS user: " + text);
      }
      return text;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the OS user " + user + " was looked for", e);
    } finally {
      id.destroyForcibly();
    }
  }
}
