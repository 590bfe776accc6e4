package dev.kakehashi.rest.header;

/// A field is not what its grammar asks for. Without a stack trace: the client gets it as a 400.
public final class FieldException extends Exception {
  private static final long serialVersionUID = 1L;

  FieldException(String message, int at) {
    super(message + " at character " + (at + 1), null, false, false);
  }
}
