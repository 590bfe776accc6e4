package dev.kakehashi.protocol.layout;

/// The word the endpoint sleeps on. Each field has its own cache line, as each has different writers.
public final class DoorbellPageLayout {
  public static final int BELL_OFFSET = 0;
  public static final int SLEEPING_OFFSET = 128;
  public static final int RELEASED_OFFSET = 256;
  public static final int PAGE_BYTES = 4096;

  private DoorbellPageLayout() {}
}
