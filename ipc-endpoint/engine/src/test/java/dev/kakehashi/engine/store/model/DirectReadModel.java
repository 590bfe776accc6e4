package dev.kakehashi.engine.store.model;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// One direct read of a key beside everything that changes what it reads: each state that the words can be in is visited, one access a
/// step. The reader's steps are those of `direct.c`, the others' those of the store.
///
/// There is one row, which has the key or another one. Its index is one leaf, below a root that names it. The leaf's memory and the page's
/// become something else when nobody in the endpoint can be in them: that is atomic here, and the worst for a reader, because what comes
/// there has the same versions and looks right.
///
/// An answer is right if the key had it at some moment while the reader was there, and a crash does not take it back.
final class DirectReadModel extends WordModel<DirectReadModel.Rule> {
  /// A rule that a broken implementation lacks.
  enum Rule {
    /// The page's version is looked at again behind the values.
    PAGE_IS_CONFIRMED,
    /// The leaf's version is looked at again at the end.
    LEAF_IS_CONFIRMED,
    /// The word that says that memory of nodes has become something else is looked at again at the end.
    MOVED_IS_CONFIRMED,
    /// The cell's generation is looked at again at the end.
    GENERATION_IS_CONFIRMED,
    /// An odd version is not read below.
    ODD_IS_TORN,
    /// A row that is in flight is asked for.
    IN_FLIGHT_IS_ASKED,
    /// A row of another key is not the key's.
    KEY_IS_COMPARED,
    /// A row that is not durable is asked for.
    DURABLE_IS_COMPARED,
    /// Rows that were freed before that was durable are asked for.
    COMMON_IS_COMPARED,
    /// The writer makes the version odd before it changes something.
    VERSION_CHANGES_FIRST,
    /// A commit is published before its rows are stamped.
    PUBLISHED_BEFORE_STAMPED,
    /// Memory of nodes becomes something else behind the word that says it.
    MOVED_BEFORE_REUSE,
    /// A page becomes something else behind its table's generation.
    GENERATION_BEFORE_REUSE
  }

  // Words of the memory.
  private static final int GENERATION = 0;
  private static final int MOVED = 1;
  private static final int ROOT = 2;
  private static final int LEAF_VERSION = 3; // and that of the other leaf behind it
  private static final int LEAF_ENTRY =
      5; // slot of the key's entry, from 1, 0: none; and that of the other leaf
  private static final int PAGE_VERSION = 7;
  private static final int STAMP = 8;
  private static final int FIRST_HALF = 9;
  private static final int SECOND_HALF = 10;
  private static final int DURABLE = 11;
  private static final int COMMON = 12;
  // The endpoint's own.
  private static final int PUBLISHED = 13;
  private static final int WRITER_AT = 14;
  private static final int WRITES = 15; // begun
  private static final int COMMITTED = 16; // what the key has as requests see it
  private static final int MOVES = 17;
  private static final int DROP_AT = 18;
  private static final int MOVE_AT = 19;
  // The reader's.
  private static final int READER_AT = 20;
  private static final int SEEN_COUNT = 21;
  private static final int SEEN_GENERATION = 22;
  private static final int SEEN_MOVED = 23;
  private static final int SEEN_LEAF = 24;
  private static final int SEEN_LEAF_VERSION = 25;
  private static final int SEEN_PAGE_VERSION = 26;
  private static final int SEEN_STAMP = 27;
  private static final int SEEN_FIRST = 28;
  private static final int SEEN_SECOND = 29;
  private static final int SEEN_DURABLE = 30;
  private static final int FINDS = 31; // 0: nothing; else the value
  private static final int RIGHT = 32; // bits of what the key has had meanwhile
  private static final int WORDS = 33;

  private static final int IN_FLIGHT = 64;
  private static final int TOMBSTONE = 32;
  private static final int TIMESTAMP = 31;
  private static final int MOST_WRITES = 2;
  private static final int DONE = 99;

  /// The key has the timestamp of its value, or this and the timestamp since which it is absent.
  private static final int ABSENT = 8;

  /// Value of a row that has another key.
  private static final int OTHER_KEY = 7;

  /// Content of memory that has become something else.
  private static final int STRANGE = 6;

  DirectReadModel(Set<Rule> rules) {
    super(rules);
  }

