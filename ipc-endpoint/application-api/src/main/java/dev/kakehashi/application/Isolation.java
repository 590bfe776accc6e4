package dev.kakehashi.application;

/// What a transaction sees.
public enum Isolation {
  READ_COMMITTED,
  REPEATABLE_READ,
  SERIALIZABLE
}
