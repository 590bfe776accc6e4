package dev.kakehashi.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.CompletedDecoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.PrepareDecoder;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/// The frozen encodings of `golden/v9`, and those of earlier versions, which C reads too.
class GoldenTest {
  private static final Path DIRECTORY = Path.of("golden/v9");

  @Test
  void shouldStillEncodeEveryGoldenFile() throws IOException {
    Map<String, byte[]> samples = GoldenSamples.all();
    TreeSet<String> files = new TreeSet<>();
    try (var paths = Files.list(DIRECTORY)) {
      paths.forEach(path -> files.add(path.getFileName().toString()));
    }
    assertEquals(samples.keySet(), files);
    for (Map.Entry<String, byte[]> sample : samples.entrySet()) {
      assertArrayEquals(
          Files.readAllBytes(DIRECTORY.resolve(sample.getKey())),
          sample.getValue(),
          sample.getKey());
    }
  }

  @Test
  void shouldStillDecodeExecuteOfVersion1() throws IOException {
    for (String name : List.of("execute.bin", "execute_inbound.bin")) {
      UnsafeBuffer frame = new UnsafeBuffer(Files.readAllBytes(Path.of("golden/v1", name)));
      ExecuteDecoder execute = Frames.wrap(new ExecuteDecoder(), frame);
      assertEquals(CommitResponse.STORED, execute.response());
      assertEquals(ExecuteDecoder.commandNullValue(), execute.command());
      ExecuteDecoder now =
          Frames.wrap(
              new ExecuteDecoder(), new UnsafeBuffer(Files.readAllBytes(DIRECTORY.resolve(name))));
      assertEquals(8, now.command());
      assertEquals(
          Frames.nextLength(now, new UnsafeBuffer(Files.readAllBytes(DIRECTORY.resolve(name)))),
          Frames.nextLength(execute, frame));
    }
  }

  @Test
  void shouldStillDecodeExecuteWithoutALockTimeout() throws IOException {
    for (String version : List.of("golden/v2", "golden/v3")) {
      UnsafeBuffer frame = new UnsafeBuffer(Files.readAllBytes(Path.of(version, "execute.bin")));
      ExecuteDecoder execute = Frames.wrap(new ExecuteDecoder(), frame);
      assertEquals(8, execute.command());
      assertEquals(ExecuteDecoder.lockTimeoutMillisNullValue(), execute.lockTimeoutMillis());
      UnsafeBuffer latest = new UnsafeBuffer(Files.readAllBytes(DIRECTORY.resolve("execute.bin")));
      ExecuteDecoder now = Frames.wrap(new ExecuteDecoder(), latest);
      assertEquals(250, now.lockTimeoutMillis());
      assertEquals(Frames.nextLength(now, latest), Frames.nextLength(execute, frame));
    }
  }

  @Test
  void shouldStillDecodeCompletedOfEarlierVersions() throws IOException {
    for (String version : List.of("golden/v1", "golden/v2")) { // later ones have it
      UnsafeBuffer frame = new UnsafeBuffer(Files.readAllBytes(Path.of(version, "completed.bin")));
      CompletedDecoder completed = Frames.wrap(new CompletedDecoder(), frame);
      assertEquals(CompletedDecoder.undurableReadsNullValue(), completed.undurableReads());
      CompletedDecoder now =
          Frames.wrap(
              new CompletedDecoder(),
              new UnsafeBuffer(Files.readAllBytes(DIRECTORY.resolve("completed.bin"))));
      assertEquals(1, now.undurableReads());
      assertEquals(now.rowsAffected(), completed.rowsAffected());
    }
  }

  @Test
  void shouldStillDecodePrepareOfEarlierVersions() throws IOException {
    for (String version : List.of("golden/v1", "golden/v2", "golden/v3", "golden/v4")) {
      UnsafeBuffer frame = new UnsafeBuffer(Files.readAllBytes(Path.of(version, "prepare.bin")));
      PrepareDecoder prepare = Frames.wrap(new PrepareDecoder(), frame);
      assertEquals(PrepareDecoder.sqlBytesNullValue(), prepare.sqlBytes());
      assertEquals(2, prepare.parameterTypes().count());
    }
    PrepareDecoder inbound =
        Frames.wrap(
            new PrepareDecoder(),
            new UnsafeBuffer(Files.readAllBytes(DIRECTORY.resolve("prepare_inbound.bin"))));
    assertEquals(110373, inbound.sqlBytes());
  }

