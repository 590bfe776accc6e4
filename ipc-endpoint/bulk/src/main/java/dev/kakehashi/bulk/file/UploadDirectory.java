package dev.kakehashi.bulk.file;

import dev.kakehashi.engine.api.bulk.UploadFiles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Files of clients in a directory of the endpoint, `ID-OWNER` each, where OWNER is a digest of the role's name. Their access time says
/// when they were last used. Thread-safe.
///
/// There is no thread that looks for old ones: that is done at the start, and when uploads or files are used, at most once a minute.
public final class UploadDirectory implements UploadFiles {
  private static final Logger LOG = LoggerFactory.getLogger(UploadDirectory.class);
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int ID_BYTES = 16;
  private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");
  private static final Pattern NAME = Pattern.compile("[0-9a-f]{32}-[0-9a-f]{32}");
  private static final int PIECE_BYTES = 1 << 18;
  private static final long SWEEP_MILLIS = 60_000;
  private static final int MAX_FILES_OF_OWNER = 1_000;

  /// Limits of uploads.
  ///
  /// @param space bytes of all
  /// @param userSpace bytes of a role
  /// @param retention after the last use
  public record Limits(long space, long userSpace, Duration retention) {}

  private final Path directory;
  private final Limits limits;
  private final LongSupplier clock;
  private final Map<String, Upload> uploads = new HashMap<>(); // guarded by this
  private final Map<String, Long> ownerBytes = new HashMap<>(); // guarded by this
  private long allBytes; // guarded by this
  private long nextSweepMillis; // guarded by this

  /// One file. Its fields are guarded by itself, `lastUse` by the directory.
  private static final class Upload {
    private final String id;
    private final String owner;
    private long length;
    private long lastUse;
    private boolean isRemoved;

    private Upload(String id, String owner, long length, long lastUse) {
      this.id = id;
      this.owner = owner;
      this.length = length;
      this.lastUse = lastUse;
    }

    private String fileName() {
      return id + "-" + owner;
    }
  }

  /// Opens the directory, and takes away what is too old.
  ///
  /// @param directory made if it is not there
  /// @param clock milliseconds of the epoch
  public UploadDirectory(Path directory, Limits limits, LongSupplier clock) throws IOException {
    this.directory = directory;
    this.limits = limits;
    this.clock = clock;
    Files.createDirectories(directory);
    try (Stream<Path> found = Files.list(directory)) {
      for (Path path : found.toList()) {
        String name = path.getFileName().toString();
        if (NAME.matcher(name).matches()) {
          BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
          String id = name.substring(0, 2 * ID_BYTES);
          String owner = name.substring(2 * ID_BYTES + 1);
          long lastUse = attributes.lastAccessTime().toMillis();
          uploads.put(id, new Upload(id, owner, attributes.size(), lastUse));
          count(owner, attributes.size());
        }
      }
    }
    sweep();
  }

