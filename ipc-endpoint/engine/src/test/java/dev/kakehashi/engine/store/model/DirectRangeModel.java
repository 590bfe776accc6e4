package dev.kakehashi.engine.store.model;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// One direct read of a range beside transactions, the flush and the collector: each state that the words can be in is visited, one access
/// a step. The reader's steps are those of `direct_range.c`, the others' those of the store.
///
/// There are two rows, which change together or of which one goes, and two keys, each in a leaf of its own. A leaf has its entries in
/// order: one that comes or goes moves those behind it. A row's page is one word here, as [DirectReadModel] shows what makes it one.
///
/// An answer is right if it is the state of the timestamp that was durable at the begin: all of it, and each row once.
final class DirectRangeModel extends WordModel<DirectRangeModel.Rule> {
  /// A rule that a broken implementation lacks.
  enum Rule {
    /// The timestamp is noted before the first leaf.
    TIMESTAMP_IS_FIRST,
    /// A leaf's version is looked at again behind its copy.
    LEAF_IS_CONFIRMED,
    /// A row that is in flight is asked for.
    IN_FLIGHT_IS_ASKED,
    /// A row of a later timestamp is asked for.
    NEWEST_IS_COMPARED,
    /// A row belongs to that of its entries which has its key.
    KEY_IS_COMPARED,
    /// If something was collected since, the range is asked for.
    COLLECTED_IS_COMPARED,
    /// So it is if what went was not durable.
    COMMON_IS_COMPARED,
    /// The collector says it before entries go.
    COLLECTED_BEFORE_ENTRIES_GO,
    /// The same for what is not durable.
    COMMON_BEFORE_ENTRIES_GO,
    /// Entries of a version are there before its transaction commits.
    ENTRIES_BEFORE_COMMIT,
    /// A commit is durable only behind its rows: its record is written when they are there.
    DURABLE_BEHIND_ROWS
  }

  private static final int ROWS = 2;
  private static final int MOST_WRITES = 2;

  // Words of the memory.
  private static final int ROW = 0; // of each row
  private static final int LEAF = 2; // of each key: a bit for each row's entry
  private static final int LEAF_VERSION = 4; // of each key
  private static final int DURABLE = 6;
  private static final int COMMON = 7;
  private static final int COLLECTED = 8;
  // The endpoint's own.
  private static final int PUBLISHED = 9;
  private static final int WRITER_AT = 10;
  private static final int WRITES = 11; // begun
  private static final int COLLECTOR_AT = 12;
  private static final int COLLECTS = 13; // entry that goes: row and key
  private static final int HISTORY = 14; // state of each timestamp, from 1
  // The reader's.
  private static final int READER_AT = 19;
  private static final int UNTIL = 20;
  private static final int SEEN_VERSION = 21;
  private static final int SEEN_FIRST = 22; // row of the copied leaf's first slot, from 1; 0: none
  private static final int ENTRIES = 23; // bits: of a row and a key
  private static final int FOUND = 24; // bits: of a row and a key
  private static final int WORDS = 25;

  // A row's word: its timestamp, or what it is in flight, and its key.
  private static final int KEY = 1;
  private static final int TOMBSTONE = 2;
  private static final int IN_FLIGHT = 4;
  private static final int TIMESTAMP_SHIFT = 3;

  private static final int DONE = 99;
  private static final int SWAP = 10;
  private static final int DELETE = 30;

  DirectRangeModel(Set<Rule> rules) {
    super(rules);
  }

  static Set<Rule> without(Rule rule) {
    return EnumSet.complementOf(EnumSet.of(rule));
  }

  @Override
  List<Step> steps() {
    return List.of(
        new Step("reader", this::read),
        new Step("rows swap keys", () -> begin(SWAP)),
        new Step("delete", () -> begin(DELETE)),
        new Step("write goes on", this::write),
        new Step("flush", this::flush),
        new Step("collect 0 of 0", () -> collect(0, 0)),
        new Step("collect 0 of 1", () -> collect(0, 1)),
        new Step("collect 1 of 0", () -> collect(1, 0)),
        new Step("collect 1 of 1", () -> collect(1, 1)),
        new Step("collector goes on", this::goOnCollecting));
  }

  @Override
  int[] first() {
    int[] first = new int[WORDS];
    for (int row = 0; row < ROWS; row++) {
      first[ROW + row] = 1 << TIMESTAMP_SHIFT | row;
      first[LEAF + row] = 1 << row;
    }
    first[DURABLE] = 1;
    first[COMMON] = 1;
    first[COLLECTED] = 1;
    first[PUBLISHED] = 1;
    first[HISTORY + 1] = stateOf(first);
    return first;
  }