  static Set<Rule> without(Rule rule) {
    return EnumSet.complementOf(EnumSet.of(rule));
  }

  @Override
  List<Step> steps() {
    return List.of(
        new Step("reader", this::read),
        new Step("update", this::update),
        new Step("delete", this::delete),
        new Step("write goes on", this::write),
        new Step("flush", this::flush),
        new Step("collect", this::collect),
        new Step("insert", this::insert),
        new Step("rekey", this::rekey),
        new Step("entry before it", this::shift),
        new Step("node moves", this::move),
        new Step("drop", this::drop));
  }

  @Override
  int[] first() {
    int[] first = new int[WORDS];
    first[LEAF_ENTRY] = 1;
    first[STAMP] = 1;
    first[FIRST_HALF] = 1;
    first[SECOND_HALF] = 1;
    first[DURABLE] = 1;
    first[COMMITTED] = 1;
    first[PUBLISHED] = 1;
    first[COMMON] = 1;
    return first;
  }

  @Override
  boolean isOver() {
    return s[READER_AT] == DONE;
  }

  // ---- the reader ----

  private void read() {
    int at = s[READER_AT];
    s[READER_AT] = at + 1;
    switch (at) {
      case 0 -> {
        s[SEEN_GENERATION] = s[GENERATION];
        // From here on each value that the key has is a right answer.
        s[RIGHT] = 1 << s[COMMITTED];
        if (s[GENERATION] != 0) {
          s[READER_AT] = DONE;
        }
      }
      case 1 -> s[SEEN_MOVED] = s[MOVED];
      case 2 -> s[SEEN_LEAF] = s[ROOT];
      case 3 -> {
        s[SEEN_LEAF_VERSION] = s[LEAF_VERSION + s[SEEN_LEAF]];
        tornIf(isOdd(s[SEEN_LEAF_VERSION]));
      }
      case 4 -> tornIf(s[ROOT] != s[SEEN_LEAF]);
      case 5 -> {
        s[FINDS] = 0;
        s[SEEN_STAMP] = 0;
        s[SEEN_COUNT] = s[LEAF_ENTRY + s[SEEN_LEAF]];
      }
      case 6 -> {
        int slot = s[LEAF_ENTRY + s[SEEN_LEAF]];
        if (slot == 0 || slot > s[SEEN_COUNT]) {
          s[READER_AT] = 13;
        }
      }
      case 7 -> {
        s[SEEN_PAGE_VERSION] = s[PAGE_VERSION];
        tornIf(isOdd(s[PAGE_VERSION]));
      }
      case 8 -> {
        s[SEEN_STAMP] = s[STAMP];
        if ((s[STAMP] & IN_FLIGHT) != 0 && has(Rule.IN_FLIGHT_IS_ASKED)) {
          s[READER_AT] = DONE;
        }
      }
      case 9 -> s[SEEN_FIRST] = s[FIRST_HALF];
      case 10 -> s[SEEN_SECOND] = s[SECOND_HALF];
      case 11 -> tornIf(has(Rule.PAGE_IS_CONFIRMED) && s[PAGE_VERSION] != s[SEEN_PAGE_VERSION]);
      case 12 -> found();
      case 13 -> s[SEEN_DURABLE] = s[DURABLE];
      case 14 ->
          tornIf(
              has(Rule.LEAF_IS_CONFIRMED)
                  && s[LEAF_VERSION + s[SEEN_LEAF]] != s[SEEN_LEAF_VERSION]);
      case 15 -> tornIf(has(Rule.MOVED_IS_CONFIRMED) && s[MOVED] != s[SEEN_MOVED]);
      case 16 -> tornIf(has(Rule.GENERATION_IS_CONFIRMED) && s[GENERATION] != s[SEEN_GENERATION]);
      case 17 -> answer();
      default -> throw new AssertionError();
    }
  }

  private boolean isOdd(int version) {
    return has(Rule.ODD_IS_TORN) && (version & 1) != 0;
  }

  /// The reader would begin anew, which is another read.
  private void tornIf(boolean torn) {
    if (torn) {
      s[READER_AT] = DONE;
    }
  }

