package dev.kakehashi.server.report;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.capability.Computation;
import dev.kakehashi.protocol.capability.StoredType;
import java.time.Instant;
import java.util.Arrays;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// An engine in words: what it is called, what it lacks, how it is.
public final class EngineReport {
  /// Lines without a line feed at the end.
  public static String text(Engine engine) {
    Capabilities capabilities = engine.capabilities();
    StringBuilder text = new StringBuilder("engine: ").append(capabilities.engine());
    append(text, "has no", absent(Capability.values(), capabilities::has, Capability::title));
    append(
        text,
        "leaves to PostgreSQL",
        absent(Computation.values(), capabilities::computes, Computation::title));
    append(
        text, "does not keep", absent(StoredType.values(), capabilities::keeps, StoredType::title));
    for (String line : engine.health()) {
      text.append("\n  ").append(line);
    }
    LogStatus log = engine.logStatus();
    if (log != null) {
      text.append("\n  log: ").append(log.position());
      LogStatus.Following following = log.following();
      if (following != null) {
        text.append("\n  ").append(text(following));
      }
      LogStatus.Archive archive = log.archive();
      if (archive != null) {
        text.append("\n  archive: ").append(text(archive));
      }
      LogStatus.Synchronous synchronous = log.synchronous();
      if (synchronous != null) {
        text.append(
            "\n  commits %s standby %s (%s)"
                .formatted(
                    synchronous.isAlone()
                        ? "go on without"
                        : synchronous.isWaiting() ? "are kept waiting by" : "wait for",
                    synchronous.standby(),
                    synchronous.level()));
      }
      for (LogStatus.Standby each : log.standbys()) {
        text.append(
            each.askedMillis() == 0
                ? "\n  standby %s: the log is kept for it from %s on, %d bytes; it has not asked since the start"
                    .formatted(each.name(), each.position(), each.lagBytes())
                : "\n  standby %s: has %s, lacks %d bytes, asked %s"
                    .formatted(
                        each.name(),
                        each.position(),
                        each.lagBytes(),
                        Instant.ofEpochMilli(each.askedMillis())));
      }
    }
    return text.toString();
  }

  private static String text(LogStatus.Following following) {
    String text =
        "standby of %s: readers see %s, behind: %d bytes, %.3f s"
            .formatted(
                following.primary(),
                following.applied(),
                following.lagBytes(),
                following.lagMicros() / 1e6);
    return following.problem().isEmpty() ? text : text + ", not followed: " + following.problem();
  }

  private static String text(LogStatus.Archive archive) {
    StringBuilder text = new StringBuilder(archive.location());
    text.append(
        archive.position() == null ? ", nothing since the start" : ", up to " + archive.position());
    if (archive.waitingBytes() > 0) {
      text.append(", %d bytes wait".formatted(archive.waitingBytes()));
    }
    if (archive.gaps() > 0) {
      text.append(", has a gap: make a backup");
    }
    if (!archive.problem().isEmpty()) {
      text.append(", ").append(archive.problem());
    }
    return text.toString();
  }

  private static <E> String absent(E[] all, Predicate<E> isThere, Function<E, String> title) {
    return Arrays.stream(all).filter(isThere.negate()).map(title).collect(Collectors.joining(", "));
  }

  private static void append(StringBuilder text, String what, String absent) {
    if (!absent.isEmpty()) {
      text.append("\n  ").append(what).append(": ").append(absent);
    }
  }

  private EngineReport() {}
}