  private static String ownerOf(String role) {
    byte[] digest = NewFile.sha256().digest(role.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(digest, 0, ID_BYTES);
  }

  @Override
  public String begin(String role) {
    sweepIfDue();
    byte[] bytes = new byte[ID_BYTES];
    RANDOM.nextBytes(bytes);
    String id = HexFormat.of().formatHex(bytes);
    String owner = ownerOf(role);
    Upload upload = new Upload(id, owner, 0, clock.getAsLong());
    synchronized (this) {
      long own = uploads.values().stream().filter(each -> each.owner.equals(owner)).count();
      if (own >= MAX_FILES_OF_OWNER) {
        throw new EngineException(
                ErrorCode.TEMP_SPACE_EXCEEDED,
                "role \"%s\" has %d uploads already".formatted(role, own))
            .withHint("Remove some of them.");
      }
      try {
        Files.createFile(path(upload));
      } catch (IOException e) {
        throw FileFailure.of("could not begin", name(id), e);
      }
      uploads.put(id, upload);
      touch(upload);
    }
    return id;
  }

  private Path path(Upload upload) {
    return directory.resolve(upload.fileName());
  }

  private static String name(String id) {
    return LocationPath.UPLOAD + ":" + id;
  }

  private Upload find(String role, String id) {
    @Nullable Upload upload = null;
    if (ID.matcher(id).matches()) {
      synchronized (this) {
        upload = uploads.get(id);
        if (upload != null && upload.owner.equals(ownerOf(role))) {
          upload.lastUse = clock.getAsLong();
          return upload;
        }
      }
    }
    throw unknown(id);
  }

  private static EngineException unknown(String id) {
    String shown = ID.matcher(id).matches() ? id : "";
    return new EngineException(ErrorCode.UNDEFINED_FILE, "upload \"" + shown + "\" does not exist")
        .withHint(
            "Uploads are their owner's alone, and are removed some time after their last use.");
  }

  @Override
  public long append(String role, String id, long offset, MemorySegment bytes) {
    sweepIfDue();
    Upload upload = find(role, id);
    synchronized (upload) {
      if (upload.isRemoved) {
        throw unknown(id);
      }
      if (offset != upload.length) {
        throw new EngineException(
                ErrorCode.INVALID_PARAMETER_VALUE,
                "upload \"%s\" does not go on at byte %d".formatted(id, offset))
            .withDetail("Its length is " + upload.length + " bytes.");
      }
      reserve(role, upload.owner, bytes.byteSize());
      boolean done = false;
      try (FileChannel channel = FileChannel.open(path(upload), StandardOpenOption.WRITE)) {
        try {
          write(channel, offset, bytes);
          done = true;
        } finally {
          if (!done) {
            channel.truncate(offset);
          }
        }
      } catch (IOException e) {
        throw FileFailure.of("could not write to", name(id), e);
      } finally {
        if (!done) {
          release(upload.owner, bytes.byteSize());
        }
      }
      upload.length += bytes.byteSize();
      touch(upload);
      return upload.length;
    }
  }

  private static void write(FileChannel channel, long offset, MemorySegment bytes)
      throws IOException {
    long done = 0;
    while (done < bytes.byteSize()) {
      ByteBuffer piece =
          bytes.asSlice(done, Math.min(PIECE_BYTES, bytes.byteSize() - done)).asByteBuffer();
      done += channel.write(piece, offset + done);
    }
  }

  /// Writes down when it was used, for the time after a restart.
  private void touch(Upload upload) {
    try {
      Files.getFileAttributeView(path(upload), BasicFileAttributeView.class)
          .setTimes(null, FileTime.fromMillis(clock.getAsLong()), null);
    } catch (IOException e) {
      // It goes earlier after a restart, no more.
      LOG.debug("the access time of an upload cannot be set", e);
    }
  }

  private synchronized void reserve(String role, String owner, long bytes) {
    long own = ownerBytes.getOrDefault(owner, 0L);
    if (bytes > limits.userSpace - own) {
      throw new EngineException(
              ErrorCode.TEMP_SPACE_EXCEEDED,
              "uploads of role \"" + role + "\" need more than the space for them")
          .withDetail(
              "The limit of a role is %d bytes; %d are in use.".formatted(limits.userSpace, own))
          .withHint("Remove uploads, or raise bulk_user_upload_space.");
    }
    if (bytes > limits.space - allBytes) {
      throw new EngineException(
              ErrorCode.TEMP_SPACE_EXCEEDED,
              "uploads of all roles need more than the space for them")
          .withDetail(
              "The limit of all is %d bytes; %d are in use.".formatted(limits.space, allBytes))
          .withHint("Remove uploads, or raise bulk_upload_space.");
    }
    count(owner, bytes);
  }

  private synchronized void count(String owner, long bytes) {
    ownerBytes.merge(owner, bytes, Long::sum);
    allBytes += bytes;
  }

  private synchronized void release(String owner, long bytes) {
    allBytes -= bytes;
    if (ownerBytes.merge(owner, -bytes, Long::sum) == 0) {
      ownerBytes.remove(owner);
    }
  }

  @Override
  public long length(String role, String id) {
    Upload upload = find(role, id);
    synchronized (upload) {
      return upload.length;
    }
  }

  @Override
  public void remove(String role, String id) {
    remove(find(role, id));
  }

  private void remove(Upload upload) {
    synchronized (upload) {
      if (upload.isRemoved) {
        return;
      }
      try {
        Files.deleteIfExists(path(upload));
      } catch (IOException e) {
        throw FileFailure.of("could not remove", name(upload.id), e);
      }
      upload.isRemoved = true;
      synchronized (this) {
        uploads.remove(upload.id);
        release(upload.owner, upload.length);
      }
    }
  }

  /// Takes in a stream whole, on the calling thread.
  ///
  /// @return id as of [#begin]; nothing stays behind after a failure
  public String take(String role, InputStream stream) throws IOException {
    String id = begin(role);
    boolean done = false;
    try {
      byte[] piece = new byte[PIECE_BYTES];
      long length = 0;
      for (int read = stream.read(piece); read >= 0; read = stream.read(piece)) {
        length = append(role, id, length, MemorySegment.ofArray(piece).asSlice(0, read));
      }
      done = true;
      return id;
    } finally {
      if (!done) {
        remove(role, id);
      }
    }
  }

  /// Opens an upload for reading. It can be removed meanwhile: its bytes stay until the file is closed.
  ///
  /// @param name for messages
  public OpenedFile open(String role, String id, String name) {
    Upload upload = find(role, id);
    synchronized (upload) {
      if (upload.isRemoved) {
        throw unknown(id);
      }
      touch(upload);
      try (OpenDirectory own =
          OpenDirectory.open(directory.toRealPath().toString(), "upload:", Set.of())) {
        return own.file(upload.fileName(), name);
      } catch (IOException e) {
        throw FileFailure.of("could not open", name, e);
      }
    }
  }

  /// Takes away what is too old, at most once a minute.
  public void sweepIfDue() {
    synchronized (this) {
      if (uploads.isEmpty() || clock.getAsLong() < nextSweepMillis) {
        return;
      }
    }
    sweep();
  }

  private void sweep() {
    List<Upload> old = new ArrayList<>();
    synchronized (this) {
      long now = clock.getAsLong();
      nextSweepMillis = now + SWEEP_MILLIS;
      for (Upload upload : uploads.values()) {
        if (now - upload.lastUse >= limits.retention.toMillis()) {
          old.add(upload);
        }
      }
    }
    for (Upload upload : old) {
      try {
        remove(upload);
      } catch (EngineException e) {
        LOG.warn("an upload whose time is over could not be removed", e);
      }
    }
  }
}