  @Override
  boolean isOver() {
    return s[READER_AT] == DONE;
  }

  /// The bit of a row and a key.
  private static int bit(int row, int key) {
    return 1 << (ROWS * key + row);
  }

  /// Rows and their keys, as the newest versions say.
  private static int stateOf(int[] words) {
    int state = 0;
    for (int row = 0; row < ROWS; row++) {
      int word = words[ROW + row];
      state |= (word & TOMBSTONE) != 0 ? 0 : bit(row, word & KEY);
    }
    return state;
  }

  // ---- the reader ----

  private void read() {
    int at = s[READER_AT];
    s[READER_AT] = at + 1;
    switch (at) {
      case 0 -> noteTimestamp(has(Rule.TIMESTAMP_IS_FIRST));
      case 1, 5 -> s[SEEN_VERSION] = s[LEAF_VERSION + (at - 1) / 4];
      case 2, 6 -> {
        s[SEEN_FIRST] = slot((at - 2) / 4, 0);
        see(s[SEEN_FIRST], (at - 2) / 4);
      }
      case 3, 7 -> see(slot((at - 3) / 4, 1), (at - 3) / 4);
      case 4, 8 -> {
        boolean isSame = s[LEAF_VERSION + (at - 4) / 4] == s[SEEN_VERSION];
        // It would begin anew, which is another read.
        if (has(Rule.LEAF_IS_CONFIRMED) && !isSame) {
          s[READER_AT] = DONE;
        }
        s[SEEN_VERSION] = 0;
        s[SEEN_FIRST] = 0;
      }
      case 9 -> noteTimestamp(!has(Rule.TIMESTAMP_IS_FIRST));
      case 10, 11, 12, 13 -> judge((at - 10) & 1, (at - 10) >> 1);
      case 14 -> askIf(has(Rule.COLLECTED_IS_COMPARED) && s[COLLECTED] > s[UNTIL]);
      case 15 -> askIf(has(Rule.COMMON_IS_COMPARED) && s[COMMON] > s[UNTIL]);
      case 16 -> answer();
      default -> throw new AssertionError();
    }
  }

  private void noteTimestamp(boolean now) {
    s[UNTIL] = now ? s[DURABLE] : s[UNTIL];
  }

  private void askIf(boolean condition) {
    if (condition) {
      s[READER_AT] = DONE;
    }
  }

  /// The row of a leaf's slot, from 1; 0: there is none.
  private int slot(int key, int number) {
    int entries = s[LEAF + key];
    return number == 0 ? (entries & 1) != 0 ? 1 : entries : entries == 3 ? 2 : 0;
  }

  private void see(int row, int key) {
    if (row > 0) {
      s[ENTRIES] |= bit(row - 1, key);
    }
  }

  private void judge(int row, int key) {
    if ((s[ENTRIES] & bit(row, key)) == 0) {
      return;
    }
    int word = s[ROW + row];
    boolean isInFlight = (word & IN_FLIGHT) != 0;
    askIf(isInFlight && has(Rule.IN_FLIGHT_IS_ASKED));
    askIf(!isInFlight && has(Rule.NEWEST_IS_COMPARED) && word >> TIMESTAMP_SHIFT > s[UNTIL]);
    if ((word & TOMBSTONE) == 0 && ((word & KEY) == key || !has(Rule.KEY_IS_COMPARED))) {
      s[FOUND] |= bit(row, key);
    }
  }

  private void answer() {
    s[READER_AT] = DONE;
    if (s[FOUND] != s[HISTORY + s[UNTIL]]) {
      breaks("found %x, not %x as of %d,".formatted(s[FOUND], s[HISTORY + s[UNTIL]], s[UNTIL]));
    }
  }

  // ---- writers ----

  private void begin(int kind) {
    boolean areThere = (s[ROW] & TOMBSTONE) == 0;
    require(s[WRITER_AT] == 0 && s[WRITES] < MOST_WRITES && areThere);
    s[WRITES]++;
    s[WRITER_AT] = kind;
  }

  private int next() {
    return s[PUBLISHED] + 1;
  }

