package dev.kakehashi.protocol.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // set before each test
class ArchiveTest {
  private static final ArchiveRecord BEGAN = new ArchiveRecord.SessionBegan(7, "älice", "psql");

  @TempDir private Path directory;

  private static List<ArchiveRecord> oneOfEach(Random random) {
    byte[] frame = new byte[random.nextInt(300)];
    random.nextBytes(frame);
    return List.of(
        BEGAN,
        new ArchiveRecord.StatementKept(frame),
        new ArchiveRecord.Requested(random.nextLong(), frame, new byte[0]),
        new ArchiveRecord.Requested(random.nextLong(), frame, new byte[random.nextInt(100_000)]),
        new ArchiveRecord.Finished(7, random.nextLong(), random.nextLong(), 3, "23505", List.of()),
        new ArchiveRecord.Finished(7, random.nextLong(), 0, 0, "", List.of(1L, Long.MAX_VALUE)),
        new ArchiveRecord.SessionEnded(7));
  }

  private List<ArchiveRecord> read() throws IOException {
    List<ArchiveRecord> records = new ArrayList<>();
    try (ArchiveReader reader = new ArchiveReader(directory)) {
      for (ArchiveRecord r = reader.next(); r != null; r = reader.next()) {
        records.add(r);
      }
    }
    return records;
  }

  private long bytes() throws IOException {
    long sum = 0;
    for (Path file : ArchiveFormat.files(directory)) {
      sum += Files.size(file);
    }
    return sum;
  }

  @Test
  void shouldReadBackWhatSeveralWritersHaveWritten() throws IOException {
    List<ArchiveRecord> written = new ArrayList<>();
    Random random = new Random(1);
    for (int run = 0; run < 3; run++) {
      try (ArchiveWriter writer = new ArchiveWriter(directory, 1L << 30, List::of)) {
        for (ArchiveRecord record : oneOfEach(random)) {
          writer.append(record);
          written.add(record);
        }
      }
    }
    assertEquals(written, read());
  }

  @Test
  void shouldStayWithinItsLimitAndBeginEachFileWithWhatAReaderHasToKnow() throws IOException {
    long limit = 1 << 20;
    try (ArchiveWriter writer = new ArchiveWriter(directory, limit, () -> List.of(BEGAN))) {
      for (int i = 0; i < 40_000; i++) {
        writer.append(new ArchiveRecord.Requested(i, new byte[100], new byte[0]));
        if (i % 1000 == 0) {
          writer.flush();
          assertTrue(bytes() <= limit, bytes() + " bytes");
        }
      }
    }
    assertTrue(bytes() > limit / 2, "not more is thrown away than has to be");
    List<ArchiveRecord> left = read();
    assertEquals(BEGAN, left.getFirst());
    assertEquals(39_999, ((ArchiveRecord.Requested) left.getLast()).epochMicros());
  }

  @Test
  void shouldReadUpToAnyPlaceWhereTheWriterWasKilled() throws IOException {
    List<ArchiveRecord> written = oneOfEach(new Random(2));
    try (ArchiveWriter writer = new ArchiveWriter(directory, 1L << 30, List::of)) {
      for (ArchiveRecord record : written) {
        writer.append(record);
      }
    }
    Path file = ArchiveFormat.files(directory).getFirst();
    byte[] whole = Files.readAllBytes(file);
    Random random = new Random(3);
    for (int i = 0; i < 200; i++) {
      int length = random.nextInt(whole.length + 1);
      Files.write(file, Arrays.copyOf(whole, length));
      List<ArchiveRecord> read = read();
      assertEquals(written.subList(0, read.size()), read);
    }
  }

  @Test
  void shouldRefuseWhatIsNoArchive() throws IOException {
    assertThrows(IOException.class, () -> new ArchiveReader(directory.resolve("nowhere")));
    assertNull(new ArchiveReader(directory).next(), "an empty one");
    try (ArchiveWriter writer = new ArchiveWriter(directory, 1L << 30, List::of)) {
      writer.append(BEGAN);
      writer.append(BEGAN);
    }
    Path file = ArchiveFormat.files(directory).getFirst();
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
    try (ArchiveReader reader = new ArchiveReader(directory)) {
      IOException e = assertThrows(IOException.class, reader::next);
      assertTrue(String.valueOf(e.getMessage()).contains("checksum"), e::toString);
    }
    Files.writeString(file, "something else entirely");
    try (ArchiveReader reader = new ArchiveReader(directory)) {
      assertThrows(IOException.class, reader::next);
    }
  }

  /// A damaged last record looks like one that the writer was killed in.
  @Test
  void shouldCountFilesThatEndWithinARecord() throws IOException {
    for (int run = 0; run < 2; run++) {
      try (ArchiveWriter writer = new ArchiveWriter(directory, 1L << 30, List::of)) {
        writer.append(BEGAN);
        writer.append(BEGAN);
      }
    }
    Path file = ArchiveFormat.files(directory).getFirst();
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 5));
    try (ArchiveReader reader = new ArchiveReader(directory)) {
      for (int i = 0; i < 3; i++) {
        assertEquals(BEGAN, reader.next());
      }
      assertNull(reader.next());
      assertEquals(1, reader.cutOffFiles());
    }
  }

  /// `version-1.archive` is of a build before there were files of records.
  @Test
  void shouldReadArchivesOfBefore() throws IOException {
    List<ArchiveRecord> expected =
        List.of(
            BEGAN,
            new ArchiveRecord.Requested(1234, new byte[] {1, 2, 3}, new byte[] {4}),
            new ArchiveRecord.Finished(7, 5, 6, 3, "23505", List.of(1L, Long.MAX_VALUE)),
            new ArchiveRecord.SessionEnded(7));
    byte[] old;
    try (InputStream in = ArchiveTest.class.getResourceAsStream("version-1.archive")) {
      old = Objects.requireNonNull(in).readAllBytes();
    }
    Path file = ArchiveFormat.file(directory, 1);
    for (int length = Long.BYTES; length <= old.length; length++) {
      Files.write(file, Arrays.copyOf(old, length));
      List<ArchiveRecord> read = read();
      assertEquals(expected.subList(0, read.size()), read);
    }
    assertEquals(expected, read());
    // The next writer goes on in a file of its own.
    try (ArchiveWriter writer = new ArchiveWriter(directory, 1L << 30, List::of)) {
      writer.append(BEGAN);
    }
    List<ArchiveRecord> both = new ArrayList<>(expected);
    both.add(BEGAN);
    assertEquals(both, read());
    old[old.length - 1] ^= 1;
    Files.write(file, old);
    assertThrows(IOException.class, this::read);
  }
}
