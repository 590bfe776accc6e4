package dev.kakehashi.bulk.value;

/// 16 bytes as uuid.
final class UuidColumnInput extends EachInput {
  static final int BYTES = 16;

  UuidColumnInput(String column) {
    super(column);
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    int at = batch.heap(BYTES);
    System.arraycopy(values.bytes(), values.starts()[index], batch.bytes(), at, BYTES);
    return at;
  }
}