  private void found() {
    boolean isKeys = s[SEEN_FIRST] != OTHER_KEY && s[SEEN_SECOND] != OTHER_KEY;
    if ((s[SEEN_STAMP] & TOMBSTONE) == 0 && (isKeys || !has(Rule.KEY_IS_COMPARED))) {
      s[FINDS] = s[SEEN_FIRST];
      if (s[SEEN_FIRST] != s[SEEN_SECOND]) {
        s[FINDS] = STRANGE;
      }
    }
  }

  private void answer() {
    s[READER_AT] = DONE;
    int newest = s[SEEN_STAMP] & TIMESTAMP;
    if ((has(Rule.DURABLE_IS_COMPARED) && newest > s[SEEN_DURABLE])
        || (has(Rule.COMMON_IS_COMPARED) && s[COMMON] > s[SEEN_DURABLE])) {
      return;
    }
    int right = s[FINDS] == 0 ? s[RIGHT] >> ABSENT : s[RIGHT] & 1 << s[FINDS];
    if (right == 0) {
      breaks("the key never had " + s[FINDS] + " meanwhile:");
    } else if (Integer.numberOfTrailingZeros(right) > s[DURABLE]) {
      breaks("a crash takes " + s[FINDS] + " back:");
    }
  }

  // ---- writers ----

  /// Begins what takes the row's next timestamp.
  private void begin(boolean possible, int kind) {
    require(possible && s[WRITER_AT] == 0 && s[WRITES] < MOST_WRITES && s[DROP_AT] == 0);
    s[WRITES]++;
    s[WRITER_AT] = kind;
  }

  private boolean isThere() {
    return s[LEAF_ENTRY + s[ROOT]] > 0 && (s[STAMP] & TOMBSTONE) == 0;
  }

  private void update() {
    begin(isThere() && s[FIRST_HALF] != OTHER_KEY, 10);
  }

  private void delete() {
    begin(isThere() && s[FIRST_HALF] != OTHER_KEY, 30);
  }

  /// The row's place is free, and its entry is gone.
  private boolean isFree() {
    return s[LEAF_ENTRY + s[ROOT]] == 0;
  }

  private void insert() {
    begin(isFree(), 50);
  }

  /// The row gets another key. Its old entry stays until it is collected.
  private void rekey() {
    begin(isThere() && s[FIRST_HALF] != OTHER_KEY, 70);
  }

  private int next() {
    return s[PUBLISHED] + 1;
  }

  private void latch(int change) {
    s[PAGE_VERSION] += change;
  }

  private void publish() {
    s[PUBLISHED] = next();
    // An insertion and an update leave a value, the others nothing.
    boolean has = s[WRITER_AT] < 30 || (s[WRITER_AT] >= 50 && s[WRITER_AT] < 70);
    s[COMMITTED] = s[PUBLISHED] + (has ? 0 : ABSENT);
    s[RIGHT] |= s[READER_AT] > 0 ? 1 << s[COMMITTED] : 0;
  }

  private int timestamp() {
    return has(Rule.PUBLISHED_BEFORE_STAMPED) ? s[PUBLISHED] : next();
  }

  private void write() {
    int at = s[WRITER_AT];
    if (at == 0) {
      require(false);
      return;
    }
    s[WRITER_AT] = at + 1;
    boolean early = has(Rule.VERSION_CHANGES_FIRST);
    boolean publishesFirst = has(Rule.PUBLISHED_BEFORE_STAMPED);
    switch (at) {
      // In its place, in two halves; committed behind that.
      case 10, 50, 70 -> latch(early ? 1 : 0);
      case 11, 51, 71 -> s[STAMP] = IN_FLIGHT;
      case 12, 52 -> s[FIRST_HALF] = next();
      case 13, 53 -> s[SECOND_HALF] = next();
      case 72 -> s[FIRST_HALF] = OTHER_KEY;
      case 73 -> s[SECOND_HALF] = OTHER_KEY;
      case 14, 74 -> {
        latch(early ? 1 : 2);
        s[WRITER_AT] = at + 4;
      }
      case 54 -> latch(early ? 1 : 2);
      case 30 -> latch(1);
      case 31 -> s[STAMP] = IN_FLIGHT | TOMBSTONE;
      case 32 -> {
        latch(1);
        s[WRITER_AT] = 38;
      }
      // The entry of what was inserted.
      case 55, 57 -> s[LEAF_VERSION + s[ROOT]]++;
      case 56 -> s[LEAF_ENTRY + s[ROOT]] = 1;
      case 18, 38, 58, 78 -> {
        if (publishesFirst) {
          publish();
        } else {
          stamp();
        }
      }
      case 19, 39, 59, 79 -> {
        if (publishesFirst) {
          stamp();
        } else {
          publish();
        }
        s[WRITER_AT] = 0;
      }
      default -> throw new AssertionError();
    }
  }

