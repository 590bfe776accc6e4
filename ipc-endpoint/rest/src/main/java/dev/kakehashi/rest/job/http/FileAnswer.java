package dev.kakehashi.rest.job.http;

import dev.kakehashi.rest.job.FileHold;
import dev.kakehashi.rest.job.JobFile;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeOutput;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Answers with a file of a result, or with ranges of it. One request.
///
/// The file never changes, so its digest is its entity tag. Its bytes go from the page cache to the socket: it is mapped, piece by piece.
final class FileAnswer {
  /// Bytes that are mapped at a time.
  private static final long PIECE_BYTES = 64L << 20;

  /// Bytes that are copied, because to map them and to take the mapping away costs more.
  private static final int COPIED_BYTES = 128 << 10;

  private final Exchange exchange;
  private final FileHold hold;
  private final JobFile file;
  private final String tag;

  FileAnswer(Exchange exchange, FileHold hold) {
    this.exchange = exchange;
    this.hold = hold;
    this.file = hold.file();
    this.tag = tag(file);
  }

  static String tag(JobFile file) {
    return '"' + file.sha256().substring(0, 32) + '"';
  }

  void send() throws IOException {
    exchange
        .answer()
        .header("ETag", tag)
        .header("Last-Modified", HttpDate.format(seconds()))
        .header("Cache-Control", "private, no-cache")
        .header("Vary", "Authorization");
    @Nullable String match = exchange.request().header("If-Match");
    if (match != null && !EntityTags.contains(match, tag, false)) {
      throw Problem.of(
          412, "precondition-failed", "Precondition failed", "the file has another entity tag");
    }
    if (isKnown()) {
      exchange.answer().send(304);
      return;
    }
    exchange
        .answer()
        .header("Accept-Ranges", "bytes")
        .header("Content-Disposition", "attachment; filename=\"" + file.name() + '"');
    if (!file.coding().isEmpty()) {
      exchange.answer().header("Content-Encoding", file.coding());
    }
    ByteRanges.Wanted wanted = wanted();
    if (!(wanted instanceof ByteRanges.Wanted.Refused)) {
      // A problem is not the file.
      exchange.answer().header("Repr-Digest", digest(file.digest()));
    }
    switch (wanted) {
      case ByteRanges.Wanted.Whole whole -> sendWhole();
      case ByteRanges.Wanted.Parts parts -> {
        if (parts.ranges().size() == 1) {
          sendRange(parts.ranges().getFirst());
        } else {
          sendRanges(parts.ranges());
        }
      }
      case ByteRanges.Wanted.Refused refused ->
          throw Problem.of(416, "range-not-satisfiable", "Range not satisfiable", refused.why())
              .withHeader("Content-Range", "bytes */" + file.bytes());
    }
  }

  static String digest(byte[] sha256) {
    return "sha-256=:" + Base64.getEncoder().encodeToString(sha256) + ":";
  }

  private long seconds() {
    return hold.modifiedMillis() / 1000;
  }

  /// Whether the client has it already.
  private boolean isKnown() {
    @Nullable String noneMatch = exchange.request().header("If-None-Match");
    if (noneMatch != null) {
      return EntityTags.contains(noneMatch, tag, true);
    }
    @Nullable String since = exchange.request().header("If-Modified-Since");
    return since != null && seconds() <= HttpDate.parse(since);
  }

  private ByteRanges.Wanted wanted() {
    @Nullable String range = exchange.request().header("Range");
    if (range == null || exchange.request().isHead() || !isStillTheSame()) {
      return new ByteRanges.Wanted.Whole();
    }
    return ByteRanges.parse(range, file.bytes());
  }

  /// Whether the ranges are of the file that the client has begun to fetch.
  private boolean isStillTheSame() {
    @Nullable String ifRange = exchange.request().header("If-Range");
    if (ifRange == null) {
      return true;
    }
    return ifRange.startsWith("\"") ? ifRange.equals(tag) : HttpDate.parse(ifRange) == seconds();
  }

  private ContentType type() {
    return ContentType.of(file.mediaType());
  }

  private void sendWhole() throws IOException {
    try (ExchangeOutput out = exchange.answer().stream(200, type(), file.bytes())) {
      if (!exchange.request().isHead()) {
        write(out, new ByteRanges.Range(0, file.bytes()));
      }
      out.finish();
    }
  }

  private void sendRange(ByteRanges.Range range) throws IOException {
    exchange.answer().header("Content-Range", range.of(file.bytes()));
    try (ExchangeOutput out = exchange.answer().stream(206, type(), range.length())) {
      write(out, range);
      out.finish();
    }
  }

  private void sendRanges(List<ByteRanges.Range> ranges) throws IOException {
    String boundary = UUID.randomUUID().toString();
    List<byte[]> heads = new ArrayList<>();
    byte[] tail = ("\r\n--" + boundary + "--\r\n").getBytes(StandardCharsets.US_ASCII);
    long length = tail.length;
    for (ByteRanges.Range range : ranges) {
      byte[] head =
          "\r\n--%s\r\nContent-Type: %s\r\nContent-Range: %s\r\n\r\n"
              .formatted(boundary, file.mediaType(), range.of(file.bytes()))
              .getBytes(StandardCharsets.US_ASCII);
      heads.add(head);
      length += head.length + range.length();
    }
    ContentType type = ContentType.of("multipart/byteranges; boundary=" + boundary);
    try (ExchangeOutput out = exchange.answer().stream(206, type, length)) {
      for (int i = 0; i < ranges.size(); i++) {
        out.write(heads.get(i));
        write(out, ranges.get(i));
      }
      out.write(tail);
      out.finish();
    }
  }

  private void write(ExchangeOutput out, ByteRanges.Range range) throws IOException {
    if (range.length() <= COPIED_BYTES) {
      out.write(read(range));
      return;
    }
    long at = range.from();
    long end = range.from() + range.length();
    while (at < end) {
      long length = Math.min(PIECE_BYTES, end - at);
      // Unmapped as soon as the socket has it.
      try (Arena arena = Arena.ofShared()) {
        out.write(
            hold.channel().map(FileChannel.MapMode.READ_ONLY, at, length, arena).asByteBuffer());
      }
      at += length;
    }
  }

  private ByteBuffer read(ByteRanges.Range range) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) range.length());
    while (bytes.hasRemaining()) {
      if (hold.channel().read(bytes, range.from() + bytes.position()) < 0) {
        throw new EOFException("a file of a result has become shorter");
      }
    }
    return bytes.flip();
  }
}