  private void write() {
    int at = s[WRITER_AT];
    if (at == 0) {
      require(false);
      return;
    }
    s[WRITER_AT] = at + 1;
    boolean isEarly = has(Rule.ENTRIES_BEFORE_COMMIT);
    switch (at) {
      case SWAP, SWAP + 2 -> {
        int row = (at - SWAP) / 2;
        s[ROW + row] = IN_FLIGHT | ((s[ROW + row] & KEY) ^ 1);
      }
      case SWAP + 1, SWAP + 3 -> enter((at - SWAP) / 2, isEarly);
      case DELETE -> {
        s[ROW] = IN_FLIGHT | TOMBSTONE | (s[ROW] & KEY);
        s[WRITER_AT] = DELETE + 4;
      }
      // The record has been enqueued.
      case SWAP + 4, DELETE + 4 -> {
        s[PUBLISHED] = next();
        s[HISTORY + s[PUBLISHED]] = stateOf(s);
      }
      case SWAP + 5, SWAP + 6 -> stamp((at - 5) % 10);
      case DELETE + 5 -> {
        stamp(0);
        s[WRITER_AT] = 0;
      }
      case SWAP + 7 -> enter(0, !isEarly);
      case SWAP + 8 -> {
        enter(1, !isEarly);
        s[WRITER_AT] = 0;
      }
      default -> throw new AssertionError();
    }
  }

  private void stamp(int row) {
    s[ROW + row] = s[PUBLISHED] << TIMESTAMP_SHIFT | (s[ROW + row] & (KEY | TOMBSTONE));
  }

  /// Latched, and so in one step. It may be there, of an earlier version.
  private void enter(int row, boolean now) {
    int key = s[ROW + row] & KEY;
    if (now && (s[LEAF + key] & 1 << row) == 0) {
      s[LEAF + key] |= 1 << row;
      s[LEAF_VERSION + key]++;
    }
  }

  /// A record may be durable before its commit is published: it is enqueued before that.
  private void flush() {
    int at = s[WRITER_AT] % 10;
    boolean isEnqueued = s[WRITER_AT] > 0 && (at == 4 || !has(Rule.DURABLE_BEHIND_ROWS)) && at <= 4;
    require(s[DURABLE] < (isEnqueued ? next() : s[PUBLISHED]));
    s[DURABLE]++;
    // The state is known before its rows are.
    if (s[DURABLE] > s[PUBLISHED]) {
      int before = s[HISTORY + s[PUBLISHED]];
      s[HISTORY + s[DURABLE]] =
          s[WRITER_AT] >= DELETE ? before & ~(bit(0, 0) | bit(0, 1)) : stateAfterSwap(before);
    }
  }

  private static int stateAfterSwap(int state) {
    int swapped = 0;
    for (int row = 0; row < ROWS; row++) {
      for (int key = 0; key < ROWS; key++) {
        swapped |= (state & bit(row, key)) != 0 ? bit(row, 1 - key) : 0;
      }
    }
    return swapped;
  }

  // ---- the collector ----

  /// An entry goes that the newest version does not need: before that it says so. If that version is not durable, memory was needed.
  private void collect(int row, int key) {
    int word = s[ROW + row];
    boolean isNeeded = (word & TOMBSTONE) == 0 && (word & KEY) == key;
    require(
        s[COLLECTOR_AT] == 0
            && (s[LEAF + key] & 1 << row) != 0
            && (word & IN_FLIGHT) == 0
            && !isNeeded);
    s[COLLECTOR_AT] = 1;
    s[COLLECTS] = ROWS * key + row;
    say(has(Rule.COLLECTED_BEFORE_ENTRIES_GO), has(Rule.COMMON_BEFORE_ENTRIES_GO));
  }

  private void say(boolean collected, boolean common) {
    int timestamp = s[ROW + s[COLLECTS] % ROWS] >> TIMESTAMP_SHIFT;
    if (collected) {
      s[COLLECTED] = Math.max(s[COLLECTED], Math.min(timestamp, s[DURABLE]));
    }
    if (common && timestamp > s[DURABLE]) {
      s[COMMON] = Math.max(s[COMMON], timestamp);
    }
  }

  private void goOnCollecting() {
    int row = s[COLLECTS] % ROWS;
    int key = s[COLLECTS] / ROWS;
    int word = s[ROW + row];
    switch (s[COLLECTOR_AT]) {
      case 1 -> {
        s[COLLECTOR_AT] = 2;
        // Under the row's latch: a version that has come since may need it.
        if ((word & IN_FLIGHT) != 0 || ((word & TOMBSTONE) == 0 && (word & KEY) == key)) {
          s[COLLECTOR_AT] = 0;
          s[COLLECTS] = 0;
        } else {
          s[LEAF + key] &= ~(1 << row);
          s[LEAF_VERSION + key]++;
        }
      }
      case 2 -> {
        say(!has(Rule.COLLECTED_BEFORE_ENTRIES_GO), !has(Rule.COMMON_BEFORE_ENTRIES_GO));
        s[COLLECTOR_AT] = 0;
        s[COLLECTS] = 0;
      }
      default -> require(false);
    }
  }
}