  /// Under the page's latch, which is one step here: the stamp is one word.
  private void stamp() {
    s[PAGE_VERSION] += 2;
    s[STAMP] = (s[STAMP] & TOMBSTONE) | timestamp();
  }

  /// A record may be durable before its commit is published: it is enqueued before that.
  private void flush() {
    int at = s[WRITER_AT] % 10;
    boolean isEnqueued = at == 8 || (at == 9 && !has(Rule.PUBLISHED_BEFORE_STAMPED));
    require(s[DURABLE] < (isEnqueued ? next() : s[PUBLISHED]));
    s[DURABLE]++;
  }

  /// The entry of a row that is deleted, or has another key, goes; if that is not durable, everybody depends on it first.
  private void collect() {
    require(
        s[WRITER_AT] == 0
            && s[LEAF_ENTRY + s[ROOT]] > 0
            && ((s[STAMP] & TOMBSTONE) != 0 || s[FIRST_HALF] == OTHER_KEY)
            && s[DROP_AT] == 0
            && s[MOVE_AT] == 0);
    s[COMMON] = Math.max(s[COMMON], s[STAMP] & TIMESTAMP);
    s[LEAF_ENTRY + s[ROOT]] = 0;
    s[LEAF_VERSION + s[ROOT]] += 2;
  }

  /// An entry before that of the key comes into the leaf, latched, and so in one step.
  private void shift() {
    require(s[WRITER_AT] == 0 && s[LEAF_ENTRY + s[ROOT]] == 1);
    s[LEAF_ENTRY + s[ROOT]] = 2;
    s[LEAF_VERSION + s[ROOT]] += 2;
  }

  // ---- memory that becomes something else ----

  /// The leaf's entries go to another leaf, and its memory becomes something that looks like an entry and has the old version.
  private void move() {
    require(s[WRITER_AT] == 0 && s[DROP_AT] == 0);
    switch (s[MOVE_AT]) {
      case 0 -> {
        // Both latched, and so one step; what is free has a later version.
        s[LEAF_ENTRY + 1] = s[LEAF_ENTRY];
        s[MOVES] = s[LEAF_VERSION];
        s[LEAF_VERSION] += 2;
        s[ROOT] = 1;
        s[MOVE_AT] = 2;
      }
      case 2 -> {
        if (has(Rule.MOVED_BEFORE_REUSE)) {
          s[MOVED]++;
        }
        s[MOVE_AT] = 3;
      }
      case 3 -> {
        s[LEAF_VERSION] = s[MOVES];
        s[LEAF_ENTRY] = s[LEAF_ENTRY] == 0 ? 1 : 0;
        s[MOVE_AT] = 4;
      }
      case 4 -> {
        if (!has(Rule.MOVED_BEFORE_REUSE)) {
          s[MOVED]++;
        }
        s[MOVE_AT] = 5;
      }
      default -> require(false);
    }
  }

  /// The table is dropped; its page's memory becomes something else, with the same version.
  private void drop() {
    switch (s[DROP_AT]) {
      case 0 -> {
        require(s[WRITER_AT] == 0 && s[MOVE_AT] == 0);
        s[DROP_AT] = 1;
        if (has(Rule.GENERATION_BEFORE_REUSE)) {
          s[GENERATION] = 1;
        }
      }
      case 1 -> {
        s[FIRST_HALF] = STRANGE;
        s[DROP_AT] = 2;
      }
      case 2 -> {
        s[SECOND_HALF] = STRANGE;
        s[STAMP] = 1;
        s[DROP_AT] = 3;
      }
      case 3 -> {
        s[GENERATION] = 1;
        s[DROP_AT] = 4;
      }
      default -> require(false);
    }
  }
}
