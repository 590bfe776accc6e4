package dev.kakehashi.server.standby;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Set;

/// A backup on its way from a primary to a standby. Without its end it is none: a connection that was lost is no backup. Stateless.
///
/// | of the stream, most significant byte first | what |
/// |---|---|
/// | 8 bytes | [#MAGIC] |
/// | `F`, name, 8 bytes length, content, 32 bytes SHA-256 of it | a file; names are relative |
/// | `E`, position, 8 bytes count of files | the end, and where the log ends in it; empty: it is not known |
///
/// Names and positions are as [DataOutputStream#writeUTF] writes them.
public final class BaseBackup {
  private static final long MAGIC = 0x4b48_4241_5345_3031L; // KHBASE01
  private static final byte FILE = 'F';
  private static final byte END = 'E';
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int DIGEST_BYTES = 32;

  private BaseBackup() {}

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }

  /// The primary's side. Used by one thread.
  public static final class Sender {
    private final DataOutputStream out;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private long files;

    public Sender(OutputStream to) throws IOException {
      out = new DataOutputStream(to);
      out.writeLong(MAGIC);
    }

    /// Sends the first bytes of a file, which may grow meanwhile.
    public void file(Path source, long bytes, String name) throws IOException {
      try (InputStream in = Files.newInputStream(source)) {
        send(in, source, bytes, name);
      }
    }

    /// Sends a small file, which others may replace meanwhile.
    public void file(Path source, String name) throws IOException {
      byte[] content = Files.readAllBytes(source);
      send(new ByteArrayInputStream(content), source, content.length, name);
    }

    private void send(InputStream in, Path source, long bytes, String name) throws IOException {
      out.writeByte(FILE);
      out.writeUTF(name);
      out.writeLong(bytes);
      MessageDigest digest = sha256();
      for (long left = bytes; left > 0; ) {
        int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
        if (count < 0) {
          throw new IOException("\"%s\" ends %d bytes early".formatted(source, left));
        }
        digest.update(buffer, 0, count);
        out.write(buffer, 0, count);
        left -= count;
      }
      out.write(digest.digest());
      files++;
    }

    /// Ends it.
    ///
    /// @param position where the log ends in it; empty: not known
    public void end(String position) throws IOException {
      out.writeByte(END);
      out.writeUTF(position);
      out.writeLong(files);
      out.flush();
    }
  }

  /// The part that has come.
  ///
  /// @param position where the log ends in it; empty: not known
  public record Received(long files, long bytes, String position) {}

  /// Writes a backup to a directory, durably but for the names of directories.
  ///
  /// @param into there is nothing in it
  /// @throws IOException if it is cut off, or damaged on its way: what is there is of no use then
  public static Received receive(InputStream from, Path into) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(from, BUFFER_BYTES));
    long files = 0;
    long bytes = 0;
    try {
      if (in.readLong() != MAGIC) {
        throw new IOException("the primary's answer is no backup, or of another version");
      }
      while (true) {
        byte kind = in.readByte();
        switch (kind) {
          case FILE -> {
            bytes += receiveFile(in, into);
            files++;
          }
          case END -> {
            String position = in.readUTF();
            if (in.readLong() != files) {
              throw new IOException("files of the backup were lost on their way");
            }
            return new Received(files, bytes, position);
          }
          default -> throw new IOException("the backup was damaged on its way");
        }
      }
    } catch (EOFException e) {
      throw new IOException("the backup is cut off after %d files".formatted(files), e);
    }
  }

  private static long receiveFile(DataInputStream in, Path into) throws IOException {
    String name = in.readUTF();
    Path target = into.resolve(name).normalize();
    if (!target.startsWith(into) || target.equals(into) || Path.of(name).isAbsolute()) {
      throw new IOException(
          "the backup has a file \"%s\", which is no place in it".formatted(name));
    }
    long bytes = in.readLong();
    Files.createDirectories(target.getParent());
    MessageDigest digest = sha256();
    byte[] buffer = new byte[BUFFER_BYTES];
    try (FileChannel to =
        FileChannel.open(
            target,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      for (long left = bytes; left > 0; ) {
        int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
        if (count < 0) {
          throw new EOFException();
        }
        digest.update(buffer, 0, count);
        for (ByteBuffer piece = ByteBuffer.wrap(buffer, 0, count); piece.hasRemaining(); ) {
          to.write(piece);
        }
        left -= count;
      }
      to.force(true);
    }
    byte[] sent = new byte[DIGEST_BYTES];
    in.readFully(sent);
    if (!MessageDigest.isEqual(sent, digest.digest())) {
      throw new IOException("file \"%s\" of the backup was damaged on its way".formatted(name));
    }
    return bytes;
  }
}
