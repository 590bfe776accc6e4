package dev.kakehashi.application;

/// Isolation level of a transaction: the changes of others that it sees.
public enum Isolation {
  READ_COMMITTED,
  REPEATABLE_READ,
  SERIALIZABLE
}
