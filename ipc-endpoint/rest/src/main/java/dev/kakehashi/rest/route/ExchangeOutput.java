package dev.kakehashi.rest.route;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Invocable;
import org.jspecify.annotations.Nullable;

/// The body of an answer as a stream: each write goes to the socket as one chunk and returns when the socket has taken it. One thread.
///
/// [#finish] ends the body well; without it the exchange breaks the framing. [#close] alone has no effect, because it comes after a
/// failure, too (try-with-resources).
public final class ExchangeOutput extends OutputStream {
  private final Response response;
  private final HttpFields.Mutable trailers = HttpFields.build();
  private boolean isFinished;

  /// @param hasTrailers whether fields may follow the body; its length is not announced then
  ExchangeOutput(Response response, boolean hasTrailers) {
    this.response = response;
    if (hasTrailers) {
      response.setTrailersSupplier(() -> trailers.size() == 0 ? null : trailers);
    }
  }

  /// A field after the body, before [#finish]. It is left out of an answer whose length was announced.
  public void trailer(String name, String value) {
    trailers.add(name, value);
  }

  boolean isFinished() {
    return isFinished;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  /// @throws IOException the client has gone, or has read nothing for the time that is allowed
  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (length > 0) {
      write(false, ByteBuffer.wrap(bytes, offset, length));
    }
  }

  /// As [#write(byte[], int, int)], without a copy of a direct buffer.
  public void write(ByteBuffer bytes) throws IOException {
    if (bytes.hasRemaining()) {
      write(false, bytes);
    }
  }

  /// Ends the body well. Once.
  public void finish() throws IOException {
    if (isFinished) {
      throw new IllegalStateException("the body has ended");
    }
    isFinished = true;
    write(true, null);
  }

  /// Has no effect.
  @Override
  public void close() {}

  private void write(boolean last, @Nullable ByteBuffer bytes) throws IOException {
    Written written = new Written();
    response.write(last, bytes, written);
    written.await();
  }

  /// Wakes the writer from the thread that has written; it never blocks that thread.
  static final class Written extends CompletableFuture<Boolean> implements Callback {
    @Override
    public void succeeded() {
      complete(true);
    }

    @Override
    public void failed(Throwable cause) {
      completeExceptionally(cause);
    }

    @Override
    public Invocable.InvocationType getInvocationType() {
      return Invocable.InvocationType.NON_BLOCKING;
    }

    void await() throws IOException {
      try {
        get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw (IOException) new InterruptedIOException("interrupted while writing").initCause(e);
      } catch (ExecutionException e) {
        throw new IOException("the client does not take the answer: " + e.getCause(), e.getCause());
      }
    }
  }
}