  @Test
  void shouldTakeAnEndpointThatSaysNothingOfItsEngineForOneWithTheEmbeddedOne() throws IOException {
    for (String version : List.of("golden/v5", "golden/v6", "golden/v7")) {
      assertEquals(Capabilities.EMBEDDED, capabilities(Path.of(version, "attached.bin")));
    }
    Capabilities now = capabilities(DIRECTORY.resolve("attached.bin"));
    assertEquals(Capabilities.everything("pgwire").without(Capability.SAVEPOINTS).has(), now.has());
    assertEquals("pgwire", now.engine());
    assertEquals(1L << 30, now.longestRowBytes());
  }

  private static Capabilities capabilities(Path file) throws IOException {
    UnsafeBuffer frame = new UnsafeBuffer(Files.readAllBytes(file));
    AttachedDecoder attached = Frames.wrap(new AttachedDecoder(), frame);
    for (int texts = 0; texts < 4; texts++) {
      Frames.nextText(attached, frame);
    }
    return EngineFacts.decode(attached, frame);
  }

  @Test
  void shouldRefuseBlockShorterThanItsVersion() throws IOException {
    UnsafeBuffer frame = new UnsafeBuffer(Files.readAllBytes(Path.of("golden/v1", "execute.bin")));
    // A block of version 1 that says it is of version 2.
    frame.putShort(6, (short) 2, java.nio.ByteOrder.LITTLE_ENDIAN);
    assertThrows(MalformedFrameException.class, () -> Frames.wrap(new ExecuteDecoder(), frame));
  }

  @Test
  void shouldDecodeGoldenFailure() throws IOException {
    UnsafeBuffer frame = new UnsafeBuffer(Files.readAllBytes(DIRECTORY.resolve("failed.bin")));
    assertEquals(FailedDecoder.TEMPLATE_ID, Frames.templateId(frame));
    Failure failure = Failure.decode(Frames.wrap(new FailedDecoder(), frame), frame);
    assertEquals("23505", failure.sqlstate());
    assertEquals("t_pkey", failure.constraintName());
    assertEquals("Key (a)=(1) already exists.", failure.detail());
  }

  @Test
  void shouldDecodeGoldenRowBatch() throws IOException {
    RowBatchReader reader =
        new RowBatchReader()
            .wrap(MemorySegment.ofArray(Files.readAllBytes(DIRECTORY.resolve("row_batch.rows"))));
    assertEquals(2, reader.rowCount());
    assertEquals("懸け橋", reader.getString(0, 2));
    assertTrue(reader.isNull(1, 5));
  }

  @Test
  void shouldRefuseEveryTruncation() throws IOException {
    byte[] whole = Files.readAllBytes(DIRECTORY.resolve("failed.bin"));
    for (int length = 0; length < whole.length; length++) {
      UnsafeBuffer frame = new UnsafeBuffer(Arrays.copyOf(whole, length));
      assertThrows(
          MalformedFrameException.class,
          () -> {
            Frames.templateId(frame);
            Failure.decode(Frames.wrap(new FailedDecoder(), frame), frame);
          });
    }
  }

  /// Decoding ends in values or in a refusal that callers expect, whatever the bytes.
  @Test
  void shouldSurviveMutatedFrames() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    byte[] failed = Files.readAllBytes(DIRECTORY.resolve("failed.bin"));
    byte[] prepare = Files.readAllBytes(DIRECTORY.resolve("prepare.bin"));
    int refused = 0;
    for (int round = 0; round < 100_000; round++) {
      boolean isFailed = random.nextBoolean();
      byte[] bytes = (isFailed ? failed : prepare).clone();
      for (int i = random.nextInt(5); i >= 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      UnsafeBuffer frame = new UnsafeBuffer(bytes);
      try {
        Frames.templateId(frame);
        if (isFailed) {
          Failure.decode(Frames.wrap(new FailedDecoder(), frame), frame);
        } else {
          PrepareDecoder decoder = Frames.wrap(new PrepareDecoder(), frame);
          for (PrepareDecoder.ParameterTypesDecoder type : decoder.parameterTypes()) {
            assertTrue(type.typeOid() >= 0);
          }
          Frames.nextText(decoder, frame);
        }
      } catch (MalformedFrameException | IndexOutOfBoundsException | IllegalArgumentException e) {
        refused++;
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed + " round " + round, e);
      }
    }
    assertTrue(refused > 1000, "only " + refused + " were refused, seed " + seed);
  }
}
