package dev.kakehashi.application;

/// A JSON text. Whether it is one is looked at where it enters the engine.
///
/// @param text never null
public record Json(String text) {
  @Override
  public String toString() {
    return text;
  }
}
