package dev.kakehashi.protocol;

/// A frame that is not a whole valid message. Its message says what is wrong, without text of the frame.
public final class MalformedFrameException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public MalformedFrameException(String message) {
    super(message, null, false, false);
  }
}
