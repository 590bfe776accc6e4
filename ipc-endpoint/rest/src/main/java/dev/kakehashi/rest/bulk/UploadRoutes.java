package dev.kakehashi.rest.bulk;

import dev.kakehashi.engine.api.bulk.UploadFiles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.StoredAnswer;
import dev.kakehashi.rest.job.http.IdempotentPosts;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `/v1/uploads`: files that come in pieces, for loads from `upload:id`. After a connection that broke the client asks for the length
/// (HEAD) and goes on there. Thread-safe.
public final class UploadRoutes {
  /// How long the file is.
  private static final String OFFSET = "Upload-Offset";

  private static final String ALL = "/v1/uploads";
  private static final String ONE = ALL + "/{id:token}";
  private static final String TYPE = "application/partial-upload";
  private static final int PIECE_BYTES = 256 << 10;
  private static final byte[] NO_BODY = {};

  private final SentFiles files;
  private final UploadFiles uploads;
  private final IdempotentPosts posts;

  public UploadRoutes(SentFiles files, Jobs jobs) {
    this.files = files;
    this.uploads = files.uploads();
    this.posts = new IdempotentPosts(jobs);
  }

  public List<Route> routes() {
    return List.of(
        Route.post(ALL).handle(this::begin),
        Route.of("HEAD", ONE).handle(this::length),
        Route.of("PATCH", ONE).accepts(TYPE).maxBody(files.maxBytes()).handleBody(this::append),
        Route.delete(ONE).handle(this::remove));
  }

  private void begin(Exchange exchange) throws Exception {
    posts.answer(
        exchange,
        NO_BODY,
        true,
        () -> {
          String id = uploads.begin(exchange.request().user().name());
          return new StoredAnswer(
              201,
              List.of(
                  new StoredAnswer.Header("Location", ALL + "/" + id),
                  new StoredAnswer.Header(OFFSET, "0")),
              "",
              NO_BODY);
        });
  }

  private void length(Exchange exchange) {
    answer(
        exchange,
        uploads.length(exchange.request().user().name(), exchange.request().variable("id")));
  }

  private static void answer(Exchange exchange, long length) {
    exchange.answer().header(OFFSET, Long.toString(length)).header("Cache-Control", "no-store");
    exchange.answer().send(204);
  }

  /// Keeps what comes, also of a body that ends early.
  private void append(Exchange exchange) throws IOException {
    String owner = exchange.request().user().name();
    String id = exchange.request().variable("id");
    long offset = offset(exchange.request().header(OFFSET));
    long length = uploads.length(owner, id);
    if (offset != length) {
      throw conflict(length);
    }
    InputStream body = exchange.request().body();
    byte[] piece = new byte[PIECE_BYTES];
    int filled = 0;
    try {
      int count = body.read(piece, 0, PIECE_BYTES);
      while (count >= 0) {
        filled += count;
        if (filled == PIECE_BYTES) {
          filled = 0;
          length = append(owner, id, length, piece, PIECE_BYTES);
        }
        count = body.read(piece, filled, PIECE_BYTES - filled);
      }
    } finally {
      if (filled > 0) {
        length = append(owner, id, length, piece, filled);
      }
    }
    answer(exchange, length);
  }

  private long append(String owner, String id, long offset, byte[] piece, int count) {
    try {
      return uploads.append(owner, id, offset, MemorySegment.ofArray(piece).asSlice(0, count));
    } catch (EngineException e) {
      if (e.code() == ErrorCode.INVALID_PARAMETER_VALUE) {
        // Another request has gone on meanwhile.
        throw conflict(uploads.length(owner, id));
      }
      throw e;
    }
  }

  private static long offset(@Nullable String field) {
    if (field != null
        && !field.isEmpty()
        && field.length() <= 18
        && field.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return Long.parseLong(field);
    }
    throw Problem.badRequest(
        OFFSET + " must be a whole number: the bytes that the upload has already");
  }

  private static Problem conflict(long length) {
    return Problem.of(
            409,
            "upload-offset",
            "Upload offset",
            "the upload has " + length + " bytes: it goes on there")
        .withHeader(OFFSET, Long.toString(length));
  }

  private void remove(Exchange exchange) {
    uploads.remove(exchange.request().user().name(), exchange.request().variable("id"));
    exchange.answer().send(204);
  }
}
