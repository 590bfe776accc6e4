package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Memory and files of a process, as `/proc` and the JVM tell them.
public final class ProcessMemory {
  private static final Pattern HISTOGRAM_LINE =
      Pattern.compile("^\\s*\\d+:\\s+\\d+\\s+(\\d+)\\s+(\\S+)", Pattern.MULTILINE);

  private ProcessMemory() {}

  /// Resident anonymous memory in KB: what the process has allocated itself.
  public static long anonymousKilobytes(long pid) {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "status"))) {
      return lines
          .filter(line -> line.startsWith("RssAnon:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Open file descriptors.
  public static long openFiles(long pid) {
    return count(Path.of("/proc", Long.toString(pid), "fd"));
  }

  /// Regions of mapped files.
  public static long mappedFiles(long pid) {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "maps"))) {
      return lines.filter(line -> line.indexOf('/') >= 0).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long count(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Live objects of a JVM of the servers' OS user after a full collection: bytes by class.
  public static Map<String, Long> liveHeap(long pid) {
    Map<String, Long> bytes = new HashMap<>();
    Matcher line = HISTOGRAM_LINE.matcher(jcmd(pid, "GC.class_histogram"));
    while (line.find()) {
      bytes.merge(line.group(2), Long.valueOf(line.group(1)), Long::sum);
    }
    if (bytes.isEmpty()) {
      throw new IllegalStateException("no histogram in the answer of jcmd");
    }
    return bytes;
  }

  private static String jcmd(long pid, String command) {
    return OsProcess.runOk(
        List.of(Installation.java().resolveSibling("jcmd").toString(), Long.toString(pid), command),
        Map.of(),
        Duration.ofMinutes(2));
  }
}
