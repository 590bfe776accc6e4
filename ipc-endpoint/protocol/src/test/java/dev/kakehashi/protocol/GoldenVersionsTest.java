package dev.kakehashi.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.messages.AcquireBuffersDecoder;
import dev.kakehashi.protocol.messages.AttachDecoder;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import dev.kakehashi.protocol.messages.AuthenticationChallengeDecoder;
import dev.kakehashi.protocol.messages.AuthenticationResponseDecoder;
import dev.kakehashi.protocol.messages.BeginDecoder;
import dev.kakehashi.protocol.messages.BeginTransactionDecoder;
import dev.kakehashi.protocol.messages.BuffersGrantedDecoder;
import dev.kakehashi.protocol.messages.CancelDecoder;
import dev.kakehashi.protocol.messages.CancelTransactionDecoder;
import dev.kakehashi.protocol.messages.CloseStatementDecoder;
import dev.kakehashi.protocol.messages.CommitDecoder;
import dev.kakehashi.protocol.messages.CommitPreparedDecoder;
import dev.kakehashi.protocol.messages.CompletedDecoder;
import dev.kakehashi.protocol.messages.ContinueTransactionDecoder;
import dev.kakehashi.protocol.messages.DirectReadDecoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.ExportTransactionDecoder;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.InvokeDecoder;
import dev.kakehashi.protocol.messages.PingDecoder;
import dev.kakehashi.protocol.messages.PongDecoder;
import dev.kakehashi.protocol.messages.PrepareDecoder;
import dev.kakehashi.protocol.messages.PrepareTransactionDecoder;
import dev.kakehashi.protocol.messages.PreparedDecoder;
import dev.kakehashi.protocol.messages.QueryOutcomeDecoder;
import dev.kakehashi.protocol.messages.ReleaseBuffersDecoder;
import dev.kakehashi.protocol.messages.ReleaseSavepointDecoder;
import dev.kakehashi.protocol.messages.RollbackDecoder;
import dev.kakehashi.protocol.messages.RollbackPreparedDecoder;
import dev.kakehashi.protocol.messages.RollbackToSavepointDecoder;
import dev.kakehashi.protocol.messages.SavepointDecoder;
import dev.kakehashi.protocol.messages.SetApplicationNameDecoder;
import dev.kakehashi.protocol.messages.SetRoleDecoder;
import dev.kakehashi.protocol.messages.TransactionTokenDecoder;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.sbe.MessageDecoderFlyweight;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Each message of each protocol version, as it was written then, is read by what there is now.
class GoldenVersionsTest {
  private static final List<Supplier<MessageDecoderFlyweight>> DECODERS =
      List.of(
          AcquireBuffersDecoder::new,
          AttachDecoder::new,
          AttachedDecoder::new,
          AuthenticationChallengeDecoder::new,
          AuthenticationResponseDecoder::new,
          BeginDecoder::new,
          BeginTransactionDecoder::new,
          BuffersGrantedDecoder::new,
          CancelDecoder::new,
          CancelTransactionDecoder::new,
          CloseStatementDecoder::new,
          CommitDecoder::new,
          CommitPreparedDecoder::new,
          CompletedDecoder::new,
          ContinueTransactionDecoder::new,
          DirectReadDecoder::new,
          ExecuteDecoder::new,
          ExportTransactionDecoder::new,
          FailedDecoder::new,
          InvokeDecoder::new,
          PingDecoder::new,
          PongDecoder::new,
          PrepareDecoder::new,
          PrepareTransactionDecoder::new,
          PreparedDecoder::new,
          QueryOutcomeDecoder::new,
          ReleaseBuffersDecoder::new,
          ReleaseSavepointDecoder::new,
          RollbackDecoder::new,
          RollbackPreparedDecoder::new,
          RollbackToSavepointDecoder::new,
          SavepointDecoder::new,
          SetApplicationNameDecoder::new,
          SetRoleDecoder::new,
          TransactionTokenDecoder::new);

  private static Path directory(int version) {
    return Path.of("golden/v" + version);
  }

  static Stream<Path> recordings() throws IOException {
    Stream.Builder<Path> all = Stream.builder();
    for (int version = 1; version <= Protocol.PROTOCOL_VERSION; version++) {
      try (Stream<Path> files = Files.list(directory(version))) {
        files.filter(file -> file.toString().endsWith(".bin")).sorted().forEach(all);
      }
    }
    return all.build();
  }

  /// A sample keeps its values from version to version, so both have the same in the fields that both have.
  @ParameterizedTest
  @MethodSource("recordings")
  void shouldReadTheSameValues(Path recording) throws IOException {
    Path directory = recording.getName(recording.getNameCount() - 2);
    int version = Integer.parseInt(directory.toString().replaceFirst("v", ""));
    MessageDecoderFlyweight then = decode(recording);
    MessageDecoderFlyweight now =
        decode(directory(Protocol.PROTOCOL_VERSION).resolve(recording.getFileName()));
    Set<String> later = laterThan(version, then);
    assertEquals(values(now, later), values(then, later));
    assertFalse(values(then, later).isEmpty());
  }

  private static MessageDecoderFlyweight decode(Path file) throws IOException {
    UnsafeBuffer frame = new UnsafeBuffer(Files.readAllBytes(file));
    int template = Frames.templateId(frame);
    MessageDecoderFlyweight decoder =
        DECODERS.stream()
            .map(Supplier::get)
            .filter(each -> each.sbeTemplateId() == template)
            .findFirst()
            .orElse(null);
    assertNotNull(decoder, file + " has a message without a decoder");
    return Frames.wrap(decoder, frame);
  }

  /// Names of fields that are newer than a version.
  private static Set<String> laterThan(int version, MessageDecoderFlyweight decoder) {
    String suffix = "SinceVersion";
    return Arrays.stream(decoder.getClass().getMethods())
        .filter(method -> method.getName().endsWith(suffix) && since(method) > version)
        .map(method -> method.getName().replace(suffix, ""))
        .collect(Collectors.toCollection(HashSet::new));
  }

  private static int since(Method method) {
    try {
      return (int) method.invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(method.toString(), e);
    }
  }

  /// Each as `name=value`, from what the decoder says of itself.
  private static List<String> values(MessageDecoderFlyweight decoder, Set<String> without) {
    String text = decoder.appendTo(new StringBuilder()).toString();
    assertTrue(text.contains("):"), text);
    Function<String, String> name = part -> part.replaceFirst("=.*", "");
    return Arrays.stream(text.substring(text.indexOf("):") + 2).split("\\|"))
        .filter(part -> !without.contains(name.apply(part)))
        .toList();
  }
}
