package dev.kakehashi.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.formats.coding.CodedOutput;
import dev.kakehashi.formats.coding.Coding;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class CodingTest {
  private static final long NO_LIMIT = Long.MAX_VALUE;

  private static byte[] text(int bytes) {
    Random random = new Random(7);
    byte[] text = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      text[i] = (byte) ('a' + random.nextInt(4));
    }
    return text;
  }

  private static byte[] encoded(Coding coding, byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (OutputStream encoded = coding.encode(out, Coding.DEFAULT_LEVEL)) {
      for (int at = 0; at < bytes.length; at += 1000) {
        encoded.write(bytes, at, Math.min(1000, bytes.length - at));
      }
    }
    return out.toByteArray();
  }

  private static byte[] decoded(Coding coding, byte[] bytes, long limit) throws IOException {
    try (InputStream in = coding.decode(new ByteArrayInputStream(bytes), limit)) {
      return in.readAllBytes();
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldGiveBackWhatItWasGiven(Coding coding) throws IOException {
    for (int bytes : new int[] {0, 1, 1000, 131_071, 131_072, 131_073, 1_000_000}) {
      byte[] text = text(bytes);
      byte[] encoded = encoded(coding, text);
      assertArrayEquals(text, decoded(coding, encoded, NO_LIMIT));
      assertTrue(coding == Coding.IDENTITY || bytes < 1000 || encoded.length < bytes / 2);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldBeReadableUpToEachFlush(Coding coding) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CodedOutput encoded = coding.encode(out, 9);
    for (int i = 1; i <= 3; i++) {
      encoded.write("line\n".getBytes(StandardCharsets.UTF_8));
      encoded.flush();
      byte[] read = new byte[5 * i];
      try (InputStream in = coding.decode(new ByteArrayInputStream(out.toByteArray()), NO_LIMIT)) {
        assertEquals(read.length, in.readNBytes(read, 0, read.length));
      }
      assertEquals("line\n".repeat(i), new String(read, StandardCharsets.UTF_8));
    }
    encoded.close();
    assertEquals(
        "line\n".repeat(3),
        new String(decoded(coding, out.toByteArray(), NO_LIMIT), StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "IDENTITY")
  void shouldReadSeveralPartsAndNothingBehindThem(Coding coding) throws IOException {
    byte[] text = text(20_000);
    byte[] one = encoded(coding, text);
    byte[] two = Arrays.copyOf(one, 2 * one.length);
    System.arraycopy(one, 0, two, one.length, one.length);
    assertEquals(40_000, decoded(coding, two, NO_LIMIT).length);
    // The library for zstd looks at four bytes or none.
    int[] lengths =
        coding == Coding.GZIP ? new int[] {1, 2, 3, 4, 5, 30, 20_000} : new int[] {4, 5, 30};
    for (int behind : lengths) {
      byte[] more = Arrays.copyOf(one, one.length + behind);
      Arrays.fill(more, one.length, more.length, (byte) 'x');
      assertThrows(IOException.class, () -> decoded(coding, more, NO_LIMIT), "behind " + behind);
    }
  }

  /// Wherever the buffer of the reader ends: within the trailer, or within the next header.
  @Test
  void shouldFindTheEndOfGzipInPieces() throws IOException {
    byte[] one = encoded(Coding.GZIP, text(3000));
    byte[] two = Arrays.copyOf(one, 2 * one.length);
    System.arraycopy(one, 0, two, one.length, one.length);
    byte[] more = Arrays.copyOf(two, two.length + 3);
    for (int piece = 1; piece < one.length + 12; piece++) {
      int bytes = piece;
      assertEquals(6000, pieces(two, bytes).readAllBytes().length, "pieces of " + bytes);
      assertThrows(
          IOException.class, () -> pieces(more, bytes).readAllBytes(), "pieces of " + bytes);
    }
  }

  @Test
  void shouldTellOfASourceThatFailsBehindGzip() throws IOException {
    InputStream broken =
        new SequenceInputStream(
            new ByteArrayInputStream(encoded(Coding.GZIP, text(3000))),
            new InputStream() {
              @Override
              public int read() throws IOException {
                throw new IOException("connection lost");
              }

              @Override
              public int read(byte[] to, int offset, int length) throws IOException {
                throw new IOException("connection lost");
              }
            });
    InputStream in = Coding.GZIP.decode(broken, NO_LIMIT);
    assertEquals("connection lost", assertThrows(IOException.class, in::readAllBytes).getMessage());
  }

  @Test
  void shouldNotOverflowTheStackForEmptyMembers() throws IOException {
    byte[] empty = encoded(Coding.GZIP, new byte[0]);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < 100; i++) {
      all.writeBytes(empty);
    }
    assertEquals(0, decoded(Coding.GZIP, all.toByteArray(), NO_LIMIT).length);
    for (int i = 0; i < 100_000; i++) {
      all.writeBytes(empty);
    }
    assertThrows(IOException.class, () -> decoded(Coding.GZIP, all.toByteArray(), NO_LIMIT));
  }

  private static InputStream pieces(byte[] bytes, int piece) throws IOException {
    InputStream in =
        new FilterInputStream(new ByteArrayInputStream(bytes)) {
          @Override
          public int read(byte[] to, int offset, int length) throws IOException {
            return super.read(to, offset, Math.min(length, piece));
          }
        };
    return Coding.GZIP.decode(in, NO_LIMIT);
  }

  @Test
  void shouldWriteGzipThatOthersRead() throws IOException {
    byte[] text = text(300_000);
    try (InputStream in =
        new GZIPInputStream(new ByteArrayInputStream(encoded(Coding.GZIP, text)))) {
      assertArrayEquals(text, in.readAllBytes());
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "IDENTITY")
  void shouldRefuseWhatIsCutOff(Coding coding) throws IOException {
    byte[] encoded = encoded(coding, text(1_000_000));
    for (int length : new int[] {1, 5, encoded.length / 2, encoded.length - 1}) {
      byte[] part = Arrays.copyOf(encoded, length);
      assertThrows(IOException.class, () -> decoded(coding, part, NO_LIMIT), () -> "at " + length);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "IDENTITY")
  void shouldRefuseOrReadDamagedBytesWithoutOtherErrors(Coding coding) throws IOException {
    byte[] text = text(20_000);
    byte[] encoded = encoded(coding, text);
    Random random = new Random(11);
    for (int i = 0; i < 2000; i++) {
      byte[] damaged = encoded.clone();
      damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      try {
        assertTrue(decoded(coding, damaged, 1 << 20).length <= 1 << 20);
      } catch (IOException e) {
        // A reader of broken bytes is told why.
        assertTrue(e.getMessage() != null || e instanceof EOFException);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefuseMoreThanItsLimit(Coding coding) throws IOException {
    byte[] zeros = new byte[10_000_000];
    byte[] bomb = encoded(coding, zeros);
    assertThrows(Coding.LimitExceededException.class, () -> decoded(coding, bomb, 9_999_999));
    assertEquals(zeros.length, decoded(coding, bomb, 10_000_000).length);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "IDENTITY")
  void shouldWriteNothingMoreOnceAborted(Coding coding) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CodedOutput encoded = coding.encode(out, 1);
    encoded.write(text(1000));
    encoded.flush();
    int size = out.size();
    encoded.write(text(1000));
    encoded.abort();
    encoded.close();
    assertEquals(size, out.size());
    assertThrows(IOException.class, () -> encoded.write(1));
  }

  @Test
  void shouldEndThoughTheStreamBelowFails() throws IOException {
    OutputStream broken =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException("gone");
          }
        };
    for (Coding coding : new Coding[] {Coding.GZIP, Coding.ZSTD}) {
      CodedOutput encoded = coding.encode(broken, 1);
      assertThrows(
          IOException.class,
          () -> {
            encoded.write(text(1000));
            encoded.close();
          });
      encoded.abort();
      assertThrows(IOException.class, () -> encoded.write(1));
    }
  }

  @Test
  void shouldRefuseOtherLevels() {
    for (int level : new int[] {0, 10}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> Coding.GZIP.encode(OutputStream.nullOutputStream(), level));
    }
  }
}
