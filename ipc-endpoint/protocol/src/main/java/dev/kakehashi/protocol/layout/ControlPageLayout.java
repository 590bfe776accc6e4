package dev.kakehashi.protocol.layout;

/// Facts of one incarnation. The endpoint writes, clients read; `state` is stored last, with release.
public final class ControlPageLayout {
  public static final int MAGIC_OFFSET = 0;
  public static final int LAYOUT_VERSION_OFFSET = 8;
  public static final int PROTOCOL_VERSION_OFFSET = 12;
  public static final int INCARNATION_OFFSET = 16;
  public static final int PROCESS_ID_OFFSET = 24;
  public static final int STATE_OFFSET = 28;
  public static final int HEARTBEAT_NANOS_OFFSET = 128;
  public static final int SESSIONS_OFFSET = 136;
  public static final int MAILBOXES_OFFSET = 140;
  public static final int REQUESTS_OFFSET = 144;
  public static final int ARENA_BLOCKS_OFFSET = 148;
  public static final int QUEUES_OFFSET = 152;
  public static final int WATCHED_CHANNELS_OFFSET = 156;
  public static final int TRANSACTIONS_OFFSET = 160;
  public static final int CROWDED_OFFSET = 256;
  public static final int PAGE_BYTES = 4096;

  public static final int STATE_STARTING = 0;
  public static final int STATE_READY = 1;
  public static final int STATE_STOPPING = 2;
  public static final int STATE_STOPPED = 3;

  private ControlPageLayout() {}
}
