package dev.kakehashi.server.standby;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Files of a data directory that say what it is, where a start as something else would do harm.
public enum DirectoryMark {
  /// It is a standby's: otherwise its log would get a second history.
  STANDBY("standby", "follows another endpoint; \"kakehashi promote\" ends that\n"),

  /// `kakehashi rejoin` is changing it, or was when it was interrupted: nothing starts there until it is done.
  REJOIN("rejoin.tmp", "\"kakehashi rejoin\" has to be done again\n");

  private final String file;
  private final String text;

  DirectoryMark(String file, String text) {
    this.file = file;
    this.text = text;
  }

  public boolean isSet(Path data) {
    return Files.exists(data.resolve(file));
  }

  /// Returns when it survives power loss.
  public void set(Path data) throws IOException {
    ReplacedFile.write(data.resolve(file), text);
  }

  /// As [#set].
  public void remove(Path data) throws IOException {
    Files.deleteIfExists(data.resolve(file));
    Directories.force(data);
  }
}
