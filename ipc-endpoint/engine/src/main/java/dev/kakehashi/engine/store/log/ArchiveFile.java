package dev.kakehashi.engine.store.log;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A file of the archive: a segment of the log, or the part of it that was durable when it was written. Numbers have the most significant
/// byte first.
///
/// | bytes | what |
/// |---|---|
/// | 8 | magic, with the version of this layout |
/// | 4 | timeline |
/// | 8 | log identifier |
/// | 4 | bytes of a segment |
/// | 8 | number of the segment |
/// | 1 | 1: the whole segment |
/// | 8 | when it was written, in milliseconds since 1970 |
/// | 32 | SHA-256 of the file of the segment before, as it stands at its end; zeros: the archive begins here, or begins again |
/// | 4 | number of side files that its groups name |
/// | 48 each | of each: number, bytes, SHA-256 |
/// | 4 | bytes of the segment that follow |
/// | | these |
/// | 32 | SHA-256 of all before |
///
/// @param before checksum of the file before
/// @param digest of this one
record ArchiveFile(
    int timeline,
    LogFormat format,
    long segment,
    boolean isWhole,
    long writtenMillis,
    byte[] before,
    List<Side> sideFiles,
    int contentBytes,
    byte[] digest) {
  static final int DIGEST_BYTES = 32;

  private static final long MAGIC = 0x4b48_4152_4348_3031L; // KHARCH01
  private static final int MOST_SIDE_FILES = 1 << 20;
  private static final int BUFFER_BYTES = 64 << 10;

  /// A side file in the archive.
  record Side(long number, long bytes, byte[] digest) {}

  /// A file whose checksum holds, and the bytes of the segment in it.
  record Content(ArchiveFile file, byte[] bytes) {}

  /// Whether it is the first of the archive, or the one before could not be had.
  boolean beginsAgain() {
    return Arrays.equals(before, new byte[DIGEST_BYTES]);
  }

  /// The end of the log in it.
  long end() {
    return segment * format.segmentBytes() + contentBytes;
  }

  /// All bytes of a file with this content; the digest of the record is not looked at.
  byte[] encode(ByteBuffer content) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(contentBytes + 256);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(MAGIC);
      out.writeInt(timeline);
      out.writeLong(format.logId());
      out.writeInt(format.segmentBytes());
      out.writeLong(segment);
      out.writeBoolean(isWhole);
      out.writeLong(writtenMillis);
      out.write(before);
      out.writeInt(sideFiles.size());
      for (Side each : sideFiles) {
        out.writeLong(each.number());
        out.writeLong(each.bytes());
        out.write(each.digest());
      }
      out.writeInt(contentBytes);
      out.write(content.array(), content.arrayOffset() + content.position(), contentBytes);
    }
    bytes.write(sha256().digest(bytes.toByteArray()));
    return bytes.toByteArray();
  }

  /// Reads all of a file.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  static Content read(Path path) throws IOException {
    // It has less than that in it.
    ByteBuffer content = ByteBuffer.allocate(Math.toIntExact(Files.size(path)));
    ArchiveFile file = read(path, content);
    return new Content(file, Arrays.copyOf(content.array(), file.contentBytes()));
  }

  /// Reads all of a file, a piece at a time. After a failure the content is of no use.
  ///
  /// @param content gets the bytes of the segment, from its beginning on; of the heap
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED, also if it does not have room for them
  static ArchiveFile read(Path path, ByteBuffer content) throws IOException {
    MessageDigest digest = sha256();
    try (DataInputStream in =
        new DataInputStream(
            new DigestInputStream(
                new BufferedInputStream(Files.newInputStream(path), BUFFER_BYTES), digest))) {
      ArchiveFile file = header(in, path);
      if (file.contentBytes() < 0 || file.contentBytes() > content.capacity()) {
        throw damaged(path, "it has another length than it says");
      }
      in.readFully(content.array(), content.arrayOffset(), file.contentBytes());
      byte[] expected = digest.digest();
      byte[] found = new byte[DIGEST_BYTES];
      in.readFully(found);
      if (!Arrays.equals(expected, found)) {
        throw damaged(path, "its checksum does not hold");
      }
      if (in.read() >= 0) {
        throw damaged(path, "it has another length than it says");
      }
      return file.withDigest(found);
    } catch (EOFException e) {
      throw damaged(path, "it ends early");
    }
  }

  /// All before the bytes of the segment; the digest is not known yet.
  private static ArchiveFile header(DataInputStream in, Path path) throws IOException {
    if (in.readLong() != MAGIC) {
      throw damaged(path, "it is no file of an archive that this version reads");
    }
    int timeline = in.readInt();
    LogFormat format = new LogFormat(in.readLong(), in.readInt());
    long segment = in.readLong();
    boolean isWhole = in.readBoolean();
    long millis = in.readLong();
    byte[] before = in.readNBytes(DIGEST_BYTES);
    int count = in.readInt();
    if (count < 0 || count > MOST_SIDE_FILES) {
      throw damaged(path, "it names %d further files".formatted(count));
    }
    List<Side> sideFiles = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sideFiles.add(new Side(in.readLong(), in.readLong(), in.readNBytes(DIGEST_BYTES)));
    }
    int contentBytes = in.readInt();
    return new ArchiveFile(
        timeline,
        format,
        segment,
        isWhole,
        millis,
        before,
        List.copyOf(sideFiles),
        contentBytes,
        new byte[0]);
  }

  private ArchiveFile withDigest(byte[] known) {
    return new ArchiveFile(
        timeline, format, segment, isWhole, writtenMillis, before, sideFiles, contentBytes, known);
  }

  static byte[] digest(Path file) throws IOException {
    MessageDigest digest = sha256();
    byte[] buffer = new byte[1 << 20];
    try (InputStream in = Files.newInputStream(file)) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        digest.update(buffer, 0, count);
      }
    }
    return digest.digest();
  }

  static RuntimeException damaged(Path path, String why) {
    return LogReader.corrupted(
        "file \"%s\" of the archive is damaged: %s".formatted(path, why),
        "Restore to a moment before it, or from a later backup.");
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ArchiveFile file && Arrays.equals(digest, file.digest);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(digest);
  }
}
