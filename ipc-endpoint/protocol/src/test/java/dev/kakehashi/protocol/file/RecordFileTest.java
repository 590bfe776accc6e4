package dev.kakehashi.protocol.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.file.RecordFileReader.End;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // set before each test
class RecordFileTest {
  private static final RecordKind KIND = new RecordKind("TEST", 3, 1 << 20, "file of a test");

  @TempDir private Path directory;
  private Path path;

  @BeforeEach
  void name() {
    path = directory.resolve("records");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /// Records that are whole, those behind broken bytes too, and what [RecordFileReader#end] has said.
  private record Content(List<String> records, List<End> ends, long position) {}

  private Content read() throws IOException {
    try (RecordFileReader reader = RecordFileReader.open(path, KIND)) {
      List<String> records = new ArrayList<>();
      List<End> ends = new ArrayList<>();
      long position = -1;
      do {
        for (byte[] each = reader.next(); each != null; each = reader.next()) {
          records.add(new String(each, StandardCharsets.UTF_8));
        }
        ends.add(reader.end());
        position = position < 0 ? reader.position() : position;
      } while (reader.resume());
      return new Content(records, ends, position);
    }
  }

  /// Three writes of two records each, all forced.
  private List<String> fill() throws IOException {
    List<String> all = new ArrayList<>();
    try (RecordFile file = RecordFile.create(path, KIND)) {
      for (int write = 0; write < 3; write++) {
        for (int i = 0; i < 2; i++) {
          String text = "%d.%d%s".formatted(write, i, "x".repeat(2 * write + 3 * i));
          file.append(bytes(text));
          all.add(text);
        }
        file.force();
      }
    }
    return all;
  }

  @Test
  void shouldReadBackRecordsOfAnySize() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<byte[]> written = new ArrayList<>();
    long end = 0;
    for (int run = 0; run < 5; run++) {
      try (RecordFile file =
          run == 0
              ? RecordFile.create(path, KIND)
              : RecordFile.open(path, KIND, end, random.nextBoolean())) {
        for (int i = 0; i < 20; i++) {
          byte[] record =
              new byte[random.nextInt(10) == 0 ? random.nextInt(700_000) : random.nextInt(900)];
          random.nextBytes(record);
          file.append(record);
          written.add(record);
          switch (random.nextInt(6)) {
            case 0 -> file.flush();
            case 1 -> file.force();
            default -> {}
          }
        }
        end = file.bytes();
      }
      assertEquals(end, Files.size(path), "seed " + seed);
    }
    try (RecordFileReader reader = RecordFileReader.open(path, KIND)) {
      for (byte[] record : written) {
        assertArrayEquals(record, reader.next(), "seed " + seed);
      }
      assertNull(reader.next());
      assertEquals(End.WHOLE, reader.end());
    }
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
  }

  @Test
  void shouldReadWhatIsWholeBeforeACutAnywhereAndGoOnThere() throws IOException {
    List<String> all = fill();
    byte[] bytes = Files.readAllBytes(path);
    for (int length = 0; length <= bytes.length; length++) {
      Files.write(path, Arrays.copyOf(bytes, length));

      Content content = read();

      assertEquals(all.subList(0, content.records.size()), content.records);
      boolean isWhole = length == 0 || content.position == length;
      assertEquals(List.of(isWhole ? End.WHOLE : End.CUT_OFF), content.ends, "cut at " + length);
      if (length < RecordFormat.HEADER_BYTES) {
        continue;
      }
      try (RecordFile file = RecordFile.open(path, KIND, content.position, false)) {
        file.append(bytes("next"));
      }
      List<String> after = new ArrayList<>(content.records);
      after.add("next");
      assertEquals(after, read().records);
      assertEquals(List.of(End.WHOLE), read().ends);
    }
  }

  /// A file that was durable before it got its name cannot be shorter.
  @Test
  void shouldTellThatAReplacedFileIsCutOff() throws IOException {
    RecordFile.replace(path, KIND, List.of(bytes("before"))).close();
    try (RecordFile file = RecordFile.replace(path, KIND, List.of(bytes("one"), bytes("two")))) {
      file.append(bytes("three"));
    }
    byte[] bytes = Files.readAllBytes(path);
    assertEquals(List.of("one", "two", "three"), read().records);
    int whole = RecordFormat.HEADER_BYTES + 2 * RecordFormat.framedBytes(3);
    for (int length = RecordFormat.HEADER_BYTES; length < bytes.length; length++) {
      Files.write(path, Arrays.copyOf(bytes, length));
      End expected = length < whole ? End.DAMAGED : length == whole ? End.WHOLE : End.CUT_OFF;
      assertEquals(List.of(expected), read().ends, "cut at " + length);
    }
  }

