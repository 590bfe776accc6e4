package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/// A process that runs jobs as it is told by its input: `job NUMBER BYTES` under the key NUMBER, `read TOKEN`. Each is answered by one
/// line.
final class JobConsole {
  private JobConsole() {}

  public static void main(String[] arguments) throws IOException {
    try (Jobs jobs =
            Jobs.open(
                Path.of(arguments[0]),
                JobSettings.defaults(),
                (owner, transaction) -> OutcomeLookup.Outcome.ROLLED_BACK);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      System.out.println("answer open");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", -1);
        System.out.println(
            "answer "
                + (words[0].equals("job")
                    ? job(jobs, words[1], Integer.parseInt(words[2]))
                    : read(jobs, words[1])));
      }
    }
  }

  private static String job(Jobs jobs, String number, int bytes) {
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    JobRecord job;
    try {
      job =
          jobs.submit(
                  "alice", number, TestJobs.writes(content), TestJobs.key("alice", number, number))
              .job();
    } catch (EngineException e) {
      return "refused " + e.code() + " " + jobs.usedBytes() + " " + e.getMessage();
    }
    job = jobs.await(TestJobs.ALICE, job.token(), TestJobs.LONG).orElseThrow();
    JobFailure failure = job.failure();
    return failure == null
        ? "succeeded " + job.token() + " " + jobs.usedBytes()
        : "failed " + failure.code() + " " + jobs.usedBytes() + " " + failure.message();
  }

  private static String read(Jobs jobs, String token) throws IOException {
    try (FileHold hold = jobs.openFile(TestJobs.ALICE, token, 1).orElseThrow()) {
      byte[] bytes = TestJobs.readAll(hold);
      boolean isWhole = Arrays.equals(Sha256.begin().digest(bytes), hold.file().digest());
      return (isWhole ? "whole " : "broken ") + bytes.length;
    }
  }
}
