package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.engine.store.memory.HeapRoom;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The [SideFile]s of a log. A file is there from before its record is written until the base image has its changes for good; what no
/// record names is of a transaction that a crash has ended, and is swept when the log is opened. Thread-safe.
final class SideFiles {
  static final Logger LOG = LoggerFactory.getLogger(SideFiles.class);

  /// More files are not begun in one run while the log grows by a byte.
  private static final int NUMBER_SHIFT = 16;

  private final Path directory;
  private final long logId;
  private final LogFile.Opener opener;

  private final KeptFiles kept;

  // Guarded by this.
  private long lastNumber;

  /// Ends of groups whose files could not be kept for the archive, by number of the file.
  private final Map<Long, Long> unkept = new TreeMap<>();

  /// Files that records in the log name, by number.
  private final Map<Long, Named> named = new TreeMap<>();

  /// @param end of the record's group in the log
  private record Named(SideFile file, long end) {}

  SideFiles(Path directory, long logId, LogFile.Opener opener) throws IOException {
    this.directory = directory;
    this.logId = logId;
    this.opener = opener;
    this.kept = new KeptFiles(directory);
    for (Path file : list(directory)) {
      lastNumber = Math.max(lastNumber, SideFile.number(file));
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    List<Path> found = new ArrayList<>();
    if (Files.exists(directory)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, SideFile.glob())) {
        files.forEach(found::add);
      }
    }
    return found;
  }

  Path path(long number) {
    return SideFile.path(directory, number);
  }

  /// Second names of those that archive and standbys may lack.
  KeptFiles kept() {
    return kept;
  }

  void force() throws IOException {
    Directories.force(directory);
  }

  SideFileWriter begin() throws IOException {
    long number;
    synchronized (this) {
      number = ++lastNumber;
    }
    return new SideFileWriter(this, opener, logId, number);
  }

  /// Numbers of new files are those of no file that a group before a position names, also if that has gone: an archive has them all.
  ///
  /// @param end of the log, before anything is written
  synchronized void beginAt(long end) {
    lastNumber = Math.max(lastNumber, end << NUMBER_SHIFT);
  }

  /// A group of the log that ends at a position names the file.
  synchronized void name(SideFile file, long end) {
    lastNumber = Math.max(lastNumber, file.number());
    named.put(file.number(), new Named(file, end));
    try {
      kept.keep(path(file.number()), end);
    } catch (IOException e) {
      // The group is durable. The archive tries again, and says so if it cannot.
      LOG.warn("could not keep \"{}\" for archive and standbys", path(file.number()), e);
      unkept.put(file.number(), end);
    }
  }

  /// Keeps what could not be kept before.
  ///
  /// @throws IOException if it cannot be kept now
  synchronized void keepRest() throws IOException {
    while (!unkept.isEmpty()) {
      Map.Entry<Long, Long> next = unkept.entrySet().iterator().next();
      kept.keep(path(next.getKey()), next.getValue());
      unkept.remove(next.getKey());
    }
  }

  /// Deletes a file that no record will name.
  void forget(SideFile file) {
    delete(path(file.number()));
  }

  /// Deletes the files that records before a position name, or at it.
  void retireUpTo(long position) {
    List<SideFile> retired = new ArrayList<>();
    synchronized (this) {
      named
          .values()
          .removeIf(each -> {
            boolean gone = each.end() <= position && !unkept.containsKey(each.file().number());
            if (gone) {
              retired.add(each.file());
            }
            return gone;
          });
    }
    retired.forEach(this::forget);
  }

  /// Deletes what no record names; before anything is written.
  synchronized void sweep() throws IOException {
    for (Path file : list(directory)) {
      if (!named.containsKey(SideFile.number(file))) {
        LOG.info("removing \"{}\" of a transaction that was not committed", file);
        delete(file);
      }
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.warn("could not remove \"{}\"; it is removed at the next start", file, e);
    }
  }

  /// Files that records in `(from, to]` name.
  synchronized List<Path> between(long from, long to) {
    return named.values().stream()
        .filter(each -> each.end() > from && each.end() <= to)
        .map(each -> path(each.file().number()))
        .toList();
  }

  /// Gets the changes of a file, a piece at a time. A record is valid during the call.
  interface PieceVisitor {
    /// @param at where the piece begins in the file
    void piece(long at, LogRecord changes) throws IOException;
  }

  /// Reads all of a file.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED if it is missing or a checksum does not hold; pieces before
  ///     that were visited
  void read(SideFile file, PieceVisitor visitor) throws IOException {
    read(path(file.number()), file, visitor);
  }

  /// Reads all of a file that a group names, also when the base image has given it up.
  ///
  /// @param end of the group
  void readKept(SideFile file, long end, PieceVisitor visitor) throws IOException {
    Path second = kept.path(end, file.number());
    read(Files.exists(second) ? second : path(file.number()), file, visitor);
  }

  /// Copies all of a file to somebody else, a piece at a time.
  ///
  /// @param path where it is, also in an archive
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED as in [#read]; pieces before that were written
  void copy(Path path, SideFile file, OutputStream to) throws IOException {
    ByteBuffer header = SideFile.header(logId, file.number());
    int[] checksum = {header.getInt(SideFile.HEADER_BYTES - Integer.BYTES)};
    write(header, to);
    read(
        path,
        file,
        (at, changes) -> {
          ByteBuffer piece =
              SideFile.pieceHeader(checksum[0], changes.bytes(), changes.length(), changes.count());
          write(piece, to);
          to.write(changes.bytes(), 0, changes.length());
          checksum[0] = piece.getInt(0);
        });
  }

  private static void write(ByteBuffer bytes, OutputStream to) throws IOException {
    to.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
  }

  /// Reads all of a file, wherever it is.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED as in [#read]
  void read(Path path, SideFile file, PieceVisitor visitor) throws IOException {
    if (Files.notExists(path)) {
      throw LogReader.corrupted("file \"%s\" of the log is missing".formatted(path));
    }
    try (LogFile opened = opener.open(path)) {
      if (opened.size() != file.bytes()) {
        throw LogReader.corrupted(
            "file \"%s\" of the log has %d bytes instead of %d"
                .formatted(path, opened.size(), file.bytes()));
      }
      ByteBuffer header = buffer(SideFile.HEADER_BYTES);
      opened.read(header, 0);
      ByteBuffer expected = SideFile.header(logId, file.number());
      if (!header.flip().equals(expected)) {
        throw damaged(path, 0);
      }
      int checksum = expected.getInt(SideFile.HEADER_BYTES - Integer.BYTES);
      long at = SideFile.HEADER_BYTES;
      long changes = 0;
      byte[] payload = new byte[SideFileWriter.PIECE_BYTES];
      while (at < file.bytes()) {
        Piece piece = readPiece(opened, at, file.bytes(), checksum, payload);
        if (piece == null) {
          throw damaged(path, at);
        }
        payload = piece.changes().bytes();
        visitor.piece(at, piece.changes());
        changes += piece.changes().count();
        checksum = piece.checksum();
        at = piece.end();
      }
      if (checksum != file.checksum() || changes != file.changes()) {
        throw damaged(path, at);
      }
    }
  }

  /// Reads one piece of a file that was read before, with its checksums.
  LogRecord readPiece(SideFile file, long at) throws IOException {
    try (LogFile opened = opener.open(path(file.number()))) {
      ByteBuffer header = buffer(SideFile.PIECE_HEADER_BYTES);
      opened.read(header, at);
      int length = header.getInt(4);
      if (length <= 0 || length > file.bytes() - at - SideFile.PIECE_HEADER_BYTES) {
        throw damaged(path(file.number()), at);
      }
      byte[] payload = new byte[length];
      opened.read(ByteBuffer.wrap(payload), at + SideFile.PIECE_HEADER_BYTES);
      return LogRecord.of(payload, length, header.getInt(8));
    }
  }

  private record Piece(LogRecord changes, int checksum, long end) {}

  /// @param payload is used if it is long enough
  /// @return null if it is damaged
  private static @Nullable Piece readPiece(
      LogFile file, long at, long fileBytes, int checksumBefore, byte[] payload)
      throws IOException {
    long room = fileBytes - at - SideFile.PIECE_HEADER_BYTES;
    if (room <= 0) {
      return null;
    }
    ByteBuffer header = buffer(SideFile.PIECE_HEADER_BYTES);
    file.read(header, at);
    int length = header.getInt(4);
    int changes = header.getInt(8);
    if (length <= 0 || length > room) {
      return null;
    }
    byte[] into =
        length <= payload.length
            ? payload
            : length < HeapRoom.LONG_BYTES ? new byte[length] : HeapRoom.allocateAgain(length);
    file.read(ByteBuffer.wrap(into, 0, length), at + SideFile.PIECE_HEADER_BYTES);
    int checksum = SideFile.pieceHeader(checksumBefore, into, length, changes).getInt(0);
    return checksum != header.getInt(0) || header.getInt(12) != 0
        ? null
        : new Piece(
            LogRecord.of(into, length, changes),
            checksum,
            at + SideFile.PIECE_HEADER_BYTES + length);
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static RuntimeException damaged(Path path, long at) {
    return LogReader.corrupted(
        "file \"%s\" of the log is damaged at byte %d, or in the piece before".formatted(path, at));
  }
}