  @Test
  void shouldReadAroundAnyFlippedBitAndTellDamage() throws IOException {
    List<String> all = fill();
    byte[] bytes = Files.readAllBytes(path);
    int[] starts = new int[all.size() + 1];
    starts[0] = RecordFormat.HEADER_BYTES;
    for (int i = 0; i < all.size(); i++) {
      starts[i + 1] = starts[i] + RecordFormat.framedBytes(bytes(all.get(i)).length);
    }
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] damaged = bytes.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      Files.write(path, damaged);

      Content content = read();

      String where = "bit " + bit;
      if (bit / 8 < RecordFormat.HEADER_BYTES) {
        // Frames are bound to the salt: without it none of them is known.
        boolean isSalt = bit / 8 >= 24 && bit / 8 < 28;
        assertEquals(isSalt ? List.of() : all, content.records, where);
        assertEquals(End.DAMAGED, content.ends.getFirst(), where);
        continue;
      }
      int hit = 0;
      while (bit / 8 >= starts[hit + 1]) {
        hit++;
      }
      boolean isPadding =
          bit / 8 >= starts[hit] + RecordFormat.FRAME_BYTES + bytes(all.get(hit)).length;
      List<String> expected = new ArrayList<>(all);
      if (isPadding) {
        assertEquals(List.of(End.WHOLE), content.ends, where);
      } else {
        expected.remove(hit);
        End end = hit < 4 ? End.DAMAGED : hit < 5 ? End.TORN : End.CUT_OFF;
        assertEquals(end, content.ends.getFirst(), where);
        assertEquals(hit < 5 ? 2 : 1, content.ends.size(), where);
      }
      assertEquals(expected, content.records, where);
    }
  }

  /// Pages of a write that was not forced may come to the disk in any order.
  @Test
  void shouldNotTakeATornWriteForDamage() throws IOException {
    List<String> all = fill();
    long before = Files.size(path);
    try (RecordFile file = RecordFile.open(path, KIND, before, true)) {
      for (int i = 0; i < 4; i++) {
        file.append(bytes("torn " + i));
        file.flush();
      }
    }
    byte[] bytes = Files.readAllBytes(path);
    Arrays.fill(bytes, (int) before, (int) before + 30, (byte) 0);
    Files.write(path, bytes);

    Content content = read();

    assertEquals(List.of(End.TORN, End.WHOLE), content.ends);
    assertEquals(before, content.position);
    assertEquals(all, content.records.subList(0, all.size()));
  }

  /// The end of a file that was read need not be durable: behind it a torn write is no damage.
  @Test
  void shouldNotTakeAnEndThatWasReadForDurable() throws IOException {
    List<String> all = fill();
    long last = Files.size(path) - RecordFormat.framedBytes(bytes(all.getLast()).length);
    try (RecordFile file = RecordFile.open(path, KIND, Files.size(path), false)) {
      file.append(bytes("next"));
    }
    byte[] bytes = Files.readAllBytes(path);
    bytes[(int) last] ^= 1;
    Files.write(path, bytes);
    assertEquals(List.of(End.TORN, End.WHOLE), read().ends);
  }

  /// A client may send what looks like a frame.
  @Test
  void shouldNotTakeAFrameWithinARecordForOne() throws IOException {
    RecordFormat other = new RecordFormat(RecordFormat.HEADER_BYTES, 1, true);
    byte[] record = bytes("no record of this file");
    byte[] framed = new byte[RecordFormat.framedBytes(record.length)];
    other.frame(framed, 0, RecordFormat.AFTER_FORCE, record);
    byte[] content = new byte[4 + framed.length];
    System.arraycopy(framed, 0, content, 4, framed.length);
    try (RecordFile file = RecordFile.create(path, KIND)) {
      file.append(content);
    }
    byte[] bytes = Files.readAllBytes(path);
    bytes[RecordFormat.HEADER_BYTES] ^= 1;
    Files.write(path, bytes);
    Content found = read();
    assertEquals(List.of(), found.records);
    assertEquals(List.of(End.CUT_OFF), found.ends);
  }

  @Test
  void shouldRefuseWhatIsNoFileOfItsKind() throws IOException {
    assertThrows(NoSuchFileException.class, () -> RecordFileReader.open(path, KIND));
    for (String text : List.of("x", "KHREX", "something else that is longer than a header")) {
      Files.writeString(path, text);
      assertFalse(refused().isNewer(), text);
    }
    RecordKind other = new RecordKind("ELSE", 3, 9, "file of another test");
    Files.delete(path);
    RecordFile.create(path, other).close();
    assertEquals("\"" + path + "\" is no file of a test", refused().getMessage());
    assertThrows(FileAlreadyExistsException.class, () -> RecordFile.create(path, KIND));
  }

  private RecordFileException refused() {
    RecordFileException refused =
        assertThrows(RecordFileException.class, () -> RecordFileReader.open(path, KIND));
    if (path.toFile().length() >= RecordFormat.HEADER_BYTES) {
      assertThrows(RecordFileException.class, () -> RecordFile.open(path, KIND, 32, false));
    }
    return refused;
  }

  @Test
  void shouldRefuseNewerVersions() throws IOException {
    RecordFile.create(path, new RecordKind("TEST", 4, 9, "newer")).close();
    assertTrue(refused().isNewer());
    assertTrue(
        String.valueOf(refused().getMessage())
            .contains("has version 4, and this program reads up to 3"));
    Files.write(path, RecordFormat.header(KIND, RecordFormat.VERSION + 1, 32, 5).array());
    assertTrue(refused().isNewer());
    RecordFile.replace(path, new RecordKind("TEST", 2, 9, "older"), List.of(bytes("a"))).close();
    assertEquals(List.of("a"), read().records);
  }

  @Test
  void shouldRefuseRecordsThatNoReaderTakes() throws IOException {
    try (RecordFile file = RecordFile.create(path, KIND)) {
      file.append(new byte[1 << 20]);
      assertThrows(IllegalArgumentException.class, () -> file.append(new byte[(1 << 20) + 1]));
      file.append(bytes("next"));
    }
    try (RecordFileReader reader = RecordFileReader.open(path, KIND)) {
      assertArrayEquals(new byte[1 << 20], reader.next());
      assertArrayEquals(bytes("next"), reader.next());
    }
  }

  /// A disk with room for so many bytes: a write takes those that go, and fails.
  private static final class SmallDisk implements RecordFile.Output {
    final ByteArrayOutputStream written = new ByteArrayOutputStream();
    int room;
    boolean isClosed;

    SmallDisk(int room) {
      this.room = room;
    }

    @Override
    public void write(byte[] bytes, int count) throws IOException {
      int fits = Math.min(count, room - written.size());
      written.write(bytes, 0, fits);
      if (fits < count) {
        throw new IOException("No space left on device");
      }
    }

    @Override
    public void force() throws IOException {
      if (room == 0) {
        throw new IOException("Input/output error");
      }
    }

    @Override
    public void close() {
      isClosed = true;
    }
  }

  @Test
  void shouldFailForGoodWhenTheDiskIsFull() throws IOException {
    List<String> all = fill();
    int bytes = (int) Files.size(path);
    for (int room = 0; room < bytes; room++) {
      SmallDisk disk = new SmallDisk(room);
      RecordFile file = RecordFile.begin(disk, KIND, RecordFormat.HEADER_BYTES);
      int forced = 0;
      IOException failure = null;
      for (String text : all) {
        try {
          file.append(bytes(text));
          file.force();
          forced++;
        } catch (IOException e) {
          failure = e;
          break;
        }
      }
      assertNotNull(failure, "room " + room);
      disk.room = Integer.MAX_VALUE;
      IOException again = assertThrows(IOException.class, () -> file.append(bytes("more")));
      assertEquals(failure, again.getCause());
      assertThrows(IOException.class, file::force);
      file.close();
      assertTrue(disk.isClosed);
      assertThrows(IOException.class, file::flush);
      // All that was forced is there, and the next process goes on behind it.
      Files.write(path, disk.written.toByteArray());
      assertEquals(all.subList(0, forced), read().records, "room " + room);
      assertFalse(read().ends.contains(End.DAMAGED), "room " + room);
    }
  }

  @Test
  void shouldNotTrustAFileThatCouldNotBeForced() throws IOException {
    SmallDisk disk = new SmallDisk(1000);
    try (RecordFile file = RecordFile.begin(disk, KIND, RecordFormat.HEADER_BYTES)) {
      file.append(bytes("one"));
      file.flush();
      disk.room = 0;
      assertThrows(IOException.class, file::force);
      disk.room = 1000;
      assertThrows(IOException.class, file::force);
    }
  }

  @Test
  void shouldKeepTheFileOfBeforeWhenItCannotBeReplaced() throws IOException {
    RecordFile.replace(path, KIND, List.of(bytes("before"))).close();
    List<byte[]> records = List.of(bytes("next"), new byte[(1 << 20) + 1]);
    assertThrows(IllegalArgumentException.class, () -> RecordFile.replace(path, KIND, records));
    assertEquals(List.of("before"), read().records);
    try (var files = Files.list(directory)) {
      assertEquals(List.of(path), files.toList());
    }
  }

  /// Sizes are in the first bytes of files, where another layout may have anything.
  @Test
  void shouldNotBelieveALength() throws IOException {
    fill();
    byte[] bytes = Files.readAllBytes(path);
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 20, bytes.length}) {
      file.putInt(RecordFormat.HEADER_BYTES + 4, length);
      Files.write(path, bytes);
      assertEquals(5, read().records.size());
    }
  }
}
