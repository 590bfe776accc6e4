package dev.kakehashi.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Options of sessions and transactions: a copy differs in what was asked for, and in nothing else.
class OptionsTest {
  private static final AttachOptions ATTACH =
      new AttachOptions(
          Path.of("run"), "peer", "application", "user", "password", Duration.ofSeconds(1), false);

  /// No two components are alike.
  private static final TransactionOptions BEGIN =
      new TransactionOptions(
          TransactionKind.LTX,
          IsolationLevel.SERIALIZABLE,
          Duration.ofSeconds(1),
          Duration.ofSeconds(2),
          3,
          "label",
          "preserve",
          "include",
          "exclude",
          false);

  static Stream<Arguments> copies() {
    return Stream.of(
        arguments(ATTACH, ATTACH.withRequirePeer("x"), Set.of("requirePeer")),
        arguments(ATTACH, ATTACH.withApplicationName("x"), Set.of("applicationName")),
        arguments(ATTACH, ATTACH.withUser("x", "y"), Set.of("userName", "password")),
        arguments(ATTACH, ATTACH.withDirectReads(true), Set.of("directReads")),
        arguments(BEGIN, BEGIN.withKind(TransactionKind.OCC), Set.of("kind")),
        arguments(BEGIN, BEGIN.withIsolation(IsolationLevel.READ_COMMITTED), Set.of("isolation")),
        arguments(BEGIN, BEGIN.withLease(Duration.ofSeconds(9)), Set.of("lease")),
        arguments(BEGIN, BEGIN.withTimeout(Duration.ofSeconds(9)), Set.of("timeout")),
        arguments(BEGIN, BEGIN.withPriority(9), Set.of("priority")),
        arguments(BEGIN, BEGIN.withLabel("x"), Set.of("label")),
        arguments(BEGIN, BEGIN.withWritePreserve("x", "y"), Set.of("writePreserve")),
        arguments(BEGIN, BEGIN.withReadAreas("x", "exclude"), Set.of("readInclude")),
        arguments(BEGIN, BEGIN.withReadAreas("include", "x"), Set.of("readExclude")),
        arguments(BEGIN, BEGIN.withDeferrable(true), Set.of("deferrable")));
  }

  @ParameterizedTest
  @MethodSource("copies")
  void shouldChangeWhatWasAskedForAlone(Record before, Record after, Set<String> expected)
      throws ReflectiveOperationException {
    Set<String> changed = new TreeSet<>();
    for (RecordComponent component : before.getClass().getRecordComponents()) {
      if (!component.getAccessor().invoke(before).equals(component.getAccessor().invoke(after))) {
        changed.add(component.getName());
      }
    }
    assertEquals(new TreeSet<>(expected), changed);
  }

  static Stream<Arguments> forms() {
    TransactionOptions plain = TransactionOptions.DEFAULT;
    return Stream.of(
        arguments(plain, false),
        arguments(TransactionOptions.READ_ONLY, false),
        arguments(plain.withKind(TransactionKind.RTX), false),
        arguments(plain.withIsolation(IsolationLevel.SERIALIZABLE), false),
        arguments(plain.withLease(Duration.ofSeconds(1)), false),
        arguments(plain.withLabel("label"), false),
        arguments(plain.withTimeout(Duration.ofNanos(1)), true),
        arguments(plain.withPriority(-1), true),
        arguments(plain.withDeferrable(true), true),
        arguments(plain.withReadAreas("orders", ""), true),
        arguments(plain.withReadAreas("", "orders"), true),
        arguments(TransactionOptions.writing("orders"), true));
  }

  /// A short form that dropped an option would begin another transaction than the one that was asked for.
  @ParameterizedTest
  @MethodSource("forms")
  void shouldTakeTheLongFormOfABeginForWhatTheShortOneCannotSay(
      TransactionOptions options, boolean isExtended) {
    assertEquals(isExtended, options.isExtended());
  }
}
